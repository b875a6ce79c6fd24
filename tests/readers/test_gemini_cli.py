"""Gemini CLI sessions, on small recordings made here and on real ones."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import gemini_cli
from agent_wiki.readers.recorded import short_digest
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.lines import only, recorded_lines, shape, write_document, write_lines

HEADER = {
    "sessionId": "6f1c2d3e-0000-4000-8000-000000000001",
    "projectHash": "ab",
    "startTime": "2026-02-03T04:05:00.000Z",
    "lastUpdated": "2026-02-03T04:05:30.000Z",
}


def user(identity: str, text: Any) -> dict[str, Any]:
    return {"id": identity, "timestamp": "2026-02-03T04:05:01.000Z", "type": "user", "content": text}


def gemini(identity: str, text: str, **more: Any) -> dict[str, Any]:
    reply = {"id": identity, "timestamp": "2026-02-03T04:05:02.000Z", "type": "gemini", "content": text}
    return {**reply, **more}


def shell(call_id: str, text: str, status: str = "success", name: str = "run_shell_command") -> dict[str, Any]:
    response = {"functionResponse": {"id": call_id, "name": name, "response": {"output": text}}}
    return {"id": call_id, "name": name, "args": {"command": "make"}, "status": status, "result": [response]}


def read(recording: Recording) -> Trajectory:
    assert gemini_cli.claims(recording.sample())
    return only(gemini_cli.read(recording))


def test_the_older_document_and_the_newer_lines_give_the_same_messages(tmp_path: Path) -> None:
    reply = gemini("b", "I run it.", toolCalls=[shell("c1", "ok")], model="gemini-x")
    document = read(write_document(tmp_path / "a.json", {**HEADER, "messages": [user("a", "run it"), reply]}))
    lines = read(write_lines(tmp_path / "a.jsonl", [HEADER, user("a", [{"text": "run it"}]), reply]))
    assert document.messages == lines.messages
    assert shape(lines) == [("user", "run it"), ("assistant", "I run it."), ("tool", "ok")]
    assert (lines.session_id, lines.agent, lines.model) == (HEADER["sessionId"], "gemini-cli", "gemini-x")
    assert (lines.timestamp, lines.source.ended_at) == ("2026-02-03T04:05:00Z", "2026-02-03T04:05:30Z")
    assert lines.source.duration_seconds == 30.0


def test_a_message_that_grew_counts_once_in_its_first_place(tmp_path: Path) -> None:
    tokens = {"input": 100, "output": 5, "cached": 40, "thoughts": 7, "tool": 0, "total": 112}
    first = gemini("b", "", tokens=tokens)
    trajectory = read(
        write_lines(
            tmp_path / "a.jsonl",
            [
                HEADER,
                user("a", "go"),
                first,
                {"$set": {"lastUpdated": "x"}},
                {**first, "toolCalls": [shell("c1", "ok")]},
            ],
        )
    )
    assert [message.role for message in trajectory.messages] == ["user", "assistant", "tool"]
    assert trajectory.source.usage == Usage(input_tokens=60, cache_read_input_tokens=40, output_tokens=12)


def test_patches_change_the_header_and_the_messages(tmp_path: Path) -> None:
    context = user("s", [{"text": "<session_context>\nToday\n</session_context>"}])
    records = [HEADER, {"$set": {"messages": [context]}}, user("a", "go"), {"$set": {"summary": "A title"}}]
    trajectory = read(write_lines(tmp_path / "a.jsonl", records))
    assert [message.mark for message in trajectory.messages] == ["injected", None]
    assert trajectory.source.title == "A title"


def test_a_history_listed_again_under_new_ids_is_kept_once(tmp_path: Path) -> None:
    again = {"$set": {"messages": [user("z1", "go"), gemini("z2", "gone")]}}
    trajectory = read(write_lines(tmp_path / "a.jsonl", [HEADER, user("a", "go"), gemini("b", "gone"), again]))
    assert shape(trajectory) == [("user", "go"), ("assistant", "gone")]
    assert trajectory.source.hygiene == {"duplicate_turns_dropped": 2}


def test_what_has_grown_since_a_history_was_listed_is_known_as_it_is_now(tmp_path: Path) -> None:
    listings = [{"$set": {"messages": [user(f"z{number}", text)]}} for number, text in enumerate(["go", "go on"])]
    records = [HEADER, user("a", "go"), listings[0], user("a", "go on"), listings[1], gemini("b", "gone")]
    trajectory = read(write_lines(tmp_path / "a.jsonl", records))
    assert shape(trajectory) == [("user", "go on"), ("assistant", "gone")]
    assert trajectory.source.hygiene == {"duplicate_turns_dropped": 2}


def test_a_history_listed_again_under_the_same_ids_keeps_the_calls_and_tokens(tmp_path: Path) -> None:
    """As a resumed session does: calls and results as parts, the results twice, also under the reply's own id."""
    tokens = {"input": 100, "output": 5, "cached": 40, "thoughts": 7, "tool": 0, "total": 112}
    calling = {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}}}
    response = {"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": "ok"}}}
    listed = [
        user("a", [{"text": "go"}]),
        gemini("b", "", content=[{"text": "Plan", "thought": True}, {"text": "I run it."}, calling]),
        user("b_response", [response]),
        {**user("b", [response])},
        user("r", [response]),
        user("n", [{"text": "<state_snapshot>all</state_snapshot>"}]),
    ]
    records = [
        HEADER,
        user("a", "go"),
        gemini("b", "I run it.", tokens=tokens, toolCalls=[shell("c1", "ok")]),
        user("r", [response]),
        {**HEADER, "startTime": "2026-02-03T05:00:00.000Z"},
        {"$set": {"messages": listed}},
        user("c", "go"),
    ]
    trajectory = read(write_lines(tmp_path / "a.jsonl", records))
    assert shape(trajectory) == [
        ("user", "go"),
        ("assistant", "I run it."),
        ("tool", "ok"),
        ("user", "<state_snapshot>all</state_snapshot>"),
        ("user", "go"),
    ]
    assert trajectory.source.usage == Usage(60, None, 40, 12)
    assert trajectory.source.hygiene == {"compaction_summaries": 1, "duplicate_turns_dropped": 5}
    assert trajectory.timestamp == "2026-02-03T04:05:00Z"


