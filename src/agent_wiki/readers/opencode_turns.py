"""OpenCode's messages and their parts as turns: shared by all forms in which it writes them.

A message has its `info` (role, model, tokens, cost, times) and parts: text, reasoning, a tool's call together with its
outcome, files, and bookkeeping that says nothing.
"""

from __future__ import annotations

import re
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.recorded import count, epoch_seconds, flat_text, mapping, number, objects, text_or_none
from agent_wiki.trajectory import MessageMark, Source, Trajectory, Usage

_AGENT = "opencode"
_REFUSED = re.compile(r"^The user rejected ")
_ABORTED = re.compile(r"^Tool execution (?:was )?aborted|^Aborted$")


class OpenCodeTurns:
    """Processes the messages of one session in order."""

    def __init__(self, source_format: str) -> None:
        self.builder = TrajectoryBuilder()
        self.source = Source(source_format)

    def add(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        """Add one message."""
        time = mapping(info.get("time"))
        self.builder.note_time(time.get("created"), time.get("completed"))
        if info.get("role") == "user":
            self._add_user(parts)
        elif info.get("role") == "assistant":
            self._add_reply(info, parts)

    def trajectory(self, session_id: str) -> Trajectory:
        """The trajectory of all messages added."""
        return self.builder.finish(session_id, self.source, agent=_AGENT)

    def _add_user(self, parts: list[dict[str, Any]]) -> None:
        """What the user typed in one turn, and apart from it what the program added, such as a file's content."""
        typed = [_text(part) for part in parts if not part.get("synthetic")]
        self.builder.user("\n".join(filter(None, typed)))
        for part in parts:
            if part.get("synthetic") and (text := _text(part)):
                self.builder.user(text, mark="injected")

    def _add_reply(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        self._note_figures(info)
        text = "\n\n".join(filter(None, (_text(part) for part in parts if part.get("type") != "reasoning")))
        if info.get("summary") is True:
            self.builder.user(text, mark="compaction")
            return
        thoughts = [text_or_none(part.get("text")) for part in parts if part.get("type") == "reasoning"]
        calls = [part for part in parts if part.get("type") == "tool"]
        self.builder.assistant(
            text or None,
            thinking="\n\n".join(filter(None, thoughts)) or None,
            calls=[
                (text_or_none(call.get("callID")), str(call.get("tool", "")), mapping(call.get("state")).get("input"))
                for call in calls
            ],
        )
        for call in calls:
            self._add_result(text_or_none(call.get("callID")), mapping(call.get("state")))
        if message := text_or_none(mapping(mapping(info.get("error")).get("data")).get("message")):
            is_stopped = mapping(info.get("error")).get("name") == "MessageAbortedError"
            self.builder.user(message, mark="interrupt" if is_stopped else "injected")

    def _add_result(self, call_id: str | None, state: dict[str, Any]) -> None:
        """A call's outcome: a shell command is completed whatever its exit code, and one still running has none."""
        status = state.get("status")
        if status == "error":
            text = flat_text(state.get("error"))
            mark = _stop_mark(text)
            self.builder.tool(call_id, text, is_error=None if mark else True, mark=mark)
        elif status == "completed":
            files = [_text(each) for each in objects(state.get("attachments"))]
            text = "\n".join(filter(None, [flat_text(state.get("output")), *files]))
            self.builder.tool(call_id, text, is_error=_has_failed(mapping(state.get("metadata"))))

    def _note_figures(self, info: dict[str, Any]) -> None:
        usage = reply_usage(mapping(info.get("tokens")))
        self.builder.usages.append(usage)
        if usage is not None:
            self.builder.note_cost(number(info.get("cost")))
        if model := text_or_none(info.get("modelID")):
            self.builder.models[model] += 1


def reply_usage(tokens: dict[str, Any]) -> Usage | None:
    """One reply's usage; None for the zeros that stand there until the reply is complete.

    What was written is the rest of the total, which some services give without the reasoning.
    """
    cache = mapping(tokens.get("cache"))
    read, written, cached = count(tokens.get("input")), count(cache.get("write")) or 0, count(cache.get("read")) or 0
    output = (count(tokens.get("total")) or 0) - (read or 0) - written - cached
    if output <= 0:
        output = (count(tokens.get("output")) or 0) + (count(tokens.get("reasoning")) or 0)
    usage = Usage(read or 0, written, cached, output)
    return usage if usage != Usage(0, 0, 0, 0) else None


def is_older(info: dict[str, Any], created: Any) -> bool:
    """Whether a message is older than its session, as those that a fork copied are."""
    said, born = epoch_seconds(mapping(info.get("time")).get("created")), epoch_seconds(created)
    return said is not None and born is not None and said < born


def _text(part: dict[str, Any]) -> str:
    kind = part.get("type")
    if kind in ("text", "reasoning"):
        return text_or_none(part.get("text")) or ""
    if kind == "subtask":
        return text_or_none(part.get("prompt")) or ""
    return flat_text({"type": str(part.get("mime") or "file")}) or "[file]" if kind == "file" else ""


def _stop_mark(text: str) -> MessageMark | None:
    if _REFUSED.match(text):
        return "rejected"
    return "interrupt" if _ABORTED.match(text) else None


def _has_failed(metadata: dict[str, Any]) -> bool | None:
    """By the exit code of a shell command; one without a code was killed, and its text decides."""
    if "exit" not in metadata:
        return False
    code = metadata["exit"]
    return code != 0 if isinstance(code, int) else None
