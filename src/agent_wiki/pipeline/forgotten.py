"""What `wiki forget` took out and what is left: as lines for a person and as JSON for a program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from agent_wiki.pipeline.taken_out import TakenOut
from agent_wiki.report import Report
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted


@dataclass(slots=True)
class Forgotten(TakenOut):
    """What went. `cut`: file → number of lines that went; `remaining`: files that still hold strings of the sessions.

    `edited` are pages that went although a person had edited them; `recordings` are still on this machine.
    """

    report: Report
    sessions: list[str]
    cut: dict[str, int] = field(default_factory=dict)
    edited: list[str] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)
    recordings: list[str] = field(default_factory=list)

    def _values(self) -> dict[str, Any]:
        return {
            "forgotten": self.sessions,
            "lines_removed": self.cut,
            "edited_removed": self.edited,
            "remaining": self.remaining,
            "recordings_left": self.recordings,
        }

    def _sentences(self, would: str) -> Iterable[str]:
        again = sorted(set(self.report.written) - self.cut.keys())
        return [
            *(f"{would}forgotten: {each}" for each in self.sessions),
            *(f"{would}removed: {each}" for each in sorted(self.report.removed)),
            *(f"{would}removed: {counted(count, 'line')} of {each}" for each, count in sorted(self.cut.items())),
            *(f"{would}removed, though a person had edited it: {each}" for each in self.edited),
            *(f"{would}rendered again: {each}" for each in again),
            *(f"still there, it brings the session back when it is read: {each}" for each in self.recordings),
            *(f"FAILED: {each}" for each in self.report.failures),
            *(f"STILL HOLDS text of a forgotten session: {each}" for each in self.remaining),
        ]
