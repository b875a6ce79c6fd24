"""Claude Code session files: one JSON object per line, with subagents in the same file or in files of their own.

A hook may have saved the same objects as one array.

A session and each of its subagents become separate trajectories. Turns that a fork copied from another session
belong to that session only. A tree of edits and retries is kept whole, in recorded order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.readers import qwen_code
from agent_wiki.readers.claude_blocks import content_text, own_words, shows_refusal, string_or_empty
from agent_wiki.readers.claude_conversation import Conversation
from agent_wiki.readers.recorded import epoch_seconds, mapping
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory

FORMAT = "claude-code"

_TURN_TYPES = frozenset({"user", "assistant"})
_LINKED_TYPES = _TURN_TYPES | {"system", "progress", "attachment"}
_BESIDE_TYPES = frozenset(
    {"file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt", "permission-mode", "ai-title",
     "custom-title", "agent-name", "mode", "pr-link", "bridge-session", "atis-latch", "tools-used", "cost-state",
     "api-request", "api-request-shape", "api-request-blob"}
)  # fmt: skip
_TITLES = ("custom-title", "ai-title", "summary")  # in order of preference: a title that a person gave comes first
_TITLE_KEYS = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}


def claims(sample: Sample) -> bool:
    """Some record gives its place in a session's tree, or all records are of kinds that accompany turns.

    Qwen Code's lines are linked in the same way.
    """
    records = sample.listed()
    if any(_is_linked(record) for record in records):
        return not qwen_code.claims(sample)
    return bool(records) and all(_is_beside(record) for record in records)


def _is_linked(record: dict[str, Any]) -> bool:
    if string_or_empty(record.get("type")) not in _LINKED_TYPES:
        return False
    return isinstance(record.get("sessionId"), str) and ("uuid" in record or "parentUuid" in record)


def _is_beside(record: dict[str, Any]) -> bool:
    kind = string_or_empty(record.get("type"))
    return kind in _BESIDE_TYPES or (kind == "summary" and "leafUuid" in record)


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every session and subagent of one file, in the order of their first turns.

    A file without turns yields none and leaves a warning.
    """
    sessions = _SessionFile(recording)
    for line, record in recording.numbered():
        if isinstance(record, dict):
            sessions.take(line, record)
    yield from sessions.trajectories()


