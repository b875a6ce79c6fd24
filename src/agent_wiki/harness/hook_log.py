"""What a hook did and what went wrong, as a value and as lines of `.evolve/hook.log`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path

from agent_wiki.errors import RunError
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.replacing import replacing

LOG = "hook.log"
"""What hooks write, in the project's folder for agents' files."""
_LONGEST_LOG = 256 * 1024  # bytes; beyond it the older half is dropped


@dataclass(slots=True)
class HookOutcome:
    """What a hook did, for tests and the log."""

    saved: list[Path] = field(default_factory=list)
    unchanged: int = 0
    cut: int = 0  # transcripts that are shorter than what is saved and say nothing new: that stays
    marked: list[str] = field(default_factory=list)  # sessions worth mining: `<session id>: <signs>`
    mined: list[str] = field(default_factory=list)  # names of the saved files that are now in the wiki
    without_lessons: list[str] = field(default_factory=list)  # names of those that hold nothing to learn
    asked: str = ""  # what an engine in the background was asked
    postponed: str = ""  # why something was left for the next turn
    problems: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One line for the log."""
        parts = [f"{len(self.saved)} saved, {self.unchanged} unchanged"]
        parts += [f"{self.cut} shorter than what is saved, which stays"] if self.cut else []
        parts += [f"to mine: {'; '.join(self.marked)}"] if self.marked else []
        parts += [f"mined: {len(self.mined)}"] if self.mined else []
        parts += [f"nothing to learn: {len(self.without_lessons)}"] if self.without_lessons else []
        parts += [f"asked {self.asked}"] if self.asked else []
        parts += [f"left for the next time: {self.postponed}"] if self.postponed else []
        return ", ".join(parts)


def log(cwd: Path, environment: Mapping[str, str], outcome: HookOutcome) -> None:
    """Append what was done and what went wrong. A log that cannot be written is no reason to fail."""
    from agent_wiki.harness.projects import project_root
    from agent_wiki.harness.saving import evolve_folder
    from agent_wiki.redaction.redact import redact_text

    with suppress(OSError, RunError):
        target = evolve_folder(project_root(cwd), environment) / LOG
        if target.parent.is_symlink() or target.is_symlink() or not (target.parent.is_dir() or outcome.problems):
            return
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        lines = [f"{now} PROBLEM {' | '.join(redact_text(each)[0].splitlines())}" for each in outcome.problems]
        if outcome.saved or outcome.cut or outcome.mined or outcome.postponed:
            lines.append(f"{now} {outcome.line()}")
        if lines:
            _append(target, "".join(f"{' '.join(line.split())}\n" for line in lines))


def _append(target: Path, text: str) -> None:
    """Append to the log; when it would grow beyond `_LONGEST_LOG`, its older half is dropped first."""
    content = text.encode("utf-8", "replace")[-_LONGEST_LOG // 2 :]
    if target.exists() and target.stat().st_size + len(content) > _LONGEST_LOG:
        newer_half = target.read_bytes()[-_LONGEST_LOG // 2 :]
        newer_half = newer_half[newer_half.find(b"\n") + 1 :]
        with replacing(target) as stream:
            stream.write(newer_half)
    descriptor = os.open(target, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "ab") as stream:
        stream.write(content)
