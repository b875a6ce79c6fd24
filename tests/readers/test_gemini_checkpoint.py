"""Chats that Gemini CLI saves, on small ones made here in the shape of real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import detect, gemini_checkpoint
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from tests.readers.lines import only, shape, write_document, write_lines

OPENING = "This is the Gemini CLI. We are setting up the context for our chat."
CONTEXT = f"{OPENING}\n  Today's date is Monday.\n  I'm currently working in the directory: /srv/shop\n"


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def model(*parts: Any) -> dict[str, Any]:
    return {**user(*parts), "role": "model"}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": arguments}}


def answer(call_id: str, name: str, text: str, kind: str = "output") -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": name, "response": {kind: text}}}


BEGIN = [user(CONTEXT), model("Got it. Thanks for the context!")]
SHOWN_BEGIN = [("user", CONTEXT), ("user", "Got it. Thanks for the context!")]


def read(recording: Recording) -> Trajectory:
    assert [reader.FORMAT for reader in detect.readers() if reader.claims(recording.sample())] == ["gemini-checkpoint"]
    return only(gemini_checkpoint.read(recording))


def saved(tmp_path: Path, *messages: Any) -> Trajectory:
    return read(write_document(tmp_path / "checkpoint-cart%20bug.json", [*BEGIN, *messages]))


def test_a_list_and_a_history_beside_how_the_user_signed_in_are_the_same_chat(tmp_path: Path) -> None:
    messages = [*BEGIN, user("Fix the cart."), model({"text": "Done.", "thoughtSignature": "abc"})]
    older = saved(tmp_path, *messages[2:])
    newer = read(write_document(tmp_path / "newer.json", {"history": messages, "authType": "oauth-personal"}))
    assert shape(older) == shape(newer) == [*SHOWN_BEGIN, ("user", "Fix the cart."), ("assistant", "Done.")]
    assert [message.mark for message in older.messages] == ["injected", "injected", None, None]
    assert older.session_id == newer.session_id
    assert (older.agent, older.source.cwd, older.source.title) == ("gemini-cli", "/srv/shop", "cart bug")
    assert (newer.source.title, newer.model, newer.timestamp, newer.source.usage) == (None, None, None, None)


@pytest.mark.parametrize(
    ("context", "folder"),
    [
        (f"{OPENING}\nI'm currently working in the following directories:\n  - /srv/a\n  - /srv/b\n", "/srv/a"),
        (f"<session_context>\n{OPENING}\n- **Workspace Directories:**\n  - /srv/a\n</session_context>", "/srv/a"),
        (OPENING, None),
    ],
)
def test_the_folder_is_the_first_that_the_context_names(tmp_path: Path, context: str, folder: str | None) -> None:
    trajectory = read(write_document(tmp_path / "a.json", [user(context), user("Fix it."), model("Done.")]))
    assert trajectory.source.cwd == folder
    assert [message.mark for message in trajectory.messages] == ["injected", None, None]


def test_a_reply_saved_in_two_entries_is_one_and_its_calls_have_the_ids_of_their_results(tmp_path: Path) -> None:
    trajectory = saved(
        tmp_path,
        user("Go."),
        model({"text": "Hm.", "thought": True}, "I look."),
        model(call("glob", pattern="*.py"), call("read_file", path="a.py"), call("glob", pattern="*.md"), call("ls")),
        user(answer("r1", "read_file", "a = 1"), answer("g1", "glob", "a.py"), answer("g2", "glob", "b.md")),
        user(answer("x", "web_fetch", "page")),
    )
    reply, *results = trajectory.messages[3:]
    assert (reply.content, reply.thinking) == ("I look.", "Hm.")
    assert [(each.id, each.mark) for each in reply.tool_calls] == [
        ("g1", None),
        ("r1", None),
        ("g2", None),
        ("call_001", "no-result"),
    ]
    assert [(each.tool_call_id, each.content, each.mark) for each in results] == [
        ("r1", "a = 1", None),
        ("g1", "a.py", None),
        ("g2", "b.md", None),
        ("x", "page", "no-call"),
    ]
    assert trajectory.source.hygiene["split_replies_joined"] == 1


def test_calls_and_results_without_any_id_are_paired_in_their_order(tmp_path: Path) -> None:
    results = [answer("", "ls", "a.py"), answer("", "ls", "b.py")]
    trajectory = saved(tmp_path, user("Go."), model(call("ls", path="a"), call("ls", path="b")), user(*results))
    assert [message.tool_call_id for message in trajectory.messages[-2:]] == ["call_001", "call_002"]
    assert trajectory.messages[-3].tool_calls[1].mark is None


@pytest.mark.parametrize(
    ("name", "text", "kind", "is_error", "mark"),
    [
        ("run_shell_command", "Command: make\nStdout: (empty)\nError: (none)\nExit Code: 2", "output", True, None),
        ("run_shell_command", "Command: make\nStdout: Error!\nError: (none)\nExit Code: 0", "output", False, None),
        ("glob", "Error: Invalid parameters provided.", "output", True, None),
        ("read_file", "a = 1", "output", None, None),
        ("web_fetch", "fetch failed", "error", True, None),
        ("replace", "[Operation Cancelled] Reason: User did not allow tool call", "error", None, "rejected"),
    ],
)
def test_an_error_or_the_text_shows_a_failure(
    tmp_path: Path, name: str, text: str, kind: str, is_error: bool | None, mark: str | None
) -> None:
    result = saved(tmp_path, user("Go."), model(call(name, command="make")), user(answer("c", name, text, kind)))
    assert (result.messages[-1].is_error, result.messages[-1].mark) == (is_error, mark)


def test_files_stand_with_the_result_or_the_prompt_that_has_them(tmp_path: Path) -> None:
    drawing = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    paper = {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0xLjQK"}}
    trajectory = saved(
        tmp_path,
        user("See @a.pdf", "\n--- Content from referenced files ---", paper, "\n--- End of content ---"),
        model(call("read_many_files")),
        user(answer("m", "read_many_files", "Tool execution succeeded."), "--- b.md ---\n\nb", drawing),
    )
    assert shape(trajectory)[2:] == [
        ("user", "See @a.pdf"),
        ("user", "--- Content from referenced files ---\n[file]\n\n--- End of content ---"),
        ("assistant", None),
        ("tool", "Tool execution succeeded.\n--- b.md ---\n\nb\n[image]"),
    ]
    assert trajectory.messages[3].mark == "injected"


def test_a_summary_and_what_the_user_ran_are_no_requests(tmp_path: Path) -> None:
    ran = "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na.py\n```"
    trajectory = saved(tmp_path, user("All so far."), model("Got it. Thanks for the additional context!"), user(ran))
    assert [message.mark for message in trajectory.messages[2:]] == ["compaction", "injected", "injected"]


def test_what_is_no_message_costs_itself_alone_and_is_said_in_one_line(tmp_path: Path) -> None:
    entries = [*BEGIN, user("Go."), 7, {"role": "model"}, {"parts": []}, {"role": "tool", "parts": ["x"]}, model("ok")]
    recording = write_document(tmp_path / "a.json", entries)
    trajectory = read(recording)
    assert shape(trajectory)[2:] == [("user", "Go."), ("user", "x"), ("assistant", "ok")]
    assert trajectory.messages[3].mark == "injected"
    assert recording.warnings == ["a.json: of 8 entries 2 no message, skipped: 4, 6"]


def test_odd_parts_cost_nothing(tmp_path: Path) -> None:
    response = {"id": [], "response": 7, "parts": "x"}
    odd: list[Any] = [None, 7, {"functionCall": 1}, {"functionResponse": response}, {"text": []}]
    odd += [{"functionCall": {"name": [], "id": {}, "args": None}}]
    trajectory = saved(tmp_path, user("Go.", *odd), model("ok", *odd), user(*odd), model("Done."))
    assert ("assistant", "Done.") in shape(trajectory)


def test_a_chat_that_is_cut_off_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([*BEGIN, user("Go.")], indent=2)[:-30], encoding="utf-8")
    with pytest.raises(UnreadableRecording, match=r"a\.json:\d+: "):
        list(detect.read(Recording(path, path.name)))


def test_a_chat_that_grew_replaces_the_shorter_one(tmp_path: Path) -> None:
    short = saved(tmp_path, user("Go."), model("ok"))
    long = saved(tmp_path, user("Go."), model("ok"), user("On."), model("Done."))
    assert short.session_id != long.session_id
    assert short.session_id in long.earlier_ids


@pytest.mark.parametrize(
    "other",
    [
        [user("Hello."), model("Hello.")],  # of any program that asks this API
        [user(CONTEXT.replace("Gemini CLI", "Qwen Code")), model("ok")],
        [{"role": "user", "content": CONTEXT}, {"role": "assistant", "content": "ok"}],
        {"messages": BEGIN},
        {"history": [{"type": "user", "text": OPENING}], "clientHistory": BEGIN, "toolCall": {"name": "replace"}},
        [],
        7,
    ],
)
def test_other_histories_are_no_chat_of_this_program(tmp_path: Path, other: Any) -> None:
    assert not gemini_checkpoint.claims(write_document(tmp_path / "a.json", other).sample())


def test_messages_one_a_line_are_no_saved_chat(tmp_path: Path) -> None:
    assert not gemini_checkpoint.claims(write_lines(tmp_path / "a.jsonl", BEGIN).sample())
