"""Qwen Code sessions: lines linked as Claude Code's are, with messages of Gemini's parts.

A fork copies the lines of the session it left and says so on each. A subagent has a file of its own under its parent's
session id, in which every call is a line after the text and the usage of its reply. What the program itself tells the
model comes as a user's line with a subtype; a compression lists the history with which the model continues.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.builder import Call, TrajectoryBuilder
from agent_wiki.readers.gemini_parts import (
    calls_in,
    cancelled_mark,
    prompt_pieces,
    reply_tokens,
    responses_in,
    result_text,
    said_text,
    thought_text,
)
from agent_wiki.readers.recorded import mapping, objects, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory, Usage

FORMAT = "qwen-code"

_TURN_TYPES = ("user", "assistant", "tool_result")
_OF_THE_USER = ("mid_turn_user_message", "realtime_message")


def claims(sample: Sample) -> bool:
    """Lines with a session, a place in its tree, and messages of parts or a payload of the system."""
    return any(is_line(record) for record in sample.records())


def is_line(record: dict[str, Any]) -> bool:
    """Whether a record is one of Qwen Code's lines."""
    if not isinstance(record.get("sessionId"), str) or "parentUuid" not in record:
        return False
    return "parts" in mapping(record.get("message")) or (record.get("type") == "system" and "systemPayload" in record)


def read(recording: Recording) -> Iterator[Trajectory]:
    """The session or subagent of one file. A file without turns of its own yields none and leaves a warning."""
    session = _Session()
    for record in recording.records():
        session.take(record)
    if session.has_turns:
        yield session.trajectory(recording.path.name.partition(".")[0])
    else:
        recording.warnings.append(f"{recording.name}: no turns of its own recorded")


