"""OpenCode's database as documents, one a session, in the form of `opencode export`.

Since version 1.2 OpenCode keeps its sessions in one SQLite file. (The first OpenCode, another program of that name, has
other tables: `crush_database.py`.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_wiki.readers.sqlite_files import Database, Warn, rows
from agent_wiki.trajectory.json_text import value_or

_TABLES = ("session", "message", "part")
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY message_id, id"


def has_tables(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether a database is OpenCode's, by its tables."""
    return tables.keys() >= set(_TABLES)


def sessions(database: Database, warn: Warn) -> Iterator[dict[str, Any]]:
    """Each session as `{"info": …, "messages": [{"info": …, "parts": […]}]}`, by its id.

    What is no JSON is left out, and `warn` called with what it is.
    """
    for info in rows(database, "SELECT * FROM session ORDER BY id"):
        yield _session(database, info, warn)


def _session(database: Database, row: dict[str, Any], warn: Warn) -> dict[str, Any]:
    session_id = str(row.get("id"))
    parts: dict[str, list[dict[str, Any]]] = {}
    for part in rows(database, _PARTS, session_id):
        if not isinstance(found := value_or(part["data"], None), dict):
            warn(f"part {part['id']}")
        else:
            parts.setdefault(str(part["message_id"]), []).append({"id": part["id"], **found})
    messages: list[dict[str, Any]] = []
    for message in rows(database, _MESSAGES, session_id):
        if not isinstance(found := value_or(message["data"], None), dict):
            warn(f"message {message['id']}")
        else:
            messages.append({"info": {"id": message["id"], **found}, "parts": parts.get(str(message["id"]), [])})
    info = {name: row.get(name) for name in ("directory", "title", "version")}
    time = {"created": row.get("time_created"), "updated": row.get("time_updated")}
    return {"info": {"id": session_id, "parentID": row.get("parent_id"), "time": time, **info}, "messages": messages}
