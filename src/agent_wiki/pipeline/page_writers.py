"""Writing the pages of a large wiki in two processes, where the machine has two processors to spare.

The second process is a copy of this one, so that nothing has to be handed to it. Both take parts of the pages from one
queue, render and write them; the copy says of each page what the indexes need, its text stays where it is. What it
could not do is done here, which raises its error. When this process is gone, the copy stops.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import IO, Any

from agent_wiki.pages.catalog import Catalog, RenderedPage
from agent_wiki.pages.indexes import IndexEntry
from agent_wiki.wiki.files import Signature
from agent_wiki.wiki.store import WikiFolder

_FEWEST = 4_000  # pages to render: fewer are written sooner than a second process begins
_PARTS = 200  # of which a byte holds the number

_OF_ENTRY = attrgetter(*(each.name for each in fields(IndexEntry)))

Written = tuple[RenderedPage, bool]
"""A page without its text, and whether it was written."""

_Part = Callable[[range], Iterator[Written]]


def written_pages(made: Catalog, folder: WikiFolder, write: Callable[[RenderedPage], bool]) -> Iterator[Written]:
    """Write the numerous pages of a catalog. `write` writes one where it differs from what lies on disk."""
    parts = _parts(len(made.numerous))
    left = set(range(len(parts)))
    written = partial(_written, made, write)
    if _has_use_for_two(made, folder):
        made.look_up()
        with open(os.memfd_create("pages"), "w+b") as found:  # noqa: PTH123 - it has no path
            yield from _shared(parts, left, found, folder, written)
    for number in sorted(left):
        yield from written(parts[number])


def _parts(count: int) -> list[range]:
    size = -(-count // _PARTS) or 1
    return [range(start, min(start + size, count)) for start in range(0, count, size)]


def _has_use_for_two(made: Catalog, folder: WikiFolder) -> bool:
    """A copy of a process with several threads could wait for ever for what one of them held."""
    if sys.platform != "linux" or folder.is_dry_run or threading.active_count() > 1:
        return False
    return len(made.numerous) - len(made.known) >= _FEWEST and len(os.sched_getaffinity(0)) > 1


def _written(made: Catalog, write: Callable[[RenderedPage], bool], part: range) -> Iterator[Written]:
    for number in part:
        for page in made.pages_of(made.numerous[number]):
            is_written = write(page)
            page.text = None
            yield page, is_written


def _shared(
    parts: list[range], left: set[int], found: IO[bytes], folder: WikiFolder, written: _Part
) -> Iterator[Written]:
    """What two processes wrote. Their parts are taken out of `left`."""
    queue, parent, lock = _queue(len(parts)), os.getpid(), folder.copy_of_lock()
    copy = os.fork()
    if not copy:
        _be_copy(parent, queue, parts, found, folder, written)
    if lock is not None:
        os.close(lock)  # the copy keeps its own
    try:
        for number in _taken(queue):
            yield from written(parts[number])
            left.remove(number)
    finally:
        for _ in _taken(queue):
            pass  # after an error: so that the copy ends with the part that it is at
        os.waitpid(copy, 0)
        os.close(queue)
    for number, pages, signatures in _read(found):
        left.remove(number)
        folder.note_written(signatures)
        yield from map(_from_values, pages)


def _queue(count: int) -> int:
    """The end of a pipe from which two processes read: each number below `count` is read by one of them."""
    queue, writing = os.pipe()
    os.write(writing, bytes(range(count)))
    os.close(writing)
    return queue


def _taken(queue: int) -> Iterator[int]:
    while number := os.read(queue, 1):
        yield number[0]


def _be_copy(parent: int, queue: int, parts: list[range], found: IO[bytes], folder: WikiFolder, written: _Part) -> None:
    """Write parts until none is left, and end: nothing of what this process would do at its end is the copy's to do."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent empties the queue
        for number in _taken(queue):
            folder.written.clear()
            pages: list[tuple[Any, ...]] = []
            for each in written(parts[number]):
                pages.append(_as_values(*each))
                if os.getppid() != parent:
                    return
            pickle.dump((number, pages, {path: folder.files()[path] for path in folder.written}), found)
            found.flush()
    finally:
        os._exit(0)


def _as_values(page: RenderedPage, is_written: bool) -> tuple[Any, ...]:
    """What a copy says of a page, as plain values: objects take five times as long."""
    entry = page.entry
    values = () if entry is None else _OF_ENTRY(entry)
    return page.path, page.inputs, is_written, values


def _from_values(values: tuple[Any, ...]) -> Written:
    path, inputs, is_written, entry = values
    return RenderedPage(path, IndexEntry(*entry) if entry else None, inputs=inputs), is_written


def _read(found: IO[bytes]) -> Iterator[tuple[int, list[tuple[Any, ...]], dict[str, Signature]]]:
    """What the copy said of each part; less if it failed."""
    found.seek(0)
    while True:
        try:
            yield pickle.load(found)  # noqa: S301 - a copy of this process wrote it, into a file without a name
        except (EOFError, pickle.UnpicklingError):
            return
