"""Gemini CLI sessions: the older single JSON document and the newer JSONL.

In the JSONL, a message that grows is appended again in full under its id, `{"$set": {…}}` changes the header or lists
the whole history again, and `{"$rewindTo": id}` removes turns from the model's context. Everything recorded
happened, so all of it is kept in recorded order: a rewound turn is an abandoned attempt, not one that never was.
A subagent's session has a file of its own, in a folder named after the session that started it. Published sessions may
have lost their header; they begin with any message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_values import summed_usage
from agent_wiki.readers.gemini_history import Messages
from agent_wiki.readers.gemini_parts import (
    SHELL,
    calls_in,
    cancelled_mark,
    hook_context,
    prompt_pieces,
    reply_tokens,
    responses_in,
    result_text,
    said_text,
    thought_text,
)
from agent_wiki.readers.recorded import (
    flat_text,
    id_of_first,
    iso_utc,
    mapping,
    most_used,
    objects,
    recorded_call,
    seconds_between,
    text_or_none,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.sidecars import text_beside
from agent_wiki.trajectory import MessageMark, Source, Trajectory, Usage
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.harness_text import harness_mark

FORMAT = "gemini-cli"

_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,10})$", re.MULTILINE)  # in the frame below a shell's output
_FRAME_CHARACTERS = 600
_FOLDER = re.compile(r"^  - (.+)$", re.MULTILINE)  # of the workspace, in the context that the program gives the model
_LAST_CHANCE = "You have one final chance to complete the task"  # the last words to a subagent that did not report
# Replies that the program writes itself, and what comes before each.
_ACKNOWLEDGED: dict[str, MessageMark] = {
    "Got it. Thanks for the context!": "injected",
    "Got it. Thanks for the additional context!": "compaction",
}
_TYPES = frozenset({"user", "gemini", "info", "warning", "error"})
_INTERRUPTS = frozenset({"Request cancelled.", "Request cancelled by user."})


def claims(sample: Sample) -> bool:
    """A header with `sessionId` and `projectHash` or `startTime`, with its messages inside or on later lines.

    Or, on lines, messages and changes alone, one of them a reply.
    """
    records = sample.records()
    return bool(records) and (_is_header(records[0]) or (sample.shape == "lines" and _has_lost_its_header(records)))


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a recording. Raises `UnreadableRecording` when it has no messages."""
    header: dict[str, Any] = {}
    messages = Messages()
    is_document = recording.sample().shape == "document"
    for record in objects([recording.document()]) if is_document else recording.records():
        if isinstance(patch := record.get("$set"), dict):
            messages.list_again(patch.pop("messages", None))
            header.update(patch)
        elif _is_header(record):
            messages.list_again(record.pop("messages", None))
            # A session that is resumed gets a second header: it began with the first one.
            header.update(record | {"startTime": header.get("startTime") or record.get("startTime")})
        else:
            messages.put(record)
    session_id = (
        header.get("sessionId") if "sessionId" in header else id_of_first(FORMAT, next(iter(messages.in_order()), {}))
    )
    if not isinstance(session_id, str) or not session_id:
        raise UnreadableRecording(recording.name, "a Gemini CLI session without its sessionId")
    yield from recording.with_messages(_trajectory(recording, session_id, header, messages))


def _is_header(record: dict[str, Any]) -> bool:
    is_named = "sessionId" in record and ("projectHash" in record or "startTime" in record)
    return is_named and not record.keys() & {"role", "chatMessages"}  # of a message, and of Copilot CLI


def _has_lost_its_header(records: list[dict[str, Any]]) -> bool:
    is_ours = all("$set" in record or "$rewindTo" in record or _is_message(record) for record in records)
    return is_ours and any(record.get("type") == "gemini" for record in records)


def _is_message(record: dict[str, Any]) -> bool:
    has_place = isinstance(record.get("id"), str) and isinstance(record.get("timestamp"), str)
    return has_place and str(record.get("type")) in _TYPES and "content" in record


def _trajectory(recording: Recording, session_id: str, header: dict[str, Any], messages: Messages) -> Trajectory:
    builder = TrajectoryBuilder()
    listed = messages.in_order()
    add_messages(builder, listed)
    replies = [message for message in listed if message["type"] == "gemini"]
    models = Counter(reply["model"] for reply in replies if isinstance(reply.get("model"), str))
    started = header.get("startTime") or (listed[0].get("timestamp") if listed else None)
    ended = header.get("lastUpdated") or (listed[-1].get("timestamp") if listed else None)
    source = Source(
        format=FORMAT,
        cwd=_cwd(recording, header, listed),
        title=text_or_none(header.get("summary")),
        usage=summed_usage(_usage(reply.get("tokens")) for reply in replies),
        duration_seconds=seconds_between(started, ended),
        ended_at=iso_utc(ended),
        parent_session_id=recording.path.absolute().parent.name if _is_subagent(header) else None,
        hygiene={"duplicate_turns_dropped": messages.duplicates, "split_replies_joined": messages.joined},
    )
    return builder.finish(session_id, source, agent=FORMAT, model=most_used(models), timestamp=iso_utc(started))


