"""Entire's compact transcripts: each session of any agent, as its checkpoints keep it beside a commit.

    <xx>/<checkpoint>/<n>/full.jsonl        the agent's own recording, read by the reader of its format
    <xx>/<checkpoint>/<n>/transcript.jsonl  the same without thinking and metadata: a line a prompt or reply
    <xx>/<checkpoint>/<n>/metadata.json     the session's id, its agent and its model

A reply's calls hold their results. Later checkpoints of a session repeat it from its beginning. (No documentation was
at hand: read from checkpoints that repositories published, and compared there with the recordings beside them.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import PartOfRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_values import content_ids, summed_usage
from agent_wiki.readers.claude_blocks import result_mark
from agent_wiki.readers.claude_user_text import pieces_of
from agent_wiki.readers.recorded import (
    count,
    flat_text,
    identifier,
    iso_utc,
    mapping,
    objects,
    seconds_between,
    text_or_none,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.sidecars import json_beside
from agent_wiki.trajectory import Source, Trajectory, Usage

FORMAT = "entire"

_FULL, _METADATA = "full.jsonl", "metadata.json"
_CLAUDE = "claude-code"
_FLAGGING = frozenset({_CLAUDE, "pi"})  # programs that flag each failed call, so that their "success" is one
_NOT_NAMED = re.compile(r"[^a-z0-9]+")


def claims(sample: Sample) -> bool:
    """Lines with `v`, `agent` and `cli_version`, of a user or an assistant."""
    return any(_is_line(record) for record in sample.records())


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a transcript. Raises `UnreadableRecording` when it has no messages.

    Also `PartOfRecording` where the agent's own recording is beside it, which says more.
    """
    if recording.has_beside(_FULL) and recording.path.name != _FULL:
        raise PartOfRecording(recording.name, f"no recording: {_FULL} beside it has all of this session")
    lines = [record for record in recording.records() if _is_line(record)]
    yield from recording.with_messages(_trajectory(lines, json_beside(recording, _METADATA)))


def _is_line(record: dict[str, Any]) -> bool:
    return (
        "v" in record and "cli_version" in record and "agent" in record and record.get("type") in ("user", "assistant")
    )


def _trajectory(lines: list[dict[str, Any]], metadata: dict[str, Any]) -> Trajectory:
    named = next((name for line in lines if (name := text_or_none(line["agent"]))), "")
    agent = _NOT_NAMED.sub("-", named.lower()).strip("-") or None
    builder = TrajectoryBuilder()
    usages: dict[Any, Usage] = {}  # a reply's is that of its last line
    for number, line in enumerate(lines):
        if line["type"] == "user":
            _add_user(builder, line, is_claude=agent == _CLAUDE)
        else:
            _add_reply(builder, line, agent)
            usages[identifier(line.get("id")) or number] = Usage(
                input_tokens=count(line.get("input_tokens")), output_tokens=count(line.get("output_tokens"))
            )
    times = [moment for line in lines if (moment := iso_utc(line.get("ts")))]
    named_id = identifier(metadata.get("session_id"))
    *earlier, session_id = [named_id] if named_id else content_ids(FORMAT, messages=lines)
    source = Source(
        FORMAT,
        usage=summed_usage(usages.values()),
        duration_seconds=seconds_between(times[0], times[-1]) if len(times) > 1 else None,
        ended_at=times[-1] if times else None,
    )
    start, model = times[0] if times else None, text_or_none(metadata.get("model"))
    made = builder.finish(session_id, source, agent=agent, model=model, timestamp=start)
    made.earlier_ids = earlier
    return made


def _add_user(builder: TrajectoryBuilder, line: dict[str, Any], *, is_claude: bool) -> None:
    text = flat_text([_typed(block) for block in objects(line.get("content"))])
    for piece, mark in pieces_of(text) if is_claude else [(text, None)]:
        builder.user(piece, mark=mark)


def _typed(block: dict[str, Any]) -> dict[str, Any]:
    """A block of a prompt; one of text has no type here."""
    return block if "type" in block else {"type": "text", **block}


def _add_reply(builder: TrajectoryBuilder, line: dict[str, Any], agent: str | None) -> None:
    blocks = objects(line.get("content"))
    uses = [block for block in blocks if block.get("type") == "tool_use"]
    text = flat_text([block for block in blocks if block.get("type") != "tool_use"])
    calls = [(identifier(use.get("id")), str(use.get("name") or ""), use.get("input")) for use in uses]
    ids = builder.assistant(text, calls=calls)
    for call_id, (_, name, _), use in zip(ids, calls, uses, strict=True):
        if result := mapping(use.get("result")):  # a call without one was interrupted, or is the last
            _add_result(builder, call_id, name, result, agent)


def _add_result(builder: TrajectoryBuilder, call_id: str, tool: str, result: dict[str, Any], agent: str | None) -> None:
    output = flat_text(result.get("output"))
    if result.get("status") != "error":
        builder.tool(call_id, output, is_error=False if agent in _FLAGGING else None)
        return
    mark = result_mark(output, tool, is_refusal=False)
    builder.tool(call_id, output, is_error=None if mark else True, mark=mark)
