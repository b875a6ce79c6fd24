"""Sessions of Factory's Droid, on small ones made here in the shape of real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import BegunRecording, UnreadableRecording
from agent_wiki.readers import detect, droid
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import only, shape, write_lines

START = {"type": "session_start", "id": "d-1", "title": "Run the tests", "owner": "o", "version": 2, "cwd": "/srv/shop"}
ENDED = {"type": "agent_turn_outcome", "turnId": "m-1", "reason": "completed", "resultKind": "text"}


def message(role: str, *blocks: Any, at: int = 0, **more: Any) -> dict[str, Any]:
    head = {"type": "message", "id": f"m-{at}", "timestamp": f"2026-01-01T00:00:{at:02}.500Z"}
    return {**head, "message": {"role": role, "content": list(blocks), **more}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str = "Execute", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "c-1", "name": name, "input": arguments}


def result(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "c-1", "content": content, **more}


def read(recording: Recording) -> Trajectory:
    assert detect.reader_of(recording).FORMAT == "droid"
    return only(droid.read(recording))


def session(tmp_path: Path, *lines: Any, start: dict[str, Any] | None = None) -> Trajectory:
    return read(write_lines(tmp_path / "d-1.jsonl", [start or START, *lines]))


def test_a_session_has_its_prompts_replies_calls_and_results(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "Run them.", "signature": "x", "signatureProvider": "anthropic"}
    hidden = {"type": "redacted_thinking", "data": "x"}
    trajectory = session(
        tmp_path,
        message("user", text("Run the tests.")),
        message("assistant", thought, hidden, text("I run them."), call(command="make"), at=2, modelId="m-large"),
        message("user", result("ok\n\n[Process exited with code 0]", is_error=False), at=3),
        {"type": "todo_state", "id": "t", "todos": {"todos": "1. [pending] Run"}, "messageIndex": 1},
        message("assistant", text("All pass."), at=9),
        ENDED,
    )
    assert shape(trajectory) == [
        ("user", "Run the tests."),
        ("assistant", "I run them."),
        ("tool", "ok\n\n[Process exited with code 0]"),
        ("assistant", "All pass."),
    ]
    assert trajectory.messages[1].thinking == "Run them."
    (made,) = paired_calls(trajectory)
    assert (made.name, made.command(), made.is_error) == ("Execute", "make", False)
    source = trajectory.source
    assert (trajectory.session_id, trajectory.agent, trajectory.model) == ("d-1", "droid", "m-large")
    assert (source.cwd, source.title, source.exit_status) == ("/srv/shop", "Run the tests", "completed")
    assert (trajectory.timestamp, source.ended_at) == ("2026-01-01T00:00:00.500Z", "2026-01-01T00:00:09.500Z")
    assert (source.duration_seconds, source.usage) == (9.0, None)


def test_what_only_the_model_or_only_the_user_saw_is_no_request(tmp_path: Path) -> None:
    trajectory = session(
        tmp_path,
        message("user", text("<system-reminder>\nTools: none\n</system-reminder>"), visibility="llm_only"),
        message("user", text("Be brief."), visibility="llm_only"),
        message("user", visibility="user_only", hookEventName="SessionStart", hookResults=[{"stdout": "hi"}]),
        message("user", {"type": "image", "source": {"data": "x"}}, text("<system-reminder>x</system-reminder>Look.")),
        message("user", text("Error: Connection error."), visibility="user_only"),
        {**message("user", text("A rule.")), "visibility": "llm_only"},
        message("user", text("A hint."), isUserVisible=False),
        message("user", text("Thanks."), isUserVisible=True),
        message("assistant", text("A notice."), visibility="user_only"),
        message("assistant", text("Done.")),
    )
    assert [(each.role, each.content, each.mark) for each in trajectory.messages] == [
        ("user", "Be brief.", "injected"),
        ("user", "[image]\nLook.", None),
        ("user", "Error: Connection error.", "injected"),
        ("user", "A rule.", "injected"),
        ("user", "A hint.", "injected"),
        ("user", "Thanks.", None),
        ("user", "A notice.", "injected"),
        ("assistant", "Done.", None),
    ]


@pytest.mark.parametrize("hidden", [{"visibility": "llm_only"}, {"isUserVisible": False}])
def test_a_reply_with_calls_is_the_agents_whoever_saw_it(tmp_path: Path, hidden: dict[str, Any]) -> None:
    called = message("assistant", text("I look."), call(command="ls"), **hidden)
    trajectory = session(tmp_path, message("user", text("Go.")), called, message("user", result("a.py"), **hidden))
    assert shape(trajectory) == [("user", "Go."), ("assistant", "I look."), ("tool", "a.py")]
    assert [each.command() for each in paired_calls(trajectory)] == ["ls"]


@pytest.mark.parametrize(
    ("name", "given", "is_error"),
    [
        ("Execute", result("x\n\n[Process exited with code 2]", is_error=False), True),
        ("Execute", result("[Process exited with code 1]\n[Process exited with code 0]\n"), False),
        ("Execute", result("Error: Command failed (exit code: 1)\nls: no such file"), True),
        ("Execute", result("Error: Execute call rejected: missing required parameters", is_error=True), True),
        ("Read", result("x\n[Process exited with code 1]", is_error=False), False),
        ("Read", result([text("a"), {"type": "image"}], is_error=False), False),
        ("Read", result("a line"), None),
    ],
)
def test_a_commands_exit_code_or_else_the_flag_shows_a_failure(
    tmp_path: Path, name: str, given: dict[str, Any], is_error: bool | None
) -> None:
    lines = [message("user", text("Go.")), message("assistant", call(name)), message("user", given)]
    assert session(tmp_path, *lines).messages[-1].is_error is is_error


def test_the_model_and_the_tokens_are_read_from_the_settings_beside_it(tmp_path: Path) -> None:
    used = {
        "inputTokens": 70,
        "outputTokens": 42,
        "cacheReadTokens": 9,
        "thinkingTokens": 5,
        "cacheCreationTokens": None,
    }
    settings = tmp_path / "d-1.settings.json"
    settings.write_text(json.dumps({"model": "custom:m", "tokenUsage": used}), encoding="utf-8")
    trajectory = session(tmp_path, message("user", text("Go.")), message("assistant", text("Done.")))
    assert trajectory.model == "custom:m"
    assert trajectory.source.usage == Usage(input_tokens=70, cache_read_input_tokens=9, output_tokens=42)
    settings.write_text("[7", encoding="utf-8")
    recording = write_lines(tmp_path / "d-1.jsonl", [START, message("user", text("Go."))])
    assert read(recording).source.usage is None
    assert "d-1.settings.json beside it is no JSON" in recording.warnings[0]


def test_a_session_made_by_compaction_begins_with_its_summary(tmp_path: Path) -> None:
    summary = {"type": "compaction_state", "summaryText": "They ran the tests.", "summaryKind": "llm_summary"}
    trajectory = session(
        tmp_path, summary, message("user", text("And now?")), start={**START, "parent": "d-0", "title": "New Session"}
    )
    assert [(each.content, each.mark) for each in trajectory.messages] == [
        ("They ran the tests.", "compaction"),
        ("And now?", None),
    ]
    assert (trajectory.source.forked_from, trajectory.source.title) == ("d-0", None)


def test_a_subagents_session_names_the_one_that_started_it(tmp_path: Path) -> None:
    start = {**START, "callingSessionId": "d-0", "callingToolUseId": "c-9"}
    trajectory = session(tmp_path, message("user", text("Look.")), message("assistant", text("Done.")), start=start)
    assert (trajectory.source.parent_session_id, trajectory.source.forked_from) == ("d-0", None)


def test_reasoning_beside_the_blocks_is_thinking_and_is_read_once(tmp_path: Path) -> None:
    reasoning: dict[str, Any] = {
        "chatCompletionReasoningField": "reasoning_content",
        "chatCompletionReasoningContent": "Hm.",
    }
    trajectory = session(
        tmp_path,
        message("assistant", text("One."), **reasoning),
        message("assistant", {"type": "thinking", "thinking": "Hm."}, text("Two."), **reasoning),
        {**message("assistant", text("Three.")), **reasoning},
    )
    assert [(each.content, each.thinking) for each in trajectory.messages] == [
        ("One.", "Hm."),
        ("Two.", "Hm."),
        ("Three.", "Hm."),
    ]


def test_a_summary_of_openais_reasoning_is_thinking(tmp_path: Path) -> None:
    summary: dict[str, Any] = {"openaiReasoningId": "r-1", "openaiReasoningSummary": "I list them."}
    trajectory = session(tmp_path, message("user", text("Go.")), message("assistant", call("LS"), **summary))
    assert [each.thinking for each in trajectory.messages] == [None, "I list them."]


def test_a_line_that_is_cut_off_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "d-1.jsonl"
    lines = [START, message("user", text("Go.")), message("assistant", call())]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"type": "message", "mes', encoding="utf-8")
    recording = Recording(path, path.name)
    assert len(read(recording).messages) == 2
    assert recording.warnings[0].startswith("d-1.jsonl:4: last line is cut off, skipped")


def test_odd_values_cost_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [
        {"type": []},
        {"type": "message", "message": 7, "timestamp": {}},
        {"type": "session_start", "id": 7, "title": None},
        {"type": "compaction_state", "summaryText": []},
        {"type": "agent_turn_outcome", "reason": {}},
        message("assistant", {"type": "tool_use", "id": [], "name": None, "input": "x"}, 7, None, modelId=[]),
        message("user", {"type": "tool_result", "tool_use_id": {}, "content": None, "is_error": "no"}),
        {"type": "message", "message": {"role": {}, "content": {"type": "text"}, "visibility": []}},
        7,
    ]
    trajectory = session(tmp_path, message("user", text("Go.")), *odd, message("assistant", text("Done.")))
    assert trajectory.session_id == "d-1"
    assert ("assistant", "Done.") in shape(trajectory)


def test_a_session_in_which_nothing_was_said_has_only_begun(tmp_path: Path) -> None:
    with pytest.raises(BegunRecording, match="without messages"):
        session(tmp_path)


@pytest.mark.parametrize(
    "lines",
    [
        [{"type": "session_start", "id": "s", "model": "m", "cwd": "/x"}, {"type": "tool_call_start", "name": "read"}],
        [{"type": "session_start", "id": "s", "title": "Push", "owner": "o"}, {"type": "set", "reps": 12}],
        [message("user", text("Go."))],
    ],
)
def test_lines_of_other_programs_are_not_its_sessions(tmp_path: Path, lines: list[Any]) -> None:
    recording = write_lines(tmp_path / "a.jsonl", lines)
    assert not droid.claims(recording.sample())
    with pytest.raises(UnreadableRecording, match="not a trajectory"):
        detect.reader_of(recording)