def add_messages(builder: TrajectoryBuilder, listed: list[dict[str, Any]]) -> None:
    """Add the turns of messages with a `type` and a `content`, in their order."""
    answered: set[str] = set()
    for message, following in zip_longest(listed, listed[1:]):
        if _acknowledged(message):
            builder.user(said_text(message.get("content")), mark="injected")
        elif message["type"] == "gemini":
            _add_reply(builder, message, answered)
        elif message["type"] == "user" and following is not None and (mark := _acknowledged(following)):
            builder.user(flat_text(message.get("content")), mark=mark)
        elif message["type"] == "user":
            _add_user(builder, message, answered)
        else:
            text = flat_text(message.get("content"))
            builder.user(text, mark="interrupt" if text in _INTERRUPTS else "injected")


def _acknowledged(message: dict[str, Any]) -> MessageMark | None:
    """What a reply acknowledges that the program writes itself, after a context or a summary; None for any other."""
    is_free = message["type"] == "gemini" and not message.get("tokens")
    return _ACKNOWLEDGED.get(said_text(message.get("content"))) if is_free else None


def _is_subagent(header: dict[str, Any]) -> bool:
    return header.get("kind") == "subagent"


def _cwd(recording: Recording, header: dict[str, Any], messages: list[dict[str, Any]]) -> str | None:
    """The project's folder: that of `.project_root` beside the chats, else one that the header's hash confirms."""
    beside = text_beside(recording, "../../.project_root" if _is_subagent(header) else "../.project_root")
    if beside and beside.strip():
        return beside.strip()
    directories = header.get("directories")
    named = [each for each in directories if isinstance(each, str)] if isinstance(directories, list) else []
    named += _FOLDER.findall(flat_text(messages[0].get("content"))) if messages else []
    return next((each for each in named if sha256_of(each) == header.get("projectHash")), None)


def _add_user(builder: TrajectoryBuilder, message: dict[str, Any], answered: set[str]) -> None:
    """A user message. Tool results also come as user messages, in addition to the copy in the reply's calls."""
    content = message.get("content")
    responses = responses_in(content)
    for response in responses:
        call_id = text_or_none(response.get("id"))
        if call_id not in answered:
            _answer(call_id, answered)
            text, is_error = result_text([{"functionResponse": response}])
            mark = cancelled_mark(text) if is_error else None
            builder.tool(call_id, text, is_error=None if mark else is_error, mark=mark)
    from_hooks, text = hook_context(flat_text(content))
    if from_hooks:
        builder.user(from_hooks, mark="injected")
    if (responses or from_hooks) and not text:
        return
    if mark := harness_mark(text) or ("injected" if _LAST_CHANCE in text[:200] else None):
        builder.user(text, mark=mark)
        return
    pieces = list(prompt_pieces(text, text_or_none(flat_text(message.get("displayContent")))))
    for piece, piece_mark in pieces or [(text, None)]:
        builder.user(piece, mark=piece_mark)


def _add_reply(builder: TrajectoryBuilder, message: dict[str, Any], answered: set[str]) -> None:
    """A reply with its thoughts and calls, then the results nested in the calls."""
    content, calls = message.get("content"), objects(message.get("toolCalls"))
    named = [recorded_call(call, "id", "name", "args") for call in calls]
    known = {call_id for call_id, _, _ in named}
    named += [call for call in calls_in(content) if not known or (call[0] is not None and call[0] not in known)]
    thinking = _thinking(message.get("thoughts")) or thought_text(content)
    builder.assistant(said_text(content) or None, thinking=thinking, calls=named)
    for call in calls:
        _add_result(builder, call, answered)


def _answer(call_id: str | None, answered: set[str]) -> None:
    if call_id is not None:
        answered.add(call_id)


def _add_result(builder: TrajectoryBuilder, call: dict[str, Any], answered: set[str]) -> None:
    result, status = call.get("result"), call.get("status")
    if result is None and call.get("resultDisplay") is None:
        return
    text, is_error = result_text(result)
    if not text and isinstance(call.get("resultDisplay"), str):
        text = call["resultDisplay"]
    call_id = text_or_none(call.get("id"))
    _answer(call_id, answered)
    if status == "cancelled":
        builder.tool(call_id, text, mark=cancelled_mark(text) or "rejected")  # only the user cancels a call
        return
    if status == "error":
        is_error = True
    elif status == "success":
        # Gemini reports a shell command that ran as a success, whatever its exit code.
        codes = _EXIT_CODE.findall(text[-_FRAME_CHARACTERS:]) if call.get("name") == SHELL else []
        is_error = bool(codes) and codes[-1] != "0"
    builder.tool(call_id, text, is_error=is_error)


def _thinking(thoughts: Any) -> str | None:
    texts = []
    for thought in objects(thoughts):
        lines = [thought.get(name) for name in ("subject", "description")]
        texts.append("\n".join(line for line in lines if isinstance(line, str) and line))
    return "\n\n".join(text for text in texts if text) or None


def _usage(tokens: Any) -> Usage | None:
    tokens = mapping(tokens)
    written = (tokens.get("output"), tokens.get("thoughts"))
    return reply_tokens(tokens.get("input"), tokens.get("cached"), tokens.get("total"), written, tokens.get("tool"))
