"""Codex: `AGENTS.md`, and hooks in `.codex/hooks.json`, which run once the project and each hook are trusted.

A turn that a person interrupts fires `Interrupt` instead of `Stop`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_wiki.harness.agents.agent import Agent, Hook, HookFile, always

_MOST_DAYS = 400
_NOTES = (
    "Codex reads .codex/hooks.json in a project that you trust, and skips a new hook until you approve it in /hooks",
    "a Codex without hooks: put notify = {notify} into ~/.codex/config.toml by hand (a project's own is ignored)",
)


def _notes(folder: Path, wiki: str) -> list[str]:
    notify = json.dumps(["wiki", "hook", "stop", "--wiki", wiki])
    notes = [note.format(notify=notify) for note in _NOTES]
    if (folder / "AGENTS.override.md").exists():
        notes.append("AGENTS.override.md exists here: Codex reads it instead of AGENTS.md")
    return notes


def _rollout_of(thread_id: str, environment: Mapping[str, str]) -> Path | None:
    """The latest rollout of a thread below `$CODEX_HOME/sessions`."""
    home = Path(environment.get("CODEX_HOME") or Path("~/.codex").expanduser())
    for day in _days(home / "sessions"):
        found = sorted(day.glob(f"rollout-*{thread_id}.jsonl*"))
        if found:
            return found[-1]
    return None


def _days(sessions: Path) -> Iterator[Path]:
    """The folder `sessions`, then its folders `YYYY/MM/DD`, the latest first."""
    yield sessions
    days = sorted(sessions.glob("[0-9]*/[0-9]*/[0-9]*"), reverse=True)
    yield from days[:_MOST_DAYS]


AGENT = Agent(
    name="codex",
    title="Codex",
    program="codex",
    pointer=always("AGENTS.md"),
    signs=(".codex", "AGENTS.override.md"),
    hook_file=HookFile(
        ".codex/hooks.json",
        (
            Hook("SessionStart", "start", 10),
            Hook("Stop", "stop", 60),
            Hook("SubagentStop", "stop", 60),
            Hook("Interrupt", "stop", 3),  # Codex warns of more
            Hook("SessionEnd", "stop", 3),
        ),
    ),
    notes=_notes,
    transcript_of=_rollout_of,
)
