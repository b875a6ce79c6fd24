"""Wiki text that a tool showed → the pages in it, and the part of the text that belongs to each.

One result often shows several pages: a search, `cat guidelines/*.md`, the output of `wiki consult`. Whether a session
followed a page is judged by that page's words, so words of one page must not count as another's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from agent_wiki.trajectory.json_text import value_of
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.layout import guideline_path, page_id, skill_path

MOST_SEARCHED = 200_000  # characters of one result
_PAGE = (
    r"(?:(?:guidelines|_archived)/[a-z0-9][a-z0-9-]{0,60}__(?:[0-9a-f]{12}|cluster)\.md"
    r"|tasks/[a-z0-9][a-z0-9-]{0,60}__(?:task|subtask)\.md|skills/[a-z0-9][a-z0-9-]{0,60}/SKILL\.md)"
)
_LINE_NUMBER = r"(?:[ \t]{0,8}\d{1,6}(?:→|\t|[|:-][ \t]?))?"  # as `Read`, `cat -n` and `grep -n` prefix it
_START = r"^(?:Output: )?"  # as Gemini CLI and Qwen Code begin what a command printed
_HEADER = regex(
    rf"{_START}--- (?:\S{{0,300}}/)?(?P<page>{_PAGE}) \[(?:cluster|skill|guideline|task|subtask)\]", re.MULTILINE
)
_ITEM = regex(
    rf"{_START}\d{{1,2}}\. [^\n]{{1,400}}\n(?:   [^\n]{{0,600}}\n)??   (?:\S{{0,300}}/)?(?P<page>{_PAGE})", re.MULTILINE
)
_EPISODE = regex(r"^(?:--- \S{0,400} \[episode\]|\d{1,2}\. [^\n]{1,400} \[episode, [\d.]{1,6}\]$)", re.MULTILINE)
_LINK = regex(rf"(?<![\w.-]){_PAGE}(?![\w-])")
_ID = regex(  # of a skill it is in `metadata`
    rf"^{_LINE_NUMBER}(?:  )?id: ['\"]?"
    r"(?P<id>[0-9a-f]{12}|(?:cluster|skill|task):[a-z0-9][a-z0-9-]{0,60})['\"]?[ \t]*$",
    re.MULTILINE,
)
_TYPE = regex(rf"^{_LINE_NUMBER}type: (?:guideline|workflow|script|command-template)[ \t]*$", re.MULTILINE)
_FENCE = regex(rf"{_START}{_LINE_NUMBER}---[ \t]*$", re.MULTILINE)
_TITLE = regex(rf"^{_LINE_NUMBER}# (.{{1,200}})$", re.MULTILINE)
_NUMBERED = regex(rf"^{_LINE_NUMBER[:-1]}", re.MULTILINE)
_NOT_SHOWN = regex(r"^Not shown for (?:lack of space|want of room):.*$", re.MULTILINE)
_SOURCES = regex(
    rf"^{_LINE_NUMBER}## Sources\n\s{{0,8}}{_LINE_NUMBER}- \[[^\]\n]{{1,200}}\]\(\.\./\.\./summaries/", re.MULTILINE
)
_JSON_START = regex(r"^[\[{]", re.MULTILINE)
_DECODER = json.JSONDecoder(strict=False)
_ROW_KEYS = ("title", "trigger", "summary")


def without_line_numbers(text: str) -> str:
    """The text as in the file, without the line numbers that a tool prefixed."""
    lines = [line for line in text.split("\n") if line]
    if 2 * sum(_NUMBERED.match(line) is not None for line in lines) < len(lines):
        return text
    return _NUMBERED.sub("", text)


def consulted_pages(text: str) -> list[str]:
    """The pages that `wiki consult` or a server's `consult` printed: those it shows, not those it merely names."""
    text = unescaped(text[:MOST_SEARCHED])
    headed = [match["page"] for match in _HEADER.finditer(text)] or [match["page"] for match in _ITEM.finditer(text)]
    if headed:
        return list(dict.fromkeys(headed))
    rows = [str(row["link"]) for row in index_rows(text) if _LINK.fullmatch(str(row.get("link")))]
    return list(dict.fromkeys(rows or _LINK.findall(_NOT_SHOWN.sub("", text))))


def are_listed(text: str) -> bool:
    """Whether what `consult` printed names pages without showing them."""
    return _HEADER.search(unescaped(text[:MOST_SEARCHED])) is None


