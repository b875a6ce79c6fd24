"""Sessions of Goose, on small ones made here in the shape of real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import BegunRecording, UnreadableRecording
from agent_wiki.readers import detect, goose
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import only, shape, write_document, write_lines

START = 1_767_225_600
HEADER = {"working_dir": "/srv/shop", "description": "Run the tests", "message_count": 4, "total_tokens": 900}
SESSION = {"id": "20260101_1", "working_dir": "/srv/shop", "name": "Tests", "created_at": "2026-01-01T00:00:00Z"}
HIDDEN = {"userVisible": False, "agentVisible": True}
DECLINED = "The user has declined to run this tool. DO NOT attempt to call this tool again."


def text(words: str, *audience: str) -> dict[str, Any]:
    return {"type": "text", "text": words} | ({"annotations": {"audience": list(audience)}} if audience else {})


def thought(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": ""}


def call(name: str = "developer__shell", **arguments: Any) -> dict[str, Any]:
    made = {"status": "success", "value": {"name": name, "arguments": arguments}}
    return {"type": "toolRequest", "id": "c-1", "toolCall": made}


def result(value: Any, status: str = "success", **more: Any) -> dict[str, Any]:
    return {"type": "toolResponse", "id": "c-1", "toolResult": {"status": status, "value": value, **more}}


def message(role: str, *blocks: Any, at: int = 0, **metadata: Any) -> dict[str, Any]:
    return {"role": role, "created": START + at, "content": list(blocks), "metadata": metadata}


TURNS = [
    message("user", text("Run the tests.")),
    message("assistant", {"type": "thinking", "thinking": "Run."}, text("I run them."), call(command="make"), at=2),
    message("user", result([text("ok", "assistant"), text("**ok**", "user")]), at=3),
    message("assistant", text("All pass."), at=9),
]


def read(recording: Recording) -> Trajectory:
    assert detect.reader_of(recording).FORMAT == "goose"
    return only(goose.read(recording))


def lines(tmp_path: Path, *records: Any) -> Trajectory:
    return read(write_lines(tmp_path / "20260101_101500.jsonl", records))


def test_a_header_and_a_message_a_line_are_one_session(tmp_path: Path) -> None:
    spent = {"accumulated_input_tokens": 800, "accumulated_output_tokens": 100, "input_tokens": 7}
    trajectory = lines(tmp_path, HEADER | spent, *TURNS)
    assert shape(trajectory) == [
        ("user", "Run the tests."),
        ("assistant", "I run them."),
        ("tool", "ok"),
        ("assistant", "All pass."),
    ]
    assert trajectory.messages[1].thinking == "Run."
    (made,) = paired_calls(trajectory)
    assert (made.name, made.command(), made.result) == ("shell", "make", "ok")
    source = trajectory.source
    assert trajectory.session_id.startswith("20260101_101500-")
    assert (trajectory.agent, trajectory.timestamp) == ("goose", "2026-01-01T00:00:00Z")
    assert (source.title, source.cwd, source.duration_seconds) == ("Run the tests", "/srv/shop", 9.0)
    assert source.usage == Usage(input_tokens=800, output_tokens=100)


def test_an_export_is_a_document_with_its_conversation(tmp_path: Path) -> None:
    spent = {
        "accumulated_input_tokens": 800,
        "accumulated_output_tokens": 100,
        "accumulated_cache_read_tokens": 600,
        "accumulated_cache_write_tokens": 150,
        "accumulated_cost": 0.5,
    }
    document = SESSION | spent | {"model_config": {"model_name": "m-large"}, "conversation": TURNS}
    trajectory = read(write_document(tmp_path / "export.json", document))
    assert len(trajectory.messages) == 4
    assert (trajectory.model, trajectory.source.title, trajectory.source.cost_usd) == ("m-large", "Tests", 0.5)
    assert trajectory.source.usage == Usage(50, 150, 600, 100)
    later = [message("user", text("Run the tests."), at=1), *TURNS[1:]]
    other = read(write_document(tmp_path / "other.json", document | {"conversation": later}))
    assert trajectory.session_id.startswith("20260101_1-")
    assert trajectory.session_id != other.session_id, "each machine numbers the sessions of a day"


def test_tokens_of_an_export_may_be_in_an_object(tmp_path: Path) -> None:
    total = {
        "input_tokens": 800,
        "output_tokens": 100,
        "total_tokens": 900,
        "cache_read_input_tokens": 600,
        "cache_write_input_tokens": None,
    }
    document = SESSION | {"usage": {"input_tokens": 7}, "conversation": TURNS}
    for spent, usage in ((total, Usage(200, None, 600, 100)), ({}, None), ([], None)):
        made = read(write_document(tmp_path / "export.json", document | {"accumulated_usage": spent}))
        assert made.source.usage == usage


def test_several_exports_on_lines_are_several_sessions(tmp_path: Path) -> None:
    second = SESSION | {"id": "20260101_2", "conversation": TURNS[:2]}
    recording = write_lines(tmp_path / "a.jsonl", [SESSION | {"conversation": TURNS}, second])
    assert [len(each.messages) for each in goose.read(recording)] == [4, 2]


@pytest.mark.parametrize(
    ("given", "is_error", "mark"),
    [
        (result({"content": [text("x")], "isError": True}), True, None),
        (result({"content": [text("x")], "isError": False}), False, None),
        (result({"content": [text("x")], "structuredContent": {"exit_code": 2}, "isError": False}), True, None),
        (result({"content": [text("Error: x")], "structuredContent": {"exit_code": 0}}), False, None),
        (result(None, "error", error="no such tool"), True, None),
        (result(None, "error", error={"code": -32603, "message": "no such tool"}), True, None),
        (result(None, "error", error="Interrupted by the user to make a correction"), None, "interrupt"),
        (result({"content": [text(DECLINED)], "isError": True}), None, "denied"),
        (result([text("Command exited with code 1")]), True, None),
        (result([text("a line")]), None, None),
        (result({"content": [], "structuredContent": {"stdout": "a", "stderr": "b", "exit_code": 0}}), False, None),
    ],
)
def test_an_exit_code_or_a_flag_or_a_status_shows_a_failure(
    tmp_path: Path, given: dict[str, Any], is_error: bool | None, mark: str | None
) -> None:
    trajectory = lines(tmp_path, HEADER, TURNS[0], message("assistant", call(command="x")), message("user", given))
    outcome = trajectory.messages[-1]
    assert (outcome.is_error, outcome.mark) == (is_error, mark)
    assert outcome.content


def test_what_the_user_did_not_see_is_no_request(tmp_path: Path) -> None:
    trajectory = lines(
        tmp_path,
        HEADER,
        message("user", text("Run the tests."), userVisible=True, agentVisible=False),
        message("user", text("<turn-context>It is noon.</turn-context>"), **HIDDEN),
        message("user", text("<turn-context>It is one.</turn-context>")),
        message("assistant", text("All pass."), {"type": "systemNotification", "msg": "Compacting"}),
        message("user", text("They ran the tests."), **HIDDEN),
        message("assistant", text("Your context was compacted."), **HIDDEN),
        message("user", text("And now?")),
    )
    assert [(each.role, each.content, each.mark) for each in trajectory.messages] == [
        ("user", "Run the tests.", None),
        ("user", "<turn-context>It is noon.</turn-context>", "injected"),
        ("user", "<turn-context>It is one.</turn-context>", "injected"),
        ("assistant", "All pass.", None),
        ("user", "They ran the tests.", "compaction"),
        ("user", "Your context was compacted.", "injected"),
        ("user", "And now?", None),
    ]


@pytest.mark.parametrize(
    ("was_seen", "marks"),
    [(True, [None, "compaction", "injected", "injected"]), (False, ["injected", "compaction", "injected", None])],
)
def test_a_request_that_is_said_again_after_a_compaction_is_no_turn_of_the_users(
    tmp_path: Path, was_seen: bool, marks: list[str | None]
) -> None:
    image = {"type": "image", "data": "x", "mimeType": "image/png"}
    trajectory = lines(
        tmp_path,
        HEADER,
        message("user", image, text("Run the tests."), text("All."), userVisible=was_seen, agentVisible=False),
        *TURNS[1:3],
        message("user", text("They ran the tests."), **HIDDEN),
        message("assistant", text("Your context was compacted."), **HIDDEN),
        message("user", text("Run the tests.\nAll.")),
        message("assistant", text("All pass.")),
    )
    assert [each.mark for each in trajectory.messages if each.role == "user"] == marks


def test_what_the_user_writes_twice_are_two_requests(tmp_path: Path) -> None:
    said = message("user", text("Go on."))
    summed_up = [message("user", text("They ran."), **HIDDEN), message("assistant", text("Compacted."), **HIDDEN)]
    trajectory = lines(tmp_path, HEADER, *TURNS, said, TURNS[3], said, *summed_up, message("user", text("Stop.")))
    assert [each.content for each in trajectory.messages if each.role == "user" and not each.mark] == [
        "Run the tests.",
        "Go on.",
        "Go on.",
        "Stop.",
    ]


def test_a_reply_with_calls_is_the_agents_though_the_user_did_not_see_it(tmp_path: Path) -> None:
    trajectory = lines(
        tmp_path,
        HEADER,
        TURNS[0],
        message("user", text("Mind the lint."), **HIDDEN),
        message("assistant", text("I run them."), call(command="make"), **HIDDEN),
        message("user", result("ok"), **HIDDEN),
    )
    assert [(each.role, each.content, each.mark) for each in trajectory.messages] == [
        ("user", "Run the tests.", None),
        ("user", "Mind the lint.", "injected"),
        ("assistant", "I run them.", None),
        ("tool", "ok", None),
    ]
    assert [each.command() for each in paired_calls(trajectory)] == ["make"]


def test_a_reply_stored_in_several_messages_is_one_and_its_thinking_is_read_once(tmp_path: Path) -> None:
    both = thought("Look at both.")
    trajectory = lines(
        tmp_path,
        HEADER,
        TURNS[0],
        message("assistant", text("I look.")),
        message("assistant", both),
        message("assistant", both, call(command="ls a")),
        message("user", result("a")),
        message("assistant", {"type": "systemNotification", "msg": "Still at it."}),
        message("assistant", both, call(command="ls b")),
        message("user", result("b")),
        message("assistant", thought("Now I know.")),
        message("assistant", text("Done.")),
        message("assistant", text("All is well.")),
    )
    assert [(each.role, each.content, each.thinking, len(each.tool_calls)) for each in trajectory.messages[1:]] == [
        ("assistant", "I look.", "Look at both.", 1),
        ("tool", "a", None, 0),
        ("assistant", None, None, 1),
        ("tool", "b", None, 0),
        ("assistant", "Done.", "Now I know.", 0),
        ("assistant", "All is well.", None, 0),
    ]


def action(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "actionRequired", "data": {"actionType": kind, "id": "c-1", **more}}


@pytest.mark.parametrize(
    ("filled_in", "said"),
    [
        ({"port": "8080, never 80", "retries": 3, "note": None}, "port: 8080, never 80\nretries: 3"),
        ("Use 8080.", "Use 8080."),
        ({}, None),
        (None, None),
        ([8080], None),
    ],
)
def test_what_the_user_filled_in_is_said_by_the_user(tmp_path: Path, filled_in: Any, said: str | None) -> None:
    asked = action("elicitation", message="Which port?", requested_schema={})
    answered = action("elicitationResponse", user_data=filled_in)
    trajectory = lines(tmp_path, HEADER, *TURNS, message("assistant", asked), message("user", answered, **HIDDEN))
    assert [(each.role, each.content, each.mark) for each in trajectory.messages[4:]] == (
        [("user", said, None)] if said else []
    )


@pytest.mark.parametrize(
    ("permission", "mark"),
    [
        ("deny_once", "rejected"),
        ("always_deny", "rejected"),
        ("cancel", "rejected"),
        ("allow_once", "denied"),
        ("always_allow", "denied"),
        (["deny_once"], "denied"),
    ],
)
def test_a_call_that_the_user_denied_is_a_proven_refusal(tmp_path: Path, permission: Any, mark: str) -> None:
    trajectory = lines(
        tmp_path,
        HEADER,
        TURNS[0],
        message("assistant", call(command="rm -r x"), action("toolConfirmation", toolName="shell")),
        message("user", action("toolConfirmationResponse", permission=permission)),
        message("user", result({"content": [text(DECLINED)], "isError": True})),
    )
    assert (trajectory.messages[-1].mark, trajectory.messages[-1].is_error) == (mark, None)
    assert len(trajectory.messages) == 3


def test_tokens_and_the_model_of_replies_count_where_the_session_has_none(tmp_path: Path) -> None:
    used = {"inputTokens": 1200, "outputTokens": 85, "cacheReadTokens": 900}
    said: dict[str, Any] = {"usage": used, "inference": {"requestedModel": "m", "resolvedModel": "m-2"}}
    trajectory = lines(tmp_path, HEADER, TURNS[0], *[message("assistant", text("ok"), **said)] * 2)
    assert trajectory.source.usage == Usage(input_tokens=600, cache_read_input_tokens=1800, output_tokens=170)
    assert trajectory.model == "m-2"


def test_images_files_and_a_call_that_cannot_be_read_leave_a_trace(tmp_path: Path) -> None:
    image = {"type": "image", "data": "x", "mimeType": "image/png"}
    wrong = {"type": "toolRequest", "id": "c-1", "toolCall": {"status": "error", "error": "no JSON"}}
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "a line"}}
    trajectory = lines(
        tmp_path,
        HEADER,
        message("user", image, {"type": "document", "name": "q3.pdf", "data": "x"}, text("Look.")),
        message("assistant", {"type": "redactedThinking", "data": "x"}, wrong),
        message("user", result({"content": [resource, image]})),
    )
    assert shape(trajectory) == [("user", "[image]\n[file]\nLook."), ("assistant", None), ("tool", "a line\n[image]")]
    assert trajectory.messages[1].tool_calls[0].name == "unknown"


def test_messages_without_a_header_are_known_by_their_calls(tmp_path: Path) -> None:
    trajectory = lines(tmp_path, *TURNS)
    assert (len(trajectory.messages), trajectory.source.cwd) == (4, None)
    grown = lines(tmp_path, *TURNS, message("user", text("Thanks."), at=20))
    assert trajectory.session_id == grown.session_id


def test_a_line_that_is_cut_off_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, [HEADER, *TURNS])) + '\n{"role": "us', encoding="utf-8")
    recording = Recording(path, path.name)
    assert len(read(recording).messages) == 4
    assert recording.warnings[0].startswith("a.jsonl:6: last line is cut off, skipped")


def test_odd_values_cost_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [
        7,
        {"role": [], "content": 7},
        {"role": "assistant", "created": "now", "content": None, "metadata": 7},
        message("assistant", 7, {"type": []}, {"type": "toolRequest", "id": [], "toolCall": 7}),
        message("assistant", {"type": "toolRequest", "id": "c", "toolCall": {"value": {"name": {}, "arguments": "x"}}}),
        message("user", {"type": "toolResponse", "id": {}, "toolResult": []}, result(7), result({"content": 7})),
        message("user", {"type": "text", "text": {}}, userVisible="no"),
        message("assistant", text("Hm."), usage=[], inference={"resolvedModel": 7}),
    ]
    trajectory = lines(tmp_path, HEADER | {"accumulated_cost": "much"}, TURNS[0], *odd, TURNS[3])
    assert ("assistant", "All pass.") in shape(trajectory)
    assert (trajectory.source.usage, trajectory.source.cost_usd, trajectory.model) == (None, None, None)


def test_a_session_in_which_nothing_was_said_has_only_begun(tmp_path: Path) -> None:
    recordings = [
        write_lines(tmp_path / "a.jsonl", [HEADER]),
        write_document(tmp_path / "b.json", SESSION | {"conversation": []}),
    ]
    for recording in recordings:
        with pytest.raises(BegunRecording, match="without messages"):
            read(recording)


def test_documents_of_other_programs_are_not_its_sessions(tmp_path: Path) -> None:
    chat = {"working_dir": "/srv", "messages": [{"role": "user", "content": "hi"}]}
    assert detect.reader_of(write_document(tmp_path / "a.json", chat)).FORMAT == "openai-messages"
    for foreign in ({"working_dir": "/srv"}, {"messages": [{"role": "user", "created": 1, "content": [text("hi")]}]}):
        assert not goose.claims(write_document(tmp_path / "b.json", foreign).sample())
    with pytest.raises(UnreadableRecording, match="not a trajectory"):
        detect.reader_of(write_document(tmp_path / "c.json", {"working_dir": "/srv"}))
