"""A store that gives nothing any more: its outage is no failure of the objects, and a run need not try them all.

Credentials that expire in the middle of a night, or a store that is down, fail every object from then on. Would each
count as its own failure, all of them were set aside after three such nights, and nobody would miss them. Objects that
fail one after another while others are given fail on their own (archived, or under a key that is refused): the run
continues with the next, else it would end at the same ones each night.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

from agent_wiki.errors import RecordingUnavailable
from agent_wiki.pipeline.inputs import InputFile
from agent_wiki.pipeline.mine import Mined
from agent_wiki.pipeline.recordings_cache import Cache, unchanged
from agent_wiki.pipeline.stopping import StopSignal
from agent_wiki.readers.buckets import BucketPath
from agent_wiki.readers.recording_path import RecordingPath

_MOST_IN_A_ROW = 10
_FEWEST_OF_ALL = 3  # where nothing was read at all, and there is nothing else to ask for
_MOST_ASKED_FOR = 3


class StoreOutage:
    """Looks at what became of each file in the order in which they were read, and stops a run that reads none.

    `others` are asked for again where so many fail, the likeliest to be given first: read on earlier nights, or last.
    Where nothing at all was read, they are asked for from the first failure on.
    """

    def __init__(self, stop: StopSignal, others: Iterable[RecordingPath]) -> None:
        self._stop = stop
        self._others = list(islice((each for each in others if isinstance(each, BucketPath)), _MOST_ASKED_FOR))
        self._in_a_row: list[str] = []
        self._failed: set[RecordingPath] = set()
        self._read: RecordingPath | None = None

    def look_at(self, mined: Mined, path: RecordingPath) -> None:
        """Take the next result into account, that of the file at `path`."""
        if mined.failure is None or mined.failure.kind != RecordingUnavailable.kind:
            self._in_a_row.clear()
            self._read = path
            return
        self._in_a_row.append(mined.name)
        self._failed.add(path)
        if len(self._in_a_row) == _MOST_IN_A_ROW and not self._stop.reason:
            if self._gives_others():
                self._in_a_row.clear()
            else:
                self._stop.reason = (
                    f"the store gave none of {_MOST_IN_A_ROW} recordings in a row; run again to continue"
                )

    @cached_property
    def names(self) -> frozenset[str]:
        """The files that failed for the store's sake, once all are read."""
        has_others = any(each not in self._failed for each in self._others)
        fewest = _MOST_IN_A_ROW if self._read else 1 if has_others else _FEWEST_OF_ALL
        is_outage = len(self._in_a_row) >= fewest and not self._gives_others()
        return frozenset(self._in_a_row if is_outage else ())

    def _gives_others(self) -> bool:
        """Whether the store still gives what it gave, or another object."""
        asked = [self._read, *self._others]
        return any(isinstance(each, BucketPath) and each.is_given() for each in asked)


def likeliest(files: Sequence[InputFile], pending: Sequence[InputFile], cache: Cache) -> Iterator[RecordingPath]:
    """The files that a store gives if it gives any: those read on earlier runs, then the last that are pending."""
    waiting = {each.path for each in pending}
    for file in files:
        if file.path not in waiting and "failed_runs" not in (unchanged(cache, file.path) or {}):
            yield file.path
    yield from (file.path for file in reversed(pending))
