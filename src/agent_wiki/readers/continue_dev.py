"""Sessions of Continue: one JSON document each, of the extension for editors and of the program for terminals.

The extension keeps what the user typed (`editorState`) beside what was sent, and gives every call a state with its
output; older versions keep one call's alone, and results as messages too. No file has times: `sessions.json` beside it
says when the session was first saved. (Read after Continue's source, Apache-2.0, and public sessions; no program of
its ran here.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import PartOfRecording, UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_values import summed_usage
from agent_wiki.readers.continue_values import (
    Called,
    calls_of,
    folder_of,
    result_of,
    rules_of,
    split_by_author,
    time_of,
    usage_of_reply,
    usage_of_session,
)
from agent_wiki.readers.recorded import flat_text, iso_utc, mapping, most_used, number, objects, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.sidecars import value_beside
from agent_wiki.trajectory import Source, Trajectory, Usage

FORMAT = "continue"

_ROLES = frozenset({"user", "assistant", "thinking", "system", "tool"})
_INDEX = "sessions.json"
_UNTITLED = ("New Session", "Untitled Session")


def claims(sample: Sample) -> bool:
    """A session's document with its `history` of messages, or the index of all sessions."""
    value = sample.values[0] if sample.shape == "document" and sample.values else None
    return _is_session(value) or _is_index(value)


def _is_session(value: Any) -> bool:
    recorded = mapping(value)
    if not text_or_none(recorded.get("sessionId")) or "workspaceDirectory" not in recorded:
        return False
    history = recorded.get("history")
    if not isinstance(history, list) or "autonomyMode" in recorded:  # Kiro's, whose replies lie in other files
        return False
    messages = [mapping(item.get("message")) for item in objects(history)]
    return not history or any(str(message.get("role")) in _ROLES for message in messages)


