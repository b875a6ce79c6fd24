"""Hostile and damaged recordings: nothing escapes, nothing hangs, nothing is lost without a word."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from agent_wiki.errors import UnreadableRecording
from agent_wiki.harness import saving
from agent_wiki.pipeline.mine import Assignment, Mined, mine
from agent_wiki.readers import builder, unpacked
from agent_wiki.readers.recording import Recording
from agent_wiki.stages.order import SESSION_STAGES
from agent_wiki.trajectory import json_text
from tests.hangs import no_hang
from tests.wikis import chat, record

CHAT: list[dict[str, Any]] = [{"role": "user", "content": "Please list"}, {"role": "assistant", "content": "Done."}]
SIGNS = ["#", "<system-reminder>", "<ide_a>", "</a>", "`", "(", "\n", "a|b|", "fi\n", "'", "\\"]
BOMBS = [b"[" + b" " * 9_000_000, b'["' + b"x" * 9_000_000, b'{"role": "user", "content": "x"}\n' * 300_000]


def mined(path: Path) -> Mined:
    found = mine(Assignment(path, path.name, SESSION_STAGES, "offline"), {})
    assert found.bug is None, found.bug
    return found


def write_lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def claude(kind: str, content: Any, number: int, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more.pop("message", {})}
    return {"type": kind, "sessionId": "s-1", "uuid": f"u{number}", "parentUuid": None, "message": message, **more}


@pytest.mark.parametrize("odd", [{}, [], {"a": 1}, ["user"], None, 5, True])
def test_a_record_whose_type_is_no_string_is_no_bug(tmp_path: Path, odd: Any) -> None:
    lines = [
        claude("user", "Please list", 1),
        claude("assistant", [{"type": odd}, {"type": "text", "text": "Done."}], 2),
    ]
    path = write_lines(tmp_path / "s.jsonl", *lines, {**lines[0], "type": odd}, {"type": odd})
    assert [session.status for session in mined(path).sessions] == ["mined"]
    progress = {"type": "progress", "sessionId": "s-1", "uuid": "u9"}
    mined(write_lines(tmp_path / "p.jsonl", progress | {"data": {"type": "agent_progress", "message": {"type": odd}}}))
    capture = {"session_id": "s-1", "type": odd, "subtype": odd, "message": {"content": odd}}
    event = {"session_id": "s-1", "type": "assistant", "message": {"content": "Done."}}
    mined(write_lines(tmp_path / "c.jsonl", capture, event, capture))
    pi = {"type": "session", "id": "s-1", "cwd": "/x"}
    mined(write_lines(tmp_path / "pi.jsonl", pi, {"type": odd}, {"type": odd}))


@pytest.mark.parametrize("odd", [10**400, float("nan"), float("inf"), -1, "1", True, [1]])
def test_a_figure_that_is_none_is_left_out(tmp_path: Path, odd: Any) -> None:
    result = {
        "type": "result",
        "session_id": "s-1",
        "total_cost_usd": odd,
        "duration_ms": odd,
        "usage": {"input_tokens": odd},
    }
    event = {"session_id": "s-1", "type": "assistant", "message": {"content": "Done.", "usage": {"output_tokens": odd}}}
    assert not mined(write_lines(tmp_path / "c.jsonl", event, result)).failure
    line = claude("assistant", "Done.", 2, costUSD=odd, timestamp=odd)
    assert not mined(write_lines(tmp_path / "s.jsonl", claude("user", "Please list", 1), line)).failure


@pytest.mark.parametrize("levels", [150, 500, 990, 992, 1000, 100_000])
def test_deep_nesting_is_read_or_reported_with_its_reason(tmp_path: Path, levels: int) -> None:
    deep = '{"k": ' * levels + "1" + "}" * levels
    call = '{"id": "c", "type": "function", "function": {"name": "t", "arguments": ' + deep + "}}"
    path = tmp_path / "deep.json"
    path.write_text(f'[{json.dumps(CHAT[0])}, {{"role": "assistant", "content": null, "tool_calls": [{call}]}}]')
    found = mined(path)
    assert len(found.sessions) == (levels < 200)
    assert levels < 200 or "nested too deeply" in str(found.failure)
    text = json.dumps({"command": "ls", "nested": "NESTED"}).replace('"NESTED"', deep)
    calls = [{"type": "tool_use", "id": "c", "name": "Bash", "input": {}}, {"type": "text", "text": text}]
    path = write_lines(tmp_path / "s.jsonl", claude("user", text, 1), claude("assistant", calls, 2))
    assert [session.status for session in mined(path).sessions] == ["mined"]
    arguments = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": text}}
    chat = [CHAT[0], {"role": "assistant", "content": None, "tool_calls": [arguments]}]
    path = write_lines(tmp_path / "arguments.json", [*chat, {"role": "tool", "tool_call_id": "c", "content": text}])
    assert [session.status for session in mined(path).sessions] == ["mined"]


@pytest.fixture
def _small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bomb of some megabytes shows the same as one of gigabytes."""
    monkeypatch.setattr(unpacked, "_LARGE_BYTES", 1 << 20)


@pytest.mark.long
@pytest.mark.usefixtures("_small_bounds")
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("content", BOMBS)
def test_a_packed_bomb_is_refused(tmp_path: Path, pack: Any, content: bytes) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(pack(content))
    assert "decompresses to more than" in str(mined(path).failure)


