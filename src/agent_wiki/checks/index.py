"""Whether `_index.jsonl` and the pages agree, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agent_wiki.checks.check import Check, Needs, Spot
from agent_wiki.checks.subject import CheckedWiki
from agent_wiki.trajectory.json_text import object_in
from agent_wiki.wiki.kinds import EPISODE, INDEXED
from agent_wiki.wiki.layout import ARCHIVE, INDEX, QUARANTINE, kind_of

_RETIRED = (f"{ARCHIVE}/", f"{QUARANTINE}/")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def _rows(wiki: CheckedWiki) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows that can be read, by line."""
    for number, line in _lines(wiki.text(INDEX)):
        row = object_in(line)
        if row is not None and row.get("kind") in INDEXED and isinstance(row.get("link"), str):
            yield number, row


def _absent(wiki: CheckedWiki) -> Iterator[Spot]:
    if INDEX not in wiki.files:
        yield Spot(INDEX, "the wiki has no index")


def _unreadable(wiki: CheckedWiki) -> Iterator[Spot]:
    for number, line in _lines(wiki.text(INDEX)):
        row = object_in(line)
        if row is None:
            yield Spot(INDEX, "not a JSON object", number)
        elif row.get("kind") not in INDEXED:
            yield Spot(INDEX, f"kind is {row.get('kind')!r}, not one of {', '.join(INDEXED)}", number)
        elif not isinstance(row.get("link"), str):
            yield Spot(INDEX, "it has no link", number)


def _without_page(wiki: CheckedWiki) -> Iterator[Spot]:
    for number, row in _rows(wiki):
        link = str(row["link"])
        if link not in wiki.files and not link.startswith(_RETIRED):
            yield Spot(INDEX, f"it leads to {link}, and there is no such file", number)


def _retired(wiki: CheckedWiki) -> Iterator[Spot]:
    for number, row in _rows(wiki):
        if str(row["link"]).startswith(_RETIRED):
            yield Spot(INDEX, f"it leads to {row['link']}, which is retired", number)


def _repeated(wiki: CheckedWiki) -> Iterator[Spot]:
    seen: dict[tuple[str, str], int] = {}
    for number, row in _rows(wiki):
        key = (str(row["kind"]), str(row["link"]))
        if key in seen:
            yield Spot(INDEX, f"line {seen[key]} has a row for {row['link']}, too", number)
        seen.setdefault(key, number)


def _without_row(wiki: CheckedWiki) -> Iterator[Spot]:
    linked = {str(row["link"]) for _, row in _rows(wiki) if row["kind"] != EPISODE}
    wanted = {str(row["link"]) for _, line in _lines(_rendered(wiki)) if (row := object_in(line)) is not None}
    for path in wiki.published() if INDEX in wiki.files else ():
        if kind_of(path) in INDEXED and path in wanted and path not in linked:
            yield Spot(path, "the index has no row for it")


def _rendered(wiki: CheckedWiki) -> str:
    return wiki.rendering.planned.get(INDEX, wiki.text(INDEX))


def _outdated(wiki: CheckedWiki) -> Iterator[Spot]:
    """Rows that say something else of a page than the page and its records do."""
    wanted: dict[tuple[Any, Any], str] = {}
    for _, line in _lines(_rendered(wiki)):
        if (rendered := object_in(line)) is not None:
            wanted[rendered.get("kind"), rendered.get("link")] = line
    lines = dict(_lines(wiki.text(INDEX)))
    for number, row in _rows(wiki):
        as_rendered = wanted.get((row["kind"], row["link"]))
        if as_rendered is not None and as_rendered != lines[number].rstrip("\r"):
            names = ", ".join(_differing(row, object_in(as_rendered) or {})) or "its spelling"
            yield Spot(INDEX, f"the row of {row['link']} is not as rendered: {names}", number)
        elif as_rendered is None and str(row["link"]) in wiki.files:
            yield Spot(INDEX, f"no row for {row['link']} is rendered", number)


def _differing(row: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [name for name in {**row, **other} if row.get(name) != other.get(name)]


def _unordered(wiki: CheckedWiki) -> Iterator[Spot]:
    last = 0
    for number, row in _rows(wiki):
        position = INDEXED.index(row["kind"])
        if position < last:
            yield Spot(INDEX, f"a row of kind {row['kind']} below one of kind {INDEXED[last]}", number)
        last = max(position, last)


def _check(name: str, summary: str, find: Callable[[CheckedWiki], Iterator[Spot]], needs: Needs = "files") -> Check:
    return Check(f"index/{name}", summary, "wiki catalog makes the index again", find, needs, is_mechanical=True)


INDEXES = (
    _check("absent", "The wiki has no `_index.jsonl`.", _absent),
    _check("bad-row", "A line of the index is no row.", _unreadable),
    _check("row-without-page", "A row of the index leads to no file.", _without_page),
    _check("row-of-retired", "A row of the index leads to an archived or quarantined page.", _retired),
    _check("row-twice", "Two rows of one kind lead to one page.", _repeated),
    _check("page-without-row", "A page that belongs into the index has no row.", _without_row, "records"),
    _check("row-outdated", "A row says something else than what is rendered.", _outdated, "records"),
    _check("order", "The rows are not in the order of preference of their kinds.", _unordered),
)
