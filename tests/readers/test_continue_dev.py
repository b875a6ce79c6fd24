"""Sessions of Continue, on small ones made here in the shape of published ones and after Continue's source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import PartOfRecording, UnreadableRecording
from agent_wiki.readers import continue_dev, detect
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.lines import only, shape, write_document

ID = "0c0ffee0-0000-4000-8000-000000000001"
INDEX = [
    {"sessionId": "other", "title": "x", "dateCreated": "1", "workspaceDirectory": ""},
    {"sessionId": ID, "title": "Tests", "dateCreated": "1750000000500", "workspaceDirectory": "file:///srv/shop"},
]


def item(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"message": {"role": role, "content": content, "id": "m"}, "contextItems": [], **more}


def typed(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {"type": "doc", "content": [{"type": "paragraph", "content": list(nodes)}]}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def state(status: str | None, *output: dict[str, Any], name: str = "read_file", call_id: str = "c") -> dict[str, Any]:
    function = {"name": name, "arguments": '{"filepath": "a.py"}'}
    call = {"id": call_id, "type": "function", "function": function}
    return {"toolCallId": call_id, "toolCall": call, "status": status, "parsedArgs": {}, "output": list(output)}


def shown(content: str, **more: Any) -> dict[str, Any]:
    return {"name": "Output", "description": "", "content": content, **more}


def called(*states: dict[str, Any], content: str = "") -> dict[str, Any]:
    return item("assistant", content, toolCallStates=list(states))


def document(*items: Any, **more: Any) -> dict[str, Any]:
    return {"sessionId": ID, "title": "Tests", "workspaceDirectory": "file:///srv/shop", "history": list(items), **more}


def recording(tmp_path: Path, value: Any) -> Recording:
    return write_document(tmp_path / f"{ID}.json", value)


def session(tmp_path: Path, *items: Any, **more: Any) -> Trajectory:
    made = recording(tmp_path, document(*items, **more))
    assert detect.reader_of(made).FORMAT == "continue"
    return only(continue_dev.read(made))


def result(tmp_path: Path, made: dict[str, Any]) -> tuple[str | None, bool | None, str | None]:
    (answer,) = [each for each in session(tmp_path, called(made)).messages if each.role == "tool"]
    return answer.content, answer.is_error, answer.mark


def test_a_session_of_the_extension_is_read_as_it_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "sessions.json").write_text(json.dumps(INDEX), encoding="utf-8")
    context = [{"name": "a.py", "description": "a.py", "content": "```a.py\nx = 1\n```", "id": {"itemId": "1"}}]
    log = {"modelTitle": "My model", "prompt": "<user>\nlong", "completionOptions": {"model": "m-1"}}
    mention = {"type": "mention", "attrs": {"label": "a.py", "renderInlineAs": None}}
    found = session(
        tmp_path,
        item(
            "user", [text("a.py what is it?")], contextItems=context, editorState=typed(mention, text(" what is it?"))
        ),
        called(state("done", shown("x = 1")), content="I look.") | {"promptLogs": [log]},
        item("tool", "x = 1") | {"message": {"role": "tool", "content": "x = 1", "toolCallId": "c"}},
        item("assistant", "A number.", promptLogs=[log, [{"role": "assistant"}]]),
        chatModelTitle="My model",
        mode="agent",
    )
    assert shape(found) == [
        ("user", "```a.py\nx = 1\n```"),
        ("user", "a.py what is it?"),
        ("assistant", "I look."),
        ("tool", "x = 1"),
        ("assistant", "A number."),
    ]
    assert [each.mark for each in found.messages] == ["injected", None, None, None, None]
    assert [(call.id, call.name) for call in found.messages[2].tool_calls] == [("c", "read_file")]
    assert (found.session_id, found.agent, found.model) == (ID, "continue", "m-1")
    assert (found.timestamp, found.source.cwd, found.source.title) == ("2025-06-15T15:06:40.500Z", "/srv/shop", "Tests")
    assert found.source.hygiene == {"duplicate_turns_dropped": 1, "injected_messages": 1}


def test_a_session_of_the_program_for_terminals_has_tokens_and_cost(tmp_path: Path) -> None:
    said = {"role": "assistant", "content": "Hi.", "usage": {"model": "m", "prompt_tokens": 9, "completion_tokens": 2}}
    cached = {"prompt_tokens_details": {"cache_read_tokens": 5, "cache_write_tokens": 1}}
    usage = {"totalCost": 0.25, "promptTokens": 18, "completionTokens": 4, "promptTokensDetails": {"cachedTokens": 5}}
    items = [
        item("user", "Hello.", editorState="Hello."),
        {"message": said},
        {"message": said | {"usage": said["usage"] | cached}},  # type: ignore[operator]
    ]
    found = session(tmp_path, *items, usage=usage, workspaceDirectory="/srv/shop", title="Untitled Session")
    assert found.source.usage == Usage(18, 1, 5, 4)
    assert (found.source.cost_usd, found.model, found.source.title, found.timestamp) == (0.25, "m", None, None)
    begun_anew = session(tmp_path, *items, usage=usage | {"completionTokens": 3})
    assert (begun_anew.source.usage, begun_anew.source.cost_usd) == (Usage(18, 1, 5, 4), None)
    sums_alone = session(tmp_path, items[0], item("assistant", "Hi."), usage=usage)
    assert (sums_alone.source.usage, sums_alone.source.cost_usd) == (Usage(18, None, 5, 4), 0.25)
    nothing_counted = session(tmp_path, items[0], usage={"totalCost": 0, "promptTokens": 0, "completionTokens": 0})
    assert (nothing_counted.source.usage, nothing_counted.source.cost_usd) == (None, None)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (state("done", shown("x"), shown("y")), ("x\n\ny", False, None)),
        (state("done"), ("", False, None)),
        (state("errored", shown("no such file")), ("no such file", True, None)),
        (state("errored"), ("[errored]", True, None)),
        (state("canceled"), ("[canceled]", None, "rejected")),
        (state("canceled", shown("Skip it.", name="Tool Call Rejected")), ("Skip it.", None, "rejected")),
        (state("canceled", shown("Permission denied by user")), ("Permission denied by user", None, "rejected")),
        (state("canceled", shown("half of it")), ("half of it", None, "interrupt")),
        (
            state("canceled", shown("Command blocked by security policy")),
            ("Command blocked by security policy", True, None),
        ),
        (state("calling", shown("so far")), ("so far", None, None)),
    ],
)
def test_a_calls_state_says_how_it_went(tmp_path: Path, made: dict[str, Any], expected: tuple[str, Any, Any]) -> None:
    assert result(tmp_path, made) == expected


@pytest.mark.parametrize(
    ("status", "is_error"),
    [
        ("Command completed", False),
        ("Command failed with exit code 2", True),
        ("\nBackground command failed with exit code 1", True),
        ("Command timed out", True),
        ("Command is running in the background...", None),
    ],
)
def test_a_command_fails_by_its_status(tmp_path: Path, status: str, is_error: bool | None) -> None:
    made = state("done", shown("x", status=status), name="run_terminal_command")
    assert result(tmp_path, made) == (f"x\n[Status: {status.strip()}]", is_error, None)


def test_a_command_without_a_status_is_judged_by_its_text(tmp_path: Path) -> None:
    assert result(tmp_path, state("done", shown("all good"), name="Bash"))[1] is not True
    assert result(tmp_path, state("done", shown("x: command not found"), name="Bash"))[1] is True


def test_calls_of_older_versions_have_one_state_and_their_results_are_messages(tmp_path: Path) -> None:
    older = {key: value for key, value in state("done", name="builtin_read_file").items() if key != "output"}
    plain = {"message": {"role": "assistant", "content": "", "toolCalls": [state("")["toolCall"] | {"id": "d"}]}}
    found = session(
        tmp_path,
        item("assistant", "I look.", toolCallState=older),
        {"message": {"role": "tool", "content": "x = 1", "toolCallId": "c"}},
        plain,
        {"message": {"role": "tool", "content": "y", "toolCallId": "d"}},
        called(state("generated", call_id="e")),
    )
    assert shape(found)[:4] == [("assistant", "I look."), ("tool", "x = 1"), ("assistant", None), ("tool", "y")]
    calls = [(call.id, call.name, call.mark) for message in found.messages for call in message.tool_calls]
    assert calls == [("c", "read_file", None), ("d", "read_file", None), ("e", "read_file", "no-result")]


def test_thinking_belongs_to_the_reply_that_follows_it(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        item("thinking", "First."),
        item("assistant", "Done."),
        item("assistant", "", reasoning={"active": False, "text": "Second."}),
        item("assistant", "Again."),
        item("thinking", "hidden") | {"message": {"role": "thinking", "content": "hidden", "redactedThinking": "x"}},
        item("assistant", "Own.", reasoning={"text": "Third."}),
        item("thinking", "Fourth."),
        item("user", "Stop."),
        item("thinking", "Fifth.", toolCallStates=[state("done", shown("x"))]),
        item("thinking", "Sixth."),
    )
    assert [(each.content, each.thinking) for each in found.messages] == [
        ("Done.", "First."),
        ("Again.", "Second."),
        ("Own.", "Third."),
        (None, "Fourth."),
        ("Stop.", None),
        (None, "Fifth."),
        ("x", None),
        (None, "Sixth."),
    ]
    assert found.source.hygiene["split_replies_joined"] == 3


SELECTED = "\n```py a.py (1-2)\nx\n```\n"
PROMPT = {"type": "prompt-block", "attrs": {"item": {"name": "review"}}}


@pytest.mark.parametrize(
    ("content", "editor", "expected"),
    [
        ("An editor.\n\na.py fix  it", typed(text("a.py fix it\ufeff")), ["An editor.\n\n", "a.py fix  it"]),
        (SELECTED + "why?", typed({"type": "codeBlock"}, text("why?")), [SELECTED, "why?"]),
        ("  why?", typed(text("why?")), ["  why?"]),
        ("something else", typed(text("why?")), ["something else"]),
        ("so", typed(text("why so")), ["so"]),
        (SELECTED, typed({"type": "codeBlock"}), [SELECTED]),
        ("Review.", typed(PROMPT), ["Review.", "/review"]),
        ("plain", "plain", ["plain"]),
        ("old", None, ["old"]),
    ],
)
def test_what_is_put_before_a_users_words_is_not_the_users(
    tmp_path: Path, content: str, editor: Any, expected: list[str]
) -> None:
    found = session(tmp_path, item("user", content, editorState=editor))
    assert [each.content for each in found.messages] == expected
    assert [each.mark for each in found.messages] == ["injected"] * (len(expected) - 1) + [None]


def test_rules_system_messages_images_and_summaries(tmp_path: Path) -> None:
    rules = [{"name": "style", "rule": "Use tabs."}, {"name": "names alone"}]
    found = session(
        tmp_path,
        item("system", "You are an agent."),
        item("user", [text("Look:"), {"type": "imageUrl", "imageUrl": {"url": "data:x"}}], appliedRules=rules),
        item("assistant", "Seen.", conversationSummary="The user showed an image."),
        item("user", "And now?", appliedRules=rules),
        item("assistant", "All so far.", conversationSummary="All so far."),
    )
    assert [(each.role, each.content, each.mark) for each in found.messages] == [
        ("system", "You are an agent.", None),
        ("system", "Use tabs.", None),
        ("user", "Look:\n[image]", None),
        ("assistant", "Seen.", None),
        ("user", "The user showed an image.", "compaction"),
        ("user", "And now?", None),
        ("user", "All so far.", "compaction"),
    ]


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ("C:\\work\\shop", "C:\\work\\shop"),
        ("file:///c%3A/code/my%20shop", "c:/code/my shop"),
        ("vscode-remote://dev-container%2B7b/workspaces/shop", "/workspaces/shop"),
        ("vscode-remote://[broken/shop", None),
        ("", None),
    ],
)
def test_the_folder_is_a_path_or_an_editors_address(tmp_path: Path, recorded: str, expected: str | None) -> None:
    assert session(tmp_path, item("user", "Hi."), workspaceDirectory=recorded).source.cwd == expected


def test_the_index_is_no_recording_and_an_empty_session_is_passed_over(tmp_path: Path) -> None:
    index = write_document(tmp_path / "sessions.json", INDEX)
    with pytest.raises(PartOfRecording, match="the index of the sessions that Continue keeps"):
        list(detect.read(index))
    for history in ([], [item("user", ""), item("assistant", "")]):
        with pytest.raises(UnreadableRecording, match="nothing was said") as caught:
            session(tmp_path, *history)
        assert caught.value.is_foreign


@pytest.mark.parametrize(
    "value",
    [
        document(item("user", "Hi."), autonomyMode="full"),
        {"sessionId": ID, "history": [item("user", "Hi.")]},
        document({"message": "text"}),
        {"session_info": {"session_id": ID}, "history": {"timeline": []}},
    ],
)
def test_what_other_programs_keep_is_not_claimed(tmp_path: Path, value: Any) -> None:
    assert not continue_dev.claims(recording(tmp_path, value).sample())


def test_odd_values_cost_themselves_alone(tmp_path: Path) -> None:
    odd = [7, {"message": None}, item("user", None), item("assistant", {"x": 1}, toolCallStates=[{}, 3], reasoning="r")]
    found = session(tmp_path, item("user", "Hi."), *odd, item("assistant", "Yes."), usage=[], title=3)
    assert shape(found) == [("user", "Hi."), ("assistant", "Yes.")]
