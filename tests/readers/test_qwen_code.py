"""Qwen Code's chats and its stream-json, on small recordings made here; real ones are in test_qwen_sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_wiki.readers import qwen_code, qwen_stream
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.lines import only, shape, write_document, write_lines

COUNTED = {"promptTokenCount": 100, "candidatesTokenCount": 9, "totalTokenCount": 109, "cachedContentTokenCount": 40}


def line(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    place = {"uuid": f"u{len(str(parts))}{len(str(more))}{kind}", "parentUuid": None, "sessionId": "s-1"}
    moment = {"timestamp": "2026-02-03T04:05:06.000Z", "cwd": "/srv/app", "version": "0.1"}
    return {**place, **moment, "type": kind, "message": {"role": "user", "parts": list(parts)}, **more}


def system(subtype: str, **payload: Any) -> dict[str, Any]:
    return {**line("system"), "uuid": subtype, "subtype": subtype, "systemPayload": payload}


def call(call_id: str) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": "run_shell_command", "args": {"command": "make"}}}


def response(call_id: str, **said: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": "run_shell_command", "response": said}}


def read(tmp_path: Path, *records: Any) -> Trajectory:
    recording = write_lines(tmp_path / "s-1.jsonl", records)
    assert qwen_code.claims(recording.sample())
    return only(qwen_code.read(recording))


def test_a_reply_has_its_thinking_text_and_calls(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = [{"text": "Look.", "thought": True}, {"text": "I run it."}, call("c1")]
    replied = line("assistant", *said, model="qwen-x", usageMetadata=COUNTED)
    trajectory = read(tmp_path, line("user", {"text": "go"}), replied, line("tool_result", response("c1", output="ok")))
    assert shape(trajectory) == [("user", "go"), ("assistant", "I run it."), ("tool", "ok")]
    assert (trajectory.messages[1].thinking, trajectory.model) == ("Look.", "qwen-x")
    assert trajectory.messages[2].is_error is False
    assert trajectory.source.usage == Usage(60, None, 40, 9)


def test_a_refused_call_is_no_failure_and_an_error_is_one(tmp_path: Path) -> None:
    refused = response("c1", error="[Operation Cancelled] Reason: User did not allow tool call")
    results = [line("tool_result", refused), line("tool_result", response("c2", error="no such file"))]
    trajectory = read(tmp_path, line("assistant", call("c1"), call("c2")), *results)
    assert [(message.mark, message.is_error) for message in trajectory.messages[1:]] == [
        ("rejected", None),
        (None, True),
    ]


def test_what_the_user_typed_is_kept_apart_from_what_was_put_around_it(tmp_path: Path) -> None:
    around = {"text": "<hook>context</hook>\nfix it\n--- Content of a file ---"}
    typed = line("user", around, systemPayload={"displayText": "fix it"})
    later = line("user", {"text": "and that"}, subtype="mid_turn_user_message")
    notice = line("user", {"text": "A task ended."}, subtype="cron")
    trajectory = read(tmp_path, typed, later, notice)
    assert [(message.content, message.mark) for message in trajectory.messages] == [
        ("<hook>context</hook>", "injected"),
        ("fix it", None),
        ("--- Content of a file ---", "injected"),
        ("and that", None),
        ("A task ended.", "injected"),
    ]


def test_the_content_of_files_that_a_prompt_names_is_not_the_users(tmp_path: Path) -> None:
    texts = ["Explain @a.md", "\n--- Content from referenced files ---", "\nContent from a.md:\n", "# A"]
    trajectory = read(tmp_path, line("user", *({"text": text} for text in texts)))
    assert [(message.content, message.mark) for message in trajectory.messages] == [
        ("Explain @a.md", None),
        ("--- Content from referenced files ---\n\nContent from a.md:\n\n# A", "injected"),
    ]


def test_a_command_to_the_program_is_no_request(tmp_path: Path) -> None:
    phases = [{"phase": "invocation", "rawCommand": "/stats"}, {"phase": "result", "rawCommand": "/stats"}]
    records = [system("slash_command", **payload) | {"uuid": payload["phase"]} for payload in phases]
    trajectory = read(tmp_path, line("user", {"text": "go"}), *records)
    assert [(message.content, message.mark) for message in trajectory.messages] == [
        ("go", None),
        ("/stats", "injected"),
    ]


def test_a_session_knows_its_title_and_its_parent(tmp_path: Path) -> None:
    records = [system("custom_title", customTitle="Slug"), system("parent_session", parentSessionId="s-0")]
    trajectory = read(tmp_path, line("user", {"text": "go"}), *records)
    assert (trajectory.source.title, trajectory.source.parent_session_id) == ("Slug", "s-0")


def test_lines_that_a_file_holds_twice_count_once(tmp_path: Path) -> None:
    first = line("user", {"text": "go"})
    assert read(tmp_path, first, first).source.hygiene == {"duplicate_turns_dropped": 1}


def test_a_file_with_nothing_but_copies_yields_nothing_and_says_so(tmp_path: Path) -> None:
    recording = write_lines(tmp_path / "s-1.jsonl", [line("user", {"text": "go"}, forkedFrom={"sessionId": "s-0"})])
    assert list(qwen_code.read(recording)) == []
    assert recording.warnings == ["s-1.jsonl: no turns of its own recorded"]


def test_odd_values_cost_nothing(tmp_path: Path) -> None:
    odd = [line("assistant", {"functionCall": 7}, usageMetadata=7), line("tool_result", {"functionResponse": []})]
    odd += [{**line("user"), "message": 5, "uuid": []}, system("chat_compression", compressedHistory=[3, {"parts": 9}])]
    trajectory = read(tmp_path, line("user", {"text": "go"}), *odd, line("tool_result", response("c9", other=1)))
    assert shape(trajectory) == [("user", "go"), ("tool", '{"other": 1}')]


def test_a_subagent_in_a_stream_is_apart(tmp_path: Path) -> None:
    def event(kind: str, content: Any, parent: str | None, **usage: int) -> dict[str, Any]:
        message = {"id": "m", "content": content, "model": "qwen-x", "usage": usage}
        return {"type": kind, "session_id": "s-1", "parent_tool_use_id": parent, "message": message}

    start = {"type": "system", "subtype": "init", "session_id": "s-1", "qwen_code_version": "0.1", "cwd": "/srv/app"}
    asked = {"type": "tool_use", "id": "c1", "name": "agent", "input": {}}
    refused = {"type": "tool_result", "tool_use_id": "c1", "is_error": True, "content": "[Operation Cancelled] x"}
    spent = {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 9, "total_tokens": 109}
    events = [
        start,
        event("assistant", [{"type": "thinking", "thinking": "Plan."}], None, input_tokens=0, output_tokens=0),
        event("assistant", [asked], None, **spent),
        event("user", [{"type": "text", "text": "Look."}], "c1"),
        event("assistant", [{"type": "text", "text": "Found."}], "c1", **spent),
        event("user", [refused, {"type": "text", "text": "Background agent ended."}], None),
    ]
    recording = write_lines(tmp_path / "a.jsonl", events)
    assert qwen_stream.claims(recording.sample())
    own, apart = qwen_stream.read(recording)
    listed = write_document(tmp_path / "a.json", events)  # as `-o json` prints them
    assert qwen_stream.claims(listed.sample())
    assert [each.messages for each in qwen_stream.read(listed)] == [own.messages, apart.messages]
    assert own.messages[0].thinking == "Plan."
    assert [message.mark for message in own.messages] == [None, "interrupt", "injected"]
    assert own.source.hygiene["subagent_turns_apart"] == 2
    assert own.source.usage == apart.source.usage == Usage(60, None, 40, 9)
    assert (apart.session_id, apart.source.parent_session_id) == ("s-1.agent-c1", "s-1")
    assert shape(apart) == [("user", "Look."), ("assistant", "Found.")]
