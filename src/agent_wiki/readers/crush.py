"""Sessions of Crush, and of the first OpenCode, from which it comes, out of their database (`crush_database.py`).

A message is a list of parts: text, reasoning, calls, results, attachments, and how it finished. A session's tokens are
those of its last reply alone, so they are left out. Its cost includes that of the subagents whose calls were answered,
which is taken off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.crush_parts import (
    added_texts,
    data_of,
    ending,
    has_failed,
    is_resumption,
    shown_text,
    stop_mark,
    typed_text,
)
from agent_wiki.readers.recorded import mapping, number, objects, recorded_call, seconds_between, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory

FORMAT = "crush"

_AGENTS = ("crush", "opencode")


def claims(sample: Sample) -> bool:
    """Sessions in the form that their database is read in."""
    records = sample.records()
    return bool(records) and all(map(_is_session, records))


def _is_session(record: Any) -> bool:
    recorded = mapping(record)
    is_named = recorded.get("agent") in _AGENTS and bool(text_or_none(mapping(recorded.get("session")).get("id")))
    return is_named and isinstance(recorded.get("subagents"), list) and isinstance(recorded.get("messages"), list)


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every session with messages. Raises `UnreadableRecording` when there is none."""
    found = False
    for record in filter(_is_session, recording.values()):
        trajectory = _Session(record).trajectory()
        if trajectory.messages:
            found = True
            yield trajectory
    recording.expect_messages(found)


class _Session:
    """Processes the messages of one session in order."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.agent: str = record["agent"]
        self.row: dict[str, Any] = record["session"]
        self.subagents = objects(record["subagents"])
        self.messages = objects(record["messages"])
        self.builder = TrajectoryBuilder()
        self._last_role: Any = None
        self._tools: dict[str | None, str] = {}  # by the ids of their calls
        self._answered: set[str | None] = set()  # calls whose result is no failure
        self._ending: tuple[str, MessageMark] | None = None  # of the last reply: its results come first

    def trajectory(self) -> Trajectory:
        """The trajectory of all messages."""
        summary, summarized_at = text_or_none(self.row.get("summary")), self.row.get("summarized_at")
        for message in self.messages:
            if summary and seconds_between(summarized_at, message.get("created_at")):
                self._take_summary(summary)
                summary = None
            self._take(message)
        self._end_reply()
        self._take_summary(summary)
        source = Source(FORMAT)
        source.title = text_or_none(self.row.get("title"))
        source.parent_session_id = text_or_none(self.row.get("parent_session_id"))
        source.cost_usd = self._own_cost_usd()
        return self.builder.finish(self.row["id"], source, agent=self.agent)

    def _take(self, message: dict[str, Any]) -> None:
        self.builder.note_time(message.get("created_at"), message.get("finished_at") or message.get("updated_at"))
        parts, role = objects(message.get("parts")), message.get("role")
        results = data_of(parts, "tool_result")
        if role == "assistant" or not results:
            self._end_reply()
        if role == "user":
            self._take_user(parts)
        elif role == "system":
            self.builder.system(typed_text(parts))
        elif role == "assistant":
            self._take_reply(message, parts)
        self._take_results(results)
        self._last_role = role

    def _take_user(self, parts: list[dict[str, Any]]) -> None:
        """What the user typed in one turn, and apart from it what the program added, such as a file's content."""
        typed = typed_text(parts)
        self.builder.user(typed, mark="injected" if is_resumption(typed) else None)
        for text in added_texts(parts):
            self.builder.user(text, mark="injected")

    def _take_reply(self, message: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        if model := text_or_none(message.get("model")):
            self.builder.models[model] += 1
        self._ending = ending(parts)
        text = "\n\n".join(filter(None, (text_or_none(each.get("text")) for each in data_of(parts, "text"))))
        calls = [recorded_call(call, "id", "name", "input") for call in data_of(parts, "tool_call")]
        if not calls and self._is_summary(message):
            self._take_summary(text)
            return
        thoughts = (text_or_none(each.get("thinking")) for each in data_of(parts, "reasoning"))
        self._tools.update({call_id: name for call_id, name, _ in calls})
        self.builder.assistant(text, thinking="\n\n".join(filter(None, thoughts)) or None, calls=calls)

    def _is_summary(self, message: dict[str, Any]) -> bool:
        """Whether a reply is a summary. A session names its last one alone; one before it follows another reply."""
        named = text_or_none(self.row.get("summary_message_id"))
        is_one_before = named is not None and self._last_role == "assistant"
        return bool(message.get("is_summary_message")) or is_one_before or named == (message.get("id") or "")

    def _take_summary(self, text: str | None) -> None:
        """The summary with which the session continues, without the reasoning of the reply that it was."""
        if text:
            self.builder.user(text, mark="compaction")

    def _take_results(self, results: list[dict[str, Any]]) -> None:
        is_refused = False
        for result in results:
            call_id, text, flag = text_or_none(result.get("tool_call_id")), shown_text(result), result.get("is_error")
            tool = self._tools.get(call_id) or str(result.get("name", ""))
            if flag is True:
                mark = stop_mark(text, is_after_refusal=is_refused)
                is_refused = is_refused or mark == "rejected"
                self.builder.tool(call_id, text, is_error=None if mark else True, mark=mark)
            else:
                self.builder.tool(call_id, text, is_error=has_failed(tool, text) if flag is False else None)
                self._answered.add(call_id)

    def _end_reply(self) -> None:
        if self._ending is not None:
            text, mark = self._ending
            self.builder.user(text, mark=mark)
            self._ending = None

    def _own_cost_usd(self) -> float | None:
        """The session's cost without its subagents'; unknown where it is 0, as it is of models without a price."""
        cost = number(self.row.get("cost")) or 0.0
        for each in self.subagents:
            call_id = str(each.get("id")).rpartition("$$")[2]  # Crush puts the message's id before it
            if call_id in self._answered:
                cost -= number(each.get("cost")) or 0.0
        own = round(cost, 9)
        return own if own > 0 else None
