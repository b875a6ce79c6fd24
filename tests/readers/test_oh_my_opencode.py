"""OpenCode's sessions as a plugin keeps them: calls and results without ids, and without the agent's words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import detect, oh_my_opencode
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls
from tests.hangs import no_hang
from tests.readers.lines import only, write_lines

_Line = dict[str, Any]


def user(text: str) -> _Line:
    return {"type": "user", "content": text}


def use(tool: str, **given: Any) -> _Line:
    return {"type": "tool_use", "tool_name": tool, "tool_input": given}


def result(tool: str, output: Any, **given: Any) -> _Line:
    return {"type": "tool_result", "tool_name": tool, "tool_input": given, "tool_output": output}


def printed(text: str, code: int | None = 0, description: str = "") -> _Line:
    return {"output": text, "exit": code, "description": description, "truncated": False}


def session(tmp_path: Path, *lines: _Line, name: str = "ses_abc123.jsonl") -> Trajectory:
    timed = [{"timestamp": f"2026-01-11T02:18:{at % 60:02}.500Z", **line} for at, line in enumerate(lines)]
    return only(detect.read(write_lines(tmp_path / name, timed)))


def shown(trajectory: Trajectory) -> list[tuple[str, str | None, str | None]]:
    return [(message.role, message.content, message.mark) for message in trajectory.messages]


def outcomes(trajectory: Trajectory) -> list[tuple[str, str | None, bool | None]]:
    return [(call.arguments.get("command", call.name), call.result, call.is_error) for call in paired_calls(trajectory)]


def test_calls_of_one_reply_are_joined_with_their_results_by_tool_and_input(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        user("Look."),
        use("bash", command="ls", description="List"),
        use("bash", description="List above", command="ls .."),
        result("bash", printed("b\n", 1), command="ls ..", description="List above"),
        result("bash", printed("a\n"), command="ls", description="List"),
        use("bash", command="pwd"),
    )
    assert [(message.role, len(message.tool_calls)) for message in found.messages] == [
        ("user", 0),
        ("assistant", 2),
        ("tool", 0),
        ("tool", 0),
        ("assistant", 1),
    ]
    assert outcomes(found) == [("ls", "a\n", False), ("ls ..", "b\n", True), ("pwd", None, None)]
    source = found.source
    assert (found.session_id, found.agent, source.format) == ("ses_abc123", "opencode", "oh-my-opencode")
    assert (found.timestamp, source.ended_at) == ("2026-01-11T02:18:00.500Z", "2026-01-11T02:18:05.500Z")
    assert (source.duration_seconds, source.hygiene["calls_without_result"]) == (5.0, 1)


def test_a_result_that_came_late_has_lost_its_input_and_is_joined_by_the_description(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        use("bash", command="make a", description="Make a"),
        use("bash", command="make b", description="Make b"),
        result("bash", printed("b", description="Make b")),
        result("bash", printed("a", description="Make a")),
    )
    assert [call.result for call in paired_calls(found)] == ["a", "b"]


def test_an_input_that_a_hook_changed_is_joined_by_the_description_or_as_the_only_call(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        use("bash", command="make a", description="Make a"),
        use("bash", command="make b", description="Make b"),
        use("task", prompt="Find it"),
        result("bash", printed("b"), command="CI=1; make b", description="Make b"),
        result("task", {"output": "found"}, prompt="Find it\n\nBe brief"),
    )
    assert [call.result for call in paired_calls(found)] == [None, "b", "found"]


def test_a_call_that_was_repeated_gets_the_result(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        use("read", filePath="a"),
        user("Again."),
        use("read", filePath="a"),
        result("read", {"preview": "x", "truncated": False}, filePath="a"),
    )
    assert [call.result for call in paired_calls(found)] == [None, "x"]


def test_a_result_of_any_of_several_calls_is_kept_as_that_of_none(tmp_path: Path) -> None:
    found = session(tmp_path, use("task", prompt="a"), use("task", prompt="b"), result("task", {"output": "x"}))
    assert [call.result for call in paired_calls(found)] == [None, None]
    assert shown(found)[-1] == ("tool", "x", "no-call")


@pytest.mark.parametrize(
    ("tool", "output", "text", "is_error"),
    [
        ("bash", printed("", 0), "", False),
        ("bash", printed("x\n<bash_metadata>\nterminated after 1 ms\n</bash_metadata>", None), None, None),
        ("bash", {"output": "Traceback (most recent call last):\n  x\nValueError: 1"}, None, True),
        ("read", {"preview": "Error: is what the file says", "truncated": True}, "Error: is what the file says", False),
        ("edit", {"diff": "-a\n+b\n", "filediff": {"before": "a"}, "diagnostics": {}}, "-a\n+b\n", False),
        ("write", {"filepath": "/a", "exists": False, "diagnostics": {}}, '{"filepath": "/a", "exists": false}', False),
        ("glob", {"output": "No files found", "filePath": "/a"}, "No files found", False),
        ("invalid", {"output": "The arguments provided to the tool are invalid"}, None, True),
        ("odd", "text alone", "text alone", False),
    ],
)
def test_what_is_recorded_of_a_result_is_its_text(
    tmp_path: Path, tool: str, output: Any, text: str | None, is_error: bool | None
) -> None:
    last = session(tmp_path, use(tool, a=1), result(tool, output, a=1)).messages[-1]
    assert (last.role, last.is_error) == ("tool", is_error)
    assert last.content == (output["output"] if text is None else text)


@pytest.mark.parametrize("output", [{"truncated": False}, {}, {"outputPath": "/a", "truncated": True}, None])
def test_a_result_without_a_text_is_no_empty_one(tmp_path: Path, output: Any) -> None:
    found = session(tmp_path, use("grep", pattern="x"), result("grep", output, pattern="x"), use("grep", pattern="x"))
    assert [message.role for message in found.messages] == ["assistant", "assistant"]
    assert found.source.hygiene["calls_without_result"] == 2


def test_a_command_that_the_user_stopped_is_no_failure(tmp_path: Path) -> None:
    text = "\n\n<bash_metadata>\nUser aborted the command\n</bash_metadata>"
    last = session(tmp_path, use("bash", command="x"), result("bash", printed(text, None), command="x")).messages[-1]
    assert (last.mark, last.is_error) == ("interrupt", None)


def test_what_the_plugin_writes_is_not_the_users(tmp_path: Path) -> None:
    done = '[BACKGROUND TASK COMPLETED] Task "Find it" finished in 19s.'
    found = session(
        tmp_path,
        user("Find it."),
        use("task", a=1),
        user(done),
        user("<system-reminder>\n[ALL BACKGROUND TASKS COMPLETE]\n</system-reminder>"),
        user("[SYSTEM REMINDER - TODO CONTINUATION]\n\nGo on."),
        user(""),
        user("[Pasted] text"),
    )
    assert [each for each in shown(found) if each[0] == "user"] == [
        ("user", "Find it.", None),
        ("user", done, "injected"),
        ("user", "[SYSTEM REMINDER - TODO CONTINUATION]\n\nGo on.", "injected"),
        ("user", "[Pasted] text", None),
    ]
    assert found.source.hygiene["empty_messages_dropped"] == 2


def test_the_agents_words_are_read_where_there_are_any(tmp_path: Path) -> None:
    words = {"type": "assistant", "content": "I look."}
    found = session(tmp_path, user("Go"), words, use("read", a=1), {"type": "assistant", "content": "Done."})
    replies = [(each.content, len(each.tool_calls)) for each in found.messages if each.role == "assistant"]
    assert replies == [("I look.", 1), ("Done.", 0)]


def test_a_file_of_another_name_has_an_id_made_of_its_first_line(tmp_path: Path) -> None:
    short = session(tmp_path, user("Go"), use("read", a=1), name="a.jsonl")
    long = session(tmp_path, user("Go"), use("read", a=1), use("read", a=2), name="b.jsonl")
    other = session(tmp_path, user("Stay"), use("read", a=1), name="c.jsonl")
    assert short.session_id == long.session_id != other.session_id
    assert short.session_id.startswith("oh-my-opencode-")


def test_a_torn_line_costs_that_line_alone(tmp_path: Path) -> None:
    recording = write_lines(
        tmp_path / "ses_abc1.jsonl", [{"timestamp": "2026-01-11T02:18:00Z", **use("read", a=1)}] * 2
    )
    with (tmp_path / "ses_abc1.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"type":"tool_result","timest')
    assert len(paired_calls(only(detect.read(recording)))) == 2


@pytest.mark.long
def test_many_calls_without_results_are_read_in_linear_time(tmp_path: Path) -> None:
    calls = [use("bash", command=f"echo {at}", description="Say") for at in range(20_000)]
    results = [result("bash", printed("x"), command="other") for _ in range(20_000)]
    with no_hang():
        found = session(tmp_path, *calls, *results)
    assert len(found.messages) == 20_001


def test_no_other_reader_claims_it(tmp_path: Path) -> None:
    lines = [{"timestamp": "2026-01-11T02:18:00Z", **line} for line in (user("Go"), use("read", a=1), user("Stop"))]
    sample = write_lines(tmp_path / "ses_abc1.jsonl", lines).sample()
    assert [reader.FORMAT for reader in detect.readers() if reader.claims(sample)] == ["oh-my-opencode"]


@pytest.mark.parametrize(
    "line",
    [
        user("a prompt alone may be of any program"),
        {**use("read", a=1), "tool_id": "read-1"},
        {**use("read", a=1), "type": "tool_result"},
        {**result("read", {}), "type": "tool_use"},
        {**use("read"), "tool_name": 1},
        {"type": "tool_use", "tool_name": "read", "parameters": {}},
    ],
)
def test_other_lines_are_not_claimed(line: _Line) -> None:
    assert not oh_my_opencode.claims(Sample("lines", [{"timestamp": "2026-01-11T02:18:00Z", **line}, 3, None]))


def test_a_session_of_damaged_lines_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "ses_abc1.jsonl"
    path.write_text('{"type":"tool_use"\n{"type":"tool_use"\n', encoding="utf-8")
    with pytest.raises(UnreadableRecording):
        list(oh_my_opencode.read(Recording(path, path.name)))


def test_of_several_texts_of_a_result_the_first_that_says_something_is_kept(tmp_path: Path) -> None:
    lines = (
        user("Cap it."),
        use("edit", filePath="cap.py"),
        result("edit", {"output": "", "diff": "-a\n+b"}, filePath="cap.py"),
    )
    assert shown(session(tmp_path, *lines))[-1][1] == "-a\n+b"
