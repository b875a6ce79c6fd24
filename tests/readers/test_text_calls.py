"""Calls that a reply holds as text, and the user's turns that are their results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers import openai_messages
from agent_wiki.trajectory import Trajectory
from tests.hangs import no_hang
from tests.readers.lines import only, write_document

LS = "<function=bash>\n<parameter=command>ls -a</parameter>\n</function>"
CALL = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "make test"}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "2 checks failed", "is_error": True}


def read(tmp_path: Path, *turns: str) -> Trajectory:
    roles = ("user", "assistant")
    chat = [{"role": roles[at % 2], "content": text} for at, text in enumerate(("Look around.", *turns))]
    return of(tmp_path, chat)


def of(tmp_path: Path, chat: list[dict[str, Any]]) -> Trajectory:
    recording = write_document(tmp_path / "r.json", chat)
    assert openai_messages.claims(recording.sample())
    return only(openai_messages.read(recording))


def shape(made: Trajectory) -> list[tuple[str, str | None, list[tuple[str, str]]]]:
    messages = made.messages
    return [(each.role, each.content, [(call.name, call.arguments) for call in each.tool_calls]) for each in messages]


@pytest.mark.parametrize(
    "result",
    [
        "OBSERVATION:\na.py",
        "EXECUTION RESULT of [bash]:\na.py",
        "Execution output of [bash]:\na.py",
        "Your command ran successfully and did not produce any output.",
    ],
)
def test_a_function_in_tags_is_a_call_and_the_next_turn_its_result(tmp_path: Path, result: str) -> None:
    made = read(tmp_path, f"I look.\n\n{LS}", result, "There is a.py.")
    assert shape(made) == [
        ("user", "Look around.", []),
        ("assistant", "I look.", [("bash", '{"command": "ls -a"}')]),
        ("tool", result, []),
        ("assistant", "There is a.py.", []),
    ]
    assert made.messages[2].tool_call_id == made.messages[1].tool_calls[0].id


def test_parameters_keep_their_lines(tmp_path: Path) -> None:
    call = (
        "<tool_call>\n<function=str_replace_editor>\n<parameter=command>create</parameter>\n<parameter=path>\n/a.py\n"
        "</parameter>\n<parameter=file_text>\n    x = '<b>'\n\ny\n\n</parameter>\n</function>\n</tool_call>"
    )
    made = read(tmp_path, call, "OBSERVATION:\ncreated", "Done.")
    assert made.messages[1].content is None
    assert shape(made)[1][2] == [
        ("str_replace_editor", '{"command": "create", "path": "/a.py", "file_text": "    x = \'<b>\'\\n\\ny\\n"}')
    ]


def test_several_calls_of_a_reply_have_a_result_each(tmp_path: Path) -> None:
    calls = '<tool_call>\n{"name": "a", "arguments": {"n": 1}}\n</tool_call>\n<tool_call>{"name": "b"}</tool_call>'
    results = "<tool_response>\none\n</tool_response>\n<tool_response>two</tool_response>"
    made = read(tmp_path, calls, results, "Done.")
    assert shape(made)[1:4] == [
        ("assistant", None, [("a", '{"n": 1}'), ("b", "{}")]),
        ("tool", "one", []),
        ("tool", "two", []),
    ]
    assert [each.role for each in read(tmp_path, calls, "<tool_response>one</tool_response>").messages][1:] == [
        "assistant",
        "user",
    ]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (f"So one writes {LS} in such a prompt.", "OBSERVATION:\nyes"),
        (f"So one writes:\n{LS}", "And what then?"),
        ("No call here.", "OBSERVATION:\nyes"),
        ("<function=a b>\n</function>", "OBSERVATION:\nyes"),
        ("<tool_call>{not json}</tool_call>", "OBSERVATION:\nyes"),
        ("</function>", "OBSERVATION:\nyes"),
    ],
)
def test_what_only_looks_like_a_call_or_a_result_stays_text(tmp_path: Path, reply: str, said: str) -> None:
    assert shape(read(tmp_path, reply, said, "Well."))[1:3] == [("assistant", reply, []), ("user", said, [])]


def test_the_call_that_ends_the_work_is_its_last_words(tmp_path: Path) -> None:
    words = "<function=finish>\n<parameter=message>All done.</parameter>\n</function>"
    assert shape(read(tmp_path, words))[1:] == [("assistant", "All done.", [])]
    assert shape(read(tmp_path, "So.\n<function=submit>\n</function>"))[1:] == [("assistant", "So.", [])]
    made = read(tmp_path, LS, "OBSERVATION:\na.py", "<function=submit>\n</function>")
    assert [each.role for each in made.messages] == ["user", "assistant", "tool"]
    assert made.source.hygiene["empty_messages_dropped"] == 1
    assert shape(read(tmp_path, LS))[1:] == [("assistant", None, [("bash", '{"command": "ls -a"}')])]


def test_a_block_that_mini_swe_agent_ran_is_a_call_also_in_a_bare_list(tmp_path: Path) -> None:
    made = read(
        tmp_path, "THOUGHT: I look.\n\n```bash\nls x\n```", "<returncode>2</returncode>\n<output>\nno x</output>"
    )
    assert shape(made)[1][2] == [("bash", '{"command": "ls x"}')]
    assert made.messages[2].is_error is True


@pytest.mark.parametrize("text", ["<function=a>" * 20_000, "<parameter=a>" * 20_000, "</tool_call>" * 20_000])
def test_tags_without_end_are_read_in_no_time(tmp_path: Path, text: str) -> None:
    with no_hang():
        made = read(tmp_path, f"{text}</function>", "OBSERVATION:\nx", text)
    assert [each.role for each in made.messages][:2] == ["user", "assistant"]


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps([{"type": "text", "text": "I run them."}, CALL]),
        f"I run them.\n{json.dumps(CALL)}",
        f"I run them.\n\n{json.dumps([CALL], indent=2)}\n",
        [{"type": "text", "text": f"I run them.\n{json.dumps(CALL)}"}],
    ],
)
def test_calls_and_results_that_stand_as_json_in_the_text_are_calls_and_results(tmp_path: Path, reply: Any) -> None:
    chat = [
        {"role": "user", "content": "Run the checks."},
        {"role": "assistant", "content": reply},
        {"role": "user", "content": json.dumps([RESULT])},
    ]
    _, called, answered = of(tmp_path, chat).messages
    assert (called.content, [call.name for call in called.tool_calls]) == ("I run them.", ["Bash"])
    assert called.tool_calls[0].arguments == '{"command": "make test"}'
    assert (answered.role, answered.tool_call_id, answered.is_error) == ("tool", "c1", True)


@pytest.mark.parametrize(
    ("role", "content"),
    [
        ("user", json.dumps(CALL)),  # a user calls nothing
        ("assistant", json.dumps([RESULT])),  # and a reply answers nothing
        ("assistant", f"A call looks like `{json.dumps(CALL)}` there."),
        ("assistant", json.dumps([{"type": "text", "text": "a"}])),
        ("assistant", json.dumps({"type": {"of": ["a"]}, "name": "Bash"})),
        ("assistant", json.dumps([CALL, {"type": "rule", "text": "a"}])),
        ("assistant", '{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"comm'),
    ],
)
def test_other_json_in_a_message_stays_text(tmp_path: Path, role: str, content: str) -> None:
    chat = [{"role": "user", "content": "Hello."}, {"role": role, "content": content}]
    assert [(each.role, each.content) for each in of(tmp_path, chat).messages][1:] == [(role, content)]


def test_code_that_autogen_ran_is_a_call_with_its_exit_code(tmp_path: Path) -> None:
    ran = "exitcode: 1 (execution failed)\nCode output: none"
    chat = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "```python\nprint(1 / 0)\n```"}]
    made = of(tmp_path, [*chat, {"role": "user", "content": ran}])
    assert [call.name for call in made.messages[1].tool_calls] == ["execute_code"]
    assert [(each.role, each.is_error, each.content) for each in made.messages[2:]] == [("tool", True, ran)]
    said = of(tmp_path, [chat[0], {"role": "assistant", "content": "No code."}, {"role": "user", "content": ran}])
    assert [(each.role, each.tool_calls) for each in said.messages[1:]] == [("assistant", []), ("user", [])]
