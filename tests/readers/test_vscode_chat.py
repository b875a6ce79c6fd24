"""Chats of VS Code: documents, exports and logs of changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import vscode_chat
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from tests.readers.lines import only, write_document, write_lines

FOLDER = {"$mid": 1, "path": "/c:/shop/app/", "scheme": "file"}


def lines_of_tree(*lines: str) -> dict[str, Any]:
    children = [{"type": 2, "text": line, "lineBreakBefore": bool(at)} for at, line in enumerate(lines)]
    return {"content": [{"value": {"node": {"type": 1, "children": [{"type": 1, "children": children}]}}}]}


def tool(call_id: str, tool_id: str = "run_in_terminal", **more: Any) -> dict[str, Any]:
    return {"kind": "toolInvocationSerialized", "toolCallId": call_id, "toolId": tool_id, "isComplete": True, **more}


def terminal(command: str, **more: Any) -> dict[str, Any]:
    return {"toolSpecificData": {"kind": "terminal", "commandLine": {"original": command}, **more}}


def called(call_id: str, name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": f"{call_id}__vscode-17", "name": name, "arguments": arguments}


def request(
    text: str, *parts: Any, rounds: Any = (), results: Any = None, asked: int = 1_773_720_267_000, **more: Any
) -> dict[str, Any]:
    metadata = {"toolCallRounds": list(rounds), "toolCallResults": results or {}, "sessionId": "s-1"}
    result = {"timings": {"totalElapsed": 5000}, "metadata": metadata, "details": "Grok Code Fast 1 • 1x"}
    head = {"requestId": "r", "message": {"text": text, "parts": []}, "modelId": "copilot/auto", "timestamp": asked}
    return {**head, "response": list(parts), "result": result, **more}


def document(*requests: Any, **more: Any) -> dict[str, Any]:
    return {"responderUsername": "GitHub Copilot", "initialLocation": "panel", "requests": list(requests), **more}


def of(recording: Recording) -> Trajectory:
    assert reader_of(recording) is vscode_chat
    return only(vscode_chat.read(recording))


def read(tmp_path: Path, *requests: Any, **more: Any) -> Trajectory:
    return of(write_document(tmp_path / "chat.json", document(*requests, **more)))


def shape(made: Trajectory) -> list[tuple[str, str | None, list[tuple[str, str]]]]:
    messages = made.messages
    return [(each.role, each.content, [(call.name, call.arguments) for call in each.tool_calls]) for each in messages]


def test_rounds_have_the_replies_and_trees_of_text_the_results(tmp_path: Path) -> None:
    rounds = [
        {
            "response": "I look.",
            "thinking": {"text": "Where?"},
            "toolCalls": [called("c1", "list_dir", '{"path": "/"}')],
        },
        {"response": "There is a.py.", "toolCalls": []},
        {"response": "", "toolCalls": []},
    ]
    results = {"c1__vscode-17": lines_of_tree("a.py", "b.py")}
    shown = [tool("c1", "copilot_listDirectory"), {"value": "There is ", "baseUri": FOLDER}, {"value": "a.py."}]
    made = read(tmp_path, request("What is there?", *shown, rounds=rounds, results=results), customTitle="Files")
    assert shape(made) == [
        ("user", "What is there?", []),
        ("assistant", "I look.", [("list_dir", '{"path": "/"}')]),
        ("tool", "a.py\nb.py", []),
        ("assistant", "There is a.py.", []),
    ]
    assert made.messages[1].thinking == "Where?"
    assert (made.session_id, made.model, made.timestamp) == ("s-1", "Grok Code Fast 1", "2026-03-17T04:04:27Z")
    assert (made.source.title, made.source.cwd, made.source.duration_seconds) == ("Files", "c:/shop/app", 5.0)


def test_the_window_says_how_a_command_ended_and_what_was_not_allowed(tmp_path: Path) -> None:
    calls = [called(f"c{at}", "run_in_terminal", '{"command": "x"}') for at in range(1, 5)]
    results = {
        "c1__vscode-17": {"content": [{"value": "no such test"}]},
        "c2__vscode-17": {"content": [{"value": "The user cancelled the tool call."}]},
        "c3__vscode-17": {"content": [{"value": "ERROR while calling tool: Invalid input path: a"}]},
    }
    shown = [
        tool("c1", **terminal("x", terminalCommandState={"exitCode": 2})),
        tool("c2"),
        tool("c3"),
        tool("c4", isConfirmed={"type": 5}),
    ]
    made = read(tmp_path, request("Run.", *shown, rounds=[{"response": "", "toolCalls": calls}], results=results))
    assert [(each.is_error, each.mark) for each in made.messages if each.role == "tool"] == [
        (True, None),
        (True, "rejected"),
        (True, None),
        (True, "rejected"),
    ]


def test_without_rounds_the_parts_of_the_window_are_read(tmp_path: Path) -> None:
    output = terminal("go build", terminalCommandOutput={"text": "fail"}, terminalCommandState={"exitCode": 1})
    parts = [
        {"kind": "thinking", "value": ["Hm."]},
        {"value": "Looking at "},
        {"kind": "inlineReference", "inlineReference": {"path": "/w/a.go"}},
        {"value": "."},
        {"kind": "undoStop", "id": "u"},
        tool("t1", **output),
        tool("t2", "copilot_readFile", invocationMessage={"value": "Reading a.go"}),
        tool("t3", "search", resultDetails={"input": '{"q": 1}', "output": [{"value": "429"}], "isError": True}),
        {"kind": "markdownContent", "content": {"value": "Done."}},
    ]
    made = read(tmp_path, request("Build it.", *parts, isCanceled=True), request("Go on.", isSystemInitiated=True))
    assert shape(made) == [
        ("user", "Build it.", []),
        ("assistant", "Looking at a.go.", [("run_in_terminal", '{"command": "go build"}')]),
        ("tool", "fail", []),
        ("assistant", None, [("copilot_readFile", '{"description": "Reading a.go"}')]),
        ("assistant", None, [("search", '{"input": "{\\"q\\": 1}"}')]),
        ("tool", "429", []),
        ("assistant", "Done.", []),
        ("user", "[Request interrupted by user]", []),
        ("user", "Go on.", []),
    ]
    assert [each.is_error for each in made.messages if each.role == "tool"] == [True, True]
    assert [each.mark for each in made.messages if each.role == "user"] == [None, "interrupt", "injected"]


def test_what_the_service_says_instead_of_an_answer_is_kept(tmp_path: Path) -> None:
    asked = request("Hello?")
    asked["result"]["errorDetails"] = {"message": "Sorry, you have exceeded your rate limits."}
    assert shape(read(tmp_path, asked))[1:] == [("assistant", "Sorry, you have exceeded your rate limits.", [])]


def test_a_log_of_changes_gives_the_document(tmp_path: Path) -> None:
    first = {"requestId": "r1", "timestamp": 1000, "message": {"text": "first"}, "response": []}
    log = [
        {"kind": 0, "v": {"version": 3, "creationDate": 1, "sessionId": "log-1", "requests": [], "old": 1}},
        {"kind": 2, "k": ["requests"], "v": [first]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "Look"}, {"value": "dropped"}]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "ing."}], "i": 1},
        {"kind": 1, "k": ["customTitle"], "v": "Two"},
        {"kind": 3, "k": ["old"]},
        {"kind": 2, "k": ["requests"], "v": [{"message": {"text": "undone"}, "response": []}]},
        {"kind": 2, "k": ["requests"], "v": [{"message": {"text": "second"}}], "i": 1},
        {"kind": 2, "k": ["requests", 1, "response"], "v": [{"value": "Yes."}]},
        {"kind": 1, "k": ["requests", 9, "message"], "v": {}},
        {"kind": 7, "k": ["requests"]},
        {"kind": 1, "k": []},
        "no change",
    ]
    recording = write_lines(tmp_path / "log-1.jsonl", log)
    made = of(recording)
    assert [(each.role, each.content) for each in made.messages] == [
        ("user", "first"),
        ("assistant", "Looking."),
        ("user", "second"),
        ("assistant", "Yes."),
    ]
    assert (made.session_id, made.source.title) == ("log-1", "Two")
    assert len(recording.warnings) == 4
    assert recording.warnings[0] == "log-1.jsonl:10: a change of what is not there, skipped"


@pytest.mark.parametrize("requests", [[], [{"response": []}], [1], [{"message": 5, "response": 7, "result": "x"}]])
def test_a_chat_without_a_word_is_none(tmp_path: Path, requests: list[Any]) -> None:
    recording = write_document(tmp_path / "chat.json", document(*requests))
    with pytest.raises(UnreadableRecording, match="nothing was asked"):
        list(vscode_chat.read(recording))


def test_odd_values_lose_nothing_else(tmp_path: Path) -> None:
    odd = request(
        "Do it.", 5, {"kind": "new"}, tool("t", isConfirmed="?"), {"value": 7}, rounds=[3, {"toolCalls": [{}]}]
    )
    odd["timestamp"] = "now"
    odd["result"]["metadata"]["toolCallResults"] = {"t": {"content": [{"value": {"node": []}}, 5]}, "u": 6}
    made = read(tmp_path, odd, document())
    assert shape(made)[:2] == [("user", "Do it.", []), ("assistant", None, [("unknown", "{}")])]


@pytest.mark.long
def test_a_log_may_nest_more_than_a_document_and_ends(tmp_path: Path) -> None:
    asked = request("Go.", rounds=[{"response": "", "toolCalls": [called("c1", "look")]}])
    asked["result"]["metadata"]["toolCallResults"] = {"c1__vscode-17": {"content": [{"value": {"node": {}}}]}}
    of_result = ["requests", 0, "result", "metadata", "toolCallResults", "c1__vscode-17"]
    path: list[Any] = [*of_result, "content", 0, "value", "node"]
    log: list[Any] = [{"kind": 0, "v": document(asked)}]
    for _ in range(1_500):
        log.append({"kind": 1, "k": [*path, "children"], "v": [{"text": "x"}]})
        path += ["children", 0]
    made = of(write_lines(tmp_path / "log.jsonl", log))
    assert set(made.messages[-1].content or "") == {"x"}
