"""Chats of VS Code, as GitHub Copilot's: a session's file, or what "Chat: Export Chat..." wrote.

    chatSessions/<id>.json    {"version", "sessionId", "creationDate", "requests": […], …}; an export is the same
    chatSessions/<id>.jsonl   what changed in that document, a change a line (`vscode_changes.py`)

A request is a turn of the user with all that came of it. `result.metadata.toolCallRounds` has the model's replies, with
whole arguments, and `toolCallResults` their results; `response` what the window showed of them: how a command ended,
and what the user did not allow. Where no rounds are kept (a request that was stopped), the window's parts are all there
is. (Read after VS Code's source, MIT, and public exports; the program did not run here.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import Call
from agent_wiki.readers.chat_values import content_id
from agent_wiki.readers.recorded import identifier, iso_utc, mapping, most_used, number, objects, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.vscode_changes import FIRST, document_of, is_first_change
from agent_wiki.readers.vscode_parts import (
    ShownTool,
    call_id_of,
    how_it_went,
    shown_calls,
    text_of,
    text_of_results,
    words_of,
)
from agent_wiki.trajectory import Source, Trajectory
from agent_wiki.trajectory.lazily import regex

FORMAT = "vscode-chat"

_STOPPED = "Canceled"
_VENDOR, _ANY = "copilot/", "auto"
_DRIVE = regex(r"/(?=[A-Za-z]:)")  # before a drive of Windows, as addresses have it
_SIGNS = frozenset({"responderUsername", "requesterUsername", "initialLocation", "lastMessageDate"})


def claims(sample: Sample) -> bool:
    """A document with requests and what VS Code says of a chat, or the first change that makes one."""
    if sample.shape == "lines":
        return bool(sample.values) and is_first_change(sample.values[0]) and _is_chat(sample.values[0][FIRST])
    return _is_chat(sample.document())


def _is_chat(value: Any) -> bool:
    document = mapping(value)
    return isinstance(document.get("requests"), list) and not document.keys().isdisjoint({*_SIGNS, "creationDate"})


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one chat of a file. Raises `UnreadableRecording` when nothing was asked in it."""
    is_log = recording.sample().shape == "lines"
    document = mapping(document_of(recording) if is_log else recording.document())
    chat = _Chat(document)
    for request in objects(document.get("requests")):
        chat.take(request)
    if not chat.builder.messages:
        raise UnreadableRecording(recording.name, "a chat of VS Code in which nothing was asked", is_foreign=True)
    yield chat.trajectory()


class _Chat:
    """Processes the requests of one chat in order."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.builder = TrajectoryBuilder()
        self.folders: Counter[str] = Counter()
        self.session_ids: Counter[str] = Counter()

    def take(self, request: dict[str, Any]) -> None:
        """A turn of the user, and all that came of it."""
        result = mapping(request.get("result"))
        metadata = mapping(result.get("metadata"))
        self._measure(request, result, metadata)
        is_by_program = request.get("isSystemInitiated") is True
        self.builder.user(words_of(request.get("message")), "injected" if is_by_program else None)
        parts = objects(request.get("response"))
        shown = shown_calls(parts)
        rounds = [each for each in objects(metadata.get("toolCallRounds")) if _says_something(each)]
        for each in rounds:
            self._add_round(each, mapping(metadata.get("toolCallResults")), shown)
        if not rounds:
            self._add_parts(parts, shown)
        self._add_end(request, mapping(result.get("errorDetails")))

    def _add_round(self, recorded: dict[str, Any], results: dict[str, Any], shown: dict[str, ShownTool]) -> None:
        thinking = text_of(mapping(recorded.get("thinking")).get("text"))
        calls: list[Call] = [
            (identifier(each.get("id")), text_or_none(each.get("name")) or "unknown", each.get("arguments"))
            for each in objects(recorded.get("toolCalls"))
        ]
        ids = self.builder.assistant(text_of(recorded.get("response")), thinking=thinking, calls=calls)
        for call_id in ids:
            seen = shown.get(call_id.partition("__vscode")[0])
            printed = text_of_results(results[call_id]) if call_id in results else seen.output if seen else None
            if printed is not None or (seen is not None and seen.mark):
                self._add_result(call_id, printed or "", seen)

    def _add_result(self, call_id: str, text: str, seen: ShownTool | None) -> None:
        is_error, mark = how_it_went(text, seen)
        self.builder.tool(call_id, text, is_error=is_error, mark=mark)

    def _add_parts(self, parts: list[dict[str, Any]], shown: dict[str, ShownTool]) -> None:
        """What the window showed, as replies: the words and thoughts before a call with it."""
        words: list[str] = []
        thoughts: list[str] = []
        for part in parts:
            call_id = call_id_of(part)
            if call_id is None:
                (thoughts if part.get("kind") == "thinking" else words).append(words_of(part))
                continue
            seen = shown[call_id]
            self._say(words, thoughts, [(call_id, seen.tool, seen.arguments)])
            if seen.output is not None or seen.mark:
                self._add_result(call_id, seen.output or "", seen)
        self._say(words, thoughts, [])

    def _say(self, words: list[str], thoughts: list[str], calls: list[Call]) -> None:
        text, thinking = "".join(words), "\n".join(filter(None, thoughts))
        if calls or text.strip() or thinking:
            self.builder.assistant(text, thinking=thinking, calls=calls)
        words.clear()
        thoughts.clear()

    def _add_end(self, request: dict[str, Any], error: dict[str, Any]) -> None:
        """That the user stopped the agent, or what the service said instead of an answer."""
        message = text_or_none(error.get("message"))
        if request.get("isCanceled") is True or message == _STOPPED:
            self.builder.user("[Request interrupted by user]", "interrupt")
        elif message:
            self.builder.assistant(message)

    def _measure(self, request: dict[str, Any], result: dict[str, Any], metadata: dict[str, Any]) -> None:
        chosen = (text_or_none(request.get("modelId")) or "").removeprefix(_VENDOR)
        shown = (text_or_none(result.get("details")) or "").partition(" • ")[0] if chosen in ("", _ANY) else ""
        self.builder.models.update(filter(None, [text_or_none(metadata.get("resolvedModel")) or shown or chosen]))
        self.session_ids.update(filter(None, [text_or_none(metadata.get("sessionId"))]))
        folders = (text_or_none(mapping(each.get("baseUri")).get("path")) for each in objects(request.get("response")))
        self.folders.update(_DRIVE.sub("", folder.rstrip("/"), count=1) or "/" for folder in folders if folder)
        asked, took = number(request.get("timestamp")), number(mapping(result.get("timings")).get("totalElapsed"))
        self.builder.note_time(asked, None if asked is None else asked + (took or 0))  # milliseconds

    def trajectory(self) -> Trajectory:
        """The trajectory of all requests."""
        source = Source(FORMAT, title=text_or_none(self.document.get("customTitle")), cwd=most_used(self.folders))
        named = identifier(self.document.get("sessionId")) or most_used(self.session_ids)
        session_id = named or content_id(FORMAT, None, messages=objects(self.document.get("requests")))
        created = None if self.builder.started is not None else iso_utc(self.document.get("creationDate"))
        return self.builder.finish(session_id, source, agent="copilot-chat", timestamp=created)


def _says_something(recorded: dict[str, Any]) -> bool:
    return bool(text_of(recorded.get("response")) or objects(recorded.get("toolCalls")))
