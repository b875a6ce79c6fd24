"""Captures of `--output-format stream-json` become the same trajectories as session files, without the prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers import claude_code, stream_json
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.claude_lines import assistant, call, recording_of, result, text, thinking, user

INIT = {"type": "system", "subtype": "init", "session_id": "run-1", "model": "claude-x", "cwd": "/repo",
        "claude_code_version": "2.1.9", "tools": ["Bash"]}  # fmt: skip
ENDING = {"type": "result", "subtype": "success", "is_error": False, "session_id": "run-1", "duration_ms": 2500,
          "total_cost_usd": 0.25, "usage": {"input_tokens": 30, "output_tokens": 400}, "result": "Done."}  # fmt: skip


def event(turn: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A session file's turn as this format prints it."""
    kept = {key: turn[key] for key in ("type", "message", "uuid", "timestamp")}
    return kept | {"parent_tool_use_id": None, "session_id": "run-1"} | fields


def read(tmp_path: Path, *records: Any) -> list[Trajectory]:
    recording = recording_of(tmp_path, *records)
    assert stream_json.claims(recording.sample())
    return list(stream_json.read(recording))


def only(tmp_path: Path, *records: Any) -> Trajectory:
    (trajectory,) = read(tmp_path, *records)
    return trajectory


def test_a_capture_becomes_one_trajectory_with_its_figures(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        INIT,
        {"type": "system", "subtype": "thinking_tokens", "estimated_tokens": 4, "session_id": "run-1"},
        {"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"text": "I"}}},
        event(assistant("m1", thinking("Hm"))),
        event(assistant("m1", text("I look."))),
        event(assistant("m1", call("c1", command="ls"))),
        {"type": "rate_limit_event", "rate_limit_info": {}, "session_id": "run-1"},
        event(user([result("c1", "a.txt")])),
        event(assistant("m2", text("Done."))),
        ENDING,
    )
    assert [message.role for message in trajectory.messages] == ["assistant", "tool", "assistant"]
    assert (trajectory.session_id, trajectory.agent, trajectory.model) == ("run-1", "claude-code", "claude-x")
    source = trajectory.source
    assert (source.format, source.cwd, source.agent_version) == ("stream-json", "/repo", "2.1.9")
    assert (source.cost_usd, source.duration_seconds, source.exit_status) == (0.25, 2.5, "success")
    assert source.usage == Usage(input_tokens=30, output_tokens=400)
    assert source.resolved is None


@pytest.mark.parametrize(("tool", "mark"), [("Edit", "rejected"), ("Bash", "denied")])
def test_only_what_is_in_the_programs_own_words_is_the_users_refusal(tmp_path: Path, tool: str, mark: str) -> None:
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    results = [result("c1", refused, is_error=True)]
    (trajectory,) = read(tmp_path, INIT, event(assistant("m1", call("c1", tool))), event(user(results)))
    assert trajectory.messages[-1].mark == mark


def test_each_result_event_has_its_own_usage_and_the_cost_so_far(tmp_path: Path) -> None:
    later = ENDING | {"total_cost_usd": 0.75, "usage": {"input_tokens": 12, "output_tokens": 8}}
    reply = event(assistant("m1", text("One")))
    source = only(tmp_path, INIT, reply, ENDING, event(assistant("m2", text("Two"))), later).source
    assert source.usage == Usage(input_tokens=42, output_tokens=408)
    assert (source.cost_usd, source.duration_seconds) == (0.75, 5.0)


@pytest.mark.parametrize(("beyond", "output"), [(10, 7), (11, None)])
def test_a_subagents_output_is_what_all_models_say_beyond_the_session(
    tmp_path: Path, beyond: int, output: int | None
) -> None:
    models = {"claude-x": {"inputTokens": 30 + beyond, "outputTokens": 407}}
    own = event(assistant("m1", call("c1", "Agent")))
    subagents = event(assistant("m2", text("Found.")), parent_tool_use_id="c1")
    _, subagent = read(tmp_path, INIT, own, subagents, ENDING | {"modelUsage": models})
    assert subagent.source.usage == Usage(input_tokens=10, output_tokens=output)


def test_without_a_result_event_the_input_of_the_replies_is_counted(tmp_path: Path) -> None:
    reply = [event(assistant("m1", text("One"))), event(assistant("m1", call("c1")))]
    trajectory = only(tmp_path, INIT, *reply, event(assistant("m2", text("Two"), timestamp="2026-01-02T03:04:15Z")))
    assert trajectory.source.usage == Usage(input_tokens=20)  # output is counted when a reply begins: not known
    assert trajectory.source.duration_seconds == 9.322
    assert (trajectory.source.cost_usd, trajectory.source.exit_status) == (None, None)


def test_without_an_init_event_the_turns_name_the_session(tmp_path: Path) -> None:
    assert only(tmp_path, event(assistant("m1", text("One")))).session_id == "run-1"


def test_without_any_session_id_the_files_name_is_used(tmp_path: Path) -> None:
    bare = {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [text("One")]}}
    assert next(stream_json.read(recording_of(tmp_path, bare, name="a-run.jsonl.log"))).session_id == "a-run"


