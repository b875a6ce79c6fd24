"""From a recording's turns to a normalized trajectory: the normalization that all formats share.

A reader calls `system`, `user`, `assistant` and `tool` in recorded order, then `finish` once. Everything the
formats share happens here: reminders are stripped, empty messages dropped, missing call ids generated, results and
calls paired and unpaired ones marked, errors detected in the text where no flag is recorded. All of it is counted.
What a reader notes of times, models, tokens and cost goes into the trajectory, unless it says these itself.
"""

from __future__ import annotations

import json
import re
from collections import Counter, OrderedDict, deque
from dataclasses import field
from typing import Any

from agent_wiki.errors import UnitError
from agent_wiki.readers.chat_values import summed_usage
from agent_wiki.readers.recorded import iso_utc, most_used, seconds_between
from agent_wiki.shell.failures import text_failure
from agent_wiki.trajectory import Message, MessageMark, Source, ToolCall, Trajectory, Usage
from agent_wiki.trajectory.calls import command_of
from agent_wiki.trajectory.harness_text import harness_mark
from agent_wiki.trajectory.lazily import dataclass, regex

Call = tuple[str | None, str, Any]
"""The id of a call, if it has one, its name and its arguments."""

_MOST_TURNS = 250_000  # real sessions have some thousands; so many short ones take a quarter of a gigabyte
_OPENING, _CLOSING = "<system-reminder>", "</system-reminder>"
_THOUGHT = regex(r"\s*<think(?:ing)?>(.*?)</think(?:ing)?>\s*", re.DOTALL, needs=("</think",))
_COUNTED_MARKS = {
    "compaction": "compaction_summaries",
    "injected": "injected_messages",
    "rejected": "user_rejections",
    "denied": "unproven_rejections",
    "cancelled": "cancelled_siblings",
    "no-call": "results_without_call",
}


@dataclass(slots=True)
class ReplyParts:
    """A reply that is recorded in several parts."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def add_to(self, builder: TrajectoryBuilder) -> list[str]:
        """Add it as one whole; nothing where it has no parts. Returns the ids of its calls."""
        if not (self.texts or self.thoughts or self.calls):
            return []
        return builder.assistant("\n\n".join(self.texts), thinking="\n\n".join(self.thoughts), calls=self.calls)


def arguments_json(arguments: Any) -> str:
    """Call arguments as the JSON string that the envelope stores; a string that is already JSON is unchanged."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps({} if arguments is None else arguments, ensure_ascii=False)


def without_reminders(text: str) -> tuple[str, int]:
    """`text` without its `<system-reminder>` blocks, and how many there were.

    A block on lines of its own is removed with its line break. Linear in the length of the text, also for hostile text:
    an opening tag that is never closed is kept.
    """
    kept: list[str] = []
    position = 0
    while (start := text.find(_OPENING, position)) >= 0 and (end := text.find(_CLOSING, start)) >= 0:
        kept.append(text[position:start])
        position = end + len(_CLOSING)
        stands_alone = start == 0 or text[start - 1] == "\n"
        if stands_alone and text.startswith("\n", position):
            position += 1
    if not kept:
        return text, 0
    before, rest = "".join(kept), text[position:]
    if not rest or rest.isspace():
        return before.rstrip(), len(kept)
    return (before + rest if before else rest.lstrip("\n")), len(kept)


def _failure_in_text(message: Message, call: ToolCall | None) -> bool | None:
    """Whether a tool's result failed, judged by its text and its call; None when the text does not say."""
    if call is None:
        return text_failure(message.content or "", message.name)
    return text_failure(message.content or "", call.name, command_of(call))


