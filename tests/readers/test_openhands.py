"""OpenHands' event streams, on small recordings made here after published ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import openhands
from agent_wiki.readers.detect import reader_of
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import only, shape, write_document, write_lines

Event = dict[str, Any]


def event(number: int, source: str, **more: Any) -> Event:
    return {"id": number, "timestamp": f"2026-02-03T04:05:{number:02}.000001", "source": source, "message": "", **more}


def said(number: int, text: str, source: str = "user") -> Event:
    return event(number, source, action="message", args={"content": text})


def response(name: str, *calls: tuple[str, str, Any], text: str = "") -> Event:
    """What the model answered: the id of the response, and each call's id, tool and arguments."""
    recorded = [
        {"id": call_id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        for call_id, tool, arguments in calls
    ]
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 40}}
    message = {"role": "assistant", "content": text, "tool_calls": recorded}
    return {"id": name, "model": "model-x", "choices": [{"message": message}], "usage": usage}


def done(number: int, action: str, call_id: str, answer: Event, **given: Any) -> Event:
    metadata = {"tool_call_id": call_id, "function_name": "-", "model_response": answer, "total_calls_in_response": 1}
    return event(number, "agent", action=action, args=given, tool_call_metadata=metadata)


def ran(number: int, cause: int, output: str, exit_code: int = 0, **around: str) -> Event:
    extras = {"metadata": {"exit_code": exit_code, **around}}
    return event(number, "agent", observation="run", cause=cause, content=output, extras=extras)


def read(tmp_path: Path, *events: Any) -> Trajectory:
    recording = write_document(tmp_path / "trajectory.json", list(events))
    assert reader_of(recording) is openhands
    return only(openhands.read(recording))


def test_actions_are_calls_and_observations_their_results(tmp_path: Path) -> None:
    test = response("r-1", ("call_1", "execute_bash", {"command": "make test"}), text="I run the tests.")
    trajectory = read(
        tmp_path,
        event(0, "environment", observation="agent_state_changed", extras={"agent_state": "loading"}, content=""),
        event(1, "agent", action="system", args={"content": "You are an agent.", "openhands_version": "0.46.0"}),
        said(2, "Add it up."),
        event(3, "user", action="recall", args={"query": "Add it up."}),
        event(4, "environment", observation="recall", cause=3, content="", extras={"repo_instructions": "Kindly."}),
        done(5, "run", "call_1", test, command="make test", thought="I run the tests."),
        ran(6, 5, "1 failed", 2),
        event(7, "agent", action="finish", args={"final_thought": "One test fails.", "thought": ""}),
        event(8, "environment", observation="agent_state_changed", extras={"agent_state": "finished"}, content=""),
    )
    assert shape(trajectory) == [
        ("system", "You are an agent."),
        ("user", "Add it up."),
        ("user", "Kindly."),
        ("assistant", "I run the tests."),
        ("tool", "1 failed"),
        ("assistant", "One test fails."),
    ]
    assert [message.mark for message in trajectory.messages[1:3]] == [None, "injected"]
    (call,) = paired_calls(trajectory)
    assert (call.name, call.command(), call.result, call.is_error) == ("execute_bash", "make test", "1 failed", True)
    source = trajectory.source
    assert (trajectory.agent, trajectory.model, source.agent_version) == ("openhands", "model-x", "0.46.0")
    assert source.usage == Usage(input_tokens=60, cache_read_input_tokens=40, output_tokens=7)
    assert (source.duration_seconds, source.exit_status) == (8.0, None)


def test_a_reply_with_several_calls_is_one_and_is_counted_once(tmp_path: Path) -> None:
    both = response("r-1", ("call_1", "execute_bash", {"command": "ls"}), ("call_2", "think", {"thought": "Hm."}))
    trajectory = read(
        tmp_path,
        said(1, "Look."),
        done(2, "run", "call_1", both, command="ls"),
        ran(3, 2, "a.txt"),
        done(4, "think", "call_2", both, thought="Hm."),
        event(5, "agent", observation="think", cause=4, content="Your thought has been logged."),
    )
    assert [message.role for message in trajectory.messages] == ["user", "assistant", "tool", "tool"]
    assert [(call.name, call.result) for call in paired_calls(trajectory)] == [
        ("execute_bash", "a.txt"),
        ("think", "Your thought has been logged."),
    ]
    assert trajectory.source.usage == Usage(input_tokens=60, cache_read_input_tokens=40, output_tokens=7)
    assert trajectory.source.hygiene == {}


