"""Conversations in the form of ShareGPT, on small ones made here in the shape of real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import detect, sharegpt
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls
from tests.hangs import no_hang
from tests.readers.lines import only, shape, write_document, write_lines


def turns(*said: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"from": who, "value": value} for who, value in said]


def row(*said: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"conversations": turns(*said), **more}


CALL = '{"name": "bash", "arguments": {"command": "make"}}'
WORK = row(("human", "Run the tests."), ("function_call", CALL), ("observation", "ok"), ("gpt", "All pass."))
CHAT = row(("human", "Hello."), ("gpt", "Hello! `<tool_call>` is how a tool is called."))
TEXT_CALL = "<tool_call>\n" + CALL + "\n</tool_call>"


def read(recording: Recording) -> list[Trajectory]:
    assert detect.reader_of(recording).FORMAT == "sharegpt"
    return list(sharegpt.read(recording))


def session(tmp_path: Path, *said: tuple[str, Any], **more: Any) -> Trajectory:
    return only(read(write_document(tmp_path / "a.json", [row(*said, **more)])))


def test_calls_and_results_with_turns_of_their_own(tmp_path: Path) -> None:
    trajectory = session(
        tmp_path,
        ("system", "Be brief."),
        ("human", "Run the tests."),
        ("function_call", CALL),
        ("observation", '{"exit_code": 1}'),
        ("function_call", f"[{CALL}, {CALL}]"),
        ("observation", "one"),
        ("observation", "two"),
        ("gpt", "<think>Good.</think>All pass."),
        system="You have tools.",
        tools="[]",
        model="m-large",
        timestamp="2026-01-01T00:00:00",
    )
    assert shape(trajectory)[:3] == [
        ("system", "You have tools."),
        ("system", "Be brief."),
        ("user", "Run the tests."),
    ]
    calls = paired_calls(trajectory)
    assert [(each.command(), each.result, each.is_error) for each in calls] == [
        ("make", '{"exit_code": 1}', True),
        ("make", "one", None),
        ("make", "two", None),
    ]
    assert (trajectory.messages[-1].content, trajectory.messages[-1].thinking) == ("All pass.", "Good.")
    assert (trajectory.model, trajectory.timestamp, trajectory.agent) == ("m-large", "2026-01-01T00:00:00Z", None)
    assert trajectory.session_id.startswith("sharegpt-")


def test_a_system_prompt_that_is_a_turn_too_is_read_once(tmp_path: Path) -> None:
    said = [(each["from"], each["value"]) for each in WORK["conversations"]]
    trajectory = session(tmp_path, ("system", "Be brief."), *said, system="Be brief.")
    assert [each.role for each in trajectory.messages] == ["system", "user", "assistant", "tool", "assistant"]


def test_calls_in_the_text_of_replies_and_results_of_a_tool(tmp_path: Path) -> None:
    returned = '{"tool_call_id": "t-0", "name": "bash", "content": {"output": "ok", "exit_code": 0}}'
    plain = '{"tool_call_id": "t-1", "name": "bash", "content": "two"}'
    trajectory = session(
        tmp_path,
        ("human", "Run the tests."),
        ("gpt", f"<think>\nRun them.\n</think>\nI run them.\n{TEXT_CALL}\n{TEXT_CALL}"),
        (
            "tool",
            f"<tool_response>\n{returned}\n</tool_response>\n<tool_response>\n{plain}\n</tool_response>",
        ),
        ("gpt", "All pass."),
        completed=False,
        timestamp="2026-01-01T00:00:09",
        model="m",
    )
    assert trajectory.messages[1].content == "I run them."
    assert [(each.name, each.result) for each in paired_calls(trajectory)] == [
        ("bash", '{"output": "ok", "exit_code": 0}'),
        ("bash", "two"),
    ]
    source = trajectory.source
    assert (source.exit_status, source.ended_at, trajectory.timestamp) == (
        "not completed",
        "2026-01-01T00:00:09Z",
        None,
    )


def test_what_follows_a_call_in_the_users_place_is_its_result(tmp_path: Path) -> None:
    called = "I look.\n\n<function=browser>\n<parameter=code>\nnoop()\n</parameter>\n</function>"
    trajectory = session(
        tmp_path,
        ("human", "Look at the page."),
        ("function_call", called),
        ("human", "[Current URL: about:blank]"),
        ("gpt", called),
        ("human", "OBSERVATION:\na page"),
        ("gpt", called.partition("\n\n")[2]),
        ("human", "[Current URL: about:blank]"),
        ("gpt", called),
        ("human", "What are you doing?"),
        ("function_call", "Ok."),
        ("human", "Now the other one."),
        ("function_call", "<function=finish>\n<parameter=message>\nDone.\n</parameter>\n</function>"),
    )
    assert shape(trajectory) == [
        ("user", "Look at the page."),
        ("assistant", "I look."),
        ("tool", "[Current URL: about:blank]"),
        ("assistant", "I look."),
        ("tool", "OBSERVATION:\na page"),
        ("assistant", None),
        ("tool", "[Current URL: about:blank]"),
        ("assistant", called),
        ("user", "What are you doing?"),
        ("assistant", "Ok."),
        ("user", "Now the other one."),
        ("assistant", "Done."),
    ]


def test_what_came_of_a_call_that_cannot_be_read_is_not_the_users(tmp_path: Path) -> None:
    said = ("human", "Go."), ("function_call", "<function=bash>ls"), ("human", "OBSERVATION:\na.py")
    trajectory = session(tmp_path, *said, ("gpt", "Done."))
    assert [(each.role, each.mark) for each in trajectory.messages][2] == ("user", "injected")


def test_a_user_who_writes_after_the_work_has_ended_is_the_user(tmp_path: Path) -> None:
    ended = "<function=finish>\n<parameter=message>\nDone.\n</parameter>\n</function>"
    trajectory = session(
        tmp_path, ("human", "Go."), ("function_call", ended), ("human", "Thanks."), ("observation", "x"), ("gpt", "ok")
    )
    assert [(each.role, each.mark) for each in trajectory.messages][2:4] == [("user", None), ("tool", "no-call")]


def test_only_conversations_in_which_a_tool_is_called_are_read(tmp_path: Path) -> None:
    choice = row(("human", "Hi."), ("function_call", CALL), chosen={"from": "gpt"}, rejected={"from": "gpt"})
    recording = write_lines(tmp_path / "a.jsonl", [CHAT, WORK, CHAT, choice, {"conversations": 7}])
    assert [len(each.messages) for each in read(recording)] == [4]
    assert recording.warnings == ["a.jsonl: 4 without a tool's call or result, left out"]


@pytest.mark.parametrize(
    "foreign",
    [
        [CHAT],
        [row(("human", "Hi."), ("gpt", TEXT_CALL))],
        [row(("human", "Hi."), ("gpt", TEXT_CALL), ("human", "What does this mean?"))],
        [{"conversations": [{"from": "a@b.c", "value": "x"}, {"from": "tool", "value": "y"}]}],
        [{"conversations": []}],
        {"conversations": ["function_call"]},
        [{"id": 1, "conversations": [{"id": "c", "title": "A chat"}]}],
    ],
)
def test_chats_and_other_lists_are_left_alone(tmp_path: Path, foreign: Any) -> None:
    recording = write_document(tmp_path / "a.json", foreign)
    assert not sharegpt.claims(recording.sample())
    with pytest.raises(UnreadableRecording, match="not a trajectory"):
        detect.reader_of(recording)


def test_one_conversation_may_be_the_document_and_roles_may_have_other_names(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "Go."},
        {"role": "tool_call", "content": CALL},
        {"role": "tool", "content": "x"},
    ]
    (found,) = read(write_document(tmp_path / "a.json", {"conversations": said}))
    assert [each.role for each in found.messages] == ["user", "assistant", "tool"]


def test_what_is_recorded_as_an_object_is_read_as_text_is(tmp_path: Path) -> None:
    call = json.loads(CALL)
    trajectory = session(
        tmp_path,
        ("human", [{"type": "text", "text": "Run the tests."}]),
        ("function_call", call),
        ("tool_result", "ok"),
        ("function_call", [call, "Once more.", call]),
        ("observation", {"files": ["a.py"]}),
        ("observation", "two"),
        ("gpt", "All pass."),
    )
    assert shape(trajectory) == [
        ("user", "Run the tests."),
        ("assistant", None),
        ("tool", "ok"),
        ("assistant", "Once more."),
        ("tool", '{"files": ["a.py"]}'),
        ("tool", "two"),
        ("assistant", "All pass."),
    ]
    assert [each.command() for each in paired_calls(trajectory)] == ["make", "make", "make"]


def test_what_is_no_call_among_calls_is_kept(tmp_path: Path) -> None:
    mixed = f'[{CALL}, {{"note": "slow"}}, 7, null]'
    trajectory = session(tmp_path, ("human", "Go."), ("function_call", mixed), ("observation", "x"), ("gpt", "ok"))
    assert trajectory.messages[1].content == '{"note": "slow"}\n7'
    assert len(paired_calls(trajectory)) == 1


def test_turns_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    odd: list[tuple[str, Any]] = [("critic", "Good."), ("gpt", None)]
    rows = [row(*[(each["from"], each["value"]) for each in WORK["conversations"]], *odd) for _ in range(2)]
    rows[0]["conversations"].append("no turn")
    recording = write_lines(tmp_path / "a.jsonl", [*rows, CHAT])
    assert [len(each.messages) for each in read(recording)] == [4, 4]
    assert recording.warnings == [
        "a.jsonl: 1 without a tool's call or result, left out",
        "a.jsonl: turns of an unknown kind or without content, left out: 5",
    ]


def test_a_session_that_grew_is_known_by_its_beginning(tmp_path: Path) -> None:
    grown = {"conversations": [*WORK["conversations"], *turns(("human", "Thanks."))]}
    first, second = read(write_lines(tmp_path / "a.jsonl", [WORK, grown]))
    assert first.session_id in second.earlier_ids
    assert first.session_id != second.session_id


def test_a_line_that_is_cut_off_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(WORK) + "\n" + json.dumps(WORK) + '\n{"conversations": [', encoding="utf-8")
    recording = Recording(path, path.name)
    assert len(read(recording)) == 2
    assert recording.warnings[0].startswith("a.jsonl:3: last line is cut off, skipped")


def test_odd_values_cost_nothing(tmp_path: Path) -> None:
    odd: list[tuple[Any, Any]] = [
        ([], "x"),
        ("gpt", None),
        ("observation", {"a": 1}),
        ("function_call", "[1, 2]"),
        ("function_call", "{no"),
        ("function_call", '{"name": 7, "arguments": "x"}'),
        ("observation", ""),
        ("tool", '{"name": [], "content": [7, null]}'),
    ]
    trajectory = session(
        tmp_path, *[("human", "Go."), ("gpt", "ok"), *odd, ("gpt", "Done.")], completed="yes", model=[]
    )
    assert ("assistant", "Done.") in shape(trajectory)
    assert (trajectory.source.exit_status, trajectory.model) == (None, None)


def test_a_hostile_text_does_not_take_long(tmp_path: Path) -> None:
    said = [("human", "Go."), ("function_call", "<function=" * 50_000), ("observation", "<tool_response>" * 50_000)]
    with no_hang():
        session(tmp_path, *said, ("gpt", "<tool_call>" * 50_000 + "</tool_call>"))
