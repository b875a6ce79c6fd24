"""Small files beside a recording that say more about it: verdicts, rewards, results of a harness.

One that is missing, large or damaged is as none: the recording is read without it.
"""

from __future__ import annotations

from typing import Any

from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory.json_text import value_of


def text_beside(recording: Recording, name: str) -> str | None:
    """The text of a small file, named from the recording's folder; None where there is none."""
    content = recording.beside(name)
    return None if content is None else content.decode("utf-8", "replace")


def json_beside(recording: Recording, name: str) -> dict[str, Any]:
    """The JSON object in a small file; empty where there is none."""
    try:
        found = value_of(text_beside(recording, name) or "null")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
