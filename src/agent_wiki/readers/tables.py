"""Binary files whose rows read like lines: tables in Parquet, and OpenCode's database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from agent_wiki.readers import opencode_database, parquet_rows
from agent_wiki.readers.recording_path import path_beside
from agent_wiki.readers.unpacked import unpacking

if TYPE_CHECKING:
    from agent_wiki.readers.recording import Recording

MAGICS = (parquet_rows.MAGIC, opencode_database.MAGIC)
"""What such files begin with."""


def rows(recording: Recording) -> Iterator[tuple[int, Any]]:
    """Yield `(row, value)` of such a file, rows counted from 1. Raises `UnreadableRecording`."""
    is_database = recording.magic() == opencode_database.MAGIC
    with unpacking(recording.name), recording.open() as stream:
        if is_database:
            yield from enumerate(_sessions(recording, stream), start=1)
        else:
            yield from enumerate(parquet_rows.rows(stream, recording.name, recording.path.stat().st_size), start=1)


def _sessions(recording: Recording, stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The sessions of a database, with those that are still in the log beside it."""
    log_name = f"{recording.path.name}-wal"
    log_bytes, _ = recording.signature_beside(log_name) or (0, 0)

    def warn_once(warning: str) -> None:
        if warning not in recording.warnings:  # looking at the first rows may have added it
            recording.warnings.append(warning)

    with path_beside(recording.path, log_name).open("rb") if log_bytes else nullcontext() as log:
        plain = None if log_bytes else _unpacked_path(recording)
        yield from opencode_database.sessions(stream, recording.name, plain=plain, log=log, warn=warn_once)


def _unpacked_path(recording: Recording) -> Path | None:
    """The file itself, if it is on the disk and not packed."""
    if not isinstance(recording.path, Path):
        return None
    with recording.path.open("rb") as stream:
        return recording.path if stream.read(len(opencode_database.MAGIC)) == opencode_database.MAGIC else None
