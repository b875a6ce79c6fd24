"""What `codex exec --json` prints becomes the session that its rollout holds, without the prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.pipeline.session_stages import order_of
from agent_wiki.readers import codex_exec
from agent_wiki.readers.codex_ran import item_ran
from agent_wiki.readers.recording import Sample
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import Call, paired_calls
from tests.hangs import no_hang
from tests.readers.lines import only, recorded_lines, shape, write_lines
from tests.readers.sent import CLIENTS, read, recordings, replies_in, total

CAPTURES = recordings("codex", "exec-json")
STARTED = {"type": "thread.started", "thread_id": "019c-thread"}


def rollout_of(capture: Trajectory) -> Path:
    """The recording of the same thread."""
    found = [path for path in recordings("codex", "rollouts", "scripts") if capture.session_id in path.name]
    found += [path for path in recordings("codex", "scripts") if capture.session_id in path.read_text(encoding="utf-8")]
    return found[0]


def items(path: Path, kind: str) -> list[dict[str, Any]]:
    lines = recorded_lines(path)
    completed = [line["payload"]["item"] for line in lines if line["payload"].get("type") == "item_completed"]
    return [item for item in completed if item["type"] == kind]


def calls_of(trajectory: Trajectory, name: str) -> Iterator[Call]:
    return (call for call in paired_calls(trajectory) if call.name.startswith(name))


@pytest.mark.parametrize(
    "path", [path for path in CAPTURES if path.stem not in ("x2", "x3")], ids=lambda path: path.stem
)
def test_a_capture_has_the_replies_calls_failures_and_tokens_of_its_rollout(path: Path) -> None:
    """Calls as the rollout's items have them: one that Codex refused to make has none."""
    capture = only(read(path))
    rollout = rollout_of(capture)
    recorded = only(read(rollout))
    texts = [said.text for said in replies_in(capture) if said.text]
    assert texts == [said.text for said in replies_in(recorded) if said.text]
    assert total([capture.source.usage]) == total([recorded.source.usage])
    commands = [(item["command"][-1], item["exit_code"] != 0) for item in items(rollout, "CommandExecution")]
    ended = [(call.command(), call.is_error) for call in calls_of(capture, "exec_command") if call.result is not None]
    assert sorted(ended) == sorted(commands[: len(ended)])
    tools = [(f"mcp__{item['server']}__{item['tool']}", item["arguments"]) for item in items(rollout, "McpToolCall")]
    assert [(call.name, call.arguments) for call in calls_of(capture, "mcp__")] == tools
    assert len(list(calls_of(capture, "apply_patch"))) == len(items(rollout, "FileChange"))
    assert len(list(calls_of(capture, "spawn_agent"))) == len(items(rollout, "CollabAgentToolCall"))


def test_runs_of_one_thread_in_one_capture_are_one_session(tmp_path: Path) -> None:
    folder = CLIENTS / "codex" / "exec-json"
    both = tmp_path / "both.jsonl"
    both.write_text("".join((folder / f"{name}.jsonl").read_text(encoding="utf-8") for name in ("x2", "x3")))
    capture = only(read(both))
    recorded = only(read(rollout_of(capture)))
    assert [said.text for said in replies_in(capture) if said.text] == [
        said.text for said in replies_in(recorded) if said.text
    ]
    assert [call.command() for call in paired_calls(capture)] == [call.command() for call in paired_calls(recorded)]
    assert capture.source.usage == recorded.source.usage


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_of_a_session_that_was_printed_and_recorded_the_recording_is_kept(path: Path) -> None:
    capture = only(read(path))
    assert order_of(capture) < order_of(only(read(rollout_of(capture))))


def of(tmp_path: Path, *events: dict[str, Any]) -> Trajectory:
    recording = write_lines(tmp_path / "run.jsonl", events)
    assert codex_exec.claims(recording.sample())
    return only(codex_exec.read(recording))


