"""Sessions in the Hub's simple format, by its documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import sts
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.recording import Recording
from tests.readers.lines import only, shape, write_lines

HEADER = {"type": "session", "harness": "my-agent", "id": "abc123", "name": "what time is it", "cwd": "/src"}
CALL = {"id": "t1", "function": {"name": "get_time", "arguments": "{}"}}


def message(role: str, content: Any = "", **rest: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content, **rest}}


SESSION = [
    HEADER,
    message("user", "What time is it?", timestamp=1_750_000_000_000),
    message("assistant", toolCalls=[CALL], reasoningContent="I ask the clock.", model="m-1"),
    message("tool", "15:00", toolCallId="t1"),
    message("assistant", "It is 15:00.", timestamp=1_750_000_002_500, model="m-1"),
]


def test_a_session_is_read_with_its_calls_thinking_times_and_title(tmp_path: Path) -> None:
    recording = write_lines(tmp_path / "s.jsonl", SESSION)
    assert reader_of(recording).FORMAT == "sts"
    found = only(sts.read(recording))
    assert [content for _, content in shape(found)] == ["What time is it?", None, "15:00", "It is 15:00."]
    assert (found.session_id, found.agent, found.model) == ("abc123", "my-agent", "m-1")
    assert found.timestamp == "2025-06-15T15:06:40Z"
    assert (found.source.title, found.source.duration_seconds) == ("what time is it", 2.5)
    assert found.messages[1].thinking == "I ask the clock."
    assert (found.messages[1].tool_calls[0].name, found.messages[2].tool_call_id) == ("get_time", "t1")
    assert found.source.hygiene == {}


def test_several_sessions_in_one_file_are_several_trajectories(tmp_path: Path) -> None:
    empty = {**HEADER, "id": "none"}
    recording = write_lines(tmp_path / "s.jsonl", [*SESSION, empty, {**HEADER, "id": "two"}, *SESSION[1:]])
    assert [each.session_id for each in sts.read(recording)] == ["abc123", "two"]
    assert recording.warnings == ["s.jsonl: session 'none' has no messages, skipped"]


def test_a_session_of_pi_that_names_another_harness_stays_pis(tmp_path: Path) -> None:
    entry = {"type": "message", "id": "1", "timestamp": "2026-01-01T00:00:00Z", "message": SESSION[1]["message"]}
    assert reader_of(write_lines(tmp_path / "s.jsonl", [HEADER, entry])).FORMAT == "pi"


@pytest.mark.parametrize("more", [[], [{"type": "message", "message": 1}]])
def test_a_session_without_messages_is_said_to_be_so(tmp_path: Path, more: Any) -> None:
    with pytest.raises(UnreadableRecording, match=r"^s\.jsonl: a session without messages"):
        list(sts.read(write_lines(tmp_path / "s.jsonl", [HEADER, *more])))


def test_a_line_that_is_cut_off_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", SESSION).path
    text = (tmp_path / "s.jsonl").read_text(encoding="utf-8")
    (tmp_path / "s.jsonl").write_text(text[:-20], encoding="utf-8")
    recording = Recording(path, "s.jsonl")
    assert len(only(sts.read(recording)).messages) == 3
    assert recording.warnings[0].startswith("s.jsonl:5: last line is cut off, skipped")


@pytest.mark.parametrize("odd", [None, 1, [], {}, [{}], "x", {"function": 1}])
def test_odd_values_are_no_bug(tmp_path: Path, odd: Any) -> None:
    turn = message("assistant", odd, toolCalls=odd, reasoningContent=odd, timestamp=odd, model=odd)
    lines = [{**HEADER, "id": odd, "name": odd}, message("user", "Hi"), turn, message("tool", odd, toolCallId=odd)]
    assert ("user", "Hi") in shape(only(sts.read(write_lines(tmp_path / "s.jsonl", lines))))
