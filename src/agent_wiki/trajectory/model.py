"""The normalized trajectory: one recorded session as OpenAI chat messages, in memory and as JSON.

This module is the one place that knows the envelope

    {"schema_version", "session_id", "agent", "model", "timestamp", "source": {…}, "messages": […]}

A *turn* is the position of a message in `messages`, counted from 1. A field that is not
recorded is absent (None here, no key in the JSON): unknown is not zero.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import field, fields
from typing import Any, Literal, TypeVar

from agent_wiki.trajectory.lazily import dataclass

_Derived = TypeVar("_Derived")

SCHEMA_VERSION = 1

Role = Literal["system", "user", "assistant", "tool"]

MessageMark = Literal[
    "compaction",  # a summary the harness wrote when the context was full; not a user request
    "injected",  # text that a harness put among the user's turns (hooks, command bodies, context)
    "interrupt",  # the user stopped the agent ("[Request interrupted by user]")
    "rejected",  # a tool result: the user refused the call; not a tool failure
    "denied",  # a tool result that reads like a refusal by the user, without a sign of the user in the recording
    "cancelled",  # a tool result: cancelled because a sibling failed; not a tool failure
    "no-call",  # a tool result whose call is not in the recording
]


@dataclass(slots=True)
class ToolCall:
    """One call of a tool. `arguments` is a JSON string, as in the OpenAI format."""

    id: str
    name: str
    arguments: str
    mark: Literal["no-result"] | None = None


@dataclass(slots=True)
class Message:
    """One turn. `is_error` is set on tool messages only, if the recording or its text shows it."""

    role: Role
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)
    tool_call_id: str | None = None
    name: str | None = None
    is_error: bool | None = None
    mark: MessageMark | None = None


@dataclass(slots=True)
class Usage:
    """Tokens as recorded, each counted once per model reply; None if not recorded."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(slots=True)
class Source:
    """Where a trajectory came from, and its other recorded metadata.

    `file` is a bare file name, never a path, so that a wiki does not depend on the machine.
    `hygiene` counts what normalization changed (names in `HYGIENE`). Answer keys are never included.
    """

    format: str
    file: str | None = None
    sha256: str | None = None  # of the recording's bytes on disk
    agent_version: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    remote: str | None = None  # the address of the repository's remote
    title: str | None = None  # a title the harness recorded for the session
    task_id: str | None = None
    trial: str | None = None
    condition: str | None = None
    reward: float | None = None  # a recorded score, usually 0..1
    resolved: bool | None = None  # a recorded verdict
    exit_status: str | None = None  # the agent's own end state; not a proof of success
    usage: Usage | None = None
    cost_usd: float | None = None
    duration_seconds: float | None = None
    ended_at: str | None = None  # ISO 8601, UTC
    parent_session_id: str | None = None  # of a subagent: the session that started it
    forked_from: str | None = None  # the session whose history this one repeats
    hygiene: dict[str, int] = field(default_factory=dict)

    @property
    def priced_usd(self) -> float | None:
        """The recorded cost; None where it is not known. A 0 beside tokens stands for a model without a price."""
        has_answered = self.usage is not None and bool(self.usage.output_tokens)
        return None if self.cost_usd == 0 and has_answered else self.cost_usd


HYGIENE = {
    "split_replies_joined": "replies recorded over several lines, joined into one message",
    "thoughts_taken_out": "replies that began with their thinking in tags: it is kept as thinking",
    "duplicate_turns_dropped": "turns that the recording holds twice (resume, fork, replay)",
    "inherited_turns": "turns copied from the session that this one resumes or forks; they belong to that session",
    "subagent_turns_apart": "turns of subagents, separated from their parent's",
    "reports_of_parent": "last replies of subagents, recorded only in their parent's call",
    "compaction_summaries": "summaries a harness wrote when the context was full",
    "injected_messages": "messages that a harness put among the user's turns",
    "system_reminders_stripped": "<system-reminder> blocks stripped",
    "empty_messages_dropped": "messages without text, thinking or calls",
    "results_without_call": "tool results whose call is not recorded",
    "calls_without_result": "tool calls whose result is not recorded",
    "call_ids_made": "tool calls that had no id",
    "user_rejections": "tool calls the user refused",
    "unproven_rejections": "results that read like a refusal by the user; nothing else shows one",
    "cancelled_siblings": "tool calls cancelled because another failed",
    "joined_lines": "lines that held more than one JSON object",
    "bad_lines": "lines that are not JSON, skipped",
    "torn_lines": "a last line that was cut off, skipped",
    "replaced_bytes": "lines with bytes that are not UTF-8, replaced",
    "answer_keys_withheld": "fields with the task's solution, kept from the miner",
    "redactions": "secrets redacted",
}


