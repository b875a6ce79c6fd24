"""Tasks of Cline and Roo Code, in both ways to write calls and in both to write results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import PartOfRecording, UnreadableRecording
from agent_wiki.readers import cline, detect
from agent_wiki.readers.cline_text import taken_apart
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls
from tests.hangs import no_hang

AROUND = """<environment_details>
# Visual Studio Code Visible Files
shop.py

# Current Time
1/22/2026, 3:48:00 AM (UTC, UTC+0:00)

# Current Working Directory (/srv/my shop) Files
shop.py

# Workspace Configuration
{"associatedRemoteUrls": ["origin: https://example.org/acme/shop"]}

# Current Mode
ACT MODE
</environment_details>"""
ROO = "<environment_details>\n# Current Workspace Directory (/w) Files\n\n<slug>code</slug>\n<model>m-1</model>\n"


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in (*texts, AROUND)]}


def said(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def task(folder: Path, *messages: dict[str, Any], beside: dict[str, Any] | None = None) -> Trajectory:
    path = folder / "api_conversation_history.json"
    path.write_text(json.dumps([user("<task>\nFix the tests.\n</task>"), *messages]), encoding="utf-8")
    for name, content in (beside or {}).items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    (found,) = detect.read(Recording(path, path.name))
    return found


def turns(trajectory: Trajectory) -> list[tuple[str, str | None, str | None]]:
    return [(message.role, message.content, message.mark) for message in trajectory.messages]


XML = """<thinking>The user wants tests.</thinking>

I run them.

<execute_command>
<command>cd "my shop" && pytest -q</command>
<requires_approval>false</requires_approval>
</execute_command>"""


def test_calls_written_as_xml(tmp_path: Path) -> None:
    found = task(
        tmp_path,
        said(text(XML)),
        user(
            "[execute_command for 'cd \"my shop\" && pytest -q'] Result:", "Command failed with exit code 1.\n1 failed"
        ),
        said(text("<write_to_file>\n<path>shop.py</path>\n<content>\na = '</content>'\n</content>\n</write_to_file>")),
        user("[write_to_file for 'shop.py'] Result:\nThe content was successfully saved to shop.py."),
        said(text("<attempt_completion>\n<result>\nThe tests pass.\n</result>\n</attempt_completion>")),
    )
    run, write = paired_calls(found)
    assert (run.command(), run.is_error) == ('cd "my shop" && pytest -q', True)
    assert run.result == "Command failed with exit code 1.\n1 failed"
    assert write.arguments == {"path": "shop.py", "content": "a = '</content>'"}
    assert write.result == "The content was successfully saved to shop.py."
    assert (found.messages[1].content, found.messages[1].thinking) == ("I run them.", "The user wants tests.")
    assert found.messages[-1].content == "The tests pass."
    assert [(role, mark) for role, _, mark in turns(found)] == [
        ("user", None), ("assistant", None), ("tool", None), ("assistant", None), ("tool", None), ("assistant", None),
    ]  # fmt: skip


@pytest.mark.parametrize("is_text", [True, False])
def test_calls_of_the_api_with_either_kind_of_result(tmp_path: Path, *, is_text: bool) -> None:
    result = "Command executed.\nOutput:\n2 passed in 0.1s"
    answer = user(f"[execute_command for 'pytest'] Result:\n{result}")
    if not is_text:
        block = {"type": "tool_result", "tool_use_id": "t1", "content": [text(result)]}
        answer = {"role": "user", "content": [block, text(AROUND)]}
    found = task(
        tmp_path,
        said(
            {"type": "thinking", "thinking": "Hm."}, text("I run them."), use("t1", "execute_command", command="pytest")
        ),
        answer,
        said(text("They pass.")),
    )
    (call,) = paired_calls(found)
    assert (call.command(), call.result, call.is_error) == ("pytest", result, None)
    assert [content for role, content, _ in turns(found) if role == "user"] == ["Fix the tests."]


def test_only_what_is_marked_as_the_users_words_is_theirs(tmp_path: Path) -> None:
    found = task(
        tmp_path,
        said(use("t1", "ask_followup_question", question="Which?")),
        user("[ask_followup_question for 'Which?'] Result:\n<answer>\nThe first.\n</answer>"),
        said(use("t2", "attempt_completion", result="Done so.")),
        user(
            "[attempt_completion] Result: Done",
            "The user has provided feedback on the results. Consider their input to continue the task.",
            "<feedback>\nUse tabs.\n</feedback>",
        ),
        said(text("Yes.")),
        user("[ERROR] You did not use a tool in your previous response! Please retry with a tool use."),
        said(text("Hm.")),
        user(
            "[TASK RESUMPTION] This task was interrupted.", "New instructions:\n<user_message>\nGo on.\n</user_message>"
        ),
        said(text("On I go.")),
    )
    typed = [content for role, content, mark in turns(found) if role == "user" and mark is None]
    assert typed == ["Fix the tests.", "The first.", "Use tabs.", "Go on."]
    assert sum(mark == "injected" for _, _, mark in turns(found)) == 5
    assert "environment_details" not in json.dumps(turns(found))


def test_a_refused_call_is_no_failure(tmp_path: Path) -> None:
    refusal = "The user denied this operation and provided the following feedback:\n<feedback>\nNot now.\n</feedback>"
    found = task(
        tmp_path,
        said(use("t1", "execute_command", command="rm -r x")),
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": refusal}]},
    )
    assert [(message.role, message.mark) for message in found.messages[2:]] == [("tool", "rejected"), ("user", None)]
    assert found.messages[3].content == "Not now."


def test_a_servers_tool_goes_by_its_own_name(tmp_path: Path) -> None:
    xml = """<use_mcp_tool>
