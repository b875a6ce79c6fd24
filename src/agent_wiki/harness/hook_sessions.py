"""What a hook saves of a session, one file however often it is called or killed, and whether that will be mined."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.harness import saving
from agent_wiki.harness.cut_transcripts import has_summary, is_compacted, joined, says_nothing_new
from agent_wiki.harness.hook_log import HookOutcome
from agent_wiki.harness.hook_memory import HookMemory, is_saved
from agent_wiki.harness.signs import signs_to_learn
from agent_wiki.trajectory import Trajectory, digest
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import caseless_file_stem
from agent_wiki.wiki.records import record_path


@dataclass(frozen=True, slots=True)
class SessionState:
    """What is remembered of a session between two hooks. What a file from elsewhere says wrongly is as if not said."""

    digest: str = ""  # of what is saved; "" while a file is named and not written yet
    file: str = ""
    looked_at: int = 0  # turns
    marked: str = ""  # digest of what was last marked as pending
    turns: int = 0  # of what is saved, and its characters; 0 where that was not noted
    characters: int = 0

    @classmethod
    def of(cls, stored: dict[str, Any]) -> SessionState:
        """The state that was stored; its file is a name, never a path."""
        digest, file, marked = (str(stored.get(name) or "") for name in ("digest", "file", "marked"))
        counts = [stored.get(name) for name in ("looked_at", "turns", "characters")]
        looked_at, turns, characters = (each if isinstance(each, int) else 0 for each in counts)
        return cls(digest, Path(file).name, looked_at, marked, turns, characters)

    def stored(self) -> dict[str, Any]:
        """As `of` reads it."""
        fields = {"digest": self.digest, "file": self.file, "looked_at": self.looked_at}
        length = {"turns": self.turns, "characters": self.characters}
        return {**fields, **length, **({"marked": self.marked} if self.marked else {})}


def save_and_mark(
    trajectory: Trajectory,
    folder: Path,
    memory: HookMemory,
    outcome: HookOutcome,
    wiki: Path | None,
    *,
    is_ending: bool,
) -> str:
    """Save one trajectory unless it is saved as it is now; a session's later state replaces the earlier one's file.

    It is marked as pending when the turns since the last look show a sign of something to learn, and at its end when
    the wiki has another state of it: Claude Code writes the last reply and the cost after the last turn's hook. Out:
    its stem.
    """
    stem = caseless_file_stem(trajectory.session_id)
    before = SessionState.of(memory.read(_name(stem)))
    saved, trajectory = _saved(trajectory, before, folder, memory, outcome)
    turns = max(len(trajectory.messages), saved.turns)
    since = before.looked_at if before.looked_at <= turns else 0
    signs = tuple[str, ...]()
    if wiki is not None and since < turns:
        signs = signs_to_learn(trajectory, since)
        since = turns
    is_other = wiki is not None and is_ending and before.marked != saved.digest
    if wiki is not None and is_other and (wiki / record_path(trajectory.session_id)).is_file():
        signs = signs or ("its end",)
    if signs:
        saved = replace(saved, marked=saved.digest)
        memory.mark_pending(stem, saved.file, saved.digest)
        outcome.marked.append(f"{trajectory.session_id}: {', '.join(signs)}")
    after = replace(saved, looked_at=since)
    if after != before:
        memory.write(_name(stem), after.stored())
    return stem


def _name(stem: str) -> str:
    return f"sessions/{stem}.json"


def _saved(
    trajectory: Trajectory, before: SessionState, folder: Path, memory: HookMemory, outcome: HookOutcome
) -> tuple[SessionState, Trajectory]:
    """The state once the trajectory is saved, and the trajectory as it was saved.

    One that was cut and says nothing new is not saved. What a compaction took out of a transcript stays saved: what the
    transcript adds comes after it. A new file is noted before it is there: a killed hook's is used again."""
    found = digest(trajectory)
    has_file = bool(before.file) and is_saved(folder / before.file)
    if before.digest == found and has_file:
        outcome.unchanged += 1
        return before, trajectory
    earlier = _earlier(trajectory, before, folder / before.file) if has_file else None
    if earlier is not None and _length(trajectory) < _length(earlier) and says_nothing_new(trajectory, earlier):
        outcome.cut += 1
        turns, characters = _length(earlier)
        return replace(before, turns=turns, characters=characters), trajectory
    if earlier is not None and is_compacted(trajectory, earlier):
        trajectory = joined(trajectory, earlier)
    if has_file:
        saving.replace(folder / before.file, trajectory)
        file = before.file
    else:
        named = replace(before, digest="")
        stem = caseless_file_stem(trajectory.session_id)
        file = saving.write_new(
            folder,
            trajectory,
            datetime.now(UTC),
            lambda name: memory.write(_name(stem), replace(named, file=name).stored()),
        ).name
    outcome.saved.append(folder / file)
    turns, characters = _length(trajectory)
    return replace(before, digest=found, file=file, turns=turns, characters=characters), trajectory


def _length(trajectory: Trajectory) -> tuple[int, int]:
    """Turns, then characters."""
    return len(trajectory.messages), trajectory.characters()


def _earlier(state: Trajectory, before: SessionState, file: Path) -> Trajectory | None:
    """What is saved of a session if `state` may lack something of it; None where it cannot be read.

    That is a shorter state, one with a summary, and any if an earlier version did not note how much is saved.
    """
    if before.turns and _length(state) >= (before.turns, before.characters) and not has_summary(state):
        return None
    with suppress(UnreadableRecording):
        return next(iter(saving.trajectories(file, file.name, [])))
    return None
