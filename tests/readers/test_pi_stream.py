"""What `pi --mode json` prints, on small captures made here after its documentation; a real one is in test_pi_sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import pi, pi_stream
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.lines import only, shape, write_lines

HEADER = {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-02-03T04:05:00.000Z", "cwd": "/repo"}
START = {"type": "agent_start"}
TIME = 1_770_091_510_000


def ended(role: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "message_end", "message": {"role": role, "content": list(content), "timestamp": TIME, **more}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def piece(kind: str, index: int, **fields: Any) -> dict[str, Any]:
    event = {"type": kind, "contentIndex": index, **fields}
    return {"type": "message_update", "usage": {"input": 9}, "assistantMessageEvent": event}


def read(tmp_path: Path, *events: Any) -> Trajectory:
    recording = write_lines(tmp_path / "a.jsonl", [HEADER, START, *events])
    assert pi_stream.claims(recording.sample())
    assert not pi.claims(recording.sample())
    return only(pi_stream.read(recording))


def test_each_message_counts_once_though_events_repeat_it(tmp_path: Path) -> None:
    spent = {"input": 10, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0.5}}
    reply = ended("assistant", text("Done."), usage=spent, model="m", stopReason="stop")
    events = [ended("user", text("go")), {"type": "message_start", "message": {"role": "assistant"}}]
    events += [piece("text_delta", 0, delta="Done."), reply, {"type": "turn_end", "message": reply["message"]}]
    events += [{"type": "agent_end", "messages": [reply["message"]]}, {"type": "session_info_changed", "name": "Slug"}]
    trajectory = read(tmp_path, *events)
    assert shape(trajectory) == [("user", "go"), ("assistant", "Done.")]
    assert trajectory.source.usage == Usage(10, 4, 3, 2)
    assert (trajectory.source.title, trajectory.source.exit_status, trajectory.source.cwd) == ("Slug", "stop", "/repo")


def test_a_reply_that_was_cut_off_has_what_came_of_it(tmp_path: Path) -> None:
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}
    events = [{"type": "message_start", "message": {"role": "assistant"}}, piece("thinking_end", 0, content="Hm.")]
    events += [piece("text_delta", 1, delta="I "), piece("text_delta", 1, delta="look"), piece("start", 1)]
    events.append(piece("toolcall_end", 2, toolCall=call))
    trajectory = read(tmp_path, ended("user", text("go")), *events)
    assert shape(trajectory) == [("user", "go"), ("assistant", "I look")]
    assert trajectory.messages[1].thinking == "Hm."
    assert trajectory.messages[1].tool_calls[0].mark == "no-result"
    assert trajectory.source.usage is None


def test_a_compaction_and_what_an_extension_adds_are_marked(tmp_path: Path) -> None:
    compacted = {"type": "compaction_end", "result": {"summary": "All of it."}}
    added = {"type": "entry_appended", "entry": {"type": "custom_message", "content": "A note."}}
    trajectory = read(tmp_path, ended("user", text("go")), compacted, added)
    assert [message.mark for message in trajectory.messages] == [None, "compaction", "injected"]


def test_odd_events_cost_nothing_and_none_at_all_is_reported(tmp_path: Path) -> None:
    odd = [{"type": "message_update", "assistantMessageEvent": 3}, piece("text_end", 0, content=5), [1], {"type": []}]
    assert shape(read(tmp_path, *odd, ended("user", text("go")))) == [("user", "go")]
    with pytest.raises(UnreadableRecording, match="without messages"):
        read(tmp_path)
