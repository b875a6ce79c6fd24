"""Lines of Codex rollouts as tests write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent_wiki.readers import codex
from agent_wiki.trajectory import Trajectory
from tests.readers.lines import only, write_lines

PARENT = "019c0000-0000-7000-8000-00000000000a"
PARENT_TURN = "019c0000-1000-7000-8000-00000000000b"
CHILD = "019c1000-0000-7000-8000-00000000000c"
CHILD_TURN = "019c1000-0001-7000-8000-00000000000d"
STAMP = "2026-02-03T04:05:06.000Z"


def line(kind: str, timestamp: str = STAMP, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": timestamp, "type": kind, "payload": payload}


def meta(session: str = PARENT, timestamp: str = STAMP, **more: Any) -> dict[str, Any]:
    return line("session_meta", timestamp, id=session, timestamp=timestamp, cli_version="0.130.0", cwd="/repo", **more)


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return line("response_item", type=kind, **payload)


def event(kind: str, /, **payload: Any) -> dict[str, Any]:
    return line("event_msg", type=kind, **payload)


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def typed(text: str) -> list[dict[str, Any]]:
    return [said("user", text), event("user_message", message=text, images=[])]


def call(call_id: str, **arguments: Any) -> dict[str, Any]:
    return item("function_call", name="exec_command", arguments=json.dumps(arguments), call_id=call_id)


def output(call_id: str, text: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=text)


def tokens(total: tuple[int, int, int], last: tuple[int, int, int] | None = None) -> dict[str, Any]:
    names = ("input_tokens", "cached_input_tokens", "output_tokens")
    info = {"total_token_usage": dict(zip(names, total, strict=True))}
    info["last_token_usage"] = dict(zip(names, last or total, strict=True))
    return event("token_count", info=info)


def read(tmp_path: Path, *records: Any) -> Trajectory:
    recording = write_lines(tmp_path / "rollout.jsonl", records)
    assert codex.claims(recording.sample())
    return only(codex.read(recording))
