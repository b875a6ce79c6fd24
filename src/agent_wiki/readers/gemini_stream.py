"""The output of `gemini -p --output-format stream-json`: one event per line, often after lines of plain text.

It has the prompt, the replies without their thinking, the calls and what the terminal would show of their results. The
chat that the program keeps of the same session has all of that and more, so that one is taken where both are there.
What `--output-format json` prints has nothing but the last reply and is no recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.builder import Call, TrajectoryBuilder
from agent_wiki.readers.gemini_parts import SHELL, hook_context, reply_tokens
from agent_wiki.readers.recorded import count, flat_text, iso_utc, mapping, number, recorded_call, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Source, Trajectory

FORMAT = "gemini-stream"

_AGENT = "gemini-cli"
_NO_MODEL = "auto"  # the program chooses one for each reply


def claims(sample: Sample) -> bool:
    """An `init` event that names the session and when it began."""
    return any(_is_start(record) for record in sample.records())


def _is_start(record: dict[str, Any]) -> bool:
    return record.get("type") == "init" and isinstance(record.get("session_id"), str) and "timestamp" in record


def read(recording: Recording) -> Iterator[Trajectory]:
    """The sessions of one capture, one for each `init` event. Raises `UnreadableRecording` when nothing was said."""
    session: _Session | None = None
    found = False
    for event in recording.records():
        if _is_start(event):
            yield from _finished(session)
            session = _Session(event)
        elif session is not None:
            session.take(event)
            found = found or session.has_turns
    yield from _finished(session)
    recording.expect_messages(found)


def _finished(session: _Session | None) -> Iterator[Trajectory]:
    if session is not None and session.has_turns:
        yield session.trajectory()


class _Session:
    """Processes the events of one session in order. What the model says up to a result is one reply."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.start = start
        self.builder = TrajectoryBuilder()
        self.texts: list[str] = []
        self.calls: list[Call] = []
        self.tools: dict[str, str] = {}  # the name of the tool by the id of its call
        self.result: dict[str, Any] = {}
        self.ended_at: Any = None
        self.has_turns = False

    def take(self, event: dict[str, Any]) -> None:
        """Process one event."""
        kind = event.get("type")
        self.ended_at = event.get("timestamp") or self.ended_at
        if kind == "result":
            self.result = event
            return
        self.has_turns = self.has_turns or kind in ("message", "tool_use", "tool_result", "error")
        if kind == "message" and event.get("role") == "assistant":
            self.texts.append(flat_text(event.get("content")))
        elif kind == "tool_use":
            self._call(event)
        elif kind in ("message", "tool_result", "error"):
            self._end_reply()
            self._answer(event, str(kind))

    def trajectory(self) -> Trajectory:
        """The trajectory of all events processed."""
        self._end_reply()
        stats, error = mapping(self.result.get("stats")), mapping(self.result.get("error"))
        milliseconds = number(stats.get("duration_ms"))
        tokens = (stats.get("input_tokens"), stats.get("cached"), stats.get("total_tokens"))
        source = Source(
            FORMAT,
            usage=reply_tokens(*tokens, (stats.get("output_tokens"),)),
            duration_seconds=milliseconds / 1000 if milliseconds else None,
            ended_at=iso_utc(self.ended_at),
            exit_status=text_or_none(error.get("type")) or text_or_none(self.result.get("status")),
        )
        head = {"agent": _AGENT, "model": self._model(stats), "timestamp": iso_utc(self.start.get("timestamp"))}
        return self.builder.finish(self.start["session_id"], source, **head)

    def _model(self, stats: dict[str, Any]) -> str | None:
        """The model of most tokens; small models choose the one that answers."""
        spent = {
            name: count(mapping(each).get("total_tokens")) or 0 for name, each in mapping(stats.get("models")).items()
        }
        named = text_or_none(self.start.get("model"))
        return max(spent, key=lambda name: spent[name]) if spent else None if named == _NO_MODEL else named

    def _call(self, event: dict[str, Any]) -> None:
        call_id, name, _ = call = recorded_call(event, "tool_id", "tool_name", "parameters")
        self.calls.append(call)
        if call_id is not None:
            self.tools[call_id] = name

    def _end_reply(self) -> None:
        if self.texts or self.calls:
            self.builder.assistant("".join(self.texts), calls=self.calls)
            self.texts, self.calls = [], []

    def _answer(self, event: dict[str, Any], kind: str) -> None:
        if kind == "message":
            from_hooks, text = hook_context(flat_text(event.get("content")))
            if from_hooks:
                self.builder.user(from_hooks, mark="injected")
            self.builder.user(text)
        elif kind == "error":
            self.builder.user(flat_text(event.get("message")), mark="injected")
        else:
            self._result(event)

    def _result(self, event: dict[str, Any]) -> None:
        """A call's result. A shell command that ran is a success to the program, whatever its exit code."""
        call_id = text_or_none(event.get("tool_id"))
        shown, message = flat_text(event.get("output")), flat_text(mapping(event.get("error")).get("message"))
        text = message if shown in message else "\n".join(filter(None, (shown, message)))
        if_ran = None if self.tools.get(call_id or "") == SHELL else False
        self.builder.tool(call_id, text, is_error=True if event.get("status") == "error" else if_ran)