def test_an_id_that_comes_again_after_a_condensation_is_another_call(tmp_path: Path) -> None:
    one, two = (response(f"r-{name}", ("call_1", "execute_bash", {"command": name})) for name in ("ls", "pwd"))
    trajectory = read(
        tmp_path,
        said(1, "Look."),
        done(2, "run", "call_1", one, command="ls"),
        event(3, "agent", action="condensation", args={"summary": "It looked.", "forgotten_event_ids": None}),
        done(4, "run", "call_1", two, command="pwd"),
        ran(5, 4, "/work"),
        ran(6, 2, "a.txt"),
    )
    assert [(call.command(), call.result) for call in paired_calls(trajectory)] == [("ls", "a.txt"), ("pwd", "/work")]
    assert [message.content for message in trajectory.messages if message.mark == "compaction"] == ["It looked."]


def test_a_command_that_still_runs_has_no_status_and_a_refused_one_is_no_failure(tmp_path: Path) -> None:
    waits = "\n[The command has no new output after 10 seconds. You may wait longer.]"
    trajectory = read(
        tmp_path,
        said(1, "Serve it."),
        event(2, "agent", action="run", args={"command": "make serve", "thought": "I serve it."}),
        ran(3, 2, "up", -1, prefix="", suffix=waits),
        event(4, "agent", action="run", args={"command": "rm -r data", "thought": ""}),
        event(5, "user", observation="user_rejected", cause=4, content="No."),
        event(6, "agent", action="edit", args={"path": "a.py", "old_str": "a", "thought": ""}),
        event(7, "agent", observation="error", cause=6, content="No match in the file."),
        event(8, "agent", action="run", args={"command": "C-c", "is_input": True, "thought": ""}),
        ran(9, 8, "^C", 130),
        event(
            10, "environment", observation="agent_state_changed", extras={"agent_state": "error", "reason": "Lost\n"}
        ),
    )
    assert [(call.name, verdict_of(call).state, call.mark) for call in paired_calls(trajectory)] == [
        ("execute_bash", "running", None),
        ("execute_bash", "refused", "rejected"),
        ("edit", "failed", None),
        ("execute_bash", "passed", None),
    ]
    assert paired_calls(trajectory)[-1].command() is None, "keys for a command are none"
    assert trajectory.messages[1].content == "I serve it."
    assert trajectory.source.exit_status == "error: Lost"


def test_the_results_of_an_evaluation_are_sessions_with_their_verdicts(tmp_path: Path) -> None:
    pair = [
        event(2, "agent", action="run", args={"command": "ls", "thought": ""}),
        ran(3, 2, "a.txt"),
    ]
    results = [
        {
            "instance_id": f"acme__cart-{number}",
            "instance": {"patch": "the solution", "repo": "acme/cart"},
            "history": [[said(1, "Mend it."), event(1, "environment", observation="null", content="")], pair],
            "metadata": {"llm_config": {"model": "model-y"}},
            "metrics": {"accumulated_cost": 0.5},
            "test_result": {"report": {"resolved": resolved}} if resolved is not None else {"git_patch": ""},
            "error": None if resolved is not None else "RuntimeError: maximum iteration reached\nmore",
        }
        for number, resolved in enumerate([True, False, None])
    ]
    recording = write_lines(tmp_path / "output.jsonl", results)
    assert reader_of(recording) is openhands
    found = list(openhands.read(recording))
    assert [(each.source.task_id, each.source.resolved) for each in found] == [
        ("acme__cart-0", True),
        ("acme__cart-1", False),
        ("acme__cart-2", None),
    ]
    assert [each.source.exit_status for each in found] == [None, None, "RuntimeError: maximum iteration reached"]
    assert {(each.model, each.source.cost_usd, each.source.hygiene["answer_keys_withheld"]) for each in found} == {
        ("model-y", 0.5, 1)
    }
    assert len({each.session_id for each in found}) == 3


def test_a_session_keeps_its_id_while_it_grows(tmp_path: Path) -> None:
    events = [said(1, "Look."), said(2, "I see.", "agent"), said(3, "And now?")]
    assert read(tmp_path, *events[:2]).session_id == read(tmp_path, *events).session_id
    assert read(tmp_path, said(1, "Look there.")).session_id != read(tmp_path, *events).session_id


def test_a_list_without_turns_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording):
        read(tmp_path, event(0, "environment", observation="agent_state_changed", extras={}, content=""))


@pytest.mark.parametrize("more", [{}, {"history": None}])
def test_events_may_be_the_trajectory_of_an_object(tmp_path: Path, more: dict[str, Any]) -> None:
    events = [
        said(1, "Mend it."),
        event(2, "agent", action="run", args={"command": "ls", "thought": ""}),
        ran(3, 2, "a"),
    ]
    recording = write_document(tmp_path / "t.json", {"trajectory": events, **more})
    assert reader_of(recording) is openhands
    (trajectory,) = openhands.read(recording)
    assert [each.role for each in trajectory.messages] == ["user", "assistant", "tool"]
