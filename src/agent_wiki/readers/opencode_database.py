"""OpenCode's database as documents, one a session, in the form of `opencode export`. It is never opened to write.

Since version 1.2 OpenCode keeps its sessions in one SQLite file, the latest of them in a log beside it (`…-wal`).
Tables are read by their names and rows by their columns; no view, trigger or function that a file defines is run.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.trajectory.json_text import value_or

MAGIC = b"SQLi"  # of "SQLite format 3"

_TABLES = ("session", "message", "part")
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY message_id, id"

Warn = Callable[[str], None]


def sessions(
    stream: IO[bytes], name: str, *, plain: Path | None, log: IO[bytes] | None, warn: Warn
) -> Iterator[dict[str, Any]]:
    """Each session as `{"info": …, "messages": [{"info": …, "parts": […]}]}`, by its id.

    `stream` has the database's bytes and `log` those of the log beside it; `plain` is the file itself, where it needs
    no copy: on the disk, not packed and without a log. What is no JSON is left out, and `warn` called with a sentence.
    Raises `UnreadableRecording` for a damaged file, and for one that is not OpenCode's.
    """
    import sqlite3

    with _opened(stream, plain, log) as address:
        try:
            with closing(sqlite3.connect(address, uri=True)) as database:
                database.text_factory = lambda raw: raw.decode("utf-8", "replace")
                database.execute("PRAGMA trusted_schema = OFF")
                _expect_tables(database, name)
                for info in _rows(database, "SELECT * FROM session ORDER BY id"):
                    yield _session(database, info, lambda what: warn(f"{name}: {what} is not JSON, skipped"))
        except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:  # a message may quote damaged bytes
            reason = (str(error) or type(error).__name__).partition("\n")[0][:200]
            raise UnreadableRecording(name, f"damaged SQLite file: {reason}") from error


@contextmanager
def _opened(stream: IO[bytes], plain: Path | None, log: IO[bytes] | None) -> Iterator[str]:
    """The address of a file that can be opened without changing anything beside the recording."""
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


def _expect_tables(database: Any, name: str) -> None:
    found = {
        row["name"]
        for row in _rows(database, "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        if not str(row["sql"]).upper().startswith("CREATE VIRTUAL")
    }
    if not found.issuperset(_TABLES):
        raise UnreadableRecording(name, "a SQLite file without the tables of OpenCode", is_foreign=True)


def _rows(database: Any, query: str, *values: str) -> Iterator[dict[str, Any]]:
    cursor = database.execute(query, values)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def _session(database: Any, row: dict[str, Any], warn: Warn) -> dict[str, Any]:
    session_id = str(row.get("id"))
    parts: dict[str, list[dict[str, Any]]] = {}
    for part in _rows(database, _PARTS, session_id):
        if not isinstance(found := value_or(part["data"], None), dict):
            warn(f"part {part['id']}")
        else:
            parts.setdefault(str(part["message_id"]), []).append({"id": part["id"], **found})
    messages: list[dict[str, Any]] = []
    for message in _rows(database, _MESSAGES, session_id):
        if not isinstance(found := value_or(message["data"], None), dict):
            warn(f"message {message['id']}")
        else:
            messages.append({"info": {"id": message["id"], **found}, "parts": parts.get(str(message["id"]), [])})
    info = {name: row.get(name) for name in ("directory", "title", "version")}
    time = {"created": row.get("time_created"), "updated": row.get("time_updated")}
    return {"info": {"id": session_id, "parentID": row.get("parent_id"), "time": time, **info}, "messages": messages}
