"""The database of Crush and of the first OpenCode: whole, in a log, packed, damaged, or another program's."""

from __future__ import annotations

import gzip
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import EmptyRecording, UnreadableRecording
from agent_wiki.pipeline.inputs import input_files
from agent_wiki.pipeline.readable import readable
from agent_wiki.pipeline.report import Report
from agent_wiki.readers import detect
from agent_wiki.readers.recording import Recording
from tests.hangs import no_hang
from tests.readers.crush_rows import call, finish, made, reply, result, results, text, user
from tests.readers.database_copies import copied_with_log
from tests.readers.sent import read


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Three sessions, one of them a subagent's."""
    messages = [
        user(text("Please list")),
        reply(text("I list."), call("c", "agent", {"prompt": "List"})),
        results(result("c", "a.py")),
        reply(text("There is one file."), finish("end_turn")),
    ]
    sessions: list[dict[str, Any]] = [
        {"id": "one", "cost": 0.5, "messages": messages},
        {"id": "m$$c", "parent_session_id": "one", "cost": 0.25, "messages": messages},
        {"id": "two", "messages": messages[:1]},
    ]
    (tmp_path / "kept").mkdir()
    return made(tmp_path / "kept" / "crush.db", sessions, is_crush=True)


def refusal(path: Path) -> UnreadableRecording:
    with pytest.raises(UnreadableRecording) as found:
        list(detect.read(Recording(path, path.name)))
    return found.value


def changed(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return path


def test_all_that_the_tables_hold_is_read(database: Path) -> None:
    parts = "FROM messages, json_each(parts) AS part WHERE json_extract(part.value, '$.type') ="
    with closing(sqlite3.connect(database)) as connection:
        counted = [
            connection.execute(f"SELECT count(*) {parts} ?", [kind]).fetchone()[0]
            for kind in ("text", "tool_call", "tool_result")
        ]
    turns = [message for trajectory in read(database) for message in trajectory.messages]
    said = sum(message.content is not None and message.role != "tool" for message in turns)
    calls = sum(len(message.tool_calls) for message in turns)
    assert [said, calls, sum(message.role == "tool" for message in turns)] == counted


def test_one_reader_claims_the_database(database: Path) -> None:
    sample = Recording(database, database.name).sample()
    assert [reader.FORMAT for reader in detect.readers() if reader.claims(sample)] == ["crush"]


def test_reading_leaves_nothing_beside_the_database_and_needs_no_right_to(database: Path) -> None:
    before = database.read_bytes()
    database.parent.chmod(0o500)
    try:
        assert [each.session_id for each in read(database)] == ["m$$c", "one", "two"]
    finally:
        database.parent.chmod(0o700)
    assert list(database.parent.iterdir()) == [database]
    assert database.read_bytes() == before


def test_a_packed_database_is_read(database: Path, tmp_path: Path) -> None:
    packed = tmp_path / "crush.db.gz"
    packed.write_bytes(gzip.compress(database.read_bytes()))
    assert read(packed) == read(database)


def test_sessions_that_are_only_in_the_log_are_read(database: Path, tmp_path: Path) -> None:
    change = "UPDATE sessions SET title = 'From the log' WHERE id = 'two'"
    copy = copied_with_log(database, tmp_path / "copied" / "crush.db", change)
    assert "From the log" in {trajectory.source.title for trajectory in read(copy)}
    assert sorted(each.name for each in copy.parent.iterdir()) == ["crush.db", "crush.db-wal"]


def test_the_files_beside_a_database_are_no_news(database: Path) -> None:
    for name in ("crush.db-wal", "crush.db-shm"):
        database.with_name(name).write_bytes(b"")
    report = Report("normalize", "w")
    for file in input_files([database.parent]):
        list(readable(file, report))
    assert (report.passed_over, report.warnings, report.failures) == ([], [], [])


def test_what_is_no_json_is_named_and_the_rest_is_read(database: Path) -> None:
    changed(database, "UPDATE messages SET parts = '{' WHERE id = 'one-m-3'")
    recording = Recording(database, database.name)
    assert [len(trajectory.messages) for trajectory in detect.read(recording)] == [4, 3, 1]
    assert recording.warnings == ["crush.db: message one-m-3 is not JSON, skipped"]


def test_parts_that_are_stored_as_bytes_are_read(database: Path) -> None:
    before = read(database)
    changed(database, "UPDATE messages SET parts = CAST(parts AS BLOB)")
    assert read(database) == before


@pytest.mark.parametrize(
    "definitions",
    [
        ["DROP TABLE sessions"],
        ["DROP TABLE messages"],
        ["ALTER TABLE messages DROP COLUMN parts"],
        ["ALTER TABLE sessions DROP COLUMN completion_tokens"],  # tables of these names are any chat program's
        ["ALTER TABLE messages RENAME TO kept", "CREATE VIEW messages AS SELECT * FROM kept"],
    ],
)
def test_another_database_is_not_read(database: Path, definitions: list[str]) -> None:
    error = refusal(changed(database, *definitions))
    assert error.is_foreign
    assert str(error) == "crush.db: a SQLite file without the tables of OpenCode, Crush or Goose"


def test_what_later_versions_add_changes_nothing(database: Path) -> None:
    before = read(database)
    changed(database, "ALTER TABLE sessions ADD COLUMN todos TEXT DEFAULT '[]'", "CREATE TABLE read_files (path TEXT)")
    assert read(database) == before


def test_a_database_of_before_subagents_and_summaries_is_read(database: Path) -> None:
    columns = ("parent_session_id", "summary_message_id")
    changed(database, *(f"ALTER TABLE sessions DROP COLUMN {column}" for column in columns))
    assert [trajectory.source.parent_session_id for trajectory in read(database)] == [None, None, None]


def test_a_database_without_sessions_is_empty(database: Path) -> None:
    error = refusal(changed(database, "DELETE FROM sessions"))
    assert isinstance(error, EmptyRecording)
    assert str(error) == "crush.db: a database without sessions"


def test_sessions_without_messages_are_none(database: Path) -> None:
    path = changed(database, "DELETE FROM messages")
    assert list(detect.read(Recording(path, path.name))) == []


def test_a_damaged_database_is_reported_or_read(database: Path) -> None:
    whole = database.read_bytes()
    database.write_bytes(whole[:5000])
    assert "damaged SQLite file" in str(refusal(database))
    for seed in range(20):
        rng = random.Random(seed)
        damaged = bytearray(whole)
        for _ in range(200):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        database.write_bytes(bytes(damaged))
        with no_hang():
            try:
                list(detect.read(Recording(database, database.name)))
            except UnreadableRecording as error:
                assert str(error).startswith("crush.db")  # noqa: PT017 - it may be raised or not