@dataclass(slots=True)
class Trajectory:
    """One recorded session. `messages[i]` is turn `i + 1`."""

    session_id: str
    source: Source
    messages: list[Message]
    agent: str | None = None
    model: str | None = None
    timestamp: str | None = None  # start, ISO 8601, UTC
    earlier_ids: Sequence[str] = field(default_factory=tuple, init=False, compare=False, repr=False)  # if by content
    derived: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False, repr=False)  # worked out once

    def worked_out(self, make: Callable[..., _Derived], *about: Hashable) -> _Derived:
        """What a function makes of this trajectory: made once, and again when there are other or more messages.

        It is kept by the function's name and module and what it is asked `about`, and given to everybody alike: nobody
        may change it.
        """
        asked = (make.__module__, make.__qualname__, *about)
        kept = self.derived.get(asked)
        if kept is None or kept[0] is not self.messages or kept[1] != len(self.messages):
            kept = self.derived[asked] = (self.messages, len(self.messages), make(self, *about))
        made: _Derived = kept[2]
        return made

    def turns(self) -> Iterator[tuple[int, Message]]:
        """Yield `(turn, message)`, turns counted from 1."""
        return enumerate(self.messages, start=1)

    def characters(self) -> int:
        """Characters of content, thinking and call arguments over all messages."""
        return sum(
            len(message.content or "")
            + len(message.thinking or "")
            + sum(len(call.arguments) for call in message.tool_calls)
            for message in self.messages
        )


def _without_none(record: Any) -> dict[str, Any]:
    """Dataclass → dict in field order, leaving out None and empty containers."""
    result: dict[str, Any] = {}
    for each in fields(record):
        value = getattr(record, each.name)
        if value is None or value == {} or value == []:
            continue
        result[each.name] = _without_none(value) if isinstance(value, Usage) else value
    return result


def message_to_json(message: Message) -> dict[str, Any]:
    """One message as the envelope stores it. `content` is always there, a string or null."""
    record: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.thinking is not None:
        record["thinking"] = message.thinking
    if message.tool_calls:
        record["tool_calls"] = [_call_to_json(call) for call in message.tool_calls]
    for key in ("tool_call_id", "name", "is_error", "mark"):
        value = getattr(message, key)
        if value is not None:
            record[key] = value
    return record


def _call_to_json(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    record: dict[str, Any] = {"id": call.id, "type": "function", "function": function}
    if call.mark is not None:
        record["mark"] = call.mark
    return record


def envelope_chunks(trajectory: Trajectory) -> Iterator[str]:
    """The envelope as JSON text, one chunk per message, so that a large trajectory is never held twice.

    One message per line, for readable diffs. Lone surrogates, which UTF-8 cannot encode, become U+FFFD.
    """
    head: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
    for key in ("model", "timestamp", "session_id", "agent"):
        value = getattr(trajectory, key)
        if value is not None:
            head[key] = value
    head["source"] = _without_none(trajectory.source)
    yield "{\n"
    for key, value in head.items():
        yield f"{json.dumps(key)}: {_dump(value)},\n"
    yield '"messages": ['
    for position, message in enumerate(trajectory.messages):
        yield ("\n" if position == 0 else ",\n") + _dump(message_to_json(message))
    yield "\n]}\n"


_ENCODER = json.JSONEncoder(ensure_ascii=False)


def _dump(value: Any) -> str:
    return without_surrogates(_ENCODER.encode(value))


def _dumped_bytes(value: Any) -> bytes:
    text = _ENCODER.encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_surrogates(text).encode()


def without_surrogates(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD; the same object when there is none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def digest(trajectory: Trajectory) -> str:
    """`sha256:…` over everything that a stage can see of a trajectory (not over its location)."""
    hasher = hashlib.sha256()
    source = _without_none(trajectory.source)
    for place in ("file", "sha256"):
        source.pop(place, None)
    head = [trajectory.session_id, trajectory.agent, trajectory.model, trajectory.timestamp, source]
    hasher.update(_dump(head).encode())
    for message in trajectory.messages:
        hasher.update(_dumped_bytes(message_to_json(message)))
    return f"sha256:{hasher.hexdigest()}"
