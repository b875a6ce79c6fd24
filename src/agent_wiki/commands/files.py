"""Files that a command's words name, and standard input: what is wrong with one is one line."""

from __future__ import annotations

import sys
from pathlib import Path

from agent_wiki.errors import RunError, UsageError


def text_in(file: Path | None) -> str:
    """The text of a file, or of standard input without one. Raises `UsageError`."""
    place = place_of(file)
    try:
        return (sys.stdin.buffer.read() if file is None else file.read_bytes()).decode("utf-8")
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{place}: not UTF-8 text") from error


def place_of(file: Path | None) -> str:
    """What messages call it."""
    return str(file) if file is not None else "standard input"


def write_bytes(file: Path, content: bytes) -> None:
    """Write a file that the owner named. Raises `RunError`."""
    try:
        file.write_bytes(content)
    except OSError as error:
        raise RunError(f"{file}: cannot write ({error.strerror})") from error
