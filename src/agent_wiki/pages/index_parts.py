"""Index pages for people of a large wiki, beside the shards of its index: by date all of one kind, by tag the best.

`guidelines/index.md` and `summaries/index.md` list some and lead to these. A part is bounded however large the wiki
grows; what it holds depends on dates, so that the pages of a night are in one or two parts and no other part changes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import NamedTuple, Protocol

from pydantic_core import from_json

from agent_wiki.pages.index_shards import CONTENTS, FOLDER
from agent_wiki.wiki.text import plain_line

MOST_ROWS = 500
_MONTH, _DAY = len("2026-01"), len("2026-01-01")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_UNDATED = "undated"


class Listed(Protocol):
    """What a part says of a page. Entries of the index say it too: of tens of thousands no second object is made."""

    @property
    def path(self) -> str: ...

    @property
    def date(self) -> str | None: ...

    @property
    def title(self) -> str: ...


class ListedPage(NamedTuple):
    """A page as a part lists it."""

    path: str
    date: str | None
    title: str


class IndexPart(NamedTuple):
    """One page of an index. `name` is what its rows have in common; they are made into text when it is written."""

    path: str
    name: str
    size: int
    rows: Callable[[], list[str]]


def parts_by_date(section: str, rows: Iterable[Listed]) -> list[IndexPart]:
    """All rows by month; a month of more than 500 by day, and such a day by a digest of the path."""
    days: dict[str | None, list[Listed]] = {}
    for row in rows:
        days.setdefault(row.date, []).append(row)
    months: dict[str, dict[str, list[Listed]]] = {}
    for date, found in days.items():
        day = _day(date)
        months.setdefault(day[:_MONTH], {}).setdefault(day, []).extend(found)
    named = (each for month in sorted(months, reverse=True) for each in _of_month(month, months[month]))
    return [
        IndexPart(f"{FOLDER}/_{section}-{name}.md", name, len(found), partial(_lines, found)) for name, found in named
    ]


def _of_month(month: str, days: Mapping[str, list[Listed]]) -> Iterator[tuple[str, list[Listed]]]:
    whole = list(chain.from_iterable(days.values()))
    if len(whole) <= MOST_ROWS:
        yield month, whole
        return
    for day in sorted(days, reverse=True):
        yield from _divided(day, days[day], 1)


def _lines(rows: Iterable[Listed]) -> list[str]:
    return [_line(row.title, row.path) for row in sorted(rows, key=_place)]


def _line(title: str, path: str) -> str:
    """The row as text; parts lie one folder below the wiki's."""
    return f"- [{plain_line(title, 120)}](../{path})"


def _divided(name: str, rows: list[Listed], level: int) -> Iterator[tuple[str, list[Listed]]]:
    if len(rows) <= MOST_ROWS:
        yield name, rows
        return
    groups: dict[str, list[Listed]] = {}
    for row in rows:
        groups.setdefault(_name(row, level), []).append(row)
    for each in sorted(groups):
        yield from _divided(each, groups[each], level + 1)


def _name(row: Listed, level: int) -> str:
    """What a row's part is called at a level: its day with ever more of a digest."""
    digest = hashlib.sha1(row.path.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    return f"{_day(row.date)}-{digest[:level]}"


def _day(date: str | None) -> str:
    return date[:_DAY] if date and _DATE.fullmatch(date[:_DAY]) else _UNDATED


def _place(row: Listed) -> tuple[str, str]:
    return row.title.lower(), row.path


def parts_by_tag(shards: Mapping[str, str]) -> list[IndexPart]:
    """A part for each shard of the index, with its rows. In: path → text of the shards."""
    parts: list[IndexPart] = []
    for path, text in shards.items():
        if path != CONTENTS:
            name = path.rpartition("/")[2].removesuffix(".jsonl")
            parts.append(IndexPart(f"{FOLDER}/_tag-{name}.md", name, text.count("\n"), partial(_tagged_lines, text)))
    return parts


def _tagged_lines(text: str) -> list[str]:
    return [_tagged_line(line) for line in text.split("\n") if line]


def _tagged_line(line: str) -> str:
    row = from_json(line.encode("utf-8", "replace"))
    return f"{_line(row['title'], row['link'])} ({row['kind']}): {plain_line(row['summary'], 160)}"
