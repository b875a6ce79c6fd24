"""The database of Goose (`~/.local/share/goose/sessions/sessions.db`) as documents, each in the form of its export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_wiki.readers.recorded import mapping
from agent_wiki.readers.sqlite_files import Database, Warn, rows
from agent_wiki.trajectory.json_text import value_or

# The columns that all versions have and other programs' tables of these names lack.
_COLUMNS = {
    "sessions": {"id", "working_dir", "extension_data", "accumulated_total_tokens", "created_at"},
    "messages": {"id", "session_id", "role", "content_json", "created_timestamp"},
}
_OF_SESSION = (
    "id", "name", "description", "working_dir", "created_at", "parent_session_id", "accumulated_cost",
    "accumulated_input_tokens", "accumulated_output_tokens", "accumulated_cache_read_tokens",
    "accumulated_cache_write_tokens",
)  # fmt: skip
_MESSAGES = "SELECT * FROM messages WHERE session_id = ? ORDER BY id"


def has_tables(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether a database is Goose's, by the columns of its tables."""
    return all(tables.get(table, frozenset()) >= columns for table, columns in _COLUMNS.items())


def sessions(database: Database, warn: Warn) -> Iterator[dict[str, Any]]:
    """Each session as `{"id", "working_dir", …, "model_config", "conversation": [{"role", "created", …}]}`, by its id.

    `parent_began` is the time of the first message of the session that started it. What is no JSON is left out, and
    `warn` called with what it is.
    """
    for row in rows(database, "SELECT * FROM sessions ORDER BY id"):
        document = {name: row[name] for name in _OF_SESSION if row.get(name) is not None}
        yield document | {
            "parent_began": _began(database, row.get("parent_session_id")),
            "model_config": mapping(value_or(str(row.get("model_config_json")), None)),
            "conversation": list(_messages(database, str(row["id"]), warn)),
        }


def _began(database: Database, session_id: Any) -> Any:
    """When the first message of a session was said; None where it has none."""
    said = _messages(database, session_id, lambda _: None) if isinstance(session_id, str) else iter(())
    return next(said, {}).get("created")


def _messages(database: Database, session_id: str, warn: Warn) -> Iterator[dict[str, Any]]:
    for row in rows(database, _MESSAGES, session_id):
        content = value_or(row["content_json"], None) if isinstance(row["content_json"], str) else None
        if not isinstance(content, list):
            warn(f"message {row['id']}")
            continue
        metadata = mapping(value_or(str(row.get("metadata_json")), None))
        yield {"role": row["role"], "created": row["created_timestamp"], "content": content, "metadata": metadata}
