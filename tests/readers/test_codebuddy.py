"""Sessions of CodeBuddy Code, on small ones made here in the shape of real ones and of descriptions of later ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import codebuddy, detect
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.lines import only, shape, write_lines

LATER = {"sessionId": "b-1", "cwd": "/srv/shop"}
NAME = "3f0c2a52-0000-4000-8000-00000000beef"


def item(kind: str, provided: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"id": f"i-{kind}", "type": kind, "providerData": {"agent": "cli", **(provided or {})}, **more}


def user(text: str, **provided: Any) -> dict[str, Any]:
    return item("message", provided, role="user", content=[{"type": "input_text", "text": text}])


def said(text: str, **provided: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "providerData": {"annotations": []}}]
    return item("message", provided, role="assistant", status="completed", content=content)


def call(call_id: str, name: str = "Bash", **provided: Any) -> dict[str, Any]:
    return item("function_call", provided, callId=call_id, name=name, arguments='{"command": "make"}')


def result(call_id: str, text: str, status: str = "completed", **shown: Any) -> dict[str, Any]:
    more = {"callId": call_id, "name": "Bash", "status": status, "output": {"type": "text", "text": text}}
    return item("function_call_result", {"toolResult": shown}, **more)


def used(read: int, cached: int, written: int) -> dict[str, Any]:
    return {"inputTokens": read, "outputTokens": written, "inputTokensDetails": [{"cached_tokens": cached}]}


def read(recording: Recording) -> Trajectory:
    assert detect.reader_of(recording).FORMAT == "codebuddy"
    return only(codebuddy.read(recording))


def session(tmp_path: Path, *lines: dict[str, Any]) -> Trajectory:
    return read(write_lines(tmp_path / "a.jsonl", lines))


def test_a_session_of_an_early_version_is_known_by_its_files_name(tmp_path: Path) -> None:
    lines = [
        user("Run the tests."),
        said("I run them."),
        call("a"),
        call("b", usage=used(100, 60, 7)),
        result("a", "ok"),
        result("b", "ok"),
        said("All pass.", usage=used(120, 100, 5)),
    ]
    trajectory = read(write_lines(tmp_path / f"{NAME}.jsonl", lines))
    assert shape(trajectory) == [
        ("user", "Run the tests."),
        ("assistant", "I run them."),
        ("tool", "ok"),
        ("tool", "ok"),
        ("assistant", "All pass."),
    ]
    assert [(each.id, each.name, each.arguments, each.mark) for each in trajectory.messages[1].tool_calls] == [
        ("a", "Bash", '{"command": "make"}', None),
        ("b", "Bash", '{"command": "make"}', None),
    ]
    assert (trajectory.session_id, trajectory.agent, trajectory.model, trajectory.timestamp) == (
        NAME,
        "codebuddy",
        None,
        None,
    )
    source = trajectory.source
    assert (source.cwd, source.title, source.duration_seconds) == (None, None, None)
    assert source.usage == Usage(input_tokens=60, cache_read_input_tokens=160, output_tokens=12)
    assert source.hygiene == {"split_replies_joined": 1}


def test_what_later_versions_record_is_read(tmp_path: Path) -> None:
    lines = [
        {"type": "file-history-snapshot", "id": "f", "snapshot": {}},
        {**user("Go."), **LATER, "timestamp": 1_750_000_000_000},
        item("reasoning", rawContent=[{"type": "reasoning_text", "text": "Hm."}], content=[]),
        {**call("a", model="some-model"), **LATER, "timestamp": 1_750_000_004_500},
        item("function_call_result", callId="a", output=[{"type": "input_text", "text": "x"}, {"type": "input_image"}]),
        {"type": "topic", "topic": "A first title"},
        {"type": "ai-title", "aiTitle": "A title", "timestamp": 1_750_000_005_000},
    ]
    trajectory = session(tmp_path, *lines)
    assert shape(trajectory) == [("user", "Go."), ("assistant", None), ("tool", "x\n[image]")]
    assert trajectory.messages[1].thinking == "Hm."
    assert (trajectory.session_id, trajectory.model) == ("b-1", "some-model")
    assert (trajectory.timestamp, trajectory.source.ended_at) == ("2025-06-15T15:06:40Z", "2025-06-15T15:06:45Z")
    assert trajectory.source.duration_seconds == 5.0
    assert (trajectory.source.cwd, trajectory.source.title, trajectory.source.usage) == ("/srv/shop", "A title", None)


def test_lines_of_two_responses_are_two_replies(tmp_path: Path) -> None:
    lines = [said("One", messageId="r1"), call("a", messageId="r1"), said("Two", messageId="r2"), result("a", "x")]
    assert [content for _, content in shape(session(tmp_path, *lines))] == ["One", "Two", "x"]


@pytest.mark.parametrize(
    ("given", "is_error"),
    [
        (result("a", "Command: make\nStdout: (empty)\nError: (none) \nExit Code: 2 \nSignal: (none)"), True),
        (result("a", "Command: make\nStdout: Error!\nError: (none) \nExit Code: 0 \nSignal: (none)"), False),
        (result("a", "made", rawResponse={"exitCode": 1}), True),
        (result("a", "Error: none", rawResponse={"exitCode": 0}), False),
        (result("a", "made", status="incomplete"), True),
        (result("a", "", status="error", error="no such file"), True),
        (result("a", "made", error={"message": "no"}), True),
        (result("a", "made"), None),
    ],
)
def test_a_status_an_error_an_exit_code_or_the_text_shows_a_failure(
    tmp_path: Path, given: dict[str, Any], is_error: bool | None
) -> None:
    outcome = session(tmp_path, user("Go."), call("a"), given).messages[-1]
    assert outcome.is_error is is_error
    assert outcome.content != ""


def test_what_the_program_wrote_is_no_request(tmp_path: Path) -> None:
    trajectory = session(
        tmp_path,
        user("<command-name>/model</command-name>", skipRun=True),
        user("<system-reminder>Be brief.</system-reminder>Go on."),
        user("<local-command-stdout>x</local-command-stdout>"),
        user("All so far.", isSummary=True, isCompactInternal=True),
        user("Please continue.", isCompactInternal=True),
        user("Summarize.", agent="compact"),
        item("message", role="system", content="Be brief."),
        said("Done."),
    )
    assert [(message.content, message.mark) for message in trajectory.messages] == [
        ("<command-name>/model</command-name>", "injected"),
        ("Go on.", None),
        ("<local-command-stdout>x</local-command-stdout>", "injected"),
        ("All so far.", "compaction"),
        ("Please continue.", "injected"),
        ("Summarize.", "injected"),
        ("Be brief.", "injected"),
        ("Done.", None),
    ]
    assert trajectory.source.hygiene["system_reminders_stripped"] == 1


def test_a_subagents_file_is_a_session_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "b-1" / "subagents"
    folder.mkdir(parents=True)
    asked = user("<teammate-message from='lead'>Look.</teammate-message>", isSubAgent=True)
    lines = [{**asked, **LATER}, said("Done.")]
    trajectory = read(write_lines(folder / "agent-8c36.jsonl", lines))
    assert (trajectory.session_id, trajectory.source.parent_session_id) == ("b-1.agent-8c36", "b-1")
    assert trajectory.messages[0].mark == "injected"


def test_a_session_without_any_name_is_known_by_its_first_line(tmp_path: Path) -> None:
    short = session(tmp_path, user("Go."), said("ok"))
    long = read(write_lines(tmp_path / "b.jsonl", [user("Go."), said("ok"), user("On.")]))
    other = read(write_lines(tmp_path / "c.jsonl", [user("Stop."), said("ok")]))
    assert short.session_id == long.session_id != other.session_id
    assert short.session_id.startswith("codebuddy-")


def test_a_line_that_is_cut_off_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [user("Go."), call("a"), result("a", "x")]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"type": "message", "ro', encoding="utf-8")
    recording = Recording(path, path.name)
    assert len(read(recording).messages) == 3
    assert recording.warnings[0].startswith("a.jsonl:4: last line is cut off, skipped")


def test_odd_values_cost_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [
        {"type": []},
        {"type": "message", "role": {}, "providerData": 7},
        item("function_call", {"usage": [], "model": 3, "messageId": {}}, name=None, callId={}),
        item("function_call_result", {"toolResult": [], "usage": 7}, output=None, callId=[], status=[]),
        item("reasoning", rawContent=7),
        item("message", {"usage": {"inputTokens": "many", "inputTokensDetails": 7}}, role="assistant", content=None),
        7,
    ]
    trajectory = read(write_lines(tmp_path / "a.jsonl", [user("Go."), *odd, said("Done.")]))
    assert ("assistant", "Done.") in shape(trajectory)
    assert trajectory.source.usage is None


def test_a_session_in_which_nothing_was_said_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="without messages"):
        session(tmp_path, item("message", role="user", content=[]))


def test_the_same_items_of_another_program_are_not_its_sessions(tmp_path: Path) -> None:
    lines = [user("Go."), call("a"), result("a", "x")]
    for line in lines:
        line["providerData"] = {"model": "m"}
    assert not codebuddy.claims(write_lines(tmp_path / "a.jsonl", lines).sample())
