"""Tables of sessions as the Hugging Face Hub has them, and Parquet files in general."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.readers import hub_traces
from agent_wiki.readers.detect import read, reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from tests.readers.lines import only, recorded_lines, shape, write_lines

DATA = Path(__file__).parents[1] / "data"
TABLE = DATA / "hub-traces" / "sessions.parquet"
TRACES = Path(__file__).parents[2] / "wiki-example" / "traces"
SESSIONS = [TRACES / "codex-titlecase.jsonl", TRACES / "claude-truncate.jsonl"]


def row(trace: Any, **rest: Any) -> dict[str, Any]:
    return {"harness": "codex", "session_id": "s", "trace": trace, "messages": None, "metadata": None, **rest}


def without_file(trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, source=replace(trajectory.source, file=None, sha256=None))


def of_files(*paths: Path) -> list[Trajectory]:
    found = (each for path in paths for each in trajectories_of(Recording(path, path.name), "0" * 64))
    return [without_file(each) for each in found]


def test_a_row_says_what_the_sessions_own_file_says(tmp_path: Path) -> None:
    rows = [row(path.read_text(encoding="utf-8")) for path in SESSIONS]
    as_json = row(json.dumps(SESSIONS[0].read_text(encoding="utf-8")))  # as the Hub writes a column of JSON
    recording = write_lines(tmp_path / "rows.jsonl", [*rows, as_json])
    assert reader_of(recording).FORMAT == "hub-traces"
    assert of_files(tmp_path / "rows.jsonl") == of_files(*SESSIONS, SESSIONS[0])


def test_a_table_of_the_real_library_says_so_too() -> None:
    pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    assert of_files(TABLE) == of_files(*SESSIONS)


def test_a_row_without_the_file_is_read_by_its_messages(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hi"}, json.dumps({"role": "assistant", "content": "Hello"})]
    given = row(None, messages=messages, metadata=json.dumps({"model": "m"}))
    found, _ = hub_traces.read(write_lines(tmp_path / "rows.jsonl", [given, given]))
    assert (found.session_id, found.agent, found.model) == ("s", "codex", "m")
    assert shape(found) == [("user", "Hi"), ("assistant", "Hello")]


def test_a_bad_row_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    whole = SESSIONS[0].read_text(encoding="utf-8")
    rows = [row("{", harness="own"), row('{"type": "x"}\n{"type": "y"}\n', harness="own"), row(whole), row(whole[:-30])]
    recording = write_lines(tmp_path / "rows.jsonl", rows)
    assert len(list(hub_traces.read(recording))) == 2
    assert [warning.partition(": ")[2][:40] for warning in recording.warnings] == [
        "row 1:1: Expecting property name enclose",
        "row 2: a session of 'own', which no read",
        f"row 4:{len(whole.splitlines())}: last line is cut off, skipped ",
    ]


def test_rows_without_a_session_are_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match=r"^rows\.jsonl: no session in its rows"):
        list(hub_traces.read(write_lines(tmp_path / "rows.jsonl", [row(None), row(1, messages=[1, "x"])])))


def written(path: Path, rows: list[dict[str, Any]]) -> Recording:
    """A Parquet file of these rows."""
    pyarrow: Any = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return Recording(path, path.name)


@pytest.mark.parametrize("sample", ["langsmith/runs.jsonl", "langfuse/observations_v2/run.jsonl"])
def test_an_export_in_parquet_says_what_it_says_in_json(tmp_path: Path, sample: str) -> None:
    lines = write_lines(tmp_path / "a.jsonl", recorded_lines(DATA / sample))
    table = written(tmp_path / "a.parquet", recorded_lines(DATA / sample))
    assert list(read(table)) == list(read(lines))


def test_values_that_json_has_not_become_text_and_numbers(tmp_path: Path) -> None:
    call = {"id": "c", "function": {"name": "run", "arguments": "{}"}}
    reply = {"role": "assistant", "content": None, "tool_calls": [call]}
    messages = [{"role": "user", "content": "Hi", "tool_calls": None}, reply]
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    given = {"session_id": b"s-1", "timestamp": moment, "reward": Decimal("0.5"), "messages": messages}
    trajectory = only(read(written(tmp_path / "t.parquet", [given])))
    assert (trajectory.session_id, trajectory.timestamp) == ("s-1", "2026-01-01T00:00:00Z")
    assert trajectory.source.reward == 0.5
    assert trajectory.messages[1].tool_calls[0].name == "run"


def test_a_table_of_something_else_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="not a trajectory: JSON with keys 'price'") as caught:
        reader_of(written(tmp_path / "t.parquet", [{"price": 1.0}]))
    assert caught.value.is_foreign


def test_no_damage_is_a_bug(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    raw = TABLE.read_bytes()
    path = tmp_path / "t.parquet"
    for seed in range(60):
        rng = random.Random(seed)
        damaged = bytearray(raw[: rng.randrange(5, len(raw))] if seed % 3 == 0 else raw)
        for _ in range(rng.choice((1, 3, 30)) if seed % 3 else 0):
            damaged[rng.randrange(4, len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        recording = Recording(path, "t.parquet")
        try:
            list(trajectories_of(recording, "0" * 64))
        except UnreadableRecording as error:
            assert str(error).startswith("t.parquet: ")  # noqa: PT017 - it may be raised or not


def test_without_pyarrow_a_table_is_passed_over_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnreadableRecording, match=r"reading it needs the extra `parquet` \(pip install") as caught:
        reader_of(Recording(TABLE, TABLE.name))
    assert caught.value.is_foreign
