"""Transcripts of Google Antigravity: one step per line, numbered, the model's replies and what came of their calls.

A reply (`PLANNER_RESPONSE`) names its calls without ids; each later step of the model is the outcome of the next one. A
command that continues in the background gets a second outcome, which a message of the program brings. A step may be
written after a later one. When the user returns to an earlier prompt, the numbers begin again there, and
what was undone still happened. (No documentation was at hand: read from transcripts that users published.)
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.builder import Call, TrajectoryBuilder
from agent_wiki.readers.recorded import flat_text, mapping, most_used, objects, short_digest, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory
from agent_wiki.trajectory.json_text import value_or
from agent_wiki.trajectory.lazily import regex

FORMAT = "antigravity"

_SESSION = regex(r"[/\\]brain[/\\]+([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
_TIMES = regex(r"\A(?:(?:Created|Completed) At: \S+\n)+")
_REQUEST = regex(r"<USER_REQUEST>\n?(.*?)\n?</USER_REQUEST>\n?", re.DOTALL)
_MODEL = regex(r"`Model Selection` from [^\n]{1,80}? to ([^\n]{1,80}?)\. No need")
_EXIT = regex(r"^\s*The command (?:failed with exit code: (-?\d+)|completed successfully)", re.MULTILINE)
_STARTED = regex(r"\ATool is running as a background task with task id: (\S{1,120})")
_ENDED = regex(r'content=Task id "([^"\s]{1,120})" (finished|was canceled) with result:')
_FRAME_END = regex(r"\s*(?:Log: file:\S{1,400}\s*)?(?:</SYSTEM_MESSAGE>\s*)?\Z")
_REFUSED = regex(r"\s*Encountered error in step execution: user denied permission for ")
_ALTERNATIVE = "provided by the user as an alternative"
_HEAD_CHARACTERS = 400


def claims(sample: Sample) -> bool:
    """Lines with a step's number, source, type and status."""
    return any(_is_step(record) for record in sample.records())


def _is_step(record: dict[str, Any]) -> bool:
    named = all(isinstance(record.get(name), str) for name in ("source", "type", "status"))
    return named and isinstance(record.get("step_index"), int)


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a transcript. Raises `UnreadableRecording` when it has no messages."""
    steps = [record for record in recording.records() if _is_step(record)]
    session = _Session()
    for step in _in_order(steps):
        session.take(step)
    yield from recording.with_messages(session.trajectory(_session_id(steps)))


def _in_order(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Steps by their numbers, up to each prompt with which the user went back to an earlier number."""
    waiting: list[dict[str, Any]] = []
    for step in steps:
        is_prompt = step["type"] == "USER_INPUT"
        if is_prompt and any(each["step_index"] >= step["step_index"] for each in waiting[-8:]):
            yield from sorted(waiting, key=lambda each: each["step_index"])
            waiting = []
        waiting.append(step)
    yield from sorted(waiting, key=lambda each: each["step_index"])


def _session_id(steps: list[dict[str, Any]]) -> str:
    """The id that most names of the session's own files hold; else one made from the first step."""
    named = Counter(found for step in steps for found in _SESSION.findall(flat_text(step.get("content"))))
    first = [str(steps[0].get(name)) for name in ("created_at", "step_index", "content")] if steps else []
    return most_used(named) or f"antigravity-{short_digest(first)}"


class _Session:
    """Processes the steps of one session in order."""

    def __init__(self) -> None:
        self.builder = TrajectoryBuilder()
        self.model: str | None = None
        self.open_calls: deque[tuple[str, str]] = deque()  # id and arguments, of the last reply
        self.running: dict[str, str] = {}  # the call of each task in the background
        self.calls = 0

    def take(self, step: dict[str, Any]) -> None:
        """Process one step."""
        self.builder.note_time(step.get("created_at"))
        text = _TIMES.sub("", flat_text(step.get("content")) or flat_text(step.get("error")))
        kind, source = step["type"], step["source"]
        if kind == "USER_INPUT":
            self._take_prompt(text)
        elif kind == "PLANNER_RESPONSE":
            self._take_reply(step)
        elif source == "MODEL" or (kind == "ERROR_MESSAGE" and self.open_calls):
            self._take_outcome(step, text)
        elif (ended := _ENDED.search(text)) and (call_id := self.running.pop(ended[1], None)):
            mark: MessageMark | None = None if ended[2] == "finished" else "cancelled"
            result = _FRAME_END.sub("", text[ended.end() :]).strip()
            self.builder.tool(call_id, result, is_error=_stated(result), mark=mark)
        else:
            self.builder.user(text, mark="compaction" if kind == "CHECKPOINT" else "injected")

    def trajectory(self, session_id: str) -> Trajectory:
        """The trajectory of all steps."""
        hygiene = {"call_ids_made": self.calls} if self.calls else {}
        return self.builder.finish(session_id, Source(FORMAT, hygiene=hygiene), agent=FORMAT)

    def _take_prompt(self, text: str) -> None:
        """What the user asked, and apart from it what the program put around."""
        if chosen := _MODEL.findall(text):
            self.model = chosen[-1]
        request = _REQUEST.search(text)
        if request is None:
            self.builder.user(text)
            return
        self.builder.user(request[1])
        if around := (text[: request.start()] + text[request.end() :]).strip():
            self.builder.user(around, mark="injected")

    def _take_reply(self, step: dict[str, Any]) -> None:
        self.open_calls.clear()
        calls: list[Call] = []
        for call in objects(step.get("tool_calls")):
            self.calls += 1
            call_id, name = f"step_{self.calls}", str(call.get("name", ""))
            self.open_calls.append((call_id, str(call.get("args"))))
            arguments = mapping(call.get("args"))  # each is JSON text; one that was cut off stays as it is
            calls.append((call_id, name, {key: value_or(value, value) for key, value in arguments.items()}))
        thinking = text_or_none(step.get("thinking"))
        self.builder.assistant(flat_text(step.get("content")), thinking=thinking, calls=calls)
        if self.model is not None:
            self.builder.models[self.model] += 1

    def _take_outcome(self, step: dict[str, Any], text: str) -> None:
        """What came of the next open call; an error message is that of a call that could not be made."""
        call_id, given = self.open_calls.popleft() if self.open_calls else (f"unasked_{step['step_index']}", "")
        if started := _STARTED.match(text):
            self.running[started[1]] = call_id
        is_failure = step["status"] == "ERROR" or step["type"] == "ERROR_MESSAGE"
        if is_failure and _REFUSED.match(text) and _ALTERNATIVE not in given:  # which nobody else may say
            self.builder.tool(call_id, text, mark="rejected")
            return
        self.builder.tool(call_id, text, is_error=True if is_failure else _has_failed(step, text))


def _has_failed(step: dict[str, Any], text: str) -> bool | None:
    """By the exit code that is stated for a command; one that runs on in the background has none yet."""
    if step["status"] != "DONE":
        return None
    if step["type"] != "RUN_COMMAND":
        return False
    return _stated(text)


def _stated(text: str) -> bool | None:
    stated = _EXIT.search(text[:_HEAD_CHARACTERS])
    return stated[1] is not None if stated else None
