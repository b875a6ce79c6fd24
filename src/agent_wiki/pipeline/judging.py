"""Judging the records of a large wiki in two processes; the copy says only which of them are to change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from agent_wiki.pages.judged import judged
from agent_wiki.pipeline.two_processes import has_two_processors, parts_of, worked_by_two
from agent_wiki.wiki.records import SessionRecord

_FEWEST = 1_000  # records: fewer are judged sooner than a second process begins

Judged = tuple[int, SessionRecord]
"""A record's position, and the record with its findings."""


def all_judged(records: Sequence[SessionRecord]) -> list[SessionRecord]:
    """Records with the findings of each of their entries; the same objects where nothing changes."""
    found = list(records)
    for position, record in _changed(records):
        found[position] = record
    return found


def _changed(records: Sequence[SessionRecord]) -> Iterator[Judged]:
    parts = parts_of(len(records))
    left = set(range(len(parts)))
    here = partial(_changed_in, records, parts)
    if len(records) >= _FEWEST and has_two_processors():
        there, taken_over = partial(_positions, records, parts), partial(_judged_again, records)
        yield from worked_by_two(left, here, there, taken_over)
    for number in sorted(left):
        yield from here(number)


def _changed_in(records: Sequence[SessionRecord], parts: Sequence[range], number: int) -> Iterator[Judged]:
    for position in parts[number]:
        if (record := judged(records[position])) is not records[position]:
            yield position, record


def _positions(records: Sequence[SessionRecord], parts: Sequence[range], number: int) -> list[int]:
    """What the copy says: positions alone, for records that change are few, and take longer to hand over."""
    return [position for position, _ in _changed_in(records, parts, number)]


def _judged_again(records: Sequence[SessionRecord], positions: Iterable[int]) -> Iterator[Judged]:
    return ((position, judged(records[position])) for position in positions)