def _is_index(value: Any) -> bool:
    listed = objects(value)
    return bool(listed) and all({"sessionId", "dateCreated", "workspaceDirectory"} <= each.keys() for each in listed)


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a file. Raises `PartOfRecording` for the index, `UnreadableRecording` without a word."""
    document = recording.document()
    if isinstance(document, list):
        raise PartOfRecording(recording.name, "no recording: the index of the sessions that Continue keeps beside it")
    trajectory = _Session(document).trajectory(value_beside(recording, _INDEX))
    if not trajectory.messages:
        raise UnreadableRecording(recording.name, "a session of Continue in which nothing was said", is_foreign=True)
    yield trajectory


class _Session:
    """Processes the items of one session's history in order."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.items = objects(document.get("history"))
        self.builder = TrajectoryBuilder()
        self.usages: list[Usage | None] = []
        self._thoughts: list[str] = []  # recorded before the reply that they belong to
        self._rules: set[str] = set()
        self._shown: set[tuple[str | None, str]] = set()  # results by their calls, which a message may repeat
        messages = (mapping(item.get("message")) for item in self.items)
        self._messages = {
            message["toolCallId"]: flat_text(message.get("content"))
            for message in messages
            if message.get("role") == "tool" and text_or_none(message.get("toolCallId"))
        }

    def trajectory(self, index: Any) -> Trajectory:
        """The trajectory of all items. `index`: what lies beside the file under its name."""
        for item in self.items:
            self._take(item)
        self._end_thinking()
        session_id = self.document["sessionId"]
        listed = next((each for each in objects(index) if each.get("sessionId") == session_id), {})
        title = text_or_none(self.document.get("title"))
        source = Source(FORMAT)
        source.title = None if title in _UNTITLED else title
        source.cwd = folder_of(self.document.get("workspaceDirectory"))
        source.usage, source.cost_usd = self._spent()
        model = most_used(self.builder.models) or text_or_none(self.document.get("chatModelTitle"))
        started = iso_utc(time_of(listed.get("dateCreated")))
        return self.builder.finish(session_id, source, agent=FORMAT, model=model, timestamp=started)

    def _take(self, item: dict[str, Any]) -> None:
        message = mapping(item.get("message"))
        role, text = message.get("role"), flat_text(message.get("content"))
        calls = calls_of(item, message)
        if role in ("user", "system"):
            self._end_thinking()
        if role == "user":
            self._take_user(item, text)
        elif role == "system":
            self.builder.system(text)
        elif role == "tool":
            self._take_result(text_or_none(message.get("toolCallId")), text)
        elif role == "assistant":
            self._take_reply(item, message, text, calls)
        elif role == "thinking":
            if not message.get("redactedThinking"):  # then the text is a notice of the program's
                self._thoughts.append(text)
            if calls:
                self._take_reply(item, message, "", calls)
        summary = text_or_none(item.get("conversationSummary"))
        if summary and summary != text:
            self.builder.user(summary, mark="compaction")

    def _take_user(self, item: dict[str, Any], text: str) -> None:
        """What the program added to what the user typed, in the order in which it was sent; then the words."""
        for rule in rules_of(item):
            if rule not in self._rules:
                self._rules.add(rule)
                self.builder.system(rule)
        for added in objects(item.get("contextItems")):
            self.builder.user(flat_text(added.get("content")), mark="injected")
        added_text, words = split_by_author(text, item.get("editorState"))
        if added_text:
            self.builder.user(added_text, mark="injected")
        self.builder.user(words)
        self._add_thought(item)

    def _take_reply(self, item: dict[str, Any], message: dict[str, Any], text: str, calls: list[Called]) -> None:
        self._measure(item, message)
        is_begun = bool(self._thoughts)
        self._add_thought(item)
        if text and text == item.get("conversationSummary"):
            self.builder.user(text, mark="compaction")
            return
        if self._thoughts and not text and not calls:  # the reply may follow, as an item of its own
            return
        thinking = "\n\n".join(self._thoughts) or None
        self._thoughts.clear()
        if is_begun:
            self.builder.hygiene["split_replies_joined"] += 1
        ids = self.builder.assistant(text, thinking=thinking, calls=[call.call for call in calls])
        for call_id, call in zip(ids, calls, strict=True):
            self._answer(call_id, call)

    def _add_thought(self, item: dict[str, Any]) -> None:
        thought = text_or_none(mapping(item.get("reasoning")).get("text"))
        if thought:
            self._thoughts.append(thought)

    def _end_thinking(self) -> None:
        """A reply of which nothing came but thinking."""
        thinking = "\n\n".join(self._thoughts)
        self._thoughts.clear()
        if thinking:
            self.builder.assistant(None, thinking=thinking)

    def _answer(self, call_id: str, call: Called) -> None:
        """The result of a call by its state; its text may be in a message alone."""
        result = result_of(call, self._messages.get(call_id, ""))
        if result is not None:
            self._shown |= {(call_id, call.output), (call_id, self._messages.get(call_id, ""))}
            self.builder.tool(call_id, result.text, is_error=result.is_error, mark=result.mark)

    def _take_result(self, call_id: str | None, text: str) -> None:
        if (call_id, text) in self._shown:
            self.builder.hygiene["duplicate_turns_dropped"] += 1
        else:
            self.builder.tool(call_id, text)

    def _measure(self, item: dict[str, Any], message: dict[str, Any]) -> None:
        usage = mapping(message.get("usage"))
        self.usages.append(usage_of_reply(usage))
        names = [text_or_none(usage.get("model"))]
        for log in objects(item.get("promptLogs")):
            options = mapping(log.get("completionOptions"))
            names.append(text_or_none(options.get("model")) or text_or_none(log.get("modelTitle")))
        self.builder.models.update(name for name in names if name)

    def _spent(self) -> tuple[Usage | None, float | None]:
        """Tokens of the replies, else of the session; its cost, unless its sums have fewer tokens than its replies.

        A session that is resumed may count from zero.
        """
        recorded = mapping(self.document.get("usage"))
        of_session, of_replies = usage_of_session(recorded), summed_usage(self.usages)
        cost_usd = number(recorded.get("totalCost")) or None
        if of_replies is None:
            return of_session, cost_usd
        is_whole = of_session is not None and (of_session.output_tokens or 0) >= (of_replies.output_tokens or 0)
        return of_replies, cost_usd if is_whole else None
