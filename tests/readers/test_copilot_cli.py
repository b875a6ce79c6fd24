"""Events of Copilot CLI that the recordings of the real program do not have, after the schema of its SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent_wiki.readers import detect
from agent_wiki.readers.recorded import short_digest
from agent_wiki.readers.recording import Recording
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls
from tests.hangs import no_hang

START: dict[str, Any] = {
    "sessionId": "cp-1",
    "version": 1,
    "producer": "copilot-agent",
    "copilotVersion": "1.0.2",
    "startTime": "2026-03-07T15:00:00.000Z",
    "context": {"cwd": "/srv/shop", "repository": "acme/shop", "repositoryHost": "github.com"},
}
_Event = tuple[str, dict[str, Any]]
SAID: _Event = ("assistant.message", {"messageId": "m", "content": "Done.", "toolRequests": [], "interactionId": "i"})


def asked(call_id: str, command: str, **more: Any) -> _Event:
    request = {"toolCallId": call_id, "name": "bash", "arguments": {"command": command}}
    return "assistant.message", {"content": "", "toolRequests": [request], "interactionId": "i", **more}


def done(call_id: str, text: str, exit_code: int = 0) -> dict[str, Any]:
    shell = {"exitCode": exit_code}
    return {"toolCallId": call_id, "success": True, "result": {"content": text}, "shellExecution": shell}


def session(tmp_path: Path, *events: _Event, start: dict[str, Any] = START) -> Trajectory:
    path = tmp_path / "events.jsonl"
    lines = [
        {"type": kind, "data": data, "id": f"e{at}", "timestamp": f"2026-03-07T15:00:{at:02}.000Z", "parentId": None}
        for at, (kind, data) in enumerate([("session.start", start), *events])
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (found,) = detect.read(Recording(path, path.name))
    return found


def shown(trajectory: Trajectory) -> list[tuple[str, str | None, str | None]]:
    return [(message.role, message.content, message.mark) for message in trajectory.messages]


def test_only_what_was_typed_is_the_users(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        ("user.message", {"content": "Fix it.", "transformedContent": "<current_datetime>…\n\nFix it."}),
        ("user.message", {"content": "Text of a skill", "source": "skill-pdf"}),
        ("user.message", {"content": "Go on.", "isAutopilotContinuation": True}),
        ("system.notification", {"content": "<system_notification>An agent is idle.</system_notification>"}),
        ("session.compaction_complete", {"success": True, "summaryContent": "So far: nothing."}),
        ("session.compaction_complete", {"success": False, "error": "no"}),
        ("abort", {"reason": "user_initiated"}),
        SAID,
    )
    assert shown(found) == [
        ("user", "Fix it.", None),
        ("user", "Text of a skill", "injected"),
        ("user", "Go on.", "injected"),
        ("user", "<system_notification>An agent is idle.</system_notification>", "injected"),
        ("user", "So far: nothing.", "compaction"),
        ("user", "[aborted: user_initiated]", "interrupt"),
        ("assistant", "Done.", None),
    ]
    assert (found.source.cwd, found.source.remote) == ("/srv/shop", "https://github.com/acme/shop")


def test_a_time_that_the_program_put_behind_what_was_typed_is_not_the_users(tmp_path: Path) -> None:
    time = "<current_datetime>2025-12-02T05:11:16.447Z</current_datetime>"
    found = session(
        tmp_path,
        ("user.message", {"content": f"Read it.\n\n{time}"}),
        SAID,
        ("user.message", {"content": f"What is {time} for?"}),
        SAID,
    )
    assert [text for role, text, _ in shown(found) if role == "user"] == ["Read it.", f"What is {time} for?"]
    assert found.source.hygiene["system_reminders_stripped"] == 1


def test_a_refusal_by_the_user_is_no_failure_and_one_by_a_rule_is_none_of_the_users(tmp_path: Path) -> None:
    refused = {"toolCallId": "a", "result": {"kind": "denied-interactively-by-user"}}
    ruled = {"toolCallId": "b", "result": {"kind": "denied-by-rules"}}
    found = session(
        tmp_path,
        asked("a", "rm x"),
        ("permission.completed", refused),
        (
            "tool.execution_complete",
            {"toolCallId": "a", "success": False, "error": {"message": "no", "code": "denied"}},
        ),
        asked("b", "git push"),
        ("permission.completed", ruled),
        (
            "tool.execution_complete",
            {"toolCallId": "b", "success": False, "error": {"message": "rule", "code": "denied"}},
        ),
    )
    results = [(message.mark, message.is_error) for message in found.messages if message.role == "tool"]
    assert results == [("rejected", None), (None, True)]


def test_a_command_that_the_user_ran_is_no_call_of_the_agent(tmp_path: Path) -> None:
    listed = {**done("u", "a.txt"), "isUserRequested": True}
    found = session(tmp_path, ("tool.execution_complete", listed), SAID)
    assert shown(found) == [("user", "a.txt", "injected"), ("assistant", "Done.", None)]


def test_what_a_background_command_printed_later_is_its_result(tmp_path: Path) -> None:
    request = {"toolCallId": "b", "name": "read_bash", "arguments": {"shellId": "one"}}
    found = session(
        tmp_path,
        asked("a", "make test"),
        ("tool.execution_complete", done("a", "<command started in background with shellId: one>")),
        ("assistant.message", {"content": "", "toolRequests": [request], "interactionId": "i"}),
        ("tool.execution_complete", done("b", "1 failed\n<shellId: one completed with exit code 1>", 1)),
    )
    started, rest = paired_calls(found)
    assert (verdict_of(started).state, rest.continues, verdict_of(rest).state) == ("running", started, "failed")


def test_a_printed_exit_code_counts_where_the_record_has_none(tmp_path: Path) -> None:
    failed = done("a", "1 failed\n<shellId: 0 completed with exit code 1>")
    del failed["shellExecution"]
    (call,) = paired_calls(session(tmp_path, asked("a", "make test"), ("tool.execution_complete", failed)))
    assert verdict_of(call).state == "failed"


def test_a_reply_recorded_in_parts_is_one(tmp_path: Path) -> None:
    first = ("assistant.message", {"content": "", "reasoningText": "Hm.", "apiCallId": "r1", "interactionId": "i"})
    second = asked("a", "ls", apiCallId="r1", reasoningText="So.", content="I look.")
    found = session(tmp_path, first, second, ("tool.execution_complete", done("a", "x")), SAID)
    reply = found.messages[0]
    assert (reply.content, reply.thinking, len(reply.tool_calls)) == ("I look.", "Hm.\n\nSo.", 1)
    assert (len(found.messages), found.source.hygiene["split_replies_joined"]) == (3, 1)


def test_tokens_of_an_older_version_are_those_of_its_end(tmp_path: Path) -> None:
    used = {"inputTokens": 900, "outputTokens": 50, "cacheReadTokens": 600, "cacheWriteTokens": 100}
    end = {"shutdownType": "error", "modelMetrics": {"some-model": {"usage": used}}}
    found = session(tmp_path, ("user.message", {"content": "Hi."}), SAID, ("session.shutdown", end))
    usage = found.source.usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_input_tokens) == (200, 600)
    assert (usage.cache_creation_input_tokens, usage.output_tokens) == (100, 50)
    assert found.source.exit_status == "error"


def test_a_session_in_which_nothing_was_said_is_none(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    begun = {"type": "session.start", "data": START, "id": "e0", "timestamp": "2026-03-07T15:00:00.000Z"}
    path.write_text(json.dumps({**begun, "parentId": None}) + "\n", encoding="utf-8")
    assert detect.reader_of(Recording(path, path.name)).FORMAT == "copilot-cli"
    assert list(detect.read(Recording(path, path.name))) == []


def test_a_reply_in_many_parts_is_read_in_linear_time(tmp_path: Path) -> None:
    part = ("assistant.message", {"content": "y" * 1000, "apiCallId": "r1", "interactionId": "i"})
    with no_hang():
        found = session(tmp_path, *[part] * 10_000)
    (reply,) = found.messages
    assert len(reply.content or "") == 10_000 * 1002 - 2


def test_a_session_without_a_name_is_known_by_its_first_event_and_by_the_name_that_its_texts_once_gave_it(
    tmp_path: Path,
) -> None:
    said: _Event = ("user.message", {"content": "Fix it."})
    short = session(tmp_path, said, SAID, start={})
    long = session(tmp_path, said, SAID, said, SAID, start={})
    assert short.session_id == long.session_id == f"copilot-{short_digest(['e0'])}"
    assert [*short.earlier_ids] == [f"copilot-{short_digest(['Fix it.', 'Done.'])}"]


def test_before_version_1_no_reply_names_its_call_of_the_model(tmp_path: Path) -> None:
    request = {"toolCallId": "a", "name": "bash", "arguments": {"command": "make lamps"}}
    old = {**START, "copilotVersion": "unknown"}
    asking = ("assistant.message", {"messageId": "m", "content": "", "toolRequests": [request]})
    found = session(tmp_path, asking, ("tool.execution_complete", done("a", "2 lamps")), start=old)
    assert [(call.name, call.result) for call in paired_calls(found)] == [("bash", "2 lamps")]
    assert not paired_calls(session(tmp_path, asking, ("tool.execution_complete", done("a", "2 lamps")), SAID))


def test_a_session_of_the_time_before_is_in_the_events_that_go_on_with_it(tmp_path: Path) -> None:
    result = {"type": "rejected", "log": "no"}
    legacy = {
        "sessionId": "cp-1",
        "startTime": "2025-10-05T13:00:00.000Z",
        "chatMessages": [
            {"role": "user", "content": "Clean up.\n\n<reminder>\nBe brief.\n</reminder>"},
            {"role": "assistant", "tool_calls": [{"id": "z", "function": {"name": "bash", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "z", "content": "no"},
        ],
        "timeline": [{"type": "tool_call_completed", "callId": "z", "name": "bash", "result": result}],
    }
    imported: _Event = ("session.import_legacy", {"legacySession": legacy, "importTime": "2026-03-07T15:00:00.000Z"})
    found = session(tmp_path, imported, ("user.message", {"content": "Go on."}), SAID)
    assert shown(found) == [
        ("user", "Clean up.", None),
        ("assistant", None, None),
        ("tool", "no", "rejected"),
        ("user", "Go on.", None),
        ("assistant", "Done.", None),
    ]
