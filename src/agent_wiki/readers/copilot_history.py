"""Sessions of GitHub Copilot CLI before its events: `~/.copilot/history-session-state/session_<id>_<time>.json`.

One document, `{sessionId, startTime, chatMessages, timeline, selectedModel}`: what the model was sent and said, and
what the terminal showed meanwhile, with times and with how each call ended. A reply that was cut off, and that the user
stopped the agent, is in the timeline alone. (Read after the schema and the code in npm's @github/copilot 0.0.340 and
after sessions that a user published; the program did not run here.)
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import add_message, calls_of, message_text, parts_of
from agent_wiki.readers.recorded import identifier, iso_utc, mapping, objects, seconds_between, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory

FORMAT = "copilot-history"

_AGENT = "copilot-cli"
_STOPPED = "Operation cancelled by user"
_INTERRUPTED = "The execution of this tool, or a previous tool was interrupted"
_LOOKED_UP = (
    "I need to read the content of those paths to answer this request."  # by the program, for files named with @
)
_INSTRUCTIONS = ("<agent_instructions>\n", "\n</agent_instructions>\n\n")
_BEHIND = ("reminder", "current_datetime")
_MOST_BEHIND = 8
_SHELLS = ("bash", "powershell")
_LONGEST_END = 200
_PRINTED_CODE = re.compile(r"<(?:command with id: \S{1,80} )?exited with exit code (-?\d{1,10})>\s*\Z")


def claims(sample: Sample) -> bool:
    """One document with a session's id, its messages and its timeline."""
    document = sample.document()
    lists = (document.get("chatMessages"), document.get("timeline"))
    return text_or_none(document.get("sessionId")) is not None and all(isinstance(each, list) for each in lists)


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a file. Raises `UnreadableRecording` when nothing was said in it."""
    document, builder = mapping(recording.document()), TrajectoryBuilder()
    add_session(builder, document)
    recording.expect_messages(builder.messages)
    started = iso_utc(document.get("startTime"))
    ended = next((entry.get("timestamp") for entry in reversed(objects(document.get("timeline")))), None)
    source = Source(FORMAT, duration_seconds=seconds_between(started, ended), ended_at=iso_utc(ended))
    model = text_or_none(document.get("selectedModel"))
    yield builder.finish(document["sessionId"], source, agent=_AGENT, model=model, timestamp=started)


def add_session(builder: TrajectoryBuilder, document: dict[str, Any]) -> None:
    """Add the turns of a session. The events of one that was gone on with later hold such a document, too."""
    messages, shown = objects(document.get("chatMessages")), objects(document.get("timeline"))
    session = _Session(builder, messages, shown)
    for message in messages:
        session.take(message)
    session.end()


class _Session:
    """Processes the messages of one session in order, each prompt after what was shown before it."""

    def __init__(self, builder: TrajectoryBuilder, messages: list[dict[str, Any]], shown: list[dict[str, Any]]) -> None:
        self.builder = builder
        self.shown = shown
        self._position = 0  # in what was shown
        self._prompts: dict[str, deque[int]] = {}  # their places there
        for place, entry in enumerate(shown):
            if entry.get("type") == "user":
                words = text_or_none(entry.get("expandedText")) or str(entry.get("text", ""))
                self._prompts.setdefault(words.strip(), deque()).append(place)
        self._ended = {str(entry.get("callId")): entry for entry in shown if entry.get("type") == "tool_call_completed"}
        self._said = {message_text(each).strip() for each in messages if each.get("role") == "assistant"}
        self._looked_up: set[str | None] = set()  # calls that no model asked for
        self._instructions: str | None = None

    def take(self, message: dict[str, Any]) -> None:
        """Add one message."""
        role = message.get("role")
        if role == "user":
            self._take_prompt(message)
        elif role == "tool":
            self._take_result(identifier(message.get("tool_call_id")), message_text(message))
        elif role == "assistant" and message.get("tool_calls") and message_text(message) == _LOOKED_UP:
            self._looked_up.update(call_id for call_id, _, _ in calls_of(message))
        else:
            add_message(self.builder, {"reasoning": message.get("reasoning_text"), **message})

    def end(self) -> None:
        """Add what was shown behind the last prompt."""
        self._show(len(self.shown))

    def _take_prompt(self, message: dict[str, Any]) -> None:
        """What the user typed, without what the program put around it; images stand behind it."""
        first, *rest = parts_of(message.get("content")).texts or [""]
        instructions, first = _without_instructions(first)
        is_typed = first.strip() in self._prompts  # the terminal showed the blocks, too
        words, blocks = (first, 0) if is_typed else without_blocks(first)
        self.builder.hygiene["system_reminders_stripped"] += blocks
        places = self._prompts.get(words.strip(), deque())
        while places and places[0] < self._position:
            places.popleft()
        if places:
            self._show(places.popleft())
        if instructions and instructions != self._instructions:
            self.builder.system(instructions)
            self._instructions = instructions
        self.builder.user("\n".join([words, *rest] if words else rest))

    def _show(self, end: int) -> None:
        """Of what was shown up to a place, that which is in no message."""
        for entry in self.shown[self._position : end]:
            text = text_or_none(entry.get("text"))
            if entry.get("type") == "copilot" and text and text.strip() not in self._said:
                self.builder.assistant(text)
            elif entry.get("type") == "info" and text == _STOPPED:
                self.builder.user(text, "interrupt")
        self._position = end

    def _take_result(self, call_id: str | None, text: str) -> None:
        if call_id in self._looked_up:
            self.builder.user(text, "injected")
            return
        entry = self._ended.get(call_id or "", {})
        has_failed, mark = _outcome(mapping(entry.get("result")).get("type"), str(entry.get("name")), text)
        self.builder.tool(call_id, text, is_error=has_failed, mark=mark)


def _outcome(kind: Any, tool: str, text: str) -> tuple[bool | None, MessageMark | None]:
    """Whether a call failed, and the mark of one that the user refused or stopped.

    A command is a success whatever its exit code, and also one that still runs.
    """
    if text.startswith(_INTERRUPTED):
        return None, "interrupt"
    if kind == "rejected":
        return None, "rejected"
    if kind in ("failure", "denied"):
        return True, None
    if code := _PRINTED_CODE.search(text[-_LONGEST_END:]):
        return int(code[1]) != 0, None
    return (False if kind == "success" and not tool.endswith(_SHELLS) else None), None


def _without_instructions(text: str) -> tuple[str | None, str]:
    """The instructions of a custom agent, which stand before each prompt, and the rest."""
    opening, closing = _INSTRUCTIONS
    instructions, found, rest = text.removeprefix(opening).partition(closing)
    return (instructions, rest) if text.startswith(opening) and found else (None, text)


def without_blocks(text: str) -> tuple[str, int]:
    """A prompt without the blocks that the program put behind it, and how many there were."""
    for number in range(_MOST_BEHIND):
        tag = next((tag for tag in _BEHIND if text.endswith(f"</{tag}>")), None)
        before, opening, _ = text.rpartition(f"<{tag}>")
        if tag is None or not opening or not (before == "" or before.endswith("\n\n")):
            return text, number
        text = before.removesuffix("\n\n")
    return text, _MOST_BEHIND
