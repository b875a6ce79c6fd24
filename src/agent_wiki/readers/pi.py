"""Sessions of the pi coding agent: JSONL, a `session` header and then entries in chronological order.

Since version 2, entries form a tree (`id`, `parentId`), in which a user may go back and try again. All
branches are kept, in recorded order. A session that branched off into its own file begins with copies of its parent's
entries, with their old timestamps. (Read from docs/session.md and session-manager.ts of pi-mono, and
session-entries.ts of oh-my-pi, both MIT.) Published sessions may have lost their header; they begin with any entry.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.recorded import (
    UUID,
    add_counts,
    epoch_seconds,
    flat_text,
    id_of_first,
    mapping,
    number,
    objects,
    recorded_call,
    text_or_none,
    usage_of,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.sts import is_sts
from agent_wiki.shell.verdict import POLLED
from agent_wiki.trajectory import Source, Trajectory
from agent_wiki.trajectory.json_text import value_or
from agent_wiki.trajectory.lazily import regex

FORMAT = "pi"

_OF_SUBAGENT = "session_init"  # what Oh My Pi gave a subagent to begin with
_ENTRY_TYPES = frozenset(
    {"message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message",
     "label", "session_info",
     # of Oh My Pi
     "title_change", "service_tier_change", _OF_SUBAGENT, "mode_change", "ttsr_injection", "credential_pin",
     "model_usage", "reset_boundary"}
)  # fmt: skip
_TITLED = {"session_info": "name", "title_change": "title"}
_ROLES = frozenset({"user", "assistant", "toolResult"})
_STOPPED = re.compile(r"(?:Operation|Command) aborted\s*$")
_FILE, _FILE_END = '<file name="', "</file>"
# OpenClaw, which saves its sessions as pi does, before the task of a subagent.
_TO_SUBAGENT = regex(r"(?:\[[^\]\n]{5,60}\] )?\[Subagent Context\] .{1,4000}?\n\s{0,8}\[Subagent Task\]: ?", re.DOTALL)
_EXITED = regex(r"\(Command exited with code (?P<code>-?\d{1,10})\)\s*\Z")
_ERROR_OBJECT, _HEAD = regex(r'\s*\{\s*"status":\s*"error"'), 200  # characters at either end of a result
_FILE_ID = re.compile(r"_([^_/\\]+)\.jsonl$")
_USAGE_NAMES = {
    "input": "input_tokens",
    "cacheWrite": "cache_creation_input_tokens",
    "cacheRead": "cache_read_input_tokens",
    "output": "output_tokens",
}


def claims(sample: Sample) -> bool:
    """A `session` header with id and working folder, then entries of pi's own types; or such entries alone.

    Oh My Pi, which saves its sessions as pi does, writes the title ahead of the header.
    """
    records = sample.records()
    records = records[1:] if records[:1] and records[0].get("type") == "title" else records
    if not begins_session(records):
        return _has_lost_its_header(records)
    kinds = [str(record.get("type")) for record in records[1:3]]
    return not is_sts(records) and all(kind in _ENTRY_TYPES for kind in kinds)


def begins_session(records: list[dict[str, Any]]) -> bool:
    """Whether the first record is a `session` header with id and working folder."""
    first = records[0] if records else {}
    return first.get("type") == "session" and isinstance(first.get("id"), str) and "cwd" in first


def _has_lost_its_header(records: list[dict[str, Any]]) -> bool:
    """Whether the first records are entries of a tree, and one of them a message of a kind that pi records."""
    entries = records[:3]
    return all(map(_is_entry, entries)) and any(map(_has_role, entries))


def _has_role(record: dict[str, Any]) -> bool:
    return str(mapping(record.get("message")).get("role")) in _ROLES


def _is_entry(record: dict[str, Any]) -> bool:
    has_place = isinstance(record.get("id"), str) and "parentId" in record and isinstance(record.get("timestamp"), str)
    return has_place and str(record.get("type")) in _ENTRY_TYPES


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a file; its messages are empty when all of it was copied from the session it branched off.

    Raises `UnreadableRecording` when it has no messages.
    """
    session = PiSession()
    for entry in recording.records():
        session.take(entry)
    trajectory = session.trajectory(recording.name)
    recording.expect_messages(trajectory.messages or session.inherited_turns)
    yield trajectory