class TrajectoryBuilder:
    """Builds one trajectory. Not reusable after `finish`. Raises `UnitError` for a session without end."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.hygiene: Counter[str] = Counter()
        self.models: Counter[str] = Counter()  # by how many replies are theirs
        self.usages: list[Usage | None] = []
        self.cost_usd: float | None = None
        self.started: Any = None  # as recorded, in any form of a time
        self.ended: Any = None
        self._made_ids = 0
        self._unnamed: OrderedDict[str, None] = OrderedDict()  # generated ids still waiting for a result

    def note_time(self, began: Any, ended: Any = None) -> None:
        """When something of the session was recorded, or not at all; it lasts from the first time to the last."""
        self.started = self.started or began
        self.ended = ended or began or self.ended

    def note_cost(self, cost_usd: float | None) -> None:
        """What a part of the session cost, where that is recorded."""
        if cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost_usd

    def system(self, content: str) -> None:
        """A system prompt."""
        self._add(Message("system", self._clean(content)))

    def user(
        self,
        content: str | None,
        mark: MessageMark | None = None,
        *,
        name: str | None = None,
        calls: list[Call] | None = None,
    ) -> None:
        """A user's turn; with a mark, text that a harness put there. Without one, how it begins may show that.

        `calls` belong to a simulated user that has tools too (tau2-bench), not to the agent.
        """
        said = self._clean(content)
        message = Message("user", said, name=name, mark=mark or (harness_mark(said) if said else None))
        self.add_calls(message, calls)
        self._add(message)

    def assistant(
        self,
        content: str | None = None,
        *,
        thinking: str | None = None,
        calls: list[Call] | None = None,
        name: str | None = None,
    ) -> list[str]:
        """One whole reply: its text, its thinking, and its calls as `(id or None, name, arguments)`.

        `name` says which of several agents spoke. Returns the ids of the calls, generated ones included.
        """
        content, thinking = self._clean(content), self._clean(thinking)
        if content and (thought := _THOUGHT.match(content)):  # as models that are served without a parser write it
            self.hygiene["thoughts_taken_out"] += 1
            thinking = "\n\n".join(filter(None, (thinking, thought[1].strip()))) or None
            content = content[thought.end() :] or None
        message = Message("assistant", content, thinking=thinking, name=name)
        self.add_calls(message, calls)
        self._add(message)
        return [call.id for call in message.tool_calls]

    def tool(
        self,
        call_id: str | None,
        content: str,
        *,
        is_error: bool | None = None,
        name: str | None = None,
        mark: MessageMark | None = None,
    ) -> None:
        """A tool's result. Without an id it answers the oldest call that had none."""
        if call_id is None:
            call_id = self._unnamed.popitem(last=False)[0] if self._unnamed else self._make_id(waits=False)
        else:
            self._unnamed.pop(call_id, None)
        content = self._clean(content) or ""
        self._append(Message("tool", content, tool_call_id=call_id, name=name, is_error=is_error, mark=mark))

    def finish(self, session_id: str, source: Source, **head: str | None) -> Trajectory:
        """The trajectory. `head` takes `agent`, `model` and `timestamp` (ISO 8601, UTC)."""
        self._pair_calls()
        calls = {call.id: call for message in self.messages for call in message.tool_calls}
        for message in self.messages:
            if message.mark in _COUNTED_MARKS:
                self.hygiene[_COUNTED_MARKS[message.mark]] += 1
            if message.role == "tool" and message.is_error is None and message.mark in (None, "no-call"):
                message.is_error = _failure_in_text(message, calls.get(message.tool_call_id or ""))
        counts = Counter(source.hygiene) + self.hygiene
        source.hygiene = {name: counts[name] for name in sorted(counts) if counts[name]}
        self._add_figures(source)
        head["model"] = head.get("model") or most_used(self.models)
        head["timestamp"] = head.get("timestamp") or iso_utc(self.started)
        return Trajectory(session_id, source, self.messages, **head)

    def _add_figures(self, source: Source) -> None:
        """What was noted, where the source says nothing of it."""
        source.usage = source.usage or summed_usage(self.usages)
        if source.cost_usd is None and self.cost_usd is not None:
            source.cost_usd = round(self.cost_usd, 9)
        if source.duration_seconds is None:
            source.duration_seconds = seconds_between(self.started, self.ended)
        source.ended_at = source.ended_at or iso_utc(self.ended)

    def _pair_calls(self) -> None:
        """Mark results without a call and count calls without a result. Both are kept.

        An id may be used again once it has been answered, and a result may come before its call.
        """
        called = {call.id for message in self.messages for call in message.tool_calls}
        unmatched: Counter[str] = Counter()  # results that came before their call
        waiting: dict[str, deque[ToolCall]] = {}
        for message in self.messages:
            for call in message.tool_calls:
                if unmatched[call.id]:
                    unmatched[call.id] -= 1
                else:
                    waiting.setdefault(call.id, deque()).append(call)
            if message.role == "tool":
                self._match(message, called, waiting, unmatched)
        for call in (call for calls in waiting.values() for call in calls):
            call.mark = "no-result"
            self.hygiene["calls_without_result"] += 1

    @staticmethod
    def _match(result: Message, called: set[str], waiting: dict[str, deque[ToolCall]], unmatched: Counter[str]) -> None:
        call_id = result.tool_call_id or ""
        if waiting.get(call_id):
            waiting[call_id].popleft()
        elif call_id not in called:
            result.mark = result.mark or "no-call"
        elif call_id not in waiting:
            unmatched[call_id] += 1

    def _add(self, message: Message) -> None:
        if message.content is None and message.thinking is None and not message.tool_calls:
            self.hygiene["empty_messages_dropped"] += 1
            return
        self._append(message)

    def _append(self, message: Message) -> None:
        if len(self.messages) >= _MOST_TURNS:
            raise UnitError(f"a session of more than {_MOST_TURNS:,} turns")
        self.messages.append(message)

    def add_calls(self, message: Message, calls: list[Call] | None) -> None:
        """Add calls to a message; those without an id get one, and wait for a result."""
        for call_id, name, arguments in calls or []:
            message.tool_calls.append(ToolCall(call_id or self._make_id(), name, arguments_json(arguments)))

    def _clean(self, text: str | None) -> str | None:
        """Strip reminders; None when only white space is left."""
        if text is None:
            return None
        if _OPENING in text:
            text, stripped = without_reminders(text)
            self.hygiene["system_reminders_stripped"] += stripped
        return text if text and not text.isspace() else None

    def _make_id(self, *, waits: bool = True) -> str:
        self._made_ids += 1
        self.hygiene["call_ids_made"] += 1
        made = f"call_{self._made_ids:03d}"
        if waits:
            self._unnamed[made] = None
        return made
