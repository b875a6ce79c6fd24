"""Entries of a report: what failed, what a reader should know, what is new; as one line and as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from agent_wiki.errors import AgentWikiError, UnitError, located
from agent_wiki.trajectory import without_surrogates
from agent_wiki.trajectory.lazily import dataclass

SHORT_DIGEST = 19
"""Characters of a digest as people see it: `sha256:` and 12 digits."""

NOT_IN_WIKI = ("forgotten", "left-out", "older")
"""What a session's status is that a run has read and the wiki has nothing of from this recording."""

_MOST_NAMED = 3
_MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with one unit, which cost that unit and no other.

    `kind` says what failed: recording, empty (a file with nothing in it), changed (since it was listed), page, answer,
    question (it has no answer yet), service, budget, stage, or bug.
    `unit` is the file, session, page or stage, and `place` the line or field in it; `recording` is the file of a
    session; `stage` and `request` are those of the question, where there was one. `str()` is one line.
    """

    kind: str
    unit: str
    reason: str
    place: int | str | None = None
    stage: str | None = None
    request: str | None = None
    recording: str | None = None

    @classmethod
    def of(cls, error: AgentWikiError, unit: str = "", *, stage: str = "", recording: str | None = None) -> Failure:
        """What an error says. Without a `unit` it is of what the error is about, else of its stage."""
        if not isinstance(error, UnitError):
            return cls("budget", unit or stage, str(error), stage=stage or None, recording=recording)
        stage = error.stage or stage
        unit = unit or ", ".join(error.about[:_MOST_NAMED]) or stage
        request = error.request or None
        return cls(error.kind, unit, error.reason, error.place, stage or None, request, recording)

    def __str__(self) -> str:
        request = f" (request {self.request[:SHORT_DIGEST]})" if self.request else ""
        if isinstance(self.place, int):
            parts = [self.recording, located(self.unit, self.place), self.stage]
        else:
            parts = [self.recording, self.unit, self.stage, self.place]
        return _line(*parts, f"{self.reason}{request}")


@dataclass(frozen=True, slots=True)
class Note:
    """What a reader of a report should know of one unit, though nothing failed. `str()` is one line."""

    unit: str
    reason: str
    place: str | None = None
    recording: str | None = None

    def __str__(self) -> str:
        return _line(self.recording, self.unit, self.place, self.reason)


@dataclass(frozen=True, slots=True)
class Learnt:
    """A page of a lesson that the wiki did not have before the run. `sessions` support it, where that is known."""

    kind: str
    title: str
    link: str
    sessions: int | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.title}"


Entry = Failure | Note | Learnt | str


def as_lines(entries: Iterable[Entry]) -> list[str]:
    """Entries of a report for a person, one line each, sorted."""
    return sorted(one_line(str(entry)) for entry in entries)


def as_values(entries: Iterable[Entry]) -> list[Any]:
    """Entries of a report as JSON values, in the order of their lines."""
    return [_as_value(entry) for entry in sorted(entries, key=lambda entry: one_line(str(entry)))]


def _as_value(entry: Entry) -> Any:
    if isinstance(entry, str):
        return one_line(entry)
    return {name: one_line(value) if isinstance(value, str) else value for name, value in asdict(entry).items()}


def _line(*parts: object) -> str:
    """What there is of the parts, each once, from the general to the particular."""
    return ": ".join(dict.fromkeys(str(part) for part in parts if part))


def one_line(text: str) -> str:
    """An entry names files and sessions, whose names may hold anything."""
    return without_surrogates(" ".join(text.split()))


def listed_lines(title: str, entries: Sequence[str]) -> list[str]:
    """Each entry behind its title, on a line of its own; those beyond twenty are counted."""
    lines = [f"{title}: {entry}" for entry in entries[:_MOST_LISTED]]
    more = len(entries) - _MOST_LISTED
    return [*lines, f"{title}: … and {more} more (all with --json)"] if more > 0 else lines


def with_left_out(sessions: Counter[str]) -> Counter[str]:
    """Sessions by status, those of which the wiki has nothing from the recording as `left out`, whatever the reason."""
    counts = Counter({status: count for status, count in sessions.items() if status not in NOT_IN_WIKI})
    if left_out := sum(sessions.get(status, 0) for status in NOT_IN_WIKI):
        counts["left out"] = left_out
    return counts