_PARTS = {
    "an object": b'{"messages": [' + b"[]," * 4_000 + b"[]]}",
    "over lines": b'{\n"messages": [\n' + b'{"a":1},\n' * 4_000 + b"{}]}",
    "a line": json.dumps(chat("s")).encode() + b"\n[" + b"1," * 4_000 + b"1]\n",
    "an array in an array": b'[{"messages": [' + b'"a",' * 4_000 + b"1]}]",
}


@pytest.mark.parametrize("content", _PARTS.values(), ids=_PARTS)
def test_a_value_of_too_many_parts_is_refused_in_one_line(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_text, "_MOST_SIGNS", 3_000)
    path = tmp_path / "parts.json"
    path.write_bytes(content)
    found = mined(path)
    assert "more than 3,000 parts" in f"{found.failure} {found.warnings}"


def test_of_many_sessions_in_one_file_the_parts_of_each_count_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_text, "_MOST_SIGNS", 100)
    path = tmp_path / "sessions.json"
    path.write_text(json.dumps([chat(f"s{number}") for number in range(12)], indent=1), encoding="utf-8")
    assert path.read_text(encoding="utf-8").count(",") > 150
    assert (len(mined(path).sessions), mined(path).failure) == (12, None)


def test_a_session_without_end_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "_MOST_TURNS", 20)
    path = record(tmp_path, "long", more=10)
    assert str(mined(path).failure) == f"{path.name}: a session of more than 20 turns"


def test_a_recording_for_which_there_is_no_memory_is_reported_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_memory(_recording: Recording) -> Any:
        raise MemoryError

    path = record(tmp_path, "a")
    monkeypatch.setattr(Recording, "sample", out_of_memory)
    found = mined(path)
    assert str(found.failure) == f"{path.name}: needs more memory than this process may have"
    assert (found.bug, found.signature) == (None, None)
    with pytest.raises(UnreadableRecording, match="needs more memory"):
        saving.trajectories(path, path.name, [])


def test_any_flipped_byte_of_a_zip_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "t"}}))
        archive.writestr("samples/1_epoch_1.json", json.dumps({"id": 1, "messages": CHAT}))
    whole = path.read_bytes()
    for position in range(4, len(whole)):
        flip = (1, 64, 255)[position % 3]
        path.write_bytes(whole[:position] + bytes([whole[position] ^ flip]) + whole[position + 1 :])
        found = mined(path)
        assert found.sessions or found.failure


@pytest.mark.usefixtures("_small_bounds")
def test_a_bomb_in_a_zip_costs_its_member_only(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "t"}}))
        archive.writestr("samples/1_epoch_1.json", json.dumps({"id": 1, "messages": CHAT}))
        archive.writestr("samples/2_epoch_1.json", b'{"id": "' + b"x" * 9_000_000 + b'"}')
    found = mined(path)
    assert [session.status for session in found.sessions] == ["mined"]
    assert ["samples/2_epoch_1.json" in line and "decompresses to more" in line for line in found.warnings] == [True]


@pytest.mark.parametrize("half", ["\\ud83d", "\\udc00", "\\\\ud83d"])
def test_half_characters_inside_arguments_are_no_bug(tmp_path: Path, half: str) -> None:
    arguments = f'{{"command": "pytest {half}", "{half}": [{{"path": "{half}"}}]}}'
    calls = [{"id": "c", "type": "function", "function": {"name": "bash", "arguments": arguments}}]
    chat = [
        {"role": "user", "content": f"Run {half}"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": f'{{"output": "1 failed {half}", "exit_code": 1}}'},
        {"role": "assistant", "content": f'{{"result": "{half}"}}'},
    ]
    found = mined(write_lines(tmp_path / "chat.json", chat))
    assert [session.status for session in found.sessions] == ["mined"]


def test_a_status_nested_in_a_result_is_no_bug(tmp_path: Path) -> None:
    deep = "[" * 900 + "]" * 900
    results = [f'{{"status": {deep}}}', f'{{"output": {deep}, "metadata": {{"exit_code": 1e999}}}}']
    for number, result in enumerate(results):
        chat = [*CHAT, {"role": "tool", "tool_call_id": f"c{number}", "content": result}]
        assert not mined(write_lines(tmp_path / f"{number}.json", chat)).failure
        output = {"type": "function_call_output", "call_id": "c", "output": result}
        said = {"type": "message", "role": "assistant", "content": "Done."}
        lines = [{"type": "response_item", "payload": payload} for payload in (said, output)]
        assert not mined(write_lines(tmp_path / f"{number}.jsonl", *lines)).failure


@pytest.mark.long
@pytest.mark.parametrize("unit", SIGNS)
def test_a_long_text_of_one_sign_takes_no_longer_than_any_other(tmp_path: Path, unit: str) -> None:
    text = unit * (25_000 // len(unit))
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": text})}}
    chat = [
        {"role": "user", "content": f"Please list {text}"},
        {"role": "assistant", "content": text, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": text},
        {"role": "user", "content": f"No, use ls instead. {text}"},
        {"role": "assistant", "content": f"Done. {text}"},
    ]
    path = write_lines(tmp_path / "chat.json", chat)
    with no_hang():
        assert [session.status for session in mined(path).sessions] == ["mined"]