class _Session:
    """Processes the lines of one file in order."""

    def __init__(self) -> None:
        self.builder = TrajectoryBuilder()
        self.source = Source(FORMAT)
        self.session_id: str | None = None
        self.agent_id: str | None = None
        self.has_turns = False
        self._uuids: set[str] = set()
        self._said: set[str] = set()
        self._reply: dict[str, Any] | None = None  # of a subagent, until its calls are complete

    def take(self, record: dict[str, Any]) -> None:
        """Process one line. Lines that are neither turns nor about the session are ignored."""
        self.session_id = self.session_id or text_or_none(record.get("sessionId"))
        if not self._is_own(record):
            return
        self._observe(record)
        kind = record.get("type")
        parts = mapping(record.get("message")).get("parts")
        if kind == "assistant":
            self._take_reply(record, parts)
            return
        self._end_reply()
        if kind == "user":
            self._take_user(record, parts)
        elif kind == "tool_result":
            self._take_results(parts, mapping(record.get("toolCallResult")))
        elif kind == "system":
            self._take_system(record.get("subtype"), mapping(record.get("systemPayload")))
        self.has_turns = self.has_turns or kind in _TURN_TYPES

    def trajectory(self, fallback_id: str) -> Trajectory:
        """The trajectory of all lines processed."""
        self._end_reply()
        session_id = self.session_id or fallback_id
        source = self.source
        if self.agent_id is not None:
            source.parent_session_id, session_id = session_id, f"{session_id}.agent-{self.agent_id}"
        return self.builder.finish(session_id, source, agent=FORMAT)

    def _is_own(self, record: dict[str, Any]) -> bool:
        """Whether a line belongs to this session and is new; turns that are neither are counted."""
        uuid, origin = text_or_none(record.get("uuid")), record.get("forkedFrom")
        is_known = uuid in self._uuids
        if uuid is not None:
            self._uuids.add(uuid)
        if not origin and not is_known:
            return True
        if origin:
            self.source.forked_from = text_or_none(mapping(origin).get("sessionId"))
        counted = "duplicate_turns_dropped" if is_known else "inherited_turns"
        self.builder.hygiene[counted] += record.get("type") in _TURN_TYPES
        return False

    def _observe(self, record: dict[str, Any]) -> None:
        self.builder.note_time(record.get("timestamp"))
        if record.get("isSidechain"):
            self.agent_id = self.agent_id or text_or_none(record.get("agentId")) or "1"
        for name, key in (("cwd", "cwd"), ("git_branch", "gitBranch"), ("agent_version", "version")):
            if getattr(self.source, name) is None:
                setattr(self.source, name, text_or_none(record.get(key)))
        if (model := text_or_none(record.get("model"))) is not None and record.get("type") == "assistant":
            self.builder.models[model] += 1

    def _take_reply(self, record: dict[str, Any], parts: Any) -> None:
        self.has_turns = True
        usage = _usage(mapping(record.get("usageMetadata")))
        self.builder.usages.append(usage)
        calls = calls_in(parts)
        if self._reply is not None and record.get("isSidechain") and usage is None:
            self._reply["calls"] += calls
            self.builder.hygiene["split_replies_joined"] += not self._reply["is_joined"]
            self._reply["is_joined"] = True
            return
        self._end_reply()
        self._reply = {"text": said_text(parts), "thinking": thought_text(parts), "calls": calls, "is_joined": False}

    def _end_reply(self) -> None:
        if self._reply is not None:
            calls: list[Call] = self._reply["calls"]
            self.builder.assistant(self._reply["text"] or None, thinking=self._reply["thinking"], calls=calls)
            self._reply = None

    def _take_user(self, record: dict[str, Any], parts: Any) -> None:
        """What the user typed, and what the program put around it, such as the content of files it names."""
        text, subtype = said_text(parts), record.get("subtype")
        if subtype is not None and subtype not in _OF_THE_USER:
            self._add_user(text, "injected")
            return
        typed = text_or_none(mapping(record.get("systemPayload")).get("displayText"))
        for piece, mark in prompt_pieces(text, typed):
            self._add_user(piece, mark)

    def _add_user(self, text: str, mark: MessageMark | None) -> None:
        if text.strip():
            self.builder.user(text, mark=mark)
            self._said.add(text)

    def _take_results(self, parts: Any, outcome: dict[str, Any]) -> None:
        for response in responses_in(parts):
            call_id = text_or_none(response.get("id")) or text_or_none(outcome.get("callId"))
            text, is_error = result_text([{"functionResponse": response}])
            mark = cancelled_mark(text) if is_error else None
            if is_error is None and (
                "output" in mapping(response.get("response")) or outcome.get("status") == "success"
            ):
                is_error = False
            self.builder.tool(call_id, text, is_error=None if mark else is_error, mark=mark)
        self._add_user(said_text(parts), "injected")

    def _take_system(self, subtype: Any, payload: dict[str, Any]) -> None:
        if subtype == "chat_compression":
            self._take_compression(objects(payload.get("compressedHistory")))
        elif subtype == "slash_command" and payload.get("phase") == "invocation" and not payload.get("sentToModel"):
            self._add_user(text_or_none(payload.get("rawCommand")) or "", "injected")
        elif subtype == "custom_title":
            self.source.title = text_or_none(payload.get("customTitle")) or self.source.title
        elif subtype == "parent_session":
            self.source.parent_session_id = text_or_none(payload.get("parentSessionId"))
        elif subtype == "agent_bootstrap":
            self.builder.hygiene["inherited_turns"] += len(objects(payload.get("history")))

    def _take_compression(self, history: list[dict[str, Any]]) -> None:
        """The summary comes first; of the rest only what was not said before is new."""
        for position, message in enumerate(history):
            text = said_text(message.get("parts"))
            if position == 0:
                self._add_user(text, "compaction")
            elif message.get("role") == "user" and text and text not in self._said:
                self._add_user(text, "injected")
            else:
                self.builder.hygiene["duplicate_turns_dropped"] += 1


def _usage(recorded: dict[str, Any]) -> Usage | None:
    written = (recorded.get("candidatesTokenCount"), recorded.get("thoughtsTokenCount"))
    prompt, cached = recorded.get("promptTokenCount"), recorded.get("cachedContentTokenCount")
    return reply_tokens(prompt, cached, recorded.get("totalTokenCount"), written)