def test_a_reply_known_only_from_a_history_has_the_calls_among_its_parts(tmp_path: Path) -> None:
    calling = {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}}}
    failing = {"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": "Exit Code: 2"}}}
    listed = [user("a", "go"), gemini("b", "", content=[calling]), user("r", [failing])]
    trajectory = read(write_lines(tmp_path / "a.jsonl", [HEADER, {"$set": {"messages": listed}}]))
    assert [call.id for call in trajectory.messages[1].tool_calls] == ["c1"]
    assert trajectory.messages[2].is_error is True


@pytest.mark.parametrize("shown", [{}, {"displayContent": [{"text": "Explain @a.md"}]}])
def test_the_content_of_files_that_a_prompt_names_is_not_the_users(tmp_path: Path, shown: dict[str, Any]) -> None:
    texts = ["Explain @a.md", "\n--- Content from referenced files ---", "\nContent from @a.md:\n", "# A"]
    asked = user("a", [{"text": text} for text in texts]) | shown
    trajectory = read(write_lines(tmp_path / "a.jsonl", [HEADER, asked]))
    assert [(message.content, message.mark) for message in trajectory.messages] == [
        ("Explain @a.md", None),
        ("--- Content from referenced files ---\n\nContent from @a.md:\n\n# A", "injected"),
    ]


def test_the_project_is_named_beside_the_chats_or_confirmed_by_the_hash(tmp_path: Path) -> None:
    chats = tmp_path / "tmp" / "app" / "chats"
    (chats / "parent-1").mkdir(parents=True)
    listed = "<session_context>\n- **Workspace Directories:**\n  - /srv/lib\n  - /srv/app\n</session_context>"
    header = {**HEADER, "projectHash": hashlib.sha256(b"/srv/app").hexdigest()}
    listing = read(write_lines(chats / "a.jsonl", [header, user("s", listed), user("a", "go")]))
    assert listing.source.cwd == "/srv/app"
    unknown = read(write_lines(chats / "b.jsonl", [HEADER, user("s", listed), user("a", "go")]))
    assert unknown.source.cwd is None
    (chats.parent / ".project_root").write_text("/srv/app\n", encoding="utf-8")
    assert read(write_lines(chats / "c.jsonl", [HEADER, user("a", "go")])).source.cwd == "/srv/app"
    of_helper = {**HEADER, "kind": "subagent"}
    helper = read(write_lines(chats / "parent-1" / "d.jsonl", [of_helper, user("a", "go")]))
    assert (helper.source.cwd, helper.source.parent_session_id) == ("/srv/app", "parent-1")


def test_what_was_rewound_still_happened(tmp_path: Path) -> None:
    records = [HEADER, user("a", "go"), gemini("b", "wrong"), {"$rewindTo": "b"}, gemini("c", "right")]
    trajectory = read(write_lines(tmp_path / "a.jsonl", records))
    assert [content for _, content in shape(trajectory)] == ["go", "wrong", "right"]


