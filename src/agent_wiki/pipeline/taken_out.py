"""What commands that take text out of a wiki report alike: where some of it is left all the same, they failed.

`Forgotten` is what `wiki forget` took out, `CleanedWiki` what `wiki redact` replaced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, field
from typing import Any

from agent_wiki.pipeline.report import Report
from agent_wiki.redaction.redact import redact_text
from agent_wiki.redaction.values import PERSONAL
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted, plain_line

_MOST_LINE = 1_000


class TakenOut(ABC):
    """The report of such a command. `remaining`: files that still hold what was to go."""

    __slots__ = ()

    report: Report
    remaining: list[str]

    @property
    def bugs(self) -> list[str]:
        return self.report.bugs

    @property
    def exit_code(self) -> int:
        """1 when something is left somewhere, or a unit failed."""
        return 1 if self.remaining else self.report.exit_code

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, keys always the same."""
        return {**self.report.to_json(), **self._values(), "exit_code": self.exit_code}

    def lines(self) -> list[str]:
        """What went and what is left, in whole: nothing of it may be missed."""
        would = "would be " if self.report.is_dry_run else ""
        return [plain_line(each, _MOST_LINE) for each in self._sentences(would)]

    @abstractmethod
    def _values(self) -> dict[str, Any]:
        """What the JSON has besides the report."""

    @abstractmethod
    def _sentences(self, would: str) -> Iterable[str]:
        """The lines as text; `would` stands before what a dry run did not do."""


_BACK = "it brings the session back when it is read (not with --for-good)"


@dataclass(slots=True)
class Forgotten(TakenOut):
    """What went. `cut`: file → number of lines that went; `remaining`: files that still hold strings of the sessions.

    `sessions` has those that were named, and their `subagents`. `edited` are pages that went although a person had
    edited them; `recordings` are still where they were read, and bring the sessions back unless these are forgotten
    for good.
    """

    report: Report
    sessions: list[str]
    subagents: list[str] = field(default_factory=list)
    cut: dict[str, int] = field(default_factory=dict)
    edited: list[str] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)
    recordings: list[str] = field(default_factory=list)
    is_for_good: bool = False

    def _values(self) -> dict[str, Any]:
        return {
            "forgotten": self.sessions,
            "subagents": self.subagents,
            "lines_removed": self.cut,
            "edited_removed": self.edited,
            "remaining": self.remaining,
            "recordings_left": self.recordings,
        }

    def _sentences(self, would: str) -> Iterable[str]:
        again = sorted(set(self.report.written) - self.cut.keys())
        back = "no run takes the session in again" if self.is_for_good else _BACK
        return [
            *(f"{would}forgotten: {each}" for each in self.sessions if each not in self.subagents),
            *(f"{would}forgotten with the session that began it: {each}" for each in self.subagents),
            *(f"{would}removed: {each}" for each in sorted(self.report.removed)),
            *(f"{would}removed: {counted(count, 'line')} of {each}" for each, count in sorted(self.cut.items())),
            *(f"{would}removed, though a person had edited it: {each}" for each in self.edited),
            *(f"{would}rendered again: {each}" for each in again),
            *(f"still there, {back}: {each}" for each in self.recordings),
            *(f"FAILED: {each}" for each in self.report.failures),
            *(f"STILL HOLDS text of a forgotten session: {each}" for each in self.remaining),
        ]


@dataclass(frozen=True, slots=True)
class CleanedFile:
    """Something that was replaced: the file, the kind, and where in the file."""

    file: str
    kind: str
    place: str = ""

    def __str__(self) -> str:
        what = "personal data" if self.kind == PERSONAL else f"a secret ({self.kind})"
        return ": ".join([redact_text(each)[0] for each in (self.file, self.place) if each] + [what])


@dataclass(slots=True)
class CleanedWiki(TakenOut):
    """What was replaced. `remaining`: files that hold a secret all the same; `unverified`: quotes not in their turn."""

    report: Report
    files: list[CleanedFile] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)

    def _values(self) -> dict[str, Any]:
        return {
            "replaced": [asdict(each) for each in self.files],
            "kinds": dict(sorted(Counter(each.kind for each in self.files).items())),
            "remaining": self.remaining,
            "unverified": self.unverified,
        }

    def _sentences(self, would: str) -> Iterable[str]:
        names = {each.file for each in self.files}
        return [
            *(f"{would}replaced: {each}" for each in self.files),
            *(f"a quote is not in its turn: {each}" for each in self.unverified),
            *(f"FAILED: {each}" for each in self.report.failures),
            *(f"STILL HOLDS a secret: {each}" for each in self.remaining),
            f"{counted(len(self.files), 'place')} {would}replaced in {counted(len(names), 'file')}",
        ]
