"""Sessions of Goose: a header and a message a line, as it kept them until 2025; or a document each, as it exports them.

Since then they are in a database, which is read in the form of the export (`goose_database`). A message says whether
the user saw it (`userVisible`): the rest was written by the program, except the calls of the model. (Read after
session_manager.rs, message.rs and context_mgmt/mod.rs of goose, Apache 2.0, and rows that tests of other programs keep;
the program did not run here.)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from agent_wiki.readers.builder import ReplyParts, TrajectoryBuilder
from agent_wiki.readers.chat_values import content_id
from agent_wiki.readers.goose_parts import CALLS, RESULT, GooseParts, GooseResult, parts_of_goose
from agent_wiki.readers.recorded import (
    count,
    flat_text,
    identifier,
    iso_utc,
    mapping,
    most_used,
    number,
    objects,
    short_digest,
    text_or_none,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory, Usage
from agent_wiki.trajectory.lazily import regex

FORMAT = "goose"

_MESSAGES_LOOKED_AT = 40
# Tokens read and written, and of those read the ones of the cache: of the session, in two forms, and of a reply.
_IN_TOTAL = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_write_input_tokens")
_OF_SESSION = (
    "accumulated_input_tokens", "accumulated_output_tokens", "accumulated_cache_read_tokens",
    "accumulated_cache_write_tokens",
)  # fmt: skip
_OF_REPLY = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_CONTEXT = "<turn-context>"
_FILE = regex(r"(\d{8}_\d{1,8})\.jsonl.{0,4}")  # the name that it gave a session without an id


def claims(sample: Sample) -> bool:
    """A session's document, one a line, or a header with `working_dir` and messages; or messages with Goose's calls."""
    if sample.shape == "document":
        return _is_session(sample.values[0]) or _is_header(mapping(sample.values[0]))
    records = sample.records() if sample.shape == "lines" else []
    messages = list(filter(_is_message, records))
    begins = bool(records) and (_is_session(records[0]) or (_is_header(records[0]) and bool(messages)))
    return begins or any(map(_has_calls, messages))


def _is_session(value: Any) -> bool:
    document = mapping(value)
    messages = _conversation(document)
    if messages is None or not all(map(_is_message, messages[:_MESSAGES_LOOKED_AT])):
        return False
    return isinstance(document.get("working_dir"), str) or any(map(_has_calls, messages[:_MESSAGES_LOOKED_AT]))


def _conversation(document: dict[str, Any]) -> list[Any] | None:
    messages = document.get("conversation", document.get("messages"))
    return messages if isinstance(messages, list) else None


def _is_header(record: dict[str, Any]) -> bool:
    return isinstance(record.get("working_dir"), str) and "message_count" in record and "role" not in record


def _is_message(value: Any) -> bool:
    message = mapping(value)
    is_timed = number(message.get("created")) is not None
    return is_timed and message.get("role") in ("user", "assistant") and isinstance(message.get("content"), list)


def _has_calls(message: Any) -> bool:
    kinds = {str(block.get("type")) for block in objects(mapping(message).get("content"))}
    return _is_message(message) and not kinds.isdisjoint(CALLS | {RESULT})


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every session in which something was said. Raises `UnreadableRecording` when there is none."""
    found = False
    for header, messages in _sessions(recording):
        trajectory = _trajectory(header, messages, recording.path.name)
        if trajectory.messages:
            found = True
            yield trajectory
    recording.expect_messages(found)


