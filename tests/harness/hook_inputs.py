"""What Claude Code and Codex give a hook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

THREAD = "019ddb92-a731-7430-b728-f53961a89cb4"


def claude_input(transcript: Path | str, cwd: Path | str, **fields: Any) -> dict[str, Any]:
    """What Claude Code gives a Stop hook on standard input."""
    found = {
        "session_id": "00893aaf-19fa-41d2-8238-13269b9b3ca0",
        "transcript_path": str(transcript),
        "cwd": str(cwd),
        "permission_mode": "default",
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "last_assistant_message": "Done.",
    }
    return {**found, **fields}


def codex_notification(cwd: Path | str, thread: str = THREAD) -> dict[str, Any]:
    """What Codex gives its `notify` program as the last argument."""
    return {
        "type": "agent-turn-complete",
        "thread-id": thread,
        "turn-id": "12345",
        "cwd": str(cwd),
        "client": "codex-tui",
        "input-messages": ["Rename `foo` to `bar`."],
        "last-assistant-message": "Renamed.",
    }


def codex_input(transcript: Path | str | None, cwd: Path | str, thread: str = THREAD) -> dict[str, Any]:
    """What Codex gives a Stop hook on standard input."""
    return {
        "session_id": thread,
        "turn_id": "12345",
        "transcript_path": None if transcript is None else str(transcript),
        "cwd": str(cwd),
        "hook_event_name": "Stop",
        "model": "gpt-5.5",
        "permission_mode": "default",
        "stop_hook_active": False,
        "last_assistant_message": None,
    }
