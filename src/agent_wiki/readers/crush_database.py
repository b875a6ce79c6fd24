"""The database of Crush, and of the first OpenCode, from which Crush comes, as documents, one a session.

Both keep it in the project's folder (`.crush/crush.db`, `.opencode/opencode.db`), with the same tables. Of a database
it is seen whose it is: Crush records the provider of a message from its first release on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_wiki.readers.sqlite_files import Database, Warn, rows
from agent_wiki.trajectory.json_text import value_or

# The columns that all versions have and other programs' tables of these names lack.
_COLUMNS = {
    "sessions": {"id", "title", "message_count", "prompt_tokens", "completion_tokens", "cost", "created_at"},
    "messages": {"id", "session_id", "role", "parts", "model", "created_at"},
}
_OF_SESSION = ("id", "parent_session_id", "title", "cost", "summary_message_id", "summary", "summarized_at")
_OF_MESSAGE = ("id", "role", "model", "created_at", "updated_at", "finished_at", "is_summary_message")
# Times are whole seconds, so that several messages have the same one.
_MESSAGES = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid"
_SUBAGENTS = "SELECT id, cost FROM sessions WHERE parent_session_id = ? ORDER BY id"


def has_tables(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether a database is Crush's or the first OpenCode's, by the columns of its tables."""
    return all(tables.get(table, frozenset()) >= columns for table, columns in _COLUMNS.items())


def sessions(database: Database, tables: Mapping[str, frozenset[str]], warn: Warn) -> Iterator[dict[str, Any]]:
    """Each session as `{"agent", "session", "subagents", "messages": [{…, "parts": […]}]}`, by its id.

    Rows have the names of their columns, of those that are read; `subagents` the id and cost of sessions that it
    started. What is no JSON is left out, and `warn` called with what it is.
    """
    agent = "crush" if "provider" in tables["messages"] else "opencode"
    names_parents = "parent_session_id" in tables["sessions"]
    for row in rows(database, "SELECT * FROM sessions ORDER BY id"):
        session_id = str(row["id"])
        yield {
            "agent": agent,
            "session": _only(row, _OF_SESSION),
            "subagents": list(rows(database, _SUBAGENTS, session_id)) if names_parents else [],
            "messages": list(_messages(database, session_id, warn)),
        }


def _messages(database: Database, session_id: str, warn: Warn) -> Iterator[dict[str, Any]]:
    for row in rows(database, _MESSAGES, session_id):
        if not isinstance(parts := value_or(row["parts"], None), list):
            warn(f"message {row['id']}")
        else:
            yield _only(row, _OF_MESSAGE) | {"parts": parts}


def _only(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names if row.get(name) is not None}
