"""Gemini CLI sessions: the older single JSON document and the newer JSONL.

In the JSONL, a message that grows is appended again in full under its id, `{"$set": {…}}` changes the header or
the list of messages, and `{"$rewindTo": id}` removes turns from the model's context. Everything recorded
happened, so all of it is kept in recorded order: a rewound turn is an abandoned attempt, not one that never was.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.recorded import count, flat_text, iso_utc, most_used, seconds_between, text_or_none, usage_of
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory

FORMAT = "gemini-cli"

_SHELL = "run_shell_command"
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,10})$", re.MULTILINE)  # in the frame below a shell's output
_FRAME_CHARACTERS = 600
_NOTICES: tuple[tuple[str, MessageMark], ...] = (
    ("<session_context>", "injected"),
    ("This is the Gemini CLI. We are setting up the context", "injected"),
    ("<hook_context>", "injected"),
    ("<state_snapshot>", "compaction"),
)
_INTERRUPTS = frozenset({"Request cancelled.", "Request cancelled by user."})


def claims(sample: Sample) -> bool:
    """A header with `sessionId` and `projectHash` or `startTime`, with its messages inside or on later lines."""
    records = sample.records()
    return bool(records) and _is_header(records[0])


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a recording. Raises `UnreadableRecording` when it has no messages."""
    header: dict[str, Any] = {}
    messages = _Messages()
    for record in _records(recording):
        if isinstance(patch := record.get("$set"), dict):
            messages.replace(patch.pop("messages", None))
            header.update(patch)
        elif _is_header(record):
            messages.replace(record.pop("messages", None))
            header.update(record)
        else:
            messages.put(record)
    session_id = header.get("sessionId")
    if not isinstance(session_id, str) or not session_id:
        raise UnreadableRecording(recording.name, "a Gemini CLI session without its sessionId")
    trajectory = _trajectory(session_id, header, messages)
    if not trajectory.messages:
        raise UnreadableRecording(recording.name, "a session without messages")
    yield trajectory


class _Messages:
    """The messages of a session in recorded order, each in its latest version."""

    def __init__(self) -> None:
        self.by_id: dict[str, dict[str, Any]] = {}
        self.duplicates = 0

    def put(self, message: dict[str, Any]) -> None:
        """Process a message line. A known id is updated in its old position."""
        if isinstance(message.get("type"), str):
            key = message.get("id")
            self.by_id[key if isinstance(key, str) else f"#{len(self.by_id)}"] = message

    def replace(self, messages: Any) -> None:
        """Process a whole list; a resumed session lists its history again, sometimes under new ids."""
        if not isinstance(messages, list):
            return
        known = {_what_it_says(message) for message in self.by_id.values()}
        for message in messages:
            if not isinstance(message, dict):
                continue
            if str(message.get("id")) not in self.by_id and _what_it_says(message) in known:
                self.duplicates += 1
            else:
                self.put(message)


def _records(recording: Recording) -> Iterator[dict[str, Any]]:
    if recording.sample().shape == "document":
        document = recording.document()
        if isinstance(document, dict):
            yield document
        return
    for _, record in recording.lines():
        if isinstance(record, dict):
            yield record


def _is_header(record: dict[str, Any]) -> bool:
    return "sessionId" in record and ("projectHash" in record or "startTime" in record) and "role" not in record


def _what_it_says(message: dict[str, Any]) -> str:
    said = {name: message.get(name) for name in ("type", "content", "toolCalls")}
    return json.dumps(said, sort_keys=True)


def _trajectory(session_id: str, header: dict[str, Any], messages: _Messages) -> Trajectory:
    builder = TrajectoryBuilder()
    models: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    answered: set[str] = set()
    for message in messages.by_id.values():
        if message["type"] == "gemini":
            _add_reply(builder, message, answered)
            _add_tokens(tokens, message.get("tokens"))
            if isinstance(model := message.get("model"), str):
                models[model] += 1
        elif message["type"] == "user":
            _add_user(builder, message.get("content"), answered)
        else:
            text = flat_text(message.get("content"))
            builder.user(text, mark="interrupt" if text in _INTERRUPTS else "injected")
    moments = [message.get("timestamp") for message in messages.by_id.values()]
    started, ended = header.get("startTime"), header.get("lastUpdated") or (moments or [None])[-1]
    source = Source(
        format=FORMAT,
        title=text_or_none(header.get("summary")),
        usage=usage_of(tokens),
        duration_seconds=seconds_between(started, ended),
        ended_at=iso_utc(ended),
        hygiene={"duplicate_turns_dropped": messages.duplicates} if messages.duplicates else {},
    )
    return builder.finish(session_id, source, agent=FORMAT, model=most_used(models), timestamp=iso_utc(started))


