"""SWE-agent: history with native calls, history with actions, and steps alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import swe_agent
from agent_wiki.readers.recording import Sample
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import only, shape, write_document

PROMPT: list[dict[str, Any]] = [
    {"role": "system", "content": "SETTING", "agent": "main", "message_type": "system_prompt"},
    {"role": "user", "content": "A demonstration", "agent": "main", "is_demo": True, "message_type": "demonstration"},
    {"role": "user", "content": "Fix it.", "agent": "main", "message_type": "observation"},
]
CALL = {"id": "c1", "type": "function", "function": {"name": "open", "arguments": '{"path": "a.py"}'}}
NATIVE = [
    *PROMPT,
    {"role": "assistant", "content": "Open.", "thought": "Open.", "action": "open a.py", "tool_calls": [CALL]},
    {"role": "tool", "content": [{"type": "text", "text": "1: x"}], "tool_call_ids": ["c1"]},
]
ACTIONS = [
    *PROMPT,
    {"role": "assistant", "content": "Run.\n```\nls\n```", "thought": "Run.\n", "action": "ls\n"},
    {"role": "user", "content": "a.py\nbash-$"},
    {"role": "assistant", "content": "Submit.", "action": "submit"},
]
STEPS = [
    {"action": "ls\n", "observation": "a.py", "response": "Run.", "thought": "Run.", "state": "{}"},
    {"action": "", "observation": "", "response": "Nothing to run.", "thought": ""},
    {"action": "cat b", "observation": "cat: b: No such file or directory\n(exit code: 1)", "thought": "Look."},
]


def read(tmp_path: Path, document: Any) -> Trajectory:
    recording = write_document(tmp_path / "r.traj", document)
    assert swe_agent.claims(recording.sample())
    return only(swe_agent.read(recording))


def test_native_calls_are_taken_and_the_action_is_not_a_second_call(tmp_path: Path) -> None:
    trajectory = read(tmp_path, {"history": NATIVE})
    (call,) = paired_calls(trajectory)
    assert (call.name, call.arguments, call.result) == ("open", {"path": "a.py"}, "1: x")


def test_an_action_becomes_a_call_and_the_next_user_message_its_result(tmp_path: Path) -> None:
    trajectory = read(tmp_path, {"history": ACTIONS})
    assert [(call.command(), call.result) for call in paired_calls(trajectory)] == [
        ("ls\n", "a.py\nbash-$"),
        ("submit", None),
    ]
    assert trajectory.source.hygiene["calls_without_result"] == 1


def test_a_demonstration_is_not_the_request(tmp_path: Path) -> None:
    trajectory = read(tmp_path, {"history": NATIVE})
    assert [(message.content, message.mark) for message in trajectory.messages if message.role == "user"] == [
        ("A demonstration", "injected"),
        ("Fix it.", None),
    ]


def test_steps_alone_are_read_as_action_and_observation(tmp_path: Path) -> None:
    trajectory = read(tmp_path, {"environment": "main", "trajectory": STEPS})
    assert shape(trajectory) == [
        ("assistant", "Run."),
        ("tool", "a.py"),
        ("assistant", "Nothing to run."),
        ("assistant", "Look."),
        ("tool", "cat: b: No such file or directory\n(exit code: 1)"),
    ]
    assert [call.command() for call in paired_calls(trajectory)] == ["ls\n", "cat b"]


def test_the_prompt_of_newer_steps_is_read_from_their_query(tmp_path: Path) -> None:
    query = [{"role": "system", "content": "S"}, {"role": "user", "content": "Fix it."}]
    trajectory = read(tmp_path, {"trajectory": [STEPS[0] | {"query": query}]})
    assert shape(trajectory)[:2] == [("system", "S"), ("user", "Fix it.")]


@pytest.mark.parametrize("as_text", [False, True])
def test_model_task_and_measures_come_from_the_settings(tmp_path: Path, as_text: bool) -> None:
    settings: Any = {"agent": {"model": {"name": "m-1"}}, "problem_statement": {"id": "demo__demo-1"}}
    stats = {"instance_cost": 0.5, "tokens_sent": 10, "tokens_received": 2, "api_calls": 1}
    document = {
        "history": NATIVE,
        "info": {"exit_status": "submitted", "model_stats": stats},
        "replay_config": json.dumps(settings) if as_text else settings,
    }
    trajectory = read(tmp_path, document)
    assert (trajectory.agent, trajectory.model) == ("swe-agent", "m-1")
    assert trajectory.session_id.startswith("swe-agent-demo__demo-1-")
    source = trajectory.source
    assert (source.task_id, source.exit_status, source.cost_usd) == ("demo__demo-1", "submitted", 0.5)
    assert source.usage == Usage(input_tokens=10, output_tokens=2)


def test_the_zeros_of_a_replay_are_no_measures(tmp_path: Path) -> None:
    stats = {"instance_cost": 0, "tokens_sent": 0, "tokens_received": 0, "api_calls": 11}
    source = read(tmp_path, {"history": NATIVE, "info": {"model_stats": stats}}).source
    assert (source.usage, source.cost_usd) == (None, None)


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"history": []}, {"history": [{"role": "user", "content": "hi", "name": "x"}]}, {"trajectory": [1]}],
)
def test_other_documents_are_not_claimed(document: Any) -> None:
    assert not swe_agent.claims(Sample("document", [document]))


def test_a_file_with_neither_history_nor_steps_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="neither history nor steps"):
        list(swe_agent.read(write_document(tmp_path / "r.traj", {"history": [], "trajectory": []})))


OPENED = "[File: src/a.py (9 lines total)]\n1:x\n(Open file: /repo/src/a.py)\n(Current directory: /repo)\nbash-$"
TAKEN_BACK = "Your proposed edit has introduced new syntax error(s). Please read this error message carefully"
EDIT = {
    "id": "e1",
    "function": {"name": "edit", "arguments": '{"start_line": 1, "end_line": 1, "replacement_text": "y"}'},
}


def test_an_edit_gets_the_file_that_the_editor_has_open(tmp_path: Path) -> None:
    opened = {"role": "tool", "content": OPENED, "tool_call_ids": ["c1"]}
    edited = {"role": "tool", "content": TAKEN_BACK, "tool_call_ids": ["e1"]}
    reply = {"role": "assistant", "content": "Change it.", "tool_calls": [EDIT]}
    trajectory = read(tmp_path, {"history": [*NATIVE[:-1], opened, reply, edited]})
    edit = paired_calls(trajectory)[-1]
    assert (edit.name, edit.path(), edit.arguments["replacement_text"]) == ("edit", "/repo/src/a.py", "y")
    assert edit.is_error is True  # the editor took it back


def test_an_edit_written_as_text_is_one_of_the_editor(tmp_path: Path) -> None:
    steps = [
        {"action": "create b.py\n", "observation": "[File: b.py (1 lines total)]\n1:", "thought": "New."},
        {"action": "edit 1:1\nprint(1)\nend_of_edit\n", "observation": "File updated.", "thought": "Write."},
        {"action": "python b.py", "observation": "1", "thought": "Run."},
    ]
    calls = paired_calls(read(tmp_path, {"trajectory": steps}))
    assert [(call.name, call.path()) for call in calls] == [("create", "b.py"), ("edit", "b.py"), ("bash", None)]
    assert calls[1].arguments["replacement_text"] == "print(1)"


@pytest.mark.parametrize("shown", ["nothing of a file", "(Open file: n/a)"])
def test_an_edit_without_an_open_file_stays_as_it_was_written(tmp_path: Path, shown: str) -> None:
    steps = [
        {"action": "open missing.py", "observation": shown, "thought": "Open."},
        {"action": "edit 1:1\nx\nend_of_edit", "observation": "No file open.", "thought": "Write."},
    ]
    assert [call.name for call in paired_calls(read(tmp_path, {"trajectory": steps}))] == ["bash", "bash"]


def test_a_line_of_the_newer_editor_is_a_call_of_it_and_one_that_it_cannot_read_is_not(tmp_path: Path) -> None:
    replaced = 'str_replace_editor str_replace /repo/a.py --old_str "x = \\"1\\"\n" --new_str "x = 2"\n'
    refused = "OBSERVATION:\nNo replacement was performed, old_str `x` did not appear verbatim in /repo/a.py."
    steps = [
        {"action": "str_replace_editor view /repo/a.py --view_range 1 9", "observation": "1 x", "thought": "Look."},
        {"action": replaced, "observation": refused, "thought": "Change."},
        {"action": "str_replace_editor view /repo/a.py [1, 9]", "observation": "usage: …", "thought": "Look."},
        {"action": "str_replace_editor view '/repo/a.py", "observation": "quote", "thought": "Look."},
    ]
    calls = paired_calls(read(tmp_path, {"trajectory": steps}))
    assert [call.name for call in calls] == ["str_replace_editor"] * 2 + ["bash"] * 2
    assert calls[0].arguments == {"command": "view", "path": "/repo/a.py", "view_range": [1, 9]}
    assert (calls[1].path(), calls[1].arguments["old_str"], calls[1].is_error) == ("/repo/a.py", 'x = "1"\n', True)


def test_the_word_on_a_silent_command_is_no_request_where_none_had_run(tmp_path: Path) -> None:
    silent = "Your last command ran successfully and did not produce any output."
    history = [
        {"role": "user", "content": "Cap the totals.", "agent": "main"},
        {"role": "assistant", "content": "Exit due to context window", "agent": "main"},
        {"role": "user", "content": silent, "agent": "main"},
    ]
    assert [message.mark for message in read(tmp_path, {"history": history}).messages] == [None, None, "injected"]
