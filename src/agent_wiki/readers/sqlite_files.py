"""SQLite files opened without changing anything beside them, and their tables and rows.

The latest of a database may be in a log beside it (`…-wal`). Tables are read by their names and rows by their columns;
no view, trigger or function that a file defines is run.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from agent_wiki.errors import UnreadableRecording

MAGIC = b"SQLi"  # of "SQLite format 3"

Database = Any  # a connection of `sqlite3`, which is imported only when needed
Warn = Callable[[str], None]  # called with what was left out, such as "part prt_1"


@contextmanager
def opened(stream: IO[bytes], name: str, *, plain: Path | None, log: IO[bytes] | None) -> Iterator[Database]:
    """A database that is only read.

    `stream` has its bytes and `log` those of the log beside it; `plain` is the file itself, where it needs no copy: on
    the disk, not packed and without a log. Raises `UnreadableRecording` for a damaged file, also while it is read.
    """
    import sqlite3

    with _address(stream, plain, log) as address:
        try:
            with closing(sqlite3.connect(address, uri=True)) as database:
                database.text_factory = _text
                database.execute("PRAGMA trusted_schema = OFF")
                yield database
        except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:  # a message may quote damaged bytes
            reason = (str(error) or type(error).__name__).partition("\n")[0][:200]
            raise UnreadableRecording(name, f"damaged SQLite file: {reason}") from error


@contextmanager
def _address(stream: IO[bytes], plain: Path | None, log: IO[bytes] | None) -> Iterator[str]:
    if plain is not None:
        yield f"{plain.absolute().as_uri()}?mode=ro&immutable=1"
        return
    with tempfile.TemporaryDirectory(prefix="agent-wiki-") as folder:
        copy = Path(folder, "sessions.db")
        for source, target in ((stream, copy), (log, copy.with_name(f"{copy.name}-wal"))):
            if source is not None:
                with target.open("wb") as written:
                    shutil.copyfileobj(source, written)
        yield copy.as_uri()


def tables(database: Database) -> dict[str, frozenset[str]]:
    """The columns of each table, by its name; views and virtual tables are none."""
    found = [
        str(row["name"])
        for row in rows(database, "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        if not str(row["sql"]).upper().startswith("CREATE VIRTUAL")
    ]
    columns = "SELECT name FROM pragma_table_info(?)"
    return {table: frozenset(str(row["name"]) for row in rows(database, columns, table)) for table in found}


def rows(database: Database, query: str, *values: str) -> Iterator[dict[str, Any]]:
    """The rows of a query, each by its columns; bytes are read as text."""
    cursor = database.execute(query, values)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, (_text(each) if isinstance(each, bytes) else each for each in row), strict=True))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
