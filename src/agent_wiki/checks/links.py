"""Whether links lead somewhere: those in the text of pages, and paths in their frontmatter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from posixpath import dirname, normpath
from urllib.parse import unquote

from agent_wiki.checks.check import Check, Spot
from agent_wiki.checks.subject import CheckedWiki, fields_of, line_of, line_with
from agent_wiki.wiki.layout import AGENTS
from agent_wiki.wiki.page import Page, body_start
from agent_wiki.wiki.values import entries_of, texts_of

_LINK = re.compile(r"\]\(([^()\s#]{1,300})(?:#[^()\s]{0,100})?\)")
_OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|/", re.IGNORECASE)
_CODE = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)


def links_in(text: str) -> Iterator[tuple[int, str]]:
    """The relative links of a page's text outside code and frontmatter, each with its position."""
    start = body_start(text)
    body = " " * start + text[start:]
    shown = _CODE.sub(_blank, body) if "`" in body or "~~~" in body else body
    for match in _LINK.finditer(shown):
        if not _OUTSIDE.match(match[1]):
            yield match.start(1), unquote(match[1])


def _blank(part: re.Match[str]) -> str:
    return " " * len(part[0])


def target_of(path: str, link: str) -> str:
    """Where a link on a page leads, relative to the wiki; it begins with `..` where it leaves the wiki."""
    return normpath(f"{dirname(path)}/{link}" if dirname(path) else link)


def _broken(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, position, link in _links(wiki):
        target = target_of(path, link)
        if target.startswith("..") or (wiki.records_elsewhere is not None and target.startswith(_OF_RECORDS)):
            continue  # summaries are rendered once the records are fetched
        if not _is_there(wiki, target) and target.lower() not in wiki.in_lower_case:
            yield Spot(path, f"its link to {link} leads nowhere", line_of(wiki.text(path), position))


def _outside(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, position, link in _links(wiki):
        if target_of(path, link).startswith(".."):
            yield Spot(path, f"its link to {link} leads out of the wiki", line_of(wiki.text(path), position))


def _other_case(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, position, link in _links(wiki):
        target = target_of(path, link)
        if not _is_there(wiki, target) and target.lower() in wiki.in_lower_case:
            there = wiki.in_lower_case[target.lower()]
            yield Spot(path, f"its link to {link} leads to {there} in other case", line_of(wiki.text(path), position))


def _links(wiki: CheckedWiki) -> Iterable[tuple[str, int, str]]:
    return wiki.looked_up("links", lambda: list(_found(wiki)))


def _found(wiki: CheckedWiki) -> Iterator[tuple[str, int, str]]:
    """Every relative link but those to recordings: other tools link to their sources, which lie elsewhere."""
    for path in (*wiki.markdown_paths, AGENTS):
        text = wiki.text(path)
        for position, link in links_in(text):
            if not (text.startswith("---") and f"  - {link}\n" in text[:position]):
                yield path, position, link


def _is_there(wiki: CheckedWiki, target: str) -> bool:
    return target in wiki.files or target in wiki.folders


def _fields(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, page in wiki.worded_by_others.items():
        for name, said, target in _paths_in(path, page):
            if target not in wiki.files:
                line = line_with(wiki.text(path), said)
                yield Spot(path, f"{name} names {target}, and there is no such file", line)


def _paths_in(path: str, page: Page) -> Iterator[tuple[str, str, str]]:
    """The fields of a page that hold paths, each path as it is written, and relative to the wiki."""
    fields = fields_of(path, page)
    for name in ("related_summary", "parent_summary", "sibling_summaries"):
        yield from ((name, each, each) for each in texts_of(fields.get(name)))
    for each in texts_of(fields.get("superseded_by")):
        yield "superseded_by", each, f"guidelines/{each}"
    for member in entries_of(fields.get("members")):
        if member.get("link"):
            yield "members", str(member["link"]), target_of(path, str(member["link"]))


_OF_RECORDS = ("summaries/", "_sessions/")
_CORRECT = "correct the link, or take it out"

LINKS = (
    Check("links/leads-nowhere", "A link on a page leads to no file of the wiki.", _CORRECT, _broken, "files"),
    Check("links/out-of-wiki", "A link on a page leads out of the wiki.", _CORRECT, _outside, "files"),
    Check("links/other-case", "A link differs by case from the file that it means.", _CORRECT, _other_case, "files"),
    Check("links/no-such-page", "A field of a page names a page that is not there.", _CORRECT, _fields),
)
