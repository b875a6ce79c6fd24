"""The database of Goose: its sessions in the form of exports."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import BegunRecording
from agent_wiki.readers import detect
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.database_copies import copied_with_log
from tests.readers.lines import shape, write_document, write_lines
from tests.readers.test_goose import HEADER, SESSION, TURNS

_SESSIONS = (
    "id TEXT PRIMARY KEY, name TEXT DEFAULT '', description TEXT DEFAULT '', session_type TEXT DEFAULT 'user', "
    "working_dir TEXT NOT NULL, created_at TIMESTAMP, extension_data TEXT DEFAULT '{}', total_tokens INTEGER, "
    "accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, "
    "accumulated_cost REAL, model_config_json TEXT, parent_session_id TEXT"
)
_MESSAGES = (
    "id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT NOT NULL, "
    "content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT"
)
ROW = {"id": "20260101_1", "name": "Tests", "working_dir": "/srv/shop", "created_at": "2026-01-01 00:00:00"}


def insert(database: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    names = ", ".join(row)
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", list(row.values()))


def made(path: Path, *sessions: tuple[dict[str, Any], Iterable[dict[str, Any]]]) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE sessions ({_SESSIONS})")
        database.execute(f"CREATE TABLE messages ({_MESSAGES})")
        for row, messages in sessions:
            insert(database, "sessions", row)
            for message in messages:
                kept = {"content_json": json.dumps(message["content"]), "created_timestamp": message["created"]}
                more = {"metadata_json": json.dumps(message["metadata"]), "role": message["role"]}
                insert(database, "messages", {"session_id": row["id"], **kept, **more})
    return path


def read(path: Path) -> tuple[list[Trajectory], Recording]:
    recording = Recording(path, path.name)
    assert detect.reader_of(recording).FORMAT == "goose"
    return list(detect.read(recording)), recording


def test_a_session_of_the_database_is_that_of_its_export(tmp_path: Path) -> None:
    spent = {"accumulated_input_tokens": 800, "accumulated_output_tokens": 100, "accumulated_cost": 0.5}
    row = ROW | spent | {"model_config_json": '{"model_name": "m-large"}'}
    ((found,), _) = read(made(tmp_path / "sessions.db", (row, TURNS)))
    exported = SESSION | spent | {"model_config": {"model_name": "m-large"}, "conversation": TURNS}
    (expected,) = detect.read(Recording(write_document(tmp_path / "a.json", exported).path, "a.json"))
    assert shape(found) == shape(expected)
    assert (found.session_id, found.model, found.timestamp) == (expected.session_id, "m-large", expected.timestamp)
    assert found.source == expected.source
    assert found.source.usage == Usage(input_tokens=800, output_tokens=100)


def test_a_session_of_a_file_is_the_one_that_was_imported_from_it(tmp_path: Path) -> None:
    imported = ROW | {"id": "20260101_101500", "created_at": "2026-03-09 08:07:06"}
    exported = SESSION | {"id": "20260101_101500", "created_at": "2026-03-09T08:07:06Z", "conversation": TURNS}
    recordings = [
        write_lines(tmp_path / "20260101_101500.jsonl", [HEADER, *TURNS]),
        Recording(made(tmp_path / "sessions.db", (imported, TURNS)), "sessions.db"),
        write_document(tmp_path / "export.json", exported),
    ]
    ids = {trajectory.session_id for recording in recordings for trajectory in detect.read(recording)}
    assert len(ids) == 1


def test_a_subagent_names_the_session_that_started_it(tmp_path: Path) -> None:
    child = ROW | {"id": "20260101_2", "created_at": "2026-01-01 00:00:07", "parent_session_id": "20260101_1"}
    later = [message | {"created": message["created"] + 8} for message in TURNS[:2]]
    (parent, found), _ = read(made(tmp_path / "sessions.db", (ROW, TURNS), (child, later)))
    assert found.source.parent_session_id == parent.session_id
    lost = child | {"parent_session_id": "20250101_9"}
    ((alone,), _) = read(made(tmp_path / "other.db", (lost, TURNS)))
    assert alone.source.parent_session_id == "20250101_9"


def test_what_is_still_in_the_log_beside_it_is_read(tmp_path: Path) -> None:
    values = f'(\'{ROW["id"]}\', \'user\', \'[{{"type": "text", "text": "Thanks."}}]\', 1767225700)'
    change = f"INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES {values}"
    copied = copied_with_log(made(tmp_path / "sessions.db", (ROW, TURNS)), tmp_path / "kept" / "sessions.db", change)
    ((found,), _) = read(copied)
    assert shape(found)[-1] == ("user", "Thanks.")


def test_a_row_that_is_no_json_is_left_out_and_named(tmp_path: Path) -> None:
    path = made(tmp_path / "sessions.db", (ROW, TURNS))
    with closing(sqlite3.connect(path)) as database, database:
        for content in ("{ no", "7"):
            row = {"session_id": ROW["id"], "role": "user", "content_json": content, "created_timestamp": 1}
            insert(database, "messages", row | {"metadata_json": "{ no"})
    ((found,), recording) = read(path)
    assert len(found.messages) == 4
    assert recording.warnings == [f"sessions.db: message {number} is not JSON, skipped" for number in (5, 6)]


def test_sessions_in_which_nothing_was_said_are_left_out(tmp_path: Path) -> None:
    other = ROW | {"id": "20260101_2"}
    ((found,), _) = read(made(tmp_path / "sessions.db", (ROW, []), (other, TURNS)))
    assert found.session_id.startswith("20260101_2-")
    recording = Recording(made(tmp_path / "empty.db", (ROW, [])), "empty.db")
    with pytest.raises(BegunRecording):
        list(detect.reader_of(recording).read(recording))
