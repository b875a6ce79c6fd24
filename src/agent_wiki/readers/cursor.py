"""Transcripts of Cursor's agent: `agent-transcripts/<id>.jsonl`, a message a line.

They have the prompts, the replies and the calls, and neither results nor times nor tokens. (Read after public
transcripts; the program did not run here.)
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.cline_text import tagged
from agent_wiki.readers.recorded import flat_text, iso_utc, mapping, objects, recorded_call, short_digest, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Source, Trajectory
from agent_wiki.trajectory.lazily import regex

FORMAT = "cursor"

_HIDDEN = "[REDACTED]"  # stands for thoughts
_TIME = regex(r"<timestamp>\w+, (\w+ \d+, \d+, \d+:\d\d [AP]M) \(UTC(?:([+-])(\d{1,2})(?::?(\d\d))?)?\)</timestamp>")


def claims(sample: Sample) -> bool:
    """Lines with a role and a message of blocks, and no other key but those of `turn_ended`."""
    records = sample.records()
    return sample.shape != "zip" and bool(records) and _is_message(records[0]) and all(map(_is_line, records))


def _is_message(record: dict[str, Any]) -> bool:
    content = mapping(record.get("message")).get("content")
    return (
        record.keys() == {"role", "message"} and record["role"] in ("user", "assistant") and isinstance(content, list)
    )


def _is_line(record: dict[str, Any]) -> bool:
    return _is_message(record) or record.get("type") == "turn_ended"


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a file. Raises `UnreadableRecording` when nothing was said in it."""
    builder = TrajectoryBuilder()
    status: str | None = None
    times: list[str] = []
    for record in recording.records():
        status = text_or_none(record.get("status")) or status
        blocks = objects(mapping(record.get("message")).get("content"))
        if record.get("role") == "assistant":
            _reply(builder, blocks)
        elif record.get("role") == "user":
            text = flat_text(blocks)
            times += filter(None, [_time(text)])
            _prompt(builder, text)
    if not builder.messages:
        raise UnreadableRecording(recording.name, "a transcript of Cursor without messages")
    texts = [message.content or "" for message in builder.messages[:2]]
    source = Source(format=FORMAT, exit_status=status, ended_at=times[-1] if times else None)
    started = times[0] if times else None
    yield builder.finish(f"cursor-{short_digest(texts)}", source, agent=FORMAT, timestamp=started)


def _prompt(builder: TrajectoryBuilder, text: str) -> None:
    """What the user typed is marked; what stands around it, files, rules and skills, is the program's."""
    typed, rest = tagged(text, ("user_query",))
    rest = rest.strip()
    if rest:
        builder.user(rest, "injected" if typed or rest.startswith("<") else None)
    for words in typed:
        builder.user(words.strip())


def _reply(builder: TrajectoryBuilder, blocks: list[dict[str, Any]]) -> None:
    texts = [flat_text([block]) for block in blocks if block.get("type") == "text"]
    words = "\n".join(text for text in texts if text.strip() not in ("", _HIDDEN))
    calls = [recorded_call(block, "id", "name", "input") for block in blocks if block.get("type") == "tool_use"]
    builder.assistant(words, calls=calls)
    for block in blocks:
        if block.get("type") == "tool_result":
            builder.tool(text_or_none(block.get("tool_use_id")), flat_text(block.get("content")))


def _time(text: str) -> str | None:
    """The time that a prompt begins with, in UTC."""
    found = _TIME.search(text[:2_000])
    if found is None:
        return None
    zone = f"{found[2] or '+'}{int(found[3] or 0):02}{found[4] or '00'}"
    try:
        return iso_utc(datetime.strptime(f"{found[1]} {zone}", "%b %d, %Y, %I:%M %p %z").isoformat())
    except ValueError:
        return None
