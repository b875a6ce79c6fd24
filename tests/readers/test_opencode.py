"""OpenCode's exports and what its runs print, on small ones made here; real ones are in test_opencode_sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import opencode, opencode_run
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.lines import only, shape, write_document, write_lines

INFO = {
    "id": "ses_1",
    "projectID": "p",
    "directory": "/srv/app",
    "title": "Slug",
    "time": {"created": 2_000_000_000_000},
}
SPENT = {"total": 160, "input": 60, "output": 40, "reasoning": 20, "cache": {"read": 30, "write": 10}}


def message(role: str, *parts: dict[str, Any], created: int = 2_000_000_000_500, **info: Any) -> dict[str, Any]:
    return {"info": {"role": role, "time": {"created": created}, **info}, "parts": list(parts)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def tool(call_id: str, status: str, name: str = "bash", **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": name, "callID": call_id, "state": {"status": status, "input": {}, **state}}


def read(tmp_path: Path, *messages: Any, **info: Any) -> Trajectory:
    recording = write_document(tmp_path / "a.json", {"info": {**INFO, **info}, "messages": list(messages)})
    assert opencode.claims(recording.sample())
    return only(opencode.read(recording))


@pytest.mark.parametrize(
    ("outcome", "is_error", "mark"),
    [
        (tool("c", "completed", output="x", metadata={"exit": 0}), False, None),
        (tool("c", "completed", output="x", metadata={"exit": 2}), True, None),
        (tool("c", "completed", output="x", metadata={"exit": None}), None, None),
        (tool("c", "completed", output="error: x", metadata={}), False, None),
        (tool("c", "error", error="File not found"), True, None),
        (tool("c", "error", error="Tool execution aborted"), None, "interrupt"),
        (tool("c", "error", error="The user rejected permission to use this specific tool call."), None, "rejected"),
    ],
)
def test_state_and_exit_code_show_a_failure(
    tmp_path: Path, outcome: dict[str, Any], is_error: bool | None, mark: str | None
) -> None:
    result = read(tmp_path, message("user", text("go")), message("assistant", outcome)).messages[-1]
    assert (result.is_error, result.mark) == (is_error, mark)


def test_a_reply_has_its_reasoning_its_figures_and_a_call_that_still_runs(tmp_path: Path) -> None:
    parts = [{"type": "step-start"}, {"type": "reasoning", "text": "Hm."}, text("I run it."), tool("c", "running")]
    reply = message("assistant", *parts, tokens=SPENT, cost=0.25, modelID="m")
    trajectory = read(tmp_path, reply)
    assert [(each.thinking, each.content) for each in trajectory.messages] == [("Hm.", "I run it.")]
    assert trajectory.messages[0].tool_calls[0].mark == "no-result"
    assert trajectory.source.usage == Usage(60, 10, 30, 60)
    assert (trajectory.model, trajectory.source.cost_usd, trajectory.source.cwd) == ("m", 0.25, "/srv/app")


def test_what_the_program_adds_is_no_request(tmp_path: Path) -> None:
    added = text("content of a file", synthetic=True)
    asked = message("user", text("look"), {"type": "file", "mime": "image/png"}, added)
    summary = message("assistant", text("All of it."), summary=True)
    stopped = message("assistant", text("I"), error={"name": "MessageAbortedError", "data": {"message": "Stopped."}})
    trajectory = read(tmp_path, asked, summary, stopped)
    assert [(each.content, each.mark) for each in trajectory.messages] == [
        ("look\n[image]", None),
        ("content of a file", "injected"),
        ("All of it.", "compaction"),
        ("I", None),
        ("Stopped.", "interrupt"),
    ]


def test_messages_older_than_their_session_were_copied_by_a_fork(tmp_path: Path) -> None:
    trajectory = read(tmp_path, message("user", text("go"), created=1_999_999_999_999), message("user", text("more")))
    assert shape(trajectory) == [("user", "more")]
    assert trajectory.source.hygiene == {"inherited_turns": 1}


def test_messages_alone_are_the_sessions_that_they_name(tmp_path: Path) -> None:
    def of(session: str, role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
        return message(role, *parts, sessionID=session, **info)

    lines = [
        of("ses_1", "user", text("go")),
        of("ses_1", "assistant", text("I go."), path={"cwd": "/srv/app"}),
        of("ses_2", "user", text("look")),
        5,
    ]
    recording = write_lines(tmp_path / "a.jsonl", lines)
    assert opencode.claims(recording.sample())
    first, second = opencode.read(recording)
    assert (first.session_id, first.source.cwd, shape(first)) == (
        "ses_1", "/srv/app", [("user", "go"), ("assistant", "I go.")],
    )  # fmt: skip
    assert (second.session_id, second.source.cwd, shape(second)) == ("ses_2", None, [("user", "look")])
    assert not opencode.claims(write_lines(tmp_path / "b.jsonl", [of("ses_1", "user"), {"info": {}}]).sample())


def test_odd_values_cost_nothing(tmp_path: Path) -> None:
    odd = [
        5,
        {"info": 3, "parts": 4},
        message("assistant", {"type": "tool", "state": 7}, tokens={"cache": []}, cost="x"),
    ]
    assert ("user", "go") in shape(read(tmp_path, message("user", text("go")), *odd, title=5))
    with pytest.raises(UnreadableRecording, match="without messages"):
        read(tmp_path, message("user"))


def test_parts_of_a_printed_reply_are_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    def event(kind: str, part_id: str, part: dict[str, Any]) -> dict[str, Any]:
        place = {"id": part_id, "messageID": "m1", "sessionID": "ses_1"}
        return {"type": kind, "timestamp": 2_000_000_000_000, "sessionID": "ses_1", "part": part | place}

    first, second = tool("c1", "completed", output="1", metadata={"exit": 0}), tool("c2", "error", error="gone")
    events = [event("tool_use", "p3", second), event("tool_use", "p2", first), event("text", "p1", text("Both."))]
    events.append(event("step_finish", "p4", {"type": "step-finish", "tokens": SPENT, "cost": 0.5}))
    failed = {"type": "error", "sessionID": "ses_1", "error": {"name": "APIError", "data": {"message": "No answer."}}}
    recording = write_lines(tmp_path / "a.jsonl", [*events, failed, {"sessionID": 4}])
    assert opencode_run.claims(recording.sample())
    trajectory = only(opencode_run.read(recording))
    assert shape(trajectory) == [("assistant", "Both."), ("tool", "1"), ("tool", "gone"), ("user", "No answer.")]
    assert [call.id for call in trajectory.messages[0].tool_calls] == ["c1", "c2"]
    assert (trajectory.source.usage, trajectory.source.cost_usd) == (Usage(60, 10, 30, 60), 0.5)


def test_what_the_export_says_of_itself_in_the_same_file_is_passed_over(tmp_path: Path) -> None:
    whole = write_document(tmp_path / "a.json", {"info": INFO, "messages": [message("user", text("go"))]})
    noted = tmp_path / "b.json"
    noted.write_bytes(b"Exporting session: ses_1\n" + whole.path.read_bytes())
    assert only(opencode.read(Recording(noted, "b.json"))).messages[0].content == "go"
    other = tmp_path / "c.json"
    other.write_bytes(b"Exporting something\n" + whole.path.read_bytes())
    with pytest.raises(UnreadableRecording):
        list(opencode.read(Recording(other, "c.json")))