def is_mined_skill(page: str, text: str) -> bool:
    """Whether a text shows a skill's page as a wiki renders it, wherever the file is: a copy or a link is the page."""
    if not page.endswith("/SKILL.md"):
        return False
    text = text[:MOST_SEARCHED]
    return any(match["id"] == page_id(page) for match in _ID.finditer(text)) or _SOURCES.search(text) is not None


def printed_pages(text: str) -> list[str]:
    """The pages whose frontmatter is in a text, identified by their ids."""
    text = text[:MOST_SEARCHED]
    found: list[str] = []
    for name, part in _by_frontmatter(text):
        kind, _, slug = name.partition(":")
        if kind == "skill":
            found.append(skill_path(slug))
        elif slug:
            found.append(f"{'tasks' if kind == 'task' else 'guidelines'}/{slug}__{kind}.md")
        elif _TYPE.search(part):
            title = _TITLE.search(part)
            found.append(guideline_path(title.group(1) if title else "", name))
    return found


def part_of(page: str, text: str, among: Sequence[str]) -> str:
    """The part of a result that belongs to one page `among` those it shows; all of it if parts cannot be separated."""
    if len(among) < 2:
        return text
    plain = unescaped(text[:MOST_SEARCHED])
    name = page_id(page)
    for parts in (_between(_HEADER, plain), _between(_ITEM, plain), _by_frontmatter(plain), _by_rows(plain)):
        own = [part for each, part in parts if each == name]
        if own:
            return "\n".join(own)
    lines = [line for line in plain.split("\n") if re.search(rf"(?<![\w.-]){re.escape(page)}[:-]", line[:1_000])]
    return "\n".join(lines) or text


def unescaped(text: str) -> str:
    """The text of a result that is a JSON string or an object with the text in it; any other result unchanged."""
    if text.lstrip()[:1] not in ('"', "{", "["):
        return text
    try:
        value = value_of(text)
    except (ValueError, RecursionError):
        return text
    texts = [each for each in _texts_in(value, 0) if "\n" in each or len(each) > 400]
    return "\n".join(texts) if texts and not list(_rows_in(value, 0)) else text


def index_rows(text: str) -> list[dict[str, Any]]:
    """Every index row in a text: one per line, as in `_index.jsonl`, or in a JSON list."""
    rows: list[dict[str, Any]] = []
    for line in text[:MOST_SEARCHED].split("\n"):
        start = line.find("{")
        if start >= 0 and '"link"' in line:
            rows += _rows_of(line[start:])
    if rows or '"link"' not in text:
        return rows
    value = _JSON_START.search(text)  # a harness may prefix lines of its own
    return _rows_of(text[value.start() :]) if value else []


def _rows_of(text: str) -> list[dict[str, Any]]:
    try:
        return list(_rows_in(_DECODER.raw_decode(text)[0], 0))
    except (ValueError, RecursionError):
        return []


def _rows_in(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and isinstance(value.get("link"), str):
        yield value
    elif isinstance(value, dict | list) and depth < 6:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _rows_in(each, depth + 1)
    elif isinstance(value, str) and '"link"' in value and depth < 3:
        yield from _rows_of(value)


def _texts_in(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < 6:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(each, depth + 1)


def row_text(row: dict[str, Any]) -> str:
    """What a row says of its page."""
    return ". ".join(str(row[key]) for key in _ROW_KEYS if isinstance(row.get(key), str) and row[key])


def _by_rows(text: str) -> list[tuple[str, str]]:
    return [(page_id(str(row["link"])), row_text(row)) for row in index_rows(text)]


def _between(mark: re.Pattern[str], text: str) -> list[tuple[str, str]]:
    """`(page id, text)` from each match of `mark` to the next; an episode ends the last of them."""
    found = list(mark.finditer(text))
    if found and (episode := _EPISODE.search(text, found[-1].start())):
        text = text[: episode.start()]
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    return [(page_id(match["page"]), text[match.start() : end]) for match, end in zip(found, ends, strict=True)]


def _by_frontmatter(text: str) -> list[tuple[str, str]]:
    """`(page id, text)` of each page whose frontmatter is in the text; a part begins at its fence."""
    found: list[tuple[str, int]] = []
    fences = [match.start() for match in _FENCE.finditer(text)]
    floor, position = -1, 0
    for match in _ID.finditer(text):
        start = match.start()
        while position < len(fences) and fences[position] < match.start():
            if fences[position] > floor:
                start = fences[position]
            position += 1
        found.append((match["id"], start))
        floor = match.start()
    ends = [*(start for _, start in found[1:]), len(text)][: len(found)]
    return [(name, text[start:end]) for (name, start), end in zip(found, ends, strict=True)]
