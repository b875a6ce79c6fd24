"""Small files beside a recording that say more about it: verdicts, rewards, results of a harness.

One that is missing, large or damaged is as none: the recording is read without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_wiki.trajectory.json_text import value_of

_BYTES_AT_MOST = 1 << 24


def text_beside(path: Path) -> str | None:
    """The text of a small file; None where there is none."""
    try:
        if not path.is_file() or path.stat().st_size > _BYTES_AT_MOST:
            return None
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def json_beside(path: Path) -> dict[str, Any]:
    """The JSON object in a small file; empty where there is none."""
    try:
        found = value_of(text_beside(path) or "null")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