def _sessions(recording: Recording) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each session as its header and its messages: of a document, of each document on a line, or of all lines."""
    header: dict[str, Any] = {}
    messages: list[dict[str, Any]] = []
    is_lines = recording.sample().shape == "lines"
    for record in recording.records() if is_lines else objects([recording.document()]):
        if (conversation := _conversation(record)) is not None:
            yield record, objects(conversation)
        elif "role" in record:
            messages.append(record)
        elif _is_header(record):
            header = header or record
    if messages:
        yield header, messages


def _trajectory(header: dict[str, Any], messages: list[dict[str, Any]], file: str) -> Trajectory:
    session = _Session()
    for message, after in pairwise([*messages, {}]):
        session.take(message, after)
    session.end_reply()
    builder = session.builder
    source = Source(
        FORMAT,
        title=text_or_none(header.get("name")) or text_or_none(header.get("description")),
        cwd=text_or_none(header.get("working_dir")),
        parent_session_id=_parent(header),
        usage=_usage(header),
        cost_usd=number(header.get("accumulated_cost")) or None,
    )
    model = most_used(builder.models) or text_or_none(mapping(header.get("model_config")).get("model_name"))
    name = identifier(header.get("id")) or _of_file(file)
    named = _named(name, _began(messages) or header.get("created_at"))
    session_id = named or content_id(FORMAT, name, messages=messages[:1])
    return builder.finish(session_id, source, agent=FORMAT, model=model, timestamp=iso_utc(header.get("created_at")))


def _named(session_id: str | None, began: Any) -> str | None:
    """Goose numbers the sessions of a day, so that two machines have the same ids: the time tells them apart.

    It is that of the first message, which a file of 2025 keeps when it is imported into the database.
    """
    moment = iso_utc(began)
    return f"{session_id}-{short_digest([moment])}" if session_id and moment else None


def _began(messages: list[dict[str, Any]]) -> Any:
    return messages[0].get("created") if messages else None


def _of_file(file: str) -> str | None:
    """The id that Goose gives to a session of a file when it imports it."""
    name = _FILE.fullmatch(file)
    return name[1] if name else None


def _parent(header: dict[str, Any]) -> str | None:
    parent = identifier(header.get("parent_session_id"))
    return _named(parent, header.get("parent_began")) or parent


class _Session:
    """Processes the messages of one session in order."""

    def __init__(self) -> None:
        self.builder = TrajectoryBuilder()
        self._requests: set[str] = set()  # what the user was seen to write
        self._refused: set[str] = set()  # ids of calls
        self._follows_note = False
        self._reply = ReplyParts()  # that may go on
        self._thought = ""  # of the agent's last message

    def take(self, message: dict[str, Any], after: dict[str, Any]) -> None:
        """Process one message. `after`: the one that follows it, or empty."""
        parts, is_hidden, is_note = parts_of_goose(message), _is_hidden(message), _is_note(message)
        is_reply = message.get("role") == "assistant" and not is_note
        if is_reply:
            self._take_reply(parts)
        if parts.results or not is_reply:
            self.end_reply()
        self._refused.update(parts.refused)
        for result in parts.results:
            self._take_result(result)
        if parts.answers:
            self.builder.user("\n".join(parts.answers))
        if parts.texts and not is_reply and (is_hidden or message.get("role") == "user"):
            mark = _mark(parts.texts[0], after) if is_hidden else self._mark_of_seen(message, parts)
            self.builder.user(parts.text(), mark=mark)
        self._follows_note = is_note
        self._note_figures(message)

    def _take_result(self, result: GooseResult) -> None:
        is_refused = result.call_id in self._refused
        is_error, mark = (None, "rejected") if is_refused else (result.is_error, result.mark)
        self.builder.tool(result.call_id, result.text, is_error=is_error, mark=mark)

    def _take_reply(self, parts: GooseParts) -> None:
        """Goose stores a reply in several messages: its words, its thinking, and a call each with all the thinking."""
        if not (parts.texts or parts.thinking or parts.calls):
            self.builder.assistant()  # which counts it
            return
        if parts.texts and (self._reply.texts or self._reply.calls):
            self.end_reply()
        thought = "\n\n".join(parts.thinking)
        self._reply.thoughts += [thought] if thought and thought != self._thought else []
        self._reply.texts += filter(None, [parts.text()])
        self._reply.calls += parts.calls
        self._thought = thought

    def end_reply(self) -> None:
        """Add the reply of which nothing more comes."""
        self._reply.add_to(self.builder)
        self._reply = ReplyParts()

    def _mark_of_seen(self, message: dict[str, Any], parts: GooseParts) -> MessageMark | None:
        """The mark of what the user saw: Goose says the last request again once it has compacted a session at work."""
        words = _words(message)
        is_said_again = self._follows_note and words in self._requests and not parts.results
        if words:
            self._requests.add(words)
        return "injected" if is_said_again or parts.texts[0].startswith(_CONTEXT) else None

    def _note_figures(self, message: dict[str, Any]) -> None:
        """When a message was said, by which model, and the tokens of a reply."""
        metadata = mapping(message.get("metadata"))
        self.builder.note_time(iso_utc(message.get("created")))
        inference, spent = mapping(metadata.get("inference")), mapping(metadata.get("usage"))
        names = (text_or_none(inference.get(key)) for key in ("resolvedModel", "requestedModel"))
        self.builder.models.update(list(filter(None, names))[:1])
        self.builder.usages.append(_apart(*(count(spent.get(key)) for key in _OF_REPLY)))


def _words(message: dict[str, Any]) -> str:
    """The texts of a message alone, as Goose copies it."""
    return "\n".join(flat_text([block]) for block in objects(message.get("content")) if block.get("type") == "text")


def _is_note(message: dict[str, Any]) -> bool:
    """Whether the program spoke as the model, which the user did not see; only the model calls tools."""
    kinds = {str(block.get("type")) for block in objects(message.get("content"))}
    return message.get("role") == "assistant" and _is_hidden(message) and kinds.isdisjoint(CALLS)


def _is_hidden(message: dict[str, Any]) -> bool:
    return mapping(message.get("metadata")).get("userVisible") is False


def _mark(text: str, after: dict[str, Any]) -> MessageMark:
    """The mark of what the user did not see: a summary is followed by words to go on, which the user does not see."""
    return "compaction" if _is_note(after) and not text.startswith(_CONTEXT) else "injected"


def _usage(header: dict[str, Any]) -> Usage | None:
    """Tokens of the session, where it has them."""
    total = mapping(header.get("accumulated_usage"))
    spent = _apart(*(count(total.get(key)) for key in _IN_TOTAL))
    return spent or _apart(*(count(header.get(key)) for key in _OF_SESSION))


def _apart(read: int | None, written: int | None, cached: int | None, stored: int | None) -> Usage | None:
    """Tokens by kind: those of the cache are part of the recorded input."""
    if read is None and written is None:
        return None
    plain = None if read is None else max(read - (cached or 0) - (stored or 0), 0)
    return Usage(plain, stored, cached, written)
