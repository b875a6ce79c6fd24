"""What an agent harness gives a hook, and the transcript that it means.

Claude Code gives every hook JSON on standard input, and so do the hooks of Codex (session_id, transcript_path, cwd,
hook_event_name, stop_hook_active). Codex's older `notify` gives JSON as the last argument, its names with dashes,
without a transcript: the transcript is found by the thread id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent_wiki.errors import AgentWikiError
from agent_wiki.trajectory.lazily import dataclass, regex

_THREAD_ID = regex(r"[0-9A-Za-z][0-9A-Za-z_-]{7,99}")
_MOST_DAYS = 400


class HookProblem(AgentWikiError):
    """A hook's input cannot be used; `str()` is one line for the log."""


@dataclass(frozen=True, slots=True)
class HookInput:
    """What a harness says about a turn that ended. `is_continuation`: another hook made the agent continue."""

    event: str
    session_id: str
    transcript: Path | None
    cwd: Path
    is_continuation: bool = False


def parse_input(text: str, here: Path) -> HookInput:
    """The input of a hook, in any harness's spelling. `here` is used for a missing `cwd`. Raises `HookProblem`."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HookProblem(f"the hook's input is not JSON ({type(error).__name__})") from error
    if not isinstance(fields, dict):
        raise HookProblem("the hook's input is not a JSON object")
    transcript = _text(fields, "agent_transcript_path", "transcript_path", "transcriptPath")
    return HookInput(
        event=_text(fields, "hook_event_name", "type") or "Stop",
        session_id=_text(fields, "session_id", "thread-id", "thread_id", "sessionId", "conversation_id"),
        transcript=Path(transcript).expanduser() if transcript else None,
        cwd=Path(_text(fields, "cwd") or _first_folder(fields.get("workspace_roots")) or here),
        is_continuation=fields.get("stop_hook_active") is True,
    )


def _text(fields: Mapping[str, Any], *names: str) -> str:
    """The first of the named fields that is a text with characters in it."""
    return next((value for name in names if isinstance(value := fields.get(name), str) and value), "")


def _first_folder(roots: Any) -> str:
    return next((each for each in roots if isinstance(each, str)), "") if isinstance(roots, list) else ""


def transcript_of(hook: HookInput, environment: Mapping[str, str]) -> Path:
    """The turn's transcript: the file the harness names, else Codex's rollout of the thread. Raises `HookProblem`."""
    if hook.transcript is not None:
        if hook.transcript.is_file():
            return hook.transcript
        raise HookProblem(f"{hook.transcript}: no such transcript")
    if not _THREAD_ID.fullmatch(hook.session_id):
        raise HookProblem("the hook's input names neither a transcript nor a thread")
    home = Path(environment.get("CODEX_HOME") or Path("~/.codex").expanduser())
    for day in _days(home / "sessions"):
        found = sorted(day.glob(f"rollout-*{hook.session_id}.jsonl*"))
        if found:
            return found[-1]
    raise HookProblem(f"no rollout of thread {hook.session_id} below {home / 'sessions'}")


def _days(sessions: Path) -> Iterator[Path]:
    """Codex's folder `sessions`, then its folders `YYYY/MM/DD`, the latest first."""
    yield sessions
    days = sorted(sessions.glob("[0-9]*/[0-9]*/[0-9]*"), reverse=True)
    yield from days[:_MOST_DAYS]
