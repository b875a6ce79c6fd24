"""The output of `codex exec --json`: what a run did, one event a line, without the prompt.

    {"type": "thread.started", "thread_id": …}         the session's id, that of its rollout
    {"type": "item.started" | "item.updated" | "item.completed", "item": {"id", "type", …}}
    {"type": "turn.completed", "usage": {…}}           the tokens of the whole thread so far
    {"type": "turn.failed", "error": {…}}

Where a reply ends is not recorded: what comes after a result is taken as the next one. A call that Codex refused to
make has no item.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from agent_wiki.readers.builder import ReplyParts, TrajectoryBuilder
from agent_wiki.readers.codex_history import TokenMeter
from agent_wiki.readers.codex_ran import RanItem, item_ran
from agent_wiki.readers.recorded import flat_text, objects, short_digest, text_or_none, usage_of
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory
from agent_wiki.trajectory.lazily import dataclass

FORMAT = "codex-exec"

_AGENT = "codex"
_ITEMS = frozenset({"item.started", "item.updated", "item.completed"})
_ENDS = frozenset({"turn.completed", "turn.failed"})


def claims(sample: Sample) -> bool:
    """Events that start a thread, or items in the form that only this program prints."""
    return any(_starts_thread(record) or _is_item(record) for record in sample.records())


def _starts_thread(record: dict[str, Any]) -> bool:
    return record.get("type") == "thread.started" and isinstance(record.get("thread_id"), str)


def _is_item(record: dict[str, Any]) -> bool:
    item = record.get("item")
    kind = record.get("type")
    return isinstance(kind, str) and kind in _ITEMS and isinstance(item, dict) and isinstance(item.get("id"), str)


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every thread of a capture, in the order of their first events; runs of one thread are one.

    A capture without a turn yields none and leaves a warning.
    """
    threads: dict[str, _Thread] = {}
    thread = _Thread()
    for record in recording.records():
        if _starts_thread(record):
            thread = threads.setdefault(record["thread_id"], thread if not threads else _Thread())
            thread.runs += 1
        thread.take(record)
    found = threads or {"": thread}
    for each in found.values():
        each.finish()
    if not any(each.builder.messages for each in found.values()):
        recording.warnings.append(f"{recording.name}: no turns recorded")
    yield from (each.trajectory(thread_id) for thread_id, each in found.items() if each.builder.messages)


@dataclass(slots=True)
class _Thread:
    """The turns of one thread. Calls and results of the reply at hand wait for its end."""

    builder: TrajectoryBuilder = field(default_factory=TrajectoryBuilder)
    meter: TokenMeter = field(default_factory=TokenMeter)
    runs: int = 0
    exit_status: str | None = None
    reply: ReplyParts = field(default_factory=ReplyParts)
    called: set[str] = field(default_factory=set)  # the ids of its calls
    results: list[RanItem] = field(default_factory=list)
    running: set[str] = field(default_factory=set)

    def take(self, record: dict[str, Any]) -> None:
        """One event."""
        kind = str(record.get("type"))
        if _is_item(record):
            self._take_item(kind, record["item"])
        elif kind in _ENDS:
            self.exit_status = kind
            self.meter.take({"total_token_usage": record.get("usage")}, is_inherited=False, is_fork=False)

    def _take_item(self, event: str, item: dict[str, Any]) -> None:
        kind = str(item.get("type"))
        if kind in ("agent_message", "reasoning"):
            if event == "item.completed":
                self._say(kind, flat_text(item.get("text")))
        elif kind == "todo_list":
            self._plan(event, item)
        elif ran := item_ran(item, f"{item['id']}-run-{self.runs}" if self.runs > 1 else item["id"]):
            self._call(ran)
            if event == "item.completed":
                self._answer(ran)

    def _say(self, kind: str, text: str) -> None:
        """A message, or the thinking before one: a reply has one message, and then its calls."""
        if self.reply.calls or self.reply.texts:
            self.finish()
        (self.reply.texts if kind == "agent_message" else self.reply.thoughts).append(text)

    def _call(self, ran: RanItem) -> None:
        """A call, once although several events tell of it."""
        if ran.item_id in self.running:
            return
        if self.results:
            self.finish()
        self.running.add(ran.item_id)
        self.reply.calls.append((ran.item_id, ran.tool, ran.arguments))
        self.called.add(ran.item_id)

    def _answer(self, ran: RanItem) -> None:
        """What a call returned; of one that an earlier reply made, it comes when it came."""
        if ran.item_id in self.called:
            self.results.append(ran)
        else:
            self.finish()
            self._put(ran)

    def _plan(self, event: str, item: dict[str, Any]) -> None:
        """A plan, or a change of it; at the end of a turn each is listed once more."""
        listed = item.get("items")
        if event == "item.completed" or not isinstance(listed, list):
            return
        plan = [
            {"step": each.get("text"), "status": "completed" if each.get("completed") else "open"}
            for each in objects(listed)
        ]
        made = RanItem(f"{item['id']}-{len(self.builder.messages)}", "update_plan", {"plan": plan}, "", is_error=False)
        self._call(made)
        self._answer(made)

    def finish(self) -> None:
        """End the reply at hand, if there is one."""
        self.reply.add_to(self.builder)
        for ran in self.results:
            self._put(ran)
        self.reply, self.called, self.results = ReplyParts(), set(), []

    def _put(self, ran: RanItem) -> None:
        mark: MessageMark | None = "rejected" if ran.is_refused else None
        self.builder.tool(ran.item_id, ran.output, is_error=None if mark else ran.is_error, mark=mark)

    def trajectory(self, thread_id: str) -> Trajectory:
        """The finished thread. One without an id gets one from its content."""
        messages = (
            f"{message.content} {json.dumps([each.arguments for each in message.tool_calls])}"
            for message in self.builder.messages
        )
        source = Source(FORMAT, exit_status=self.exit_status, usage=usage_of(self.meter.tokens))
        session_id = text_or_none(thread_id) or f"{FORMAT}-{short_digest(messages, 12)}"
        return self.builder.finish(session_id, source, agent=_AGENT)
