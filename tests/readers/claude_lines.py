"""Synthetic lines of Claude Code sessions for the tests of both its readers."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

from agent_wiki.readers import claude_code
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Message, Trajectory

_uuids = count(1)


def line(kind: str, message: Any, **fields: Any) -> dict[str, Any]:
    """One turn's line as a session file holds it."""
    number = next(_uuids)
    return {
        "type": kind,
        "uuid": f"uuid-{number}",
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": "session-1",
        "timestamp": "2026-01-02T03:04:05.678Z",
        "cwd": "/home/someone/project",
        "gitBranch": "main",
        "version": "2.1.7",
        "message": message,
    } | fields


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return line("user", {"role": "user", "content": content}, **fields)


def assistant(reply_id: str, *blocks: dict[str, Any], model: str = "claude-x", **fields: Any) -> dict[str, Any]:
    usage = fields.pop("usage", {"input_tokens": 10, "output_tokens": 5})
    message = {"id": reply_id, "role": "assistant", "model": model, "content": list(blocks), "usage": usage}
    return line("assistant", message, **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def thinking(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": "c2ln"}


def call(call_id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any, **flags: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **flags}


def recording_of(tmp_path: Path, *records: Any, name: str = "any-name.jsonl") -> Recording:
    path = tmp_path / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return Recording(path, name)


def read(tmp_path: Path, *records: Any) -> list[Trajectory]:
    recording = recording_of(tmp_path, *records)
    assert claude_code.claims(recording.sample())
    return list(claude_code.read(recording))


def only(tmp_path: Path, *records: Any) -> Trajectory:
    (trajectory,) = read(tmp_path, *records)
    return trajectory


def roles(trajectory: Trajectory) -> list[str]:
    return [message.role for message in trajectory.messages]


def found(trajectory: Trajectory) -> list[tuple[str | None, str | None]]:
    """The user's turns with their marks."""
    return [(message.content, message.mark) for message in trajectory.messages if message.role == "user"]


def result_of(tmp_path: Path, content: Any, fields: dict[str, Any] | None = None, **flags: Any) -> Message:
    """The message of a shell command's result; `fields` are those of its line, `flags` those of its block."""
    calls = assistant("m1", call("c1", command="make"))
    return only(tmp_path, calls, user([result("c1", content, **flags)], **fields or {})).messages[-1]
