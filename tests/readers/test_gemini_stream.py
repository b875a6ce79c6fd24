"""Captures of `gemini --output-format stream-json`, on small ones made here; real ones are in test_gemini_sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import gemini_stream
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.lines import only, shape, write_lines

INIT = {"type": "init", "timestamp": "2026-02-03T04:05:00.000Z", "session_id": "run-1", "model": "gemini-x"}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": "2026-02-03T04:05:09.000Z", **fields}


def said(role: str, text: str) -> dict[str, Any]:
    return event("message", role=role, content=text)


def used(call_id: str, name: str = "run_shell_command") -> dict[str, Any]:
    return event("tool_use", tool_name=name, tool_id=call_id, parameters={"command": "make"})


def result(call_id: str, status: str = "success", **fields: Any) -> dict[str, Any]:
    return event("tool_result", tool_id=call_id, status=status, **fields)


def read(tmp_path: Path, *events: Any) -> list[Trajectory]:
    recording = write_lines(tmp_path / "a.jsonl", events)
    assert gemini_stream.claims(recording.sample())
    return list(gemini_stream.read(recording))


def test_pieces_of_a_text_and_its_calls_are_one_reply(tmp_path: Path) -> None:
    pieces = [said("user", "go"), said("assistant", "I "), said("assistant", "run it."), used("c1"), used("c2")]
    ends = [result("c1", output="ok"), result("c2", output="make: *** [x] Error 2"), said("assistant", "Done.")]
    trajectory = only(read(tmp_path, INIT, *pieces, *ends))
    assert shape(trajectory) == [
        ("user", "go"),
        ("assistant", "I run it."),
        ("tool", "ok"),
        ("tool", "make: *** [x] Error 2"),
        ("assistant", "Done."),
    ]
    assert [call.id for call in trajectory.messages[1].tool_calls] == ["c1", "c2"]
    assert trajectory.messages[3].is_error is True
    assert (trajectory.model, trajectory.source.usage) == ("gemini-x", None)


def test_what_a_hook_said_is_kept_apart_from_the_request_behind_it(tmp_path: Path) -> None:
    said = "<hook_context>You MUST run it.</hook_context>"
    trajectory = only(read(tmp_path, INIT, event("message", role="user", content=f"{said}\n\nGo.")))
    assert [(message.mark, message.content) for message in trajectory.messages] == [("injected", said), (None, "Go.")]


def test_an_error_says_what_the_model_is_given(tmp_path: Path) -> None:
    given = {"type": "file_not_found", "message": "File not found: /a"}
    failed = result("c1", "error", output="File not found", error=given)
    other = result("c2", "error", output="Blocked.", error={"type": "x", "message": "by a hook"})
    calls = [used("c1", "read_file"), used("c2", "read_file")]
    trajectory = only(read(tmp_path, INIT, *calls, failed, other, event("error", severity="error", message="Loop")))
    assert [message.content for message in trajectory.messages[1:]] == [given["message"], "Blocked.\nby a hook", "Loop"]
    assert [message.is_error for message in trajectory.messages[1:]] == [True, True, None]
    assert trajectory.messages[3].mark == "injected"


def test_the_figures_of_a_run_are_those_of_its_end(tmp_path: Path) -> None:
    models = {"small": {"total_tokens": 20}, "large": {"total_tokens": 112}}
    stats = {"total_tokens": 132, "input_tokens": 110, "output_tokens": 12, "cached": 60, "duration_ms": 1500}
    ending = event("result", status="error", error={"type": "FatalTurnLimitedError"}, stats={**stats, "models": models})
    trajectory = only(read(tmp_path, {**INIT, "model": "auto"}, said("user", "go"), said("assistant", "x"), ending))
    assert trajectory.source.usage == Usage(50, None, 60, 22)
    assert (trajectory.model, trajectory.source.duration_seconds) == ("large", 1.5)
    assert trajectory.source.exit_status == "FatalTurnLimitedError"


def test_each_start_is_a_session_and_one_without_a_turn_is_none(tmp_path: Path) -> None:
    second, third = {**INIT, "session_id": "run-2"}, {**INIT, "session_id": "run-3"}
    found = read(tmp_path, INIT, said("user", "one"), second, third, said("user", "three"), [1])
    assert [trajectory.session_id for trajectory in found] == ["run-1", "run-3"]
    with pytest.raises(UnreadableRecording, match="without messages"):
        read(tmp_path, INIT, event("result", status="success"))
