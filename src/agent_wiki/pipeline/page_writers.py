"""Writing the pages of a large wiki in two processes.

Both render and write parts of the pages; the copy says of each page what the indexes need, its text stays where it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import Any

from agent_wiki.pages.catalog import Catalog, RenderedPage
from agent_wiki.pages.indexes import IndexEntry
from agent_wiki.pipeline.two_processes import has_two_processors, parts_of, worked_by_two
from agent_wiki.wiki.files import Signature
from agent_wiki.wiki.store import WikiFolder

_FEWEST = 4_000  # pages to render: fewer are written sooner than a second process begins

_OF_ENTRY = attrgetter(*(each.name for each in fields(IndexEntry)))

Written = tuple[RenderedPage, bool]
"""A page without its text, and whether it was written."""

_Part = Callable[[range], Iterator[Written]]
_Values = tuple[list[tuple[Any, ...]], dict[str, Signature]]


def written_pages(made: Catalog, folder: WikiFolder, write: Callable[[RenderedPage], bool]) -> Iterator[Written]:
    """Write the numerous pages of a catalog. `write` writes one where it differs from what lies on disk."""
    parts = parts_of(len(made.numerous))
    left = set(range(len(parts)))
    written = partial(_written, made, write)
    if _has_use_for_two(made, folder):
        made.look_up()
        there, taken_over = partial(_in_copy, parts, folder, written), partial(_taken_over, folder)
        yield from worked_by_two(left, lambda number: written(parts[number]), there, taken_over, folder.copy_of_lock())
    for number in sorted(left):
        yield from written(parts[number])


def _has_use_for_two(made: Catalog, folder: WikiFolder) -> bool:
    is_large = len(made.numerous) - len(made.known) >= _FEWEST
    return is_large and not folder.is_dry_run and has_two_processors()


def _written(made: Catalog, write: Callable[[RenderedPage], bool], part: range) -> Iterator[Written]:
    for number in part:
        for page in made.pages_of(made.numerous[number]):
            is_written = write(page)
            page.text = None
            yield page, is_written


def _in_copy(parts: list[range], folder: WikiFolder, written: _Part, number: int) -> _Values:
    """Write a part in the copy. Out: its pages as plain values, and the signatures of their files."""
    parent = os.getppid()
    folder.written.clear()
    pages: list[tuple[Any, ...]] = []
    for each in written(parts[number]):
        pages.append(_as_values(*each))
        if os.getppid() != parent:
            break  # the run is gone, and so is who would ask for them
    return pages, {path: folder.files()[path] for path in folder.written}


def _taken_over(folder: WikiFolder, values: _Values) -> Iterator[Written]:
    pages, signatures = values
    folder.note_written(signatures)
    yield from map(_from_values, pages)


def _as_values(page: RenderedPage, is_written: bool) -> tuple[Any, ...]:
    """What a copy says of a page, as plain values: objects take five times as long."""
    entry = page.entry
    values = () if entry is None else _OF_ENTRY(entry)
    return page.path, page.inputs, is_written, values


def _from_values(values: tuple[Any, ...]) -> Written:
    path, inputs, is_written, entry = values
    return RenderedPage(path, IndexEntry(*entry) if entry else None, inputs=inputs), is_written