class _SessionFile:
    """The conversations of one file, by the session id that each trajectory will have."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.session_id = recording.path.name.partition(".")[0]  # until a record gives it
        self.conversations: dict[str, Conversation] = {}
        self.owners: dict[str, Conversation] = {}  # the conversation of each turn, by the turn's uuid
        self.last_agent = ""
        self.titles: dict[tuple[str, str], str] = {}  # by session id and kind
        self.reports: dict[str, str] = {}  # what subagents reported, by the session id of each
        self.opened: float | None = None  # when the program took the prompt with which the file begins

    def take(self, line: int, record: dict[str, Any]) -> None:
        """Process one record. Records that are neither turns nor about a session are ignored."""
        self.session_id = string_or_empty(record.get("sessionId")) or self.session_id
        kind = string_or_empty(record.get("type"))
        if kind in _TURN_TYPES:
            self._take_turn(line, record, kind, record.get("message"))
        elif kind == "progress":
            self._take_progress(line, record, record.get("data"))
        elif kind == "attachment":
            self._take_queued(record, record.get("attachment"))
        elif kind == "queue-operation" and not self.conversations:
            self.opened = self.opened or epoch_seconds(record.get("timestamp"))
        elif kind in _TITLE_KEYS:
            self._take_title(record, kind)
        elif kind == "cost-state" and (conversation := self.conversations.get(self.session_id)):
            conversation.note_cost(record.get("totalCostUSD"))

    def trajectories(self) -> Iterator[Trajectory]:
        """Finish each conversation and release its memory."""
        titles = {session_id: self._title(session_id) for session_id in self.conversations}
        for session_id, report in self.reports.items():
            if session_id in self.conversations:
                self.conversations[session_id].end_with(report)
        for conversation in self.conversations.values():
            parent = self.conversations.get(conversation.parent_session_id or "")
            if parent is not None:
                is_copy = conversation.is_compaction_copy()
                count = "duplicate_turns_dropped" if is_copy else "subagent_turns_apart"
                parent.hygiene[count] += len(conversation.turns)
        copies = [each for each in self.conversations.values() if each.is_compaction_copy()]
        conversations = [each for each in self.conversations.values() if each.turns and each not in copies]
        self.conversations.clear()
        self.owners.clear()
        if not conversations and not copies:
            self.recording.warnings.append(f"{self.recording.name}: no turns of its own recorded")
        while conversations:
            conversation = conversations.pop(0)
            yield conversation.trajectory(Source(FORMAT), titles[conversation.session_id])

    def _take_turn(self, line: int, record: dict[str, Any], kind: str, message: Any) -> None:
        if not isinstance(message, dict) or not isinstance(message.get("content"), str | list):
            self.recording.warnings.append(f"{self.recording.name}:{line}: a turn without a message, skipped")
            return
        conversation = self._own(record, self._agent_id(record))
        if conversation is None:
            return
        if origin := self._copied_from(record, conversation):
            conversation.forked_from = origin
            conversation.inherit(message)
        elif kind == "assistant":
            conversation.add_reply(message, record.get("costUSD"))
        else:
            refusal, own = shows_refusal(record), own_words(record)
            conversation.add_user(message["content"], line_mark(record), is_refusal=refusal, own=own)
            self._note_report(mapping(record.get("toolUseResult")))

    def _note_report(self, returned: dict[str, Any]) -> None:
        """What a subagent returned to its parent: without a last reply of its own, that is its last reply."""
        if returned.get("status") == "completed" and (agent_id := string_or_empty(returned.get("agentId"))):
            self.reports[f"{self.session_id}.agent-{agent_id}"] = content_text(returned.get("content"))

    def _copied_from(self, record: dict[str, Any], conversation: Conversation) -> str | None:
        """The session that a turn was copied from: `--fork-session` copies turns and names it in the replies alone.

        After the last reply, what is older than the fork's own first record was copied too.
        """
        asked_by = string_or_empty(record.get("requestSessionId"))
        if asked_by and asked_by != self.session_id:
            return asked_by
        moment = epoch_seconds(record.get("timestamp"))
        is_older = self.opened is not None and moment is not None and moment < self.opened
        return conversation.forked_from if is_older and conversation.has_inherited else None

    def _take_progress(self, line: int, record: dict[str, Any], progress: Any) -> None:
        """A subagent's turn, nested in a progress record of its parent."""
        if not isinstance(progress, dict) or progress.get("type") != "agent_progress":
            return
        turn = progress.get("message")
        if isinstance(turn, dict) and string_or_empty(turn.get("type")) in _TURN_TYPES:
            surroundings = {key: record.get(key) for key in ("cwd", "gitBranch", "version")}
            agent = {"isSidechain": True, "agentId": progress.get("agentId")}
            self._take_turn(line, surroundings | turn | agent, turn["type"], turn.get("message"))

    def _take_queued(self, record: dict[str, Any], attachment: Any) -> None:
        """What the user typed while the agent worked, which is recorded only here."""
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return
        if (conversation := self._own(record, self._agent_id(record))) is not None:
            is_prompt = attachment.get("commandMode", "prompt") == "prompt"
            mark = line_mark(record | {"origin": attachment.get("origin")})
            conversation.add_user(attachment.get("prompt"), mark if is_prompt else "injected")

    def _take_title(self, record: dict[str, Any], kind: str) -> None:
        title = string_or_empty(record.get(_TITLE_KEYS[kind]))
        session_id = self.session_id
        if kind == "summary":  # it may describe a session of another file: its leaf shows which
            session_id = f"leaf {record.get('leafUuid')}"
        if title:
            self.titles[session_id, kind] = title

    def _own(self, record: dict[str, Any], agent_id: str | None) -> Conversation | None:
        """The conversation that a turn belongs to; None for a turn of another session or one already known."""
        uuid = string_or_empty(record.get("uuid"))
        known = self.owners.get(uuid)
        if known is not None:
            known.hygiene["duplicate_turns_dropped"] += 1
            return None
        conversation = self._conversation(record, agent_id)
        if uuid:
            self.owners[uuid] = conversation
        origin = record.get("forkedFrom")
        if origin:
            origin_id = origin.get("sessionId") if isinstance(origin, dict) else origin
            conversation.forked_from = string_or_empty(origin_id) or None
            conversation.hygiene["inherited_turns"] += 1
            return None
        conversation.observe(
            record.get("timestamp"),
            cwd=record.get("cwd"),
            git_branch=record.get("gitBranch"),
            agent_version=record.get("version"),
        )
        return conversation

    def _conversation(self, record: dict[str, Any], agent_id: str | None) -> Conversation:
        key = self.session_id if agent_id is None else f"{self.session_id}.agent-{agent_id}"
        conversation = self.conversations.get(key)
        if conversation is None:
            conversation = Conversation(key, self.session_id if agent_id else None)
            self.conversations[key] = conversation
            before = self.owners.get(string_or_empty(record.get("parentUuid")))
            if agent_id is None and before is not None:  # the first turn continues another session
                conversation.forked_from = before.parent_session_id or before.session_id
        return conversation

    def _agent_id(self, record: dict[str, Any]) -> str | None:
        """The subagent a turn belongs to, None for the session itself.

        Old recordings have no id for a subagent: it is identified by its first turn and followed along the tree.
        """
        if not record.get("isSidechain"):
            return None
        agent_id = string_or_empty(record.get("agentId"))
        if agent_id:
            return agent_id
        parent_uuid = string_or_empty(record.get("parentUuid"))
        owner = self.owners.get(parent_uuid)
        if owner is not None and owner.parent_session_id:
            return owner.session_id.removeprefix(f"{owner.parent_session_id}.agent-")
        if not parent_uuid or not self.last_agent:
            self.last_agent = string_or_empty(record.get("uuid"))[:8] or "1"
        return self.last_agent

    def _title(self, session_id: str) -> str | None:
        for (key, kind), title in list(self.titles.items()):
            leaf = self.owners.get(key.removeprefix("leaf ")) if kind == "summary" else None
            if leaf is not None and leaf.session_id == session_id:
                self.titles[session_id, kind] = title
        return next((self.titles[session_id, kind] for kind in _TITLES if (session_id, kind) in self.titles), None)


def line_mark(record: dict[str, Any]) -> MessageMark | None:
    """The mark that a record's own fields imply for a user's text; None when the text must decide."""
    if record.get("isCompactSummary"):
        return "compaction"
    origin_kind = mapping(record.get("origin")).get("kind")
    is_by_user = origin_kind in (None, "human") and record.get("promptSource") != "system"
    if record.get("isMeta") or record.get("isSynthetic") or record.get("isVisibleInTranscriptOnly") or not is_by_user:
        return "injected"
    return None
