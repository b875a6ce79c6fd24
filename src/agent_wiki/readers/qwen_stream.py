"""The output of `qwen -o stream-json` and `-o json`: Claude Code's events, read apart because their figures differ.

A reply comes as several events of different ids, of which the last has its usage; cached tokens are part of the input;
the figures of the `result` event run on over all runs of a session. The prompt is not printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from agent_wiki.readers.builder import ReplyParts, TrajectoryBuilder
from agent_wiki.readers.chat_values import summed_usage
from agent_wiki.readers.claude_blocks import blocks_of, content_text, string_or_empty
from agent_wiki.readers.gemini_parts import cancelled_mark, reply_tokens
from agent_wiki.readers.recorded import mapping, number, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory, Usage
from agent_wiki.trajectory.lazily import dataclass

FORMAT = "qwen-stream"

_AGENT = "qwen-code"
_NOTICE = "Background "  # how the program says that a task in the background ended


def claims(sample: Sample) -> bool:
    """An `init` event that names the version of Qwen Code, on a line or in a list of events."""
    return is_qwen(sample.listed())


def is_qwen(records: list[dict[str, Any]]) -> bool:
    """Whether events are Qwen Code's, which look like Claude Code's."""
    return any("qwen_code_version" in record and isinstance(record.get("session_id"), str) for record in records)


def read(recording: Recording) -> Iterator[Trajectory]:
    """The session of one capture, then its subagents. A capture without a turn yields none and leaves a warning."""
    capture = _Capture()
    for event in recording.objects():  # of `-o stream-json` one a line, of `-o json` the same as one list
        capture.take(event)
    if not capture.conversations:
        recording.warnings.append(f"{recording.name}: no turns recorded")
    yield from capture.trajectories()


@dataclass(slots=True)
class _Conversation:
    """The turns of the session or of one subagent. Pieces of a reply wait for the one that has its usage."""

    builder: TrajectoryBuilder = field(default_factory=TrajectoryBuilder)
    usages: list[Usage | None] = field(default_factory=list)
    models: Counter[str] = field(default_factory=Counter)
    reply: ReplyParts = field(default_factory=ReplyParts)
    pieces: int = 0

    def take_reply(self, message: dict[str, Any]) -> None:
        """A piece of a reply."""
        for block in blocks_of(message.get("content")):
            kind = block.get("type")
            if kind == "text":
                self.reply.texts.append(string_or_empty(block.get("text")))
            elif kind == "thinking":
                self.reply.thoughts.append(string_or_empty(block.get("thinking")))
            elif kind == "tool_use":
                name = string_or_empty(block.get("name"))
                self.reply.calls.append((text_or_none(block.get("id")), name, block.get("input")))
        self.pieces += 1
        usage = _usage(mapping(message.get("usage")))
        if usage is not None:
            self.usages.append(usage)
            self.models[string_or_empty(message.get("model"))] += 1
            self.end_reply()

    def end_reply(self) -> None:
        """Add the pieces collected so far as one reply."""
        if self.pieces:
            self.builder.hygiene["split_replies_joined"] += self.pieces > 1
            self.reply.add_to(self.builder)
            self.reply, self.pieces = ReplyParts(), 0

    def take_user(self, content: Any) -> None:
        """Results, and texts that the program or the user added."""
        self.end_reply()
        for block in blocks_of(content):
            text = content_text(block.get("content") if block.get("type") == "tool_result" else block)
            if block.get("type") == "tool_result":
                is_error = bool(block.get("is_error"))
                mark = cancelled_mark(text) if is_error else None
                call_id = text_or_none(block.get("tool_use_id"))
                self.builder.tool(call_id, text, is_error=None if mark else is_error, mark=mark)
            else:
                notice: MessageMark | None = "injected" if text.startswith(_NOTICE) else None
                self.builder.user(text, mark=notice)


@dataclass(slots=True)
class _Capture:
    """The conversations of one capture, by the call that started it; None for the session itself."""

    session_id: str = ""
    start: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    conversations: dict[str | None, _Conversation] = field(default_factory=dict)
    agent_ids: dict[str, str] = field(default_factory=dict)

    def take(self, event: dict[str, Any]) -> None:
        """Process one event."""
        kind, subtype = event.get("type"), event.get("subtype")
        self.session_id = self.session_id or string_or_empty(event.get("session_id"))
        if kind in ("assistant", "user") and isinstance(message := event.get("message"), dict):
            parent = text_or_none(event.get("parent_tool_use_id"))
            conversation = self.conversations.setdefault(parent, _Conversation())
            if kind == "assistant":
                conversation.take_reply(message)
            else:
                conversation.take_user(message.get("content"))
        elif kind == "system" and subtype == "init":
            self.start = self.start or event
        elif kind == "system" and subtype == "task_started":
            started = mapping(event.get("data"))
            self.agent_ids[string_or_empty(started.get("tool_use_id"))] = string_or_empty(started.get("task_id"))
        elif kind == "result":
            self.result = event

    def trajectories(self) -> Iterator[Trajectory]:
        """Finish each conversation, the session's own first."""
        apart = [each for parent, each in self.conversations.items() if parent is not None]
        for parent in sorted(self.conversations, key=lambda parent: parent is not None):
            conversation = self.conversations[parent]
            conversation.end_reply()
            if parent is None:
                for each in apart:
                    each.end_reply()
                conversation.builder.hygiene["subagent_turns_apart"] += sum(
                    len(each.builder.messages) for each in apart
                )
            yield self._finished(conversation, parent)

    def _finished(self, conversation: _Conversation, parent: str | None) -> Trajectory:
        milliseconds = number(self.result.get("duration_ms")) if parent is None else None
        source = Source(
            FORMAT,
            cwd=text_or_none(self.start.get("cwd")),
            agent_version=text_or_none(self.start.get("qwen_code_version")),
            usage=summed_usage(conversation.usages),
            duration_seconds=milliseconds / 1000 if milliseconds else None,
            exit_status=text_or_none(self.result.get("subtype")) if parent is None else None,
            parent_session_id=None if parent is None else self.session_id,
        )
        own_id = f".agent-{self.agent_ids.get(parent) or parent}" if parent is not None else ""
        models = conversation.models.most_common(1)
        model = models[0][0] if models else text_or_none(self.start.get("model"))
        return conversation.builder.finish(f"{self.session_id}{own_id}", source, agent=_AGENT, model=model or None)


def _usage(recorded: dict[str, Any]) -> Usage | None:
    """A reply's usage; None for the nothing that is counted before its last piece."""
    tokens = (recorded.get("input_tokens"), recorded.get("cache_read_input_tokens"), recorded.get("total_tokens"))
    usage = reply_tokens(*tokens, (recorded.get("output_tokens"),))
    return usage if usage is not None and (usage.input_tokens or usage.output_tokens) else None
