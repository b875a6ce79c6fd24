"""What `wiki redact` changed: by file, kind and place, never by value; as lines and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, field
from typing import Any

from agent_wiki.pipeline.taken_out import TakenOut
from agent_wiki.redaction.redact import redact_text
from agent_wiki.redaction.values import PERSONAL
from agent_wiki.report import Report
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted


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