def test_a_subagent_is_kept_apart_under_its_own_id(tmp_path: Path) -> None:
    answer = event(user([result("c1", "Seen")])) | {"tool_use_result": {"agentId": "abc", "status": "completed"}}
    parent, agent, unnamed = read(
        tmp_path,
        INIT,
        event(assistant("m1", call("c1", "Task"), call("c2", "Task"))),
        event(user("Look"), parent_tool_use_id="c1"),
        event(assistant("m2", text("Seen")), parent_tool_use_id="c1"),
        event(assistant("m3", text("Lost")), parent_tool_use_id="c2"),
        answer,
        ENDING,
    )
    assert [message.role for message in parent.messages] == ["assistant", "tool"]
    assert parent.source.hygiene["subagent_turns_apart"] == 3
    assert (agent.session_id, agent.source.parent_session_id) == ("run-1.agent-abc", "run-1")
    assert agent.source.cost_usd is None
    assert unnamed.session_id == "run-1.agent-c2"


def test_several_runs_in_one_capture_are_several_trajectories(tmp_path: Path) -> None:
    first, second = read(
        tmp_path,
        event(assistant("m1", text("One"))),
        ENDING,
        INIT | {"session_id": "run-2"},
        event(assistant("m2", text("Two")), session_id="run-2"),
        ENDING | {"session_id": "run-2", "total_cost_usd": 0.5},
    )
    assert [(each.session_id, each.source.cost_usd) for each in (first, second)] == [("run-1", 0.25), ("run-2", 0.5)]


def test_plain_text_before_and_after_the_events_is_ignored(tmp_path: Path) -> None:
    recording = recording_of(tmp_path, INIT, event(assistant("m1", text("One"))), ENDING)
    lines = recording.path.read_bytes()
    Path(str(recording.path)).write_bytes(b"npm notice\n> run\n" + lines + b"Killed\n")
    assert stream_json.claims(recording.sample())
    assert [message.content for message in next(stream_json.read(recording)).messages] == ["One"]


@pytest.mark.parametrize(
    ("fields", "exit_status"),
    [
        ({}, "success"),
        ({"is_error": True}, "error"),
        ({"is_error": True, "terminal_reason": "api_error"}, "api_error"),
        ({"is_error": True, "subtype": "error_max_turns"}, "error_max_turns"),
    ],
)
def test_the_flag_says_how_a_run_ended_not_the_subtype(
    tmp_path: Path, fields: dict[str, Any], exit_status: str
) -> None:
    trajectory = only(tmp_path, INIT, event(assistant("m1", text("One"))), ENDING | fields)
    assert trajectory.source.exit_status == exit_status


def test_a_capture_of_the_result_alone_keeps_its_text(tmp_path: Path) -> None:
    assert [message.content for message in only(tmp_path, ENDING).messages] == ["Done."]


def test_what_a_harness_says_in_the_users_place_is_marked(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        event(user("Replayed prompt")),
        event(user([text("Base text")]), isSynthetic=True),
        event(user([text("[Request interrupted by user]")])),
    )
    assert [message.mark for message in trajectory.messages] == [None, "injected", "interrupt"]


def test_a_capture_without_turns_yields_nothing_and_says_so(tmp_path: Path) -> None:
    recording = recording_of(tmp_path, INIT)
    assert list(stream_json.read(recording)) == []
    assert recording.warnings == ["any-name.jsonl: no turns recorded"]


def test_one_bad_record_costs_that_record_only(tmp_path: Path) -> None:
    odd: list[Any] = [
        "text", 7, None, {"type": "assistant", "message": None}, {"type": "result"}, {"type": "system"},
        event(user([{"type": "tool_result"}]), uuid=None, session_id=None, tool_use_result={"agentId": 4}),
        {"type": "user", "message": {"content": 5}, "session_id": ""},
    ]  # fmt: skip
    trajectory = only(tmp_path, event(assistant("m1", text("One"))), *odd, event(assistant("m2", text("Two"))))
    assert [message.content for message in trajectory.messages] == ["One", "", "Two"]


@pytest.mark.parametrize(
    "records",
    [
        [{"session_id": "s", "model": "m", "messages": []}],  # the envelope of chat messages
        [{"type": "message", "session_id": "s"}],
        [{"type": "session_meta", "payload": {"id": "s"}}],
        [],
    ],
)
def test_other_formats_are_not_claimed(records: list[Any]) -> None:
    assert not stream_json.claims(Sample("lines", records))


def test_the_two_claude_formats_do_not_claim_each_others_lines() -> None:
    sample = Sample("lines", [INIT, event(user("x")), event(assistant("m", text("y"))), ENDING])
    assert stream_json.claims(sample)
    assert not claude_code.claims(sample)


def test_a_session_recorded_in_both_formats_gives_the_same_messages(traces: Path) -> None:
    """Only the prompt, which stream-json does not record, is missing."""
    run = traces / "sregym_same_task" / "claudecode_run"
    (capture,) = stream_json.read(Recording(run / "claude-code.txt", "claude-code.txt"))
    session_file = next((run / "sessions").rglob("*.jsonl"))
    (session,) = claude_code.read(Recording(session_file, session_file.name))
    assert session.messages[0].role == "user"
    assert capture.messages == session.messages[1:]
    assert len(capture.messages) > 20
    assert (capture.session_id, capture.model, capture.agent) == (session.session_id, session.model, session.agent)
    assert capture.source.usage == session.source.usage
    assert capture.source.agent_version == session.source.agent_version
