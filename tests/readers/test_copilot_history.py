"""Sessions of Copilot CLI of autumn 2025: chat messages, and what the terminal showed meanwhile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import copilot_history, detect
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls
from tests.hangs import no_hang
from tests.readers.lines import only, write_document

REMINDER = "<reminder>\nCall several tools at once.\n</reminder>"
REFUSED = "The tool call required approval from the user, but the user rejected it or an earlier tool call."
CUT_SHORT = "The execution of this tool, or a previous tool was interrupted."
_Record = dict[str, Any]


def asked(words: str, around: str = f"\n\n{REMINDER}") -> tuple[_Record, _Record]:
    """A prompt as a message and as it was shown."""
    return {"role": "user", "content": f"{words}{around}"}, {"type": "user", "text": words, "expandedText": words}


def said(text: str) -> tuple[_Record, _Record]:
    return {"role": "assistant", "content": text, "padding": "abc"}, {"type": "copilot", "text": text}


def call(call_id: str, name: str, **arguments: Any) -> _Record:
    function = {"name": name, "arguments": str(arguments).replace("'", '"')}
    return {"role": "assistant", "tool_calls": [{"id": call_id, "type": "function", "function": function}]}


def ended(call_id: str, name: str, kind: str, text: str) -> tuple[_Record, _Record]:
    shown = {"type": "tool_call_completed", "callId": call_id, "name": name, "intentionSummary": None}
    result = {"type": kind, "log": f"{text} (shown shorter)"}
    return {"role": "tool", "tool_call_id": call_id, "content": text}, {**shown, "arguments": {}, "result": result}


def document(*records: _Record | tuple[_Record | None, _Record | None], **more: Any) -> _Record:
    """A session of records that are a message, or a message and an entry of the timeline, or one of the two."""
    pairs = [record if isinstance(record, tuple) else (record, None) for record in records]
    shown = [
        {"id": f"e{at}", "timestamp": f"2025-10-05T13:{at:02}:00.500Z", **entry}
        for at, (_, entry) in enumerate(pairs)
        if entry
    ]
    messages = [message for message, _ in pairs if message]
    head = {"sessionId": "ch-1", "startTime": "2025-10-05T13:00:00.000Z"}
    return {**head, "chatMessages": messages, "timeline": shown, **more}


def session(tmp_path: Path, *records: _Record | tuple[_Record | None, _Record | None], **more: Any) -> Trajectory:
    return only(detect.read(write_document(tmp_path / "session.json", document(*records, **more))))


def shown(trajectory: Trajectory) -> list[tuple[str, str | None, str | None]]:
    return [(message.role, message.content, message.mark) for message in trajectory.messages]


def entry(kind: str, text: str) -> tuple[None, _Record]:
    return None, {"type": kind, "text": text}


STOP = entry("info", "Operation cancelled by user")


def test_a_session_is_read_as_it_was_recorded(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        entry("info", "Connected to GitHub MCP Server"),
        asked("Does it build?"),
        call("a", "bash", command="make"),
        ended("a", "bash", "success", "built\n<exited with exit code 0>"),
        said("It does."),
        selectedModel="gpt-5",
    )
    assert shown(found) == [
        ("user", "Does it build?", None),
        ("assistant", None, None),
        ("tool", "built\n<exited with exit code 0>", None),
        ("assistant", "It does.", None),
    ]
    assert [(each.name, each.arguments) for each in paired_calls(found)] == [("bash", {"command": "make"})]
    source = found.source
    assert (found.session_id, found.agent, found.model) == ("ch-1", "copilot-cli", "gpt-5")
    assert (found.timestamp, source.ended_at) == ("2025-10-05T13:00:00Z", "2025-10-05T13:04:00.500Z")
    assert (source.format, source.duration_seconds) == ("copilot-history", 240.5)
    assert source.hygiene == {"system_reminders_stripped": 1}


@pytest.mark.parametrize(
    ("kind", "tool", "text", "is_error", "mark", "state"),
    [
        ("success", "bash", "2 failed\n<exited with exit code 1>", True, None, "failed"),
        ("success", "read_bash", "<command with id: x exited with exit code 2>", True, None, "failed"),
        ("success", "bash", "<waiting for command with sessionId: x to exit timed out>", None, None, "unknown"),
        ("success", "str_replace_editor", "Error: is what line 1 of the file says", False, None, "passed"),
        ("failure", "get_file_contents", "file content SHA is nil", True, None, "failed"),
        ("failure", "bash", "<exited with exit code ERR_DLOPEN_FAILED>", True, None, "failed"),
        ("denied", "bash", "Permission to run this tool was denied due the following rules: x", True, None, "refused"),
        ("rejected", "bash", REFUSED, None, "rejected", "refused"),
        ("rejected", "bash", CUT_SHORT, None, "interrupt", "called off"),
    ],
)
def test_the_timeline_says_how_a_call_ended(
    tmp_path: Path, kind: str, tool: str, text: str, is_error: bool | None, mark: str | None, state: str
) -> None:
    found = session(tmp_path, asked("Go"), call("a", tool, command="make"), ended("a", tool, kind, text))
    result = found.messages[-1]
    assert (result.content, result.is_error, result.mark) == (text, is_error, mark)
    (made,) = paired_calls(found)
    assert verdict_of(made).state == state


def test_a_call_that_the_timeline_does_not_name_is_judged_by_its_text(tmp_path: Path) -> None:
    result, _ = ended("a", "bash", "", "Traceback (most recent call last):\n  x\nValueError: 1")
    assert session(tmp_path, asked("Go"), call("a", "bash", command="python a.py"), result).messages[-1].is_error


def test_a_turn_that_the_user_stopped_has_what_came_of_it(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        asked("First"),
        said("Done."),
        asked("Second"),
        entry("copilot", "I beg"),
        STOP,
        entry("error", "Model call failed: rate limit exceeded"),
        asked("Second"),
        STOP,
        (None, asked("/usage")[1]),
        said("Done."),
        asked("Third"),
        STOP,
    )
    stop = ("user", "Operation cancelled by user", "interrupt")
    assert shown(found) == [
        ("user", "First", None),
        ("assistant", "Done.", None),
        ("user", "Second", None),
        ("assistant", "I beg", None),
        stop,
        ("user", "Second", None),
        ("assistant", "Done.", None),
        stop,
        ("user", "Third", None),
        stop,
    ]


@pytest.mark.parametrize(
    ("around", "typed", "blocks"),
    [
        (f"\n\n<current_datetime>2025-10-05</current_datetime>\n\n{REMINDER}\n\n{REMINDER}", "Go", 3),
        (f" on <reminder> {REMINDER}", f"Go on <reminder> {REMINDER}", 0),
        ("</reminder>", "Go</reminder>", 0),
        ("\n\n<reminder>\nread the docs", "Go\n\n<reminder>\nread the docs", 0),
    ],
)
def test_what_the_program_put_behind_a_prompt_is_not_the_users(
    tmp_path: Path, around: str, typed: str, blocks: int
) -> None:
    found = session(tmp_path, asked("Go", around), said("Done."))
    assert found.messages[0].content == typed
    assert found.source.hygiene.get("system_reminders_stripped", 0) == blocks


def test_the_instructions_of_a_custom_agent_are_said_once(tmp_path: Path) -> None:
    def told(words: str) -> _Record:
        return asked(f"<agent_instructions>\nBe brief.\n</agent_instructions>\n\n{words}")[0]

    found = session(tmp_path, told("One"), said("1"), told("Two"), said("2"))
    assert shown(found)[0] == ("system", "Be brief.", None)
    assert [message.role for message in found.messages] == ["system", "user", "assistant", "user", "assistant"]


def test_files_that_the_program_looked_up_are_injected_and_images_stand_behind_the_words(tmp_path: Path) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}
    prompt = {"role": "user", "content": [{"type": "text", "text": f"See @a.py\n\n{REMINDER}"}, image]}
    looked = call("f", "str_replace_editor", command="view", path="a.py")
    content = "I need to read the content of those paths to answer this request."
    result = {"role": "tool", "tool_call_id": "f", "content": "print()"}
    found = session(tmp_path, prompt, {**looked, "content": content}, result, said("Seen."))
    assert shown(found) == [
        ("user", "See @a.py\n[image]", None),
        ("user", "print()", "injected"),
        ("assistant", "Seen.", None),
    ]


def test_thinking_is_kept(tmp_path: Path) -> None:
    message, entry_of_it = said("Done.")
    found = session(tmp_path, asked("Go"), ({**message, "reasoning_text": "Hm."}, entry_of_it))
    assert (found.messages[1].content, found.messages[1].thinking) == ("Done.", "Hm.")


def test_odd_values_cost_themselves_alone(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        asked("Go"),
        (None, {"type": "tool_call_completed", "callId": 3, "result": "x"}),
        (None, {"type": ["user"], "text": {}}),
        {"role": "tool", "tool_call_id": None, "content": None},
        said("Done."),
        startTime=[1],
        selectedModel={},
    )
    assert [message.role for message in found.messages] == ["user", "tool", "assistant"]
    assert (found.timestamp, found.model) == (None, None)


def test_a_session_in_which_nothing_was_said_is_none(tmp_path: Path) -> None:
    recording = write_document(tmp_path / "session.json", document(entry("info", "Logged in as user: dev")))
    assert copilot_history.claims(recording.sample())
    assert list(detect.read(recording)) == []


def test_many_equal_prompts_and_blocks_are_read_in_linear_time(tmp_path: Path) -> None:
    prompts = [asked("Go", f"\n\n{REMINDER}" * 20) for _ in range(5_000)]
    with no_hang():
        found = session(tmp_path, *prompts, *[entry("copilot", "I beg")] * 5_000)
    assert len(found.messages) == 10_000


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"sessionId": "a", "chatMessages": []},
        {"sessionId": 1, "chatMessages": [], "timeline": []},
        {"sessionId": "a", "chatMessages": {}, "timeline": []},
    ],
)
def test_other_documents_are_not_claimed(value: Any) -> None:
    assert not copilot_history.claims(Sample("document", [value]))


def test_a_document_that_is_cut_off_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    text = json.dumps(document(asked("Go"), said("Done.")))
    path.write_text(text[: len(text) // 2], encoding="utf-8")
    with pytest.raises(UnreadableRecording):
        list(detect.read(Recording(path, path.name)))


def test_no_other_reader_claims_it(tmp_path: Path) -> None:
    sample = write_document(tmp_path / "session.json", document(asked("Go"), said("Done."))).sample()
    assert [reader.FORMAT for reader in detect.readers() if reader.claims(sample)] == ["copilot-history"]


def test_a_block_that_the_user_typed_is_kept(tmp_path: Path) -> None:
    words = "My template:\n\n<reminder>pay the rent</reminder>"
    assert shown(session(tmp_path, asked(words, ""), said("Noted.")))[0] == ("user", words, None)
