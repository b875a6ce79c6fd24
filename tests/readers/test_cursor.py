"""Transcripts of Cursor's agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.detect import read, reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory.calls import paired_calls


def line(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(blocks)}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


PROMPT = "<timestamp>Wednesday, Oct 7, 2026, 1:20 PM (UTC+3)</timestamp>\n<user_query>\nRun <all> tests.\n</user_query>"
FILES = "<attached_files>\n<user_info>x</user_info>\n</attached_files>\n<user_query>\nThanks.\n</user_query>"
SHELL = {"type": "tool_use", "name": "Shell", "input": {"command": "make test"}}
LINES = [
    line("user", text(PROMPT)),
    line("assistant", text("[REDACTED]")),
    line("assistant", text("I run them."), SHELL),
    line("assistant", text("They pass.")),
    {"type": "turn_ended", "status": "success"},
    line("user", text("<agent_skills>…</agent_skills>")),
    line("user", text(FILES)),
    line("assistant", text("You are welcome.")),
    {"type": "turn_ended", "status": "aborted"},
]


def recording(folder: Path, lines: list[dict[str, Any]]) -> Recording:
    path = folder / "chat.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return Recording(path, path.name)


def test_prompts_replies_and_calls(tmp_path: Path) -> None:
    (found,) = read(recording(tmp_path, LINES))
    typed = [message.content for message in found.messages if message.role == "user" and message.mark is None]
    assert typed == ["Run <all> tests.", "Thanks."]
    assert sum(message.mark == "injected" for message in found.messages) == 3
    said = [message.content for message in found.messages if message.role == "assistant"]
    assert said == ["I run them.", "They pass.", "You are welcome."]
    (call,) = paired_calls(found)
    assert (call.command(), call.result) == ("make test", None)
    assert (found.timestamp, found.source.exit_status, found.agent) == ("2026-10-07T10:20:00Z", "aborted", "cursor")
    assert found.session_id.startswith("cursor-")


def test_a_prompt_without_marks_is_the_users(tmp_path: Path) -> None:
    (found,) = read(recording(tmp_path, [line("user", text("q1")), line("assistant", text("a1"))]))
    assert [(message.role, message.mark) for message in found.messages] == [("user", None), ("assistant", None)]
    assert found.timestamp is None


def test_lines_of_other_programs_are_theirs(tmp_path: Path) -> None:
    other = [{**line("user", text("hi")), "uuid": "u", "sessionId": "s", "type": "user"}]
    assert reader_of(recording(tmp_path, other)).FORMAT != "cursor"
    with pytest.raises(UnreadableRecording):
        list(read(recording(tmp_path, [line("user"), {"type": "turn_ended"}])))