def _add_user(builder: TrajectoryBuilder, content: Any, answered: set[str]) -> None:
    """A user message. Tool results also come as user messages, in addition to the copy in the reply's calls."""
    parts = content if isinstance(content, list) else [content]
    responses = [part["functionResponse"] for part in parts if isinstance(part, dict) and "functionResponse" in part]
    for response in responses:
        call_id = text_or_none(response.get("id")) if isinstance(response, dict) else None
        if isinstance(response, dict) and call_id not in answered:
            text, is_error = _response_text(response.get("response"))
            builder.tool(call_id, text, is_error=is_error)
    text = flat_text(content)
    if responses and not text:
        return
    mark = next((mark for beginning, mark in _NOTICES if text.startswith(beginning)), None)
    builder.user(text, mark=mark)


def _add_reply(builder: TrajectoryBuilder, message: dict[str, Any], answered: set[str]) -> None:
    """A reply with its thoughts and calls, then the results nested in the calls."""
    listed = message.get("toolCalls")
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    builder.assistant(
        flat_text(message.get("content")) or None,
        thinking=_thinking(message.get("thoughts")),
        calls=[(text_or_none(call.get("id")), str(call.get("name", "")), call.get("args")) for call in calls],
    )
    for call in calls:
        _add_result(builder, call, answered)


def _add_result(builder: TrajectoryBuilder, call: dict[str, Any], answered: set[str]) -> None:
    result, status = call.get("result"), call.get("status")
    if result is None and call.get("resultDisplay") is None:
        return
    text, is_error = _result_text(result)
    if not text and isinstance(call.get("resultDisplay"), str):
        text = call["resultDisplay"]
    call_id = text_or_none(call.get("id"))
    if call_id is not None:
        answered.add(call_id)
    if status == "cancelled":
        builder.tool(call_id, text, mark="rejected")  # Gemini cancels a call only if the user does
        return
    if status == "error":
        is_error = True
    elif status == "success":
        # Gemini reports a shell command that ran as a success, whatever its exit code.
        codes = _EXIT_CODE.findall(text[-_FRAME_CHARACTERS:]) if call.get("name") == _SHELL else []
        is_error = bool(codes) and codes[-1] != "0"
    builder.tool(call_id, text, is_error=is_error)


def _result_text(result: Any) -> tuple[str, bool | None]:
    """The text of a result's parts, and whether one of them is an error."""
    texts: list[str] = []
    verdict: bool | None = None
    for part in result if isinstance(result, list) else [result]:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        if isinstance(response, dict):
            text, is_error = _response_text(response.get("response"))
            media = flat_text(response.get("parts"))
            texts += [each for each in (text, media) if each]
            verdict = verdict or is_error
        elif text := flat_text(part):
            texts.append(text)
    return "\n".join(texts), verdict


def _response_text(response: Any) -> tuple[str, bool | None]:
    if not isinstance(response, dict):
        return flat_text(response), None
    for name, is_error in (("error", True), ("output", None)):
        if name in response:
            value = response[name]
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), is_error
    return json.dumps(response, ensure_ascii=False), None


def _thinking(thoughts: Any) -> str | None:
    if not isinstance(thoughts, list):
        return None
    texts = []
    for thought in thoughts:
        if isinstance(thought, dict):
            lines = [thought.get(name) for name in ("subject", "description")]
            texts.append("\n".join(line for line in lines if isinstance(line, str) and line))
    return "\n\n".join(text for text in texts if text) or None


def _add_tokens(tokens: Counter[str], recorded: Any) -> None:
    """Gemini counts cached tokens as input, and thoughts separately from the output as which they are billed."""
    if not isinstance(recorded, dict) or count(recorded.get("input")) is None:
        return
    number = {name: count(recorded.get(name)) or 0 for name in ("input", "output", "cached", "thoughts", "tool")}
    tokens["input_tokens"] += max(0, number["input"] + number["tool"] - number["cached"])
    tokens["cache_read_input_tokens"] += number["cached"]
    tokens["output_tokens"] += number["output"] + number["thoughts"]