def test_a_result_recorded_as_a_user_message_is_no_request(tmp_path: Path) -> None:
    response = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "text"}}}
    open_call = {"id": "c2", "name": "read_file", "args": {}, "status": "executing"}
    late = {"functionResponse": {"id": "c2", "name": "read_file", "response": {"error": "gone"}}}
    trajectory = read(
        write_lines(
            tmp_path / "a.jsonl",
            [
                HEADER,
                user("a", "go"),
                gemini("b", "", toolCalls=[shell("c1", "text", name="read_file"), open_call]),
                user("r", [response, late]),
            ],
        )
    )
    assert shape(trajectory) == [("user", "go"), ("assistant", None), ("tool", "text"), ("tool", "gone")]
    assert [message.is_error for message in trajectory.messages if message.role == "tool"] == [False, True]


@pytest.mark.parametrize(
    ("call", "is_error", "mark"),
    [
        (shell("c", "Output: x\nExit Code: 0\nSignal: 0"), False, None),
        (shell("c", "Output: x\nExit Code: 2\nProcess Group PGID: 9"), True, None),
        (shell("c", "Exit Code: 2\n" + "x" * 2000), False, None),
        (shell("c", "Exit Code: 2", name="read_file"), False, None),
        (shell("c", "File not found", status="error", name="read_file"), True, None),
        (
            shell("c", "[Operation Cancelled] Reason: User did not allow it", status="cancelled"),
            None,
            "rejected",
        ),
    ],
)
def test_status_and_exit_code_show_a_failure(
    tmp_path: Path, call: dict[str, Any], is_error: bool | None, mark: str | None
) -> None:
    trajectory = read(write_lines(tmp_path / "a.jsonl", [HEADER, user("a", "go"), gemini("b", "", toolCalls=[call])]))
    result = trajectory.messages[-1]
    assert (result.is_error, result.mark) == (is_error, mark)


def test_thoughts_are_with_the_reply(tmp_path: Path) -> None:
    thoughts = [{"subject": "Plan", "description": "Look."}, {"subject": "Act", "description": "Go."}]
    trajectory = read(
        write_lines(tmp_path / "a.jsonl", [HEADER, user("a", "go"), gemini("b", "ok", thoughts=thoughts)])
    )
    assert trajectory.messages[1].thinking == "Plan\nLook.\n\nAct\nGo."


def test_notices_of_the_program_are_no_requests(tmp_path: Path) -> None:
    notices = [{"id": kind, "type": kind, "content": f"a {kind}"} for kind in ("info", "warning", "error")]
    stopped = {"id": "x", "type": "info", "content": "Request cancelled."}
    trajectory = read(write_document(tmp_path / "a.json", {**HEADER, "messages": [user("a", "go"), *notices, stopped]}))
    assert [message.mark for message in trajectory.messages] == [None, "injected", "injected", "injected", "interrupt"]


def test_what_a_hook_said_is_kept_apart_from_the_request_behind_it(tmp_path: Path) -> None:
    said = "<hook_context>You MUST run `wiki consult &lt;task&gt;`.</hook_context>"
    alone = {**user("c", said), "content": [{"text": said}]}
    recording = write_lines(tmp_path / "a.jsonl", [HEADER, user("a", f"{said}\n\nAdd slug."), gemini("b", "ok"), alone])
    assert [(message.mark, message.content) for message in read(recording).messages] == [
        ("injected", said),
        (None, "Add slug."),
        (None, "ok"),
        ("injected", said),
    ]


def test_a_session_in_which_nothing_was_said_is_reported(tmp_path: Path) -> None:
    recording = write_lines(tmp_path / "a.jsonl", [HEADER])
    with pytest.raises(UnreadableRecording, match="without messages"):
        read(recording)


def test_odd_values_cost_nothing(tmp_path: Path) -> None:
    odd = [gemini("b", "x", toolCalls=7, thoughts=["y"], tokens={"input": "many"}), {"type": 3}, {"$set": 5}, [1]]
    odd += [gemini("c", "", toolCalls=[{"name": "t", "result": [], "status": "success"}, 4]), user("u", None)]
    odd += [
        {"$set": {"messages": [{**user("x", "y"), "id": []}]}},
        gemini("d", "", toolCalls=[{"id": {}, "result": 1}]),
    ]
    trajectory = read(write_lines(tmp_path / "a.jsonl", [HEADER, user("a", "go"), *odd]))
    assert ("user", "go") in shape(trajectory)
    assert trajectory.source.usage is None


