"""A database of Crush or of the first OpenCode, written for tests: its tables, and rows of sessions and messages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

START = 1_750_000_000
_SESSIONS = (
    "id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER DEFAULT 0, "
    "prompt_tokens INTEGER DEFAULT 0, completion_tokens INTEGER DEFAULT 0, cost REAL DEFAULT 0.0, "
    "updated_at INTEGER, created_at INTEGER, summary_message_id TEXT"
)
_MESSAGES = (
    "id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL, model TEXT, "
    "created_at INTEGER, updated_at INTEGER, finished_at INTEGER"
)
_FILES = "id TEXT PRIMARY KEY, session_id TEXT, path TEXT, content TEXT, version TEXT"
_OF_CRUSH = ", provider TEXT, is_summary_message INTEGER NOT NULL DEFAULT 0"


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "data": {"text": said, **more}}


def thought(said: str) -> dict[str, Any]:
    return {"type": "reasoning", "data": {"thinking": said, "signature": ""}}


def call(call_id: str, tool: str, arguments: Any) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"type": "tool_call", "data": {"id": call_id, "name": tool, "input": written, "finished": True}}


def result(call_id: str, shown: Any, *, is_error: bool = False, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "data": {"tool_call_id": call_id, "content": shown, "is_error": is_error, **more}}


def finish(reason: str, **more: str) -> dict[str, Any]:
    return {"type": "finish", "data": {"reason": reason, "time": START, **more}}


def user(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [*parts, finish("stop")], **more}


def reply(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "parts": list(parts), "model": "gpt-4.1", **more}


def results(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "tool", "parts": [*parts, finish("stop")], **more}


def made(path: Path, sessions: Iterable[dict[str, Any]], *, is_crush: bool = False) -> Path:
    """A database with sessions as `{…, "messages": […]}`: what a row lacks has a default, such as a time of its own."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE sessions ({_SESSIONS})")
        database.execute(f"CREATE TABLE messages ({_MESSAGES}{_OF_CRUSH if is_crush else ''})")
        database.execute(f"CREATE TABLE files ({_FILES})")
        for number, session in enumerate(sessions, start=1):
            row = {"id": f"s-{number}", "title": "A task", "created_at": START, "updated_at": START, **session}
            messages = row.pop("messages")
            _insert(database, "sessions", row)
            for position, message in enumerate(messages):
                _insert(database, "messages", _message(f"{row['id']}-m-{position}", row["id"], position, message))
    return path


def _message(message_id: str, session_id: str, position: int, message: dict[str, Any]) -> dict[str, Any]:
    times = {"created_at": START + position, "updated_at": START + position}
    parts = message["parts"]
    return {"id": message_id, "session_id": session_id, **times, **message} | {
        "parts": parts if isinstance(parts, str | bytes) else json.dumps(parts)
    }


def _insert(database: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    places = ", ".join("?" for _ in row)
    database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", [*row.values()])