<server_name>wiki</server_name>
<tool_name>consult</tool_name>
<arguments>
{"task": "run the tests"}
</arguments>
</use_mcp_tool>"""
    found = task(tmp_path, said(text(xml)), user("[use_mcp_tool for 'wiki'] Result:", "Nothing in the wiki applies."))
    (call,) = paired_calls(found)
    assert (call.name, call.arguments) == ("mcp__wiki__consult", {"task": "run the tests"})
    assert call.result == "Nothing in the wiki applies."


def test_what_the_task_and_the_files_beside_it_say(tmp_path: Path) -> None:
    spent = {"tokensIn": 10, "tokensOut": 20, "cacheWrites": 300, "cacheReads": 4000, "cost": 0.25}
    shown = [
        {"ts": 1769053680000, "type": "say", "say": "api_req_started", "text": json.dumps({"request": "…", **spent})},
        {"ts": 1769053690000, "type": "say", "say": "api_req_started", "text": json.dumps({"request": "…", **spent})},
    ]
    metadata = {"environment_history": [{"cline_version": "3.51.0"}], "model_usage": [{"model_id": "other"}]}
    reply = said(text("Done."), modelInfo={"modelId": "some-model"}, metrics={"tokens": {"prompt": 1}})
    found = task(tmp_path, reply, beside={"ui_messages.json": shown, "task_metadata.json": metadata})
    source, usage = found.source, found.source.usage
    assert (found.agent, found.model, source.agent_version) == ("cline", "some-model", "3.51.0")
    assert (source.cwd, source.remote) == ("/srv/my shop", "https://example.org/acme/shop")
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens) == (20, 40, 8000)
    assert (source.cost_usd, found.timestamp, source.duration_seconds) == (0.5, "2026-01-22T03:48:00Z", 10.0)
    assert found.session_id.startswith("cline-")


def test_a_task_alone_has_the_tokens_of_its_replies_and_roo_is_known_by_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    asked = {"role": "user", "ts": 1769053680000, "content": [text("<task>\nHi\n</task>"), text(ROO)]}
    reply = said(text("Hello."), ts=1769053681000, metrics={"tokens": {"prompt": 7, "completion": 3, "cached": 9}})
    path.write_text(json.dumps([asked, reply]), encoding="utf-8")
    (found,) = detect.read(Recording(path, path.name))
    assert (found.agent, found.model, found.source.cwd) == ("roo-code", "m-1", "/w")
    assert found.source.usage is not None
    assert (found.source.usage.input_tokens, found.source.usage.cache_read_input_tokens) == (7, None)
    assert found.source.duration_seconds == 1.0


def test_other_arrays_of_messages_are_left_to_their_readers(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]))
    assert detect.reader_of(Recording(path, path.name)).FORMAT == "openai-messages"
    shown = tmp_path / "ui_messages.json"
    shown.write_text(json.dumps([{"ts": 1, "type": "say", "say": "task", "text": "Hi"}]))
    with pytest.raises(UnreadableRecording, match="a task without messages"):  # nothing was sent to the model
        list(detect.read(Recording(shown, shown.name)))


def test_xml_that_is_no_call_stays_text() -> None:
    for words in ("Use <read_file> for that.", "<read_file>\n<path>a", "```xml\n<config>\n</config>\n```"):
        assert taken_apart(words) == (words, "", [])
    assert taken_apart("<read_file>\n<args>\n<file>\n<path>a.py</path>\n</file>\n</args>\n</read_file>")[2][0][2][
        "path"
    ] == ("a.py")


def test_hostile_text_is_taken_apart_in_time() -> None:
    for unit in ("<read_file>\n", "<read_file><path>", "<thinking>", "<a><b>", "<content>", "</read_file>"):
        with no_hang():
            taken_apart(unit * (100_000 // len(unit)))


def test_results_of_many_calls_side_by_side_are_read_in_linear_time() -> None:
    ids = [f"t{number}" for number in range(20_000)]
    reading = cline._Task()
    reading.take(said(*(use(each, "read_file") for each in ids)))
    with no_hang():
        for each in reversed(ids):
            result = {"type": "tool_result", "tool_use_id": each, "content": "a"}
            reading.take({"role": "user", "content": [result]})
    assert (len(reading.builder.messages), reading.waiting) == (len(ids) + 1, {})


def show(kind: str, words: str = "", *, way: str = "say", **more: Any) -> dict[str, Any]:
    return {"ts": 1_767_644_899_093, "type": way, way: kind, "text": words, **more}


def request(*texts: str) -> dict[str, Any]:
    sent = {"request": "\n\n".join((*texts, AROUND)), "tokensIn": 5, "tokensOut": 7}
    return show("api_req_started", json.dumps(sent), modelInfo={"modelId": "m-2"})


def tool(name: str, **values: str) -> str:
    return json.dumps({"tool": name, **values})


SHOWN = [
    show("task", "Fix the tests."),
    request("<task>\nFix the tests.\n</task>"),
    show("reasoning", "I look first."),
    show("text", "I read and list.", partial=False),
    show("tool", tool("readFile", path="a.py", content="/srv/my shop/a.py")),
    show("tool", tool("listFilesTopLevel", path=".", content="a.py"), way="ask"),
    request("[read_file for 'a.py'] Result:\nx = 1", "[list_files for '.'] Result:\na.py"),
    show("command", "pytest -q", way="ask"),
    show("command_output", "1 failed", way="ask"),
    request("[execute_command for 'pytest -q'] Result:\nCommand executed.\nOutput:\n1 failed"),
    request("[execute_command for 'pytest -q'] Result:\nCommand executed.\nOutput:\n1 failed"),
    show("completion_result", "It fails."),
    request("[attempt_completion] Result: Done\n\n<feedback>\nMend it.\n</feedback>"),
]


def shown_task(folder: Path) -> Recording:
    (folder / "ui_messages.json").write_text(json.dumps(SHOWN), encoding="utf-8")
    return Recording(folder / "ui_messages.json", "ui_messages.json")


def test_a_task_of_which_only_what_was_shown_is_left(tmp_path: Path) -> None:
    (found,) = detect.read(shown_task(tmp_path))
    calls = [(call.name, call.arguments, call.result) for call in paired_calls(found)]
    assert calls == [
        ("read_file", {"path": "a.py"}, "x = 1\n\n"),
        ("list_files", {"path": "."}, "a.py\n\n"),
        ("execute_command", {"command": "pytest -q"}, "Command executed.\nOutput:\n1 failed\n\n"),
    ]
    assert [text for role, text, mark in turns(found) if role == "user" and mark is None] == [
        "Fix the tests.",
        "Mend it.",
    ]
    assert [text for role, text, _ in turns(found) if role == "assistant"] == ["I read and list.", None, "It fails."]
    assert (found.model, found.source.cwd) == ("m-2", "/srv/my shop")
    assert found.source.usage is not None
    assert found.source.usage.output_tokens == 35


def test_what_was_shown_of_a_task_whose_messages_are_there_is_no_recording(tmp_path: Path) -> None:
    task(tmp_path)
    with pytest.raises(PartOfRecording, match="what Cline showed of the task"):
        list(detect.read(shown_task(tmp_path)))


def test_a_tag_that_the_user_speaks_of_ends_no_words_of_the_user(tmp_path: Path) -> None:
    words = 'Sub-tasks stand in it like\n    "text": "<feedback>\\nnow in Java\\n</feedback>",\nso list them'
    recorded = turns(task(tmp_path, user(f"<task>\n{words}\n</task>"), said(text("They are listed."))))
    assert [each[1] for each in recorded if each[0] == "user" and each[2] is None][1:] == [words]
