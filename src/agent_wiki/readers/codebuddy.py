"""Sessions of CodeBuddy Code: the items of a conversation, one a line, each with the agent in its `providerData`.

A reply is a line of thinking, one of text and one for each of its calls, and has its usage on one of them. Later
versions also record times, the session, the folder and the model. (Read from two sessions that a user published, of an
early version; what later versions add after descriptions of public readers: no documentation was at hand.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.claude_user_text import pieces_of
from agent_wiki.readers.recorded import (
    UUID,
    count,
    flat_text,
    mapping,
    number,
    objects,
    recorded_call,
    short_digest,
    text_or_none,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory, Usage

FORMAT = "codebuddy"

_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_result"})
_SUMMARIES = ("isSummary", "isCompacted")
_NOT_TYPED = ("skipRun", "isMeta", "isCompactInternal")


def claims(sample: Sample) -> bool:
    """Items that name the agent in their `providerData`: the Agents SDK of OpenAI has the same without it."""
    return any(map(_is_item, sample.records()))


def _is_item(record: dict[str, Any]) -> bool:
    agent = mapping(record.get("providerData")).get("agent")
    return isinstance(agent, str) and str(record.get("type")) in _ITEMS


def read(recording: Recording) -> Iterator[Trajectory]:
    """The session or subagent of one file. Raises `UnreadableRecording` when it has no messages."""
    session = _Session()
    for record in recording.records():
        session.take(record)
    yield from recording.with_messages(session.trajectory(recording))


class _Session:
    """Processes the lines of one file in order."""

    def __init__(self) -> None:
        self.builder = TrajectoryBuilder()
        self.source = Source(FORMAT)
        self.joined = 0
        self.session_id: str | None = None
        self.first: dict[str, Any] = {}  # line, which identifies a session without a name
        self._reply: list[dict[str, Any]] = []  # the lines of the last reply, until something else follows

    def take(self, record: dict[str, Any]) -> None:
        """Process one line. Lines that are neither turns nor about the session are ignored."""
        self._observe(record)
        kind, role = str(record.get("type")), record.get("role")
        if kind in ("reasoning", "function_call") or (kind == "message" and role == "assistant"):
            if self._reply and _response(record) != _response(self._reply[-1]):
                self._end_reply()
            self._reply.append(record)
        elif kind in _ITEMS:
            self._end_reply()
            if kind == "function_call_result":
                self._take_result(record)
            else:
                self._take_user(record)

    def trajectory(self, recording: Recording) -> Trajectory:
        """The trajectory of all lines processed. A subagent's file lies in a folder of its session's."""
        self._end_reply()
        name, folder = recording.path.name.partition(".")[0], recording.path.absolute().parent
        made_up = f"{FORMAT}-{short_digest(str(self.first.get(key)) for key in ('id', 'timestamp', 'content'))}"
        session_id = self.session_id or (name if UUID.fullmatch(name) else made_up)
        source = self.source
        if folder.name == "subagents":
            source.parent_session_id, session_id = folder.parent.name, f"{folder.parent.name}.{name}"
        source.hygiene = {"split_replies_joined": self.joined}
        return self.builder.finish(session_id, source, agent=FORMAT)

    def _observe(self, record: dict[str, Any]) -> None:
        self.session_id = self.session_id or text_or_none(record.get("sessionId"))
        self.first = self.first or record
        self.builder.note_time(record.get("timestamp"))
        self.source.cwd = self.source.cwd or text_or_none(record.get("cwd"))
        title = text_or_none(record.get("aiTitle")) or text_or_none(record.get("topic"))
        self.source.title = title or self.source.title

    def _end_reply(self) -> None:
        items, self._reply = self._reply, []
        if not items:
            return
        self.joined += len(items) > 1
        self.builder.usages += [_usage(mapping(item.get("providerData")).get("usage")) for item in items]
        models = [text_or_none(mapping(item.get("providerData")).get("model")) for item in items]
        self.builder.models.update(list(filter(None, models))[:1])
        texts = [flat_text(item.get("content")) for item in items if item.get("type") == "message"]
        thoughts = [_thinking(item) for item in items if item.get("type") == "reasoning"]
        called = (item for item in items if item.get("type") == "function_call")
        calls = [recorded_call(item, "callId", "name", "arguments") for item in called]
        thinking = "\n\n".join(filter(None, thoughts))
        self.builder.assistant("\n\n".join(filter(None, texts)) or None, thinking=thinking, calls=calls)

    def _take_user(self, record: dict[str, Any]) -> None:
        text = flat_text(record.get("content"))
        if (mark := _mark_of(record)) is not None:
            self.builder.user(text, mark=mark)
            return
        for piece, piece_mark in pieces_of(text):
            self.builder.user(piece, mark=piece_mark)

    def _take_result(self, record: dict[str, Any]) -> None:
        shown = mapping(mapping(record.get("providerData")).get("toolResult"))
        text = flat_text(record.get("output")) or flat_text(shown.get("content")) or flat_text(shown.get("error"))
        self.builder.tool(text_or_none(record.get("callId")), text, is_error=_has_failed(record.get("status"), shown))


def _response(item: dict[str, Any]) -> str | None:
    """The model's response that an item is a part of, where that is recorded."""
    return text_or_none(mapping(item.get("providerData")).get("messageId"))


def _thinking(item: dict[str, Any]) -> str:
    return flat_text(item.get("rawContent")) or flat_text(item.get("content"))


def _mark_of(message: dict[str, Any]) -> MessageMark | None:
    """The mark of a message that the program says it wrote; None for what the user typed."""
    provided = mapping(message.get("providerData"))
    if any(provided.get(flag) is True for flag in _SUMMARIES):
        return "compaction"
    is_written = any(provided.get(flag) is True for flag in _NOT_TYPED) or provided.get("agent") == "compact"
    return "injected" if is_written or message.get("role") != "user" else None


def _has_failed(status: Any, shown: dict[str, Any]) -> bool | None:
    """Whether a result is a failure: `completed` is said of those that failed, too, so then the text decides."""
    code = number(mapping(shown.get("rawResponse")).get("exitCode"))
    if shown.get("error") or status not in (None, "completed"):
        return True
    return None if code is None else code != 0


def _usage(recorded: Any) -> Usage | None:
    """The usage of one response; cached tokens are counted as part of the input."""
    recorded = mapping(recorded)
    read, written = count(recorded.get("inputTokens")), count(recorded.get("outputTokens"))
    details = [count(each.get("cached_tokens")) for each in objects(recorded.get("inputTokensDetails"))]
    cached = sum(filter(None, details)) if any(each is not None for each in details) else None
    if read is None and written is None:
        return None
    return Usage(None if read is None else max(0, read - (cached or 0)), None, cached, written)