def test_a_session_that_has_lost_its_header_is_known_by_its_first_message(tmp_path: Path) -> None:
    reply = gemini("b", "", model="gemini-x", toolCalls=[shell("c1", "ok")])
    result = user("r", [reply["toolCalls"][0]["result"][0]])
    lines = [reply, result, {"$set": {"lastUpdated": "2026-02-03T04:05:09.000Z"}}, user("c", "go on")]
    trajectory = read(write_lines(tmp_path / "a.jsonl", lines))
    assert shape(trajectory) == [("assistant", None), ("tool", "ok"), ("user", "go on")]
    assert (trajectory.model, trajectory.timestamp) == ("gemini-x", "2026-02-03T04:05:02Z")
    assert trajectory.source.ended_at == "2026-02-03T04:05:09Z"
    grown = read(write_lines(tmp_path / "grown.jsonl", [*lines, gemini("d", "Done.")]))
    assert grown.session_id == trajectory.session_id == f"gemini-cli-{short_digest(('b', reply['timestamp']))}"
    named = read(write_lines(tmp_path / "named.jsonl", [*lines, {"$set": {"sessionId": HEADER["sessionId"]}}]))
    assert named.session_id == HEADER["sessionId"]


@pytest.mark.parametrize("changed", [{"id": 1}, {"timestamp": 1}, {"type": "model"}, {"type": []}])
def test_lines_that_only_look_like_messages_are_no_session_without_header(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    replies = [gemini("b", "ok"), {**gemini("c", "ok"), **changed}]
    assert not gemini_cli.claims(write_lines(tmp_path / "a.jsonl", replies).sample())
    assert not gemini_cli.claims(write_lines(tmp_path / "b.jsonl", [user("a", "go"), user("b", "on")]).sample())


def test_a_call_that_the_user_refused_and_that_stands_among_the_parts_is_no_failure(tmp_path: Path) -> None:
    calling = {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}}}
    refused = {"error": "[Operation Cancelled] Reason: User did not allow tool call"}
    answer = {"functionResponse": {"id": "c1", "name": "run_shell_command", "response": refused}}
    listed = [user("a", "go"), gemini("b", "", content=[calling]), user("r", [answer])]
    trajectory = read(write_lines(tmp_path / "a.jsonl", [HEADER, {"$set": {"messages": listed}}]))
    assert (trajectory.messages[-1].is_error, trajectory.messages[-1].mark) == (None, "rejected")


def real_sessions(traces: Path) -> list[tuple[Path, list[dict[str, Any]]]]:
    """Every real session with its messages by plain `json`: the last form of each id."""
    found = []
    for path in [*sorted((traces / "gemini_cli").glob("*.json")), *sorted(traces.rglob("session-*.jsonl"))]:
        if path.suffix == ".json":
            listed = json.loads(path.read_text(encoding="utf-8"))["messages"]
        else:
            lines = recorded_lines(path)
            listed = [message for line in lines for message in line.get("$set", {}).get("messages", [])]
            listed += [line for line in lines if "type" in line]
        found.append((path, list({message["id"]: message for message in listed}.values())))
    assert found
    return found


def test_counts_of_real_sessions(traces: Path) -> None:
    for path, listed in real_sessions(traces):
        trajectory = read(Recording(path, path.name))
        calls = [call for message in listed for call in message.get("toolCalls", [])]
        results = [message for message in trajectory.messages if message.role == "tool"]
        assert sum(len(message.tool_calls) for message in trajectory.messages) == len(calls), path.name
        assert {result.tool_call_id for result in results} == {call["id"] for call in calls}, path.name
        replies = sum(message["type"] == "gemini" for message in listed)
        said = sum(
            message["type"] != "gemini" and "functionResponse" not in str(message["content"]) for message in listed
        )
        assert len(trajectory.messages) == replies + said + len(calls), path.name
        failed = [call["id"] for call in calls if call["status"] == "error" or "Exit Code: " in str(call["result"])]
        passed = [call["id"] for call in calls if "Exit Code: 0" in str(call["result"])]
        assert {result.tool_call_id for result in results if result.is_error} == set(failed) - set(passed), path.name


def test_tokens_of_real_sessions(traces: Path) -> None:
    for path, listed in real_sessions(traces):
        usage = read(Recording(path, path.name)).source.usage
        totals = [message["tokens"]["total"] for message in listed if "tokens" in message]
        cached = [message["tokens"]["cached"] for message in listed if "tokens" in message]
        if usage is None:
            assert totals == []
            continue
        spent = (usage.input_tokens or 0) + (usage.cache_read_input_tokens or 0) + (usage.output_tokens or 0)
        assert (spent, usage.cache_read_input_tokens) == (sum(totals), sum(cached)), path.name
