"""Whether each page has an id of its own, the one that its place gives it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from agent_wiki.checks.check import Check, Spot
from agent_wiki.checks.subject import CheckedWiki
from agent_wiki.wiki.layout import content_id, hashed_file_stem, kind_of, page_id
from agent_wiki.wiki.page import line_of_field
from agent_wiki.wiki.values import text_or_none

_OWN_NAMES = ("guideline", "cluster", "task", "subtask")


def _ids(wiki: CheckedWiki) -> dict[str, str]:
    """Path → id of each published page: what a page of others says of itself, else what its place gives."""
    found = {path: page_id(path) for path in wiki.published() if kind_of(path) != "summary"}
    for path, page in wiki.worded_by_others.items():
        own = text_or_none(page.fields.get("id"))
        if path in found and own is not None:
            found[path] = own
    return found


def _twice(wiki: CheckedWiki) -> Iterator[Spot]:
    by_id: dict[str, list[str]] = defaultdict(list)
    for path, name in _ids(wiki).items():
        by_id[name].append(path)
    for name, paths in by_id.items():
        for path in paths if len(paths) > 1 else ():
            others = ", ".join(each for each in paths if each != path)
            yield Spot(path, f"{others} has its id {name}, too", line_of_field(wiki.text(path), "id"))


def _mismatches(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, page in wiki.worded_by_others.items():
        own = text_or_none(page.fields.get("id"))
        if own is not None and kind_of(path) in _OWN_NAMES and own != page_id(path):
            yield Spot(path, f"its id is {own}, and its file is named after {page_id(path)}", _line(wiki, path, "id"))


def _summaries(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, page in wiki.worded_by_others.items():
        name = text_or_none(page.fields.get("session_id"))
        stem = path.rpartition("/")[2].removesuffix(".md").partition("__")[0]
        if kind_of(path) == "summary" and name is not None and not hashed_file_stem(name).startswith(stem):
            line = _line(wiki, path, "session_id")
            yield Spot(path, f"it is about the session {name}, and its file is named after another", line)


def _line(wiki: CheckedWiki, path: str, field: str) -> int:
    return line_of_field(wiki.text(path), field)


def _same_rule(wiki: CheckedWiki) -> Iterator[Spot]:
    """Guidelines of one wording: this program gives one rule one id, a person or another tool may not."""
    by_rule: dict[str, list[str]] = defaultdict(list)
    view = wiki.view
    rules = {name: joined.entry.rule for name, joined in view.guidelines.items()}
    rules |= {name: page.lead for name, (_, page) in view.foreign_guidelines.items()}
    for name, rule in rules.items():
        if rule.strip():
            by_rule[content_id(rule)].append(name)
    paths = {name: path for path, name in _ids(wiki).items()}
    for names in by_rule.values():
        for name in names if len(names) > 1 else ():
            if name in paths:
                others = ", ".join(each for each in names if each != name)
                yield Spot(paths[name], f"{others} says the same in the same words")


IDS = (
    Check("ids/twice", "Two pages have one id; only one of them is indexed.", "delete one, or give it an id", _twice),
    Check("ids/not-of-its-file", "A page has another id than its file's name says.", "rename the file", _mismatches),
    Check("ids/other-session", "A summary is about another session than its name says.", "rename the file", _summaries),
    Check("ids/same-rule", "Two guidelines say the same in the same words.", "wiki reject one of them", _same_rule),
)