class PiSession:
    """Processes the entries of one file in order."""

    def __init__(self, source_format: str = FORMAT) -> None:
        self.source_format = source_format
        self.header: dict[str, Any] = {}
        self.first: dict[str, Any] = {}  # entry, which identifies a session without a header
        self.builder = TrajectoryBuilder()
        self.tokens: Counter[str] = Counter()
        self.inherited_turns = 0
        self.is_subagent = False
        self.exit_status: str | None = None
        self.title: str | None = None

    def take(self, entry: dict[str, Any]) -> None:
        """Process one line of the file."""
        kind = str(entry.get("type"))
        if kind == "session":
            self.header = self.header or entry
            return
        if kind == "title":
            self.title = text_or_none(entry.get("title")) or self.title
            return
        self.first = self.first or entry
        if self._is_inherited(entry):
            self.inherited_turns += kind == "message"
            return
        self.builder.note_time(entry.get("timestamp"))
        self.is_subagent = self.is_subagent or kind == _OF_SUBAGENT
        if kind == "message" and isinstance(message := entry.get("message"), dict):
            self._message(message)
        elif kind in ("compaction", "branch_summary"):
            self.builder.user(flat_text(entry.get("summary")), mark="compaction")
        elif kind == "custom_message":
            self.builder.user(flat_text(entry.get("content")), mark="injected")
        elif kind in _TITLED and isinstance(name := entry.get(_TITLED[kind]), str):
            self.title = name.strip() or self.title

    def trajectory(self, name: str) -> Trajectory:
        """The trajectory of all entries processed; without a header its id is made from the first entry's.

        Raises `UnreadableRecording` (naming `name`) where that has none either.
        """
        session_id = text_or_none(self.header.get("id")) or id_of_first(FORMAT, self.first)
        if not session_id:
            raise UnreadableRecording(name, "a pi session without its header")
        self.builder.started = (self.header or self.first).get("timestamp")
        source = Source(
            format=self.source_format,
            cwd=text_or_none(self.header.get("cwd")),
            title=self.title,
            exit_status=self.exit_status,
            usage=usage_of(self.tokens),
            parent_session_id=self._parent_id() if self.is_subagent and not self.inherited_turns else None,
            forked_from=self._parent_id() if self.inherited_turns else None,
            hygiene={"inherited_turns": self.inherited_turns},
        )
        return self.builder.finish(session_id, source, agent=FORMAT)

    def _parent_file(self) -> str | None:
        parent = self.header.get("parentSession") or self.header.get("branchedFrom")
        return parent if isinstance(parent, str) else None

    def _parent_id(self) -> str | None:
        parent = self._parent_file() or ""
        match = _FILE_ID.search(parent)
        return match.group(1) if match else parent if UUID.fullmatch(parent) else None

    def _is_inherited(self, entry: dict[str, Any]) -> bool:
        """Whether a branched session copied this entry: it is older than the session itself."""
        if self._parent_file() is None:
            return False
        written, born = epoch_seconds(entry.get("timestamp")), epoch_seconds(self.header.get("timestamp"))
        return written is not None and born is not None and written < born

    def _message(self, message: dict[str, Any]) -> None:
        role, content = message.get("role"), message.get("content")
        if role == "user":
            self._prompt(flat_text(content))
        elif role == "assistant":
            self._reply(message)
        elif role == "toolResult":
            self._result(message)
        elif role == "system":
            self.builder.system(flat_text(content) or _sections(message.get("sections")))
        elif role == "bashExecution":
            # A command that the user ran ("!ls"), not a call of the agent.
            self.builder.user(f"$ {message.get('command', '')}\n{message.get('output', '')}", mark="injected")
        elif role in ("compactionSummary", "branchSummary"):
            self.builder.user(flat_text(message.get("summary")), mark="compaction")
        else:
            self.builder.user(flat_text(content), mark="injected")

    def _prompt(self, text: str) -> None:
        """What the user typed, and apart from it what is put before it: files named with `@`, a word to a subagent."""
        end = text.rfind(_FILE_END) + len(_FILE_END) if text.startswith(_FILE) and _FILE_END in text else 0
        if match := _TO_SUBAGENT.match(text):
            end = match.end()
        if end:
            self.builder.user(text[:end], mark="injected")
        self.builder.user(text[end:].strip("\n") if end else text)

    def _reply(self, message: dict[str, Any]) -> None:
        content = message.get("content")
        blocks = objects(content)
        thoughts = [block.get("thinking") for block in blocks if block.get("type") == "thinking"]
        self.builder.assistant(
            flat_text(content) or None,
            thinking="\n\n".join(thought for thought in thoughts if isinstance(thought, str) and thought) or None,
            calls=[recorded_call(each, "id", "name", "arguments") for each in blocks if each.get("type") == "toolCall"],
        )
        if isinstance(model := message.get("model"), str):
            self.builder.models[model] += 1
        self.exit_status = text_or_none(message.get("stopReason"))
        self._usage(message.get("usage"))

    def _usage(self, usage: Any) -> None:
        add_counts(self.tokens, mapping(usage), _USAGE_NAMES)
        self.builder.note_cost(number(mapping(mapping(usage).get("cost")).get("total")))

    def _result(self, message: dict[str, Any]) -> None:
        text, is_error = flat_text(message.get("content")), message.get("isError")
        call_id = text_or_none(message.get("toolCallId"))
        if is_error and _STOPPED.search(text[-200:]):
            self.builder.tool(call_id, text, mark="rejected")
            return
        has_failed = is_error if isinstance(is_error, bool) else None
        self.builder.tool(call_id, text, is_error=True if _says_error(text) else has_failed)


def _says_error(text: str) -> bool:
    """What OpenClaw's tools say of a failure, for which it sets no flag: an exit code, or an object with the error."""
    exited = _EXITED.search(text[-_HEAD:]) or POLLED.search(text[-_HEAD:])
    if exited and exited["code"]:
        return exited["code"] != "0"
    return _ERROR_OBJECT.match(text[:_HEAD]) is not None and mapping(value_or(text, None)).get("status") == "error"


def _sections(sections: Any) -> str:
    """A system prompt that is recorded by its sections."""
    return "\n\n".join(text for text in mapping(sections).values() if isinstance(text, str) and text)
