"""Sessions of Factory's Droid: `~/.factory/sessions/<folder>/<id>.jsonl`, a `session_start` line and then messages.

Messages hold blocks as in Anthropic's API. Who a message is for is recorded (`visibility`): what only the model or only
the user saw was written by the program. Model and tokens are in `<id>.settings.json` beside the session. (Read after
descriptions of public readers and five sessions that tests of other programs recorded; no documentation was at hand.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import Parts, parts_of
from agent_wiki.readers.recorded import (
    TOKENS_IN_CAMEL_CASE,
    add_counts,
    iso_utc,
    mapping,
    most_used,
    text_or_none,
    usage_of,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.sidecars import json_beside
from agent_wiki.trajectory import Source, Trajectory
from agent_wiki.trajectory.lazily import regex

FORMAT = "droid"

_KINDS = frozenset({"message", "todo_state", "compaction_state", "agent_turn_outcome"})
_UNTITLED = "New Session"
_HIDDEN = "redacted_thinking"
_REASONING = ("chatCompletionReasoningContent", "openaiReasoningSummary")  # beside the blocks, by the model's API
_SHELL = "Execute"
_EXITED = regex(r"\[Process exited with code (-?\d{1,10})\]\s*\Z")
_END = 200  # characters of an output in which its exit code stands


def claims(sample: Sample) -> bool:
    """A `session_start` with an id, a title and an owner or a folder, alone or with Droid's other lines."""
    records = sample.records()
    others = [record for record in records if record.get("type") != "session_start"]
    return any(map(_is_start, records)) and (not others or any(map(_is_line, others)))


def _is_start(record: dict[str, Any]) -> bool:
    is_named = isinstance(record.get("id"), str) and isinstance(record.get("title"), str)
    return record.get("type") == "session_start" and is_named and not record.keys().isdisjoint({"owner", "cwd"})


def _is_line(record: dict[str, Any]) -> bool:
    kind = str(record.get("type"))
    return kind in _KINDS and (kind != "message" or isinstance(record.get("message"), dict))


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a file. Raises `UnreadableRecording` when it has no messages."""
    session = _Session()
    for record in recording.records():
        session.take(record)
    recording.expect_messages(session.builder.messages)
    settings = json_beside(recording, f"{recording.path.name.partition('.jsonl')[0]}.settings.json")
    yield session.trajectory(settings)


class _Session:
    """Processes the lines of one file in order."""

    def __init__(self) -> None:
        self.builder = TrajectoryBuilder()
        self.header: dict[str, Any] = {}
        self.exit_status: str | None = None
        self._tools: dict[str, str] = {}  # by the ids of their calls

    def take(self, record: dict[str, Any]) -> None:
        """Process one line. Lines that are neither turns nor about the session are ignored."""
        kind = record.get("type")
        self.builder.note_time(iso_utc(record.get("timestamp")))
        if _is_start(record):
            self.header = self.header or record
        elif kind == "message":
            self._take_message(record | mapping(record.get("message")))
        elif kind == "compaction_state":
            self.builder.user(text_or_none(record.get("summaryText")), mark="compaction")
        elif kind == "agent_turn_outcome":
            self.exit_status = text_or_none(record.get("reason")) or self.exit_status

    def _take_message(self, message: dict[str, Any]) -> None:
        content = message.get("content")
        if isinstance(content, list):
            content = [block for block in content if mapping(block).get("type") != _HIDDEN]
        parts, role = parts_of(content), message.get("role")
        is_written = message.get("visibility") in ("llm_only", "user_only") or message.get("isUserVisible") is False
        is_reply = role == "assistant" and (bool(parts.calls) or not is_written)  # only the model calls tools
        if is_reply:
            self._take_reply(message, parts)
        self._take_results(parts)
        if parts.texts and not is_reply and (is_written or role == "user"):
            self.builder.user(parts.text(), mark="injected" if is_written else None)

    def _take_reply(self, message: dict[str, Any], parts: Parts) -> None:
        beside = (text_or_none(message.get(key)) for key in _REASONING)
        thinking = "\n\n".join(parts.thinking) or next(filter(None, beside), None)
        ids = self.builder.assistant(parts.text(), thinking=thinking, calls=parts.calls)
        self._tools |= zip(ids, (name for _, name, _ in parts.calls), strict=True)
        if (model := text_or_none(message.get("modelId"))) is not None:
            self.builder.models[model] += 1

    def _take_results(self, parts: Parts) -> None:
        """Results. A command has failed by its flag, or by the exit code that the program writes below its output."""
        for result in parts.results:
            exited = _EXITED.search(result.content[-_END:]) if self._tools.get(result.call_id or "") == _SHELL else None
            is_error = result.is_error if exited is None else int(exited[1]) != 0 or result.is_error is True
            self.builder.tool(result.call_id, result.content, is_error=is_error)

    def trajectory(self, settings: dict[str, Any]) -> Trajectory:
        """The trajectory of all lines. `settings`: what the program keeps beside the session."""
        tokens: Counter[str] = Counter()
        add_counts(tokens, mapping(settings.get("tokenUsage")), TOKENS_IN_CAMEL_CASE)
        title = text_or_none(self.header.get("title"))
        source = Source(
            FORMAT,
            title=None if title == _UNTITLED else title,
            cwd=text_or_none(self.header.get("cwd")),
            parent_session_id=text_or_none(self.header.get("callingSessionId")),
            forked_from=text_or_none(self.header.get("parent")),
            exit_status=self.exit_status,
            usage=usage_of(tokens),
        )
        model = most_used(self.builder.models) or text_or_none(settings.get("model"))
        return self.builder.finish(str(self.header["id"]), source, agent=FORMAT, model=model)
