"""Binary files whose rows read like lines: tables in Parquet, and databases of OpenCode, Crush and Goose."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from agent_wiki.errors import EmptyRecording, UnreadableRecording
from agent_wiki.readers import crush_database, goose_database, opencode_database, parquet_rows, sqlite_files
from agent_wiki.readers.recording_path import path_beside
from agent_wiki.readers.unpacked import unpacking

if TYPE_CHECKING:
    from agent_wiki.readers.recording import Recording

MAGICS = (parquet_rows.MAGIC, sqlite_files.MAGIC)
"""What such files begin with."""


def rows(recording: Recording) -> Iterator[tuple[int, Any]]:
    """Yield `(row, value)` of such a file, rows counted from 1. Raises `UnreadableRecording`."""
    is_database = recording.magic() == sqlite_files.MAGIC
    with unpacking(recording.name), recording.open() as stream:
        if is_database:
            yield from enumerate(_sessions(recording, stream), start=1)
        else:
            yield from enumerate(parquet_rows.rows(stream, recording.name, recording.path.stat().st_size), start=1)


def _sessions(recording: Recording, stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The sessions of a database, with those that are still in the log beside it."""
    log_name = f"{recording.path.name}-wal"
    log_bytes, _ = recording.signature_beside(log_name) or (0, 0)

    def warn_once(what: str) -> None:
        warning = f"{recording.name}: {what} is not JSON, skipped"
        if warning not in recording.warnings:  # looking at the first rows may have added it
            recording.warnings.append(warning)

    with path_beside(recording.path, log_name).open("rb") if log_bytes else nullcontext() as log:
        plain = None if log_bytes else _unpacked_path(recording)
        with sqlite_files.opened(stream, recording.name, plain=plain, log=log) as database:
            yield from _sessions_of(database, recording.name, warn_once)


def _sessions_of(database: sqlite_files.Database, name: str, warn: sqlite_files.Warn) -> Iterator[dict[str, Any]]:
    """The sessions of whichever program a database is from. Raises `UnreadableRecording` for that of another."""
    tables = sqlite_files.tables(database)
    if opencode_database.has_tables(tables):
        found = opencode_database.sessions(database, warn)
    elif crush_database.has_tables(tables):
        found = crush_database.sessions(database, tables, warn)
    elif goose_database.has_tables(tables):
        found = goose_database.sessions(database, warn)
    else:
        raise UnreadableRecording(name, "a SQLite file without the tables of OpenCode, Crush or Goose", is_foreign=True)
    is_empty = True
    for session in found:
        is_empty = False
        yield session
    if is_empty:
        raise EmptyRecording(name, "a database without sessions")


def _unpacked_path(recording: Recording) -> Path | None:
    """The file itself, if it is on the disk and not packed."""
    if not isinstance(recording.path, Path):
        return None
    with recording.path.open("rb") as stream:
        return recording.path if stream.read(len(sqlite_files.MAGIC)) == sqlite_files.MAGIC else None
