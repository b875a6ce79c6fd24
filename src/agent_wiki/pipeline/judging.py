"""Judging the records of a large wiki in two processes; the copy says only which of them are to change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from agent_wiki.pages.judged import judged
from agent_wiki.wiki.records import SessionRecord
from agent_wiki.wiki.two_processes import work_in_parts

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
    here, there = partial(_changed_in, records), partial(_positions, records)
    is_large = len(records) >= _FEWEST
    return work_in_parts(len(records), here, there, partial(_judged_again, records), is_large=is_large)


def _changed_in(records: Sequence[SessionRecord], part: range) -> Iterator[Judged]:
    for position in part:
        if (record := judged(records[position])) is not records[position]:
            yield position, record


def _positions(records: Sequence[SessionRecord], part: range) -> list[int]:
    """What the copy says: positions alone, for records that change are few, and take longer to hand over."""
    return [position for position, _ in _changed_in(records, part)]


def _judged_again(records: Sequence[SessionRecord], positions: Iterable[int]) -> Iterator[Judged]:
    return ((position, judged(records[position])) for position in positions)
