"""The database of OpenCode 1.18.33: the same sessions as its exports, also from the log beside it."""

from __future__ import annotations

import gzip
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_wiki.errors import EmptyRecording, UnreadableRecording
from agent_wiki.readers import detect
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from tests.hangs import no_hang
from tests.readers.database_copies import copied_with_log
from tests.readers.sent import CLIENTS, read

FOLDER = CLIENTS / "opencode"
PACKED = FOLDER / "opencode.db.gz"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "opencode.db"
    path.write_bytes(gzip.decompress(PACKED.read_bytes()))
    return path


def by_id(path: Path) -> dict[str, Trajectory]:
    return {trajectory.session_id: trajectory for trajectory in read(path)}


def refusal(path: Path) -> UnreadableRecording:
    with pytest.raises(UnreadableRecording) as found:
        list(detect.read(Recording(path, path.name)))
    return found.value


def test_the_database_holds_what_is_exported(database: Path) -> None:
    exported = [read(path)[0] for path in sorted((FOLDER / "export").glob("*.json"))]
    kept = by_id(database)
    assert list(kept) == [trajectory.session_id for trajectory in exported]
    for trajectory in exported:
        assert kept[trajectory.session_id].messages == trajectory.messages
        source, own = trajectory.source, kept[trajectory.session_id].source
        assert (own.usage, own.cost_usd, own.parent_session_id) == (
            source.usage,
            source.cost_usd,
            source.parent_session_id,
        )
        assert (own.cwd, own.title, own.agent_version, own.hygiene) == (
            source.cwd,
            source.title,
            source.agent_version,
            source.hygiene,
        )


def test_reading_leaves_nothing_beside_the_database(database: Path) -> None:
    before = database.read_bytes()
    by_id(database)
    assert list(database.parent.iterdir()) == [database]
    assert database.read_bytes() == before


def test_a_packed_database_is_read(database: Path) -> None:
    assert list(by_id(PACKED)) == list(by_id(database))


def test_sessions_that_are_only_in_the_log_are_read(database: Path, tmp_path: Path) -> None:
    change = "UPDATE session SET title = 'From the log' WHERE id LIKE 'ses_dfb200567%'"
    copy = copied_with_log(database, tmp_path / "kept" / "opencode.db", change)
    recording = Recording(copy, copy.name)
    titles = {trajectory.source.title for trajectory in detect.read(recording)}
    assert "From the log" in titles
    assert recording.looked_at["opencode.db-wal"] is not None
    assert sorted(each.name for each in copy.parent.iterdir()) == ["opencode.db", "opencode.db-wal"]


def test_what_is_no_json_is_named_and_the_rest_is_read(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE part SET data = '{' WHERE rowid = 1")
        connection.commit()
    recording = Recording(database, database.name)
    assert len(list(detect.read(recording))) == 8
    (warning,) = recording.warnings
    assert warning.startswith("opencode.db: part prt_")
    assert warning.endswith(" is not JSON, skipped")


@pytest.mark.parametrize(
    "definition",
    [
        "CREATE TABLE other (id)",
        "CREATE VIEW session AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n",
    ],
)
def test_another_database_is_not_read(tmp_path: Path, definition: str) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(definition)
        connection.execute("CREATE TABLE message (id)")
        connection.execute("CREATE TABLE part (id)")
        connection.commit()
    error = refusal(path)
    assert error.is_foreign
    assert "without the tables of OpenCode, Crush or Goose" in str(error)


def test_a_database_without_sessions_is_empty(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DELETE FROM session")
        connection.commit()
    error = refusal(database)
    assert isinstance(error, EmptyRecording)
    assert str(error) == "opencode.db: a database without sessions"


def test_a_damaged_database_is_reported_or_read(database: Path) -> None:
    whole = database.read_bytes()
    assert "damaged SQLite file" in str(refusal(_written(database, whole[:5000])))
    for seed in range(20):
        rng = random.Random(seed)
        changed = bytearray(whole)
        for _ in range(200):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        with no_hang():
            try:
                list(detect.read(Recording(_written(database, bytes(changed)), database.name)))
            except UnreadableRecording as error:
                assert str(error).startswith("opencode.db")  # noqa: PT017 - it may be raised or not


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