def item(event: str, item_id: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{event}", "item": {"id": item_id, "type": kind, **fields}}


def command(event: str, item_id: str, line: str, **fields: Any) -> dict[str, Any]:
    return item(event, item_id, "command_execution", command=f"/bin/zsh -lc {line}", aggregated_output="", **fields)


def test_a_result_that_comes_while_the_agent_goes_on_comes_where_it_came(tmp_path: Path) -> None:
    trajectory = of(
        tmp_path,
        STARTED,
        command("started", "item_0", "'sleep 9'", status="in_progress"),
        item("completed", "item_1", "agent_message", text="I go on."),
        command("completed", "item_0", "'sleep 9'", status="failed", exit_code=3),
    )
    assert shape(trajectory) == [
        ("assistant", None),
        ("assistant", "I go on."),
        ("tool", "Process exited with code 3\nOutput:\n"),
    ]
    assert trajectory.messages[2].is_error is True


def test_commands_that_run_side_by_side_are_of_one_reply(tmp_path: Path) -> None:
    begun = [command("started", f"item_{each}", f"'make {each}'", status="in_progress") for each in (0, 1)]
    ended = [command("completed", f"item_{each}", f"'make {each}'", status="completed", exit_code=0) for each in (1, 0)]
    reply, *results = of(tmp_path, STARTED, *begun, *ended).messages
    assert [json.loads(call.arguments)["cmd"] for call in reply.tool_calls] == ["make 0", "make 1"]
    assert [message.tool_call_id for message in results] == ["item_1", "item_0"]


def test_a_turn_that_failed_ends_the_session_and_a_plan_is_a_call(tmp_path: Path) -> None:
    steps = [{"text": "look", "completed": True}, {"text": "mend", "completed": False}]
    trajectory = of(
        tmp_path,
        STARTED,
        item("started", "item_0", "todo_list", items=steps),
        item("completed", "item_0", "todo_list", items=steps),
        item("completed", "item_1", "file_change", changes=[{"path": "a.py", "kind": "delete"}], status="failed"),
        {"type": "turn.failed", "error": {"message": "stream disconnected"}},
    )
    plan, patch = paired_calls(trajectory)
    assert (plan.name, plan.is_error) == ("update_plan", False)
    assert plan.arguments["plan"] == [{"step": "look", "status": "completed"}, {"step": "mend", "status": "open"}]
    assert (patch.arguments, patch.is_error) == (
        {"input": "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"},
        True,
    )
    assert (trajectory.source.exit_status, trajectory.source.usage) == ("turn.failed", None)


def test_two_threads_in_one_capture_are_two_sessions_and_the_last_usage_is_the_threads(tmp_path: Path) -> None:
    def said(text: str, tokens: int) -> list[dict[str, Any]]:
        usage = {"input_tokens": tokens, "cached_input_tokens": 10, "output_tokens": 5}
        return [item("completed", "item_0", "agent_message", text=text), {"type": "turn.completed", "usage": usage}]

    other = {"type": "thread.started", "thread_id": "019c-other"}
    events = [STARTED, *said("One", 50), other, *said("Two", 70), STARTED, *said("Three", 90)]
    recording = write_lines(tmp_path / "run.jsonl", events)
    first, second = codex_exec.read(recording)
    assert [message.content for message in first.messages] == ["One", "Three"]
    assert (first.session_id, first.source.usage) == ("019c-thread", Usage(80, None, 10, 5))
    assert (second.session_id, second.source.usage) == ("019c-other", Usage(60, None, 10, 5))


def test_without_a_thread_the_content_names_the_session_and_no_turn_is_a_warning(tmp_path: Path) -> None:
    said = item("completed", "item_0", "agent_message", text="One")
    assert of(tmp_path, said).session_id == of(tmp_path, said).session_id != of(tmp_path, said, said).session_id
    recording = write_lines(tmp_path / "none.jsonl", [STARTED, {"type": "turn.started"}])
    assert list(codex_exec.read(recording)) == []
    assert recording.warnings == ["none.jsonl: no turns recorded"]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "thread.started", "thread": {"id": "x"}},
        {"type": "item.completed", "item": "x"},
        {"type": "response.output_item.done", "item": {"id": "x"}},
    ],
)
def test_other_events_are_not_claimed(record: dict[str, Any]) -> None:
    assert not codex_exec.claims(Sample("lines", [record]))


def test_many_commands_side_by_side_are_read_in_linear_time() -> None:
    ids = [f"item_{number}" for number in range(16_000)]
    thread = codex_exec._Thread()
    with no_hang():
        for each in ids:
            thread.take(item("started", each, "command_execution", command="ls"))
        for _ in ids:
            thread.take(item("completed", ids[-1], "command_execution", command="ls", exit_code=0))
    assert len(thread.results) == len(ids)


@pytest.mark.parametrize("odd", [None, 1, [], {}, ["agent"]])
def test_a_command_of_an_odd_source_is_no_bug(odd: Any) -> None:
    assert item_ran({"type": "CommandExecution", "command": "ls", "source": odd}, "c1") is None
