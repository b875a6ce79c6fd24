"""A Claude Code conversation, assembled from recorded lines: shared by both of its recorded forms.

A reply that was recorded block by block becomes one message again, at the position of its first block and so
before the results of its calls. Its usage counts once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder, arguments_json
from agent_wiki.readers.chat_values import summed_usage
from agent_wiki.readers.claude_blocks import (
    OWN_WORDS,
    ResultMark,
    block_text,
    blocks_of,
    claude_usage,
    content_text,
    ended_badly,
    is_compaction_copy,
    largest_usage,
    result_mark,
    string_or_empty,
)
from agent_wiki.readers.claude_user_text import pieces_of
from agent_wiki.readers.recorded import epoch_seconds, iso_utc, mapping, most_used, number, seconds_between
from agent_wiki.trajectory import MessageMark, Source, Trajectory, Usage
from agent_wiki.trajectory.json_text import value_or
from agent_wiki.trajectory.lazily import dataclass

AGENT = "claude-code"
_IMPLEMENTS = "Implement the following plan:"  # as the program says it for the user who accepted a plan
_SYNTHETIC_MODEL = "<synthetic>"  # written by the harness, not by a model
_CALL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


@dataclass(slots=True)
class ReplyTurn:
    """One reply of the model, assembled from the lines over which it was recorded."""

    texts: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[tuple[str | None, str, str]] = field(default_factory=list)  # id, name, arguments as JSON
    lines: int = 0

    def repeats(self, part: list[str], text: str) -> bool:
        """Add `text` to a part unless it is already there; True when it was."""
        if text in part:
            return True
        if text:
            part.append(text)
        return False


@dataclass(slots=True)
class UserTurn:
    """Text recorded as the user's, whoever wrote it."""

    text: str
    mark: MessageMark | None


@dataclass(slots=True)
class ResultTurn:
    """What a tool returned."""

    call_id: str | None
    content: str
    is_error: bool | None
    mark: ResultMark | None


@dataclass(slots=True)
class Conversation:
    """The turns of one session or subagent in recorded order, with their metadata."""

    session_id: str
    parent_session_id: str | None = None
    turns: list[ReplyTurn | UserTurn | ResultTurn] = field(default_factory=list)
    hygiene: Counter[str] = field(default_factory=Counter)
    usages: dict[str, Usage] = field(default_factory=dict)  # one per reply, however many lines it has
    models: Counter[str] = field(default_factory=Counter)
    costs_usd: dict[str, float] = field(default_factory=dict)
    running_cost_usd: float | None = None  # of the session so far, subagents and side requests included
    started: float | None = None  # seconds since 1970
    ended: float | None = None
    model: str | None = None  # for the whole session; the models of its replies take precedence
    cwd: str | None = None
    git_branch: str | None = None
    agent_version: str | None = None
    forked_from: str | None = None
    has_inherited: bool = False  # replies that another session asked for
    inherited_calls: set[str] = field(default_factory=set)  # of copied replies, whose results are copies too
    _replies: dict[str, ReplyTurn] = field(default_factory=dict)
    _called: dict[str, str] = field(default_factory=dict)  # the tools by the ids of calls
    _answered: dict[str, str] = field(default_factory=dict)
    _launched: set[str] = field(default_factory=set)  # slash commands that the agent ran itself

    def is_compaction_copy(self) -> bool:
        """Whether it is the harness's own: a copy of a session's turns, with the request to summarize them."""
        return is_compaction_copy(self.session_id.rpartition(".agent-")[2]) and self.parent_session_id is not None

    def observe(self, timestamp: Any, **surroundings: Any) -> None:
        """Note when a turn was recorded and the first known `cwd`, `git_branch` and `agent_version`."""
        moment = epoch_seconds(timestamp)
        if moment is not None:
            self.started = moment if self.started is None else min(self.started, moment)
            self.ended = moment if self.ended is None else max(self.ended, moment)
        for name, value in surroundings.items():
            if getattr(self, name) is None and isinstance(value, str) and value:
                setattr(self, name, value)

    def add_reply(self, message: dict[str, Any], cost_usd: Any = None) -> None:
        """Add one line of a reply. Lines with the same message id form one turn, at the position of the first."""
        reply_id = message.get("id")
        reply_id = reply_id if isinstance(reply_id, str) and reply_id else f"line {len(self.turns)}"
        reply = self._replies.get(reply_id)
        if reply is None:
            reply = self._replies[reply_id] = ReplyTurn()
            self.turns.append(reply)
            self._note_model(message.get("model"))
        reply.lines += 1
        self.hygiene["split_replies_joined"] += reply.lines == 2
        self._note_usage(reply_id, message, cost_usd)
        blocks = blocks_of(message.get("content"))
        repeated = sum(self._repeats(reply, block) for block in blocks)
        if blocks and repeated == len(blocks):
            self.hygiene["duplicate_turns_dropped"] += 1

    def note_cost(self, running_cost_usd: Any) -> None:
        """Note what the session has cost by now."""
        cost = number(running_cost_usd)
        if cost is not None:
            self.running_cost_usd = max(cost, self.running_cost_usd or 0.0)

    def inherit(self, message: dict[str, Any]) -> None:
        """Leave a line of a copied reply, and all turns before it, to the session that they were copied from."""
        self.hygiene["inherited_turns"] += len(self.turns) + 1
        self.has_inherited = True
        blocks = blocks_of(message.get("content"))
        self.inherited_calls.update(string_or_empty(block.get("id")) for block in blocks if "id" in block)
        for known in (
            self.turns,
            self._replies,
            self._called,
            self._answered,
            self.usages,
            self.models,
            self.costs_usd,
        ):
            known.clear()
        self.started = self.ended = None

    def add_user(
        self,
        content: Any,
        mark: MessageMark | None = None,
        *,
        is_refusal: bool = False,
        own: frozenset[str] = OWN_WORDS,
    ) -> None:
        """Add one user line: text, results, or both.

        `mark` applies to its text where the line itself implies one; `is_refusal`: the line shows beside its text that
        the user refused the call; `own`: the tools whose refusals can only be the program's words.
        """
        blocks = blocks_of(content)
        has_result = any(block.get("type") == "tool_result" for block in blocks)
        said: list[UserTurn] = []
        for block in blocks:
            if block.get("type") == "tool_result":
                self._add_result(block, is_refusal=is_refusal, own=own)
                continue
            text = block_text(block)
            pieces = [(text, mark)] if mark else pieces_of(text)
            for piece, piece_mark in pieces:
                # Text beside a result is added by the harness, never a prompt.
                is_launched = (typed := " ".join(piece.split())) in self._launched
                self._launched.discard(typed)  # once: the user may type it later
                found: MessageMark | None = piece_mark or ("injected" if has_result or is_launched else None)
                if said and said[-1].mark == found:
                    said[-1].text += f"\n\n{piece}"
                else:
                    said.append(UserTurn(piece, found))
        if any(turn.mark is None and turn.text.startswith(_IMPLEMENTS) for turn in said):
            self._accept_plan(said[-1].text.removeprefix(_IMPLEMENTS).strip())
        self.turns.extend(said)

    def _accept_plan(self, wanted: str) -> None:
        """The last plan was accepted if the user has it carried out: its call is refused only to clear the context."""
        at = next((at for at, turn in enumerate(self.turns[::-1], 1) if isinstance(turn, ReplyTurn) and turn.calls), 0)
        reply = self.turns[-at] if at else None
        for call_id, name, arguments in reply.calls if isinstance(reply, ReplyTurn) else ():
            plan = mapping(value_or(arguments, {})).get("plan")
            if name == "ExitPlanMode" and (not isinstance(plan, str) or wanted.startswith(plan.strip())):
                for turn in self.turns[-at:]:
                    if isinstance(turn, ResultTurn) and turn.call_id == call_id and turn.mark == "rejected":
                        turn.mark, turn.is_error = None, False

    def end_with(self, report: str) -> None:
        """Add a subagent's last reply, which older recordings hold only in the result of its parent's call."""
        if report.strip() and self.turns and isinstance(self.turns[-1], ResultTurn):
            self.turns.append(ReplyTurn(texts=[report]))
            self.hygiene["reports_of_parent"] += 1

    def trajectory(self, source: Source, title: str | None = None) -> Trajectory:
        """The normalized trajectory. `source` names the format and receives the metadata.

        The turns are moved one by one, so that a large conversation is not held twice. None remain here.
        """
        for known in (self._replies, self._called, self._answered):
            known.clear()
        builder = TrajectoryBuilder()
        self.turns.reverse()
        while self.turns:
            _put(builder, self.turns.pop())
        for name in ("cwd", "git_branch", "agent_version", "forked_from", "parent_session_id"):
            setattr(source, name, getattr(self, name))
        source.title = title
        source.hygiene = dict(self.hygiene)
        source.usage = source.usage or summed_usage(self.usages.values())
        if source.cost_usd is None:
            source.cost_usd = self._cost_usd()
        source.ended_at = iso_utc(self.ended)
        if source.duration_seconds is None:
            source.duration_seconds = seconds_between(self.started, self.ended)
        head = {"agent": AGENT, "model": most_used(self.models) or self.model, "timestamp": iso_utc(self.started)}
        return builder.finish(self.session_id, source, **head)

    def _cost_usd(self) -> float | None:
        """What the session cost; None for a fork whose running cost began at that of the session it was copied from."""
        if self.costs_usd:
            return sum(self.costs_usd.values())
        return None if self.has_inherited else self.running_cost_usd

    def _repeats(self, reply: ReplyTurn, block: dict[str, Any]) -> bool:
        """Add a block to a reply; True when the reply already has it because it was recorded twice."""
        kind = string_or_empty(block.get("type"))
        if kind == "text":
            return reply.repeats(reply.texts, string_or_empty(block.get("text")))
        if kind == "thinking":
            return reply.repeats(reply.thinking, string_or_empty(block.get("thinking")))
        if kind in _CALL_BLOCKS:
            return self._repeats_call(reply, block)
        if kind.endswith("_tool_result"):
            self._add_result(block)
        return False

    def _repeats_call(self, reply: ReplyTurn, block: dict[str, Any]) -> bool:
        call_id = string_or_empty(block.get("id")) or None
        if call_id in self._called:
            return True
        if call_id is not None:
            self._called[call_id] = string_or_empty(block.get("name"))
        if block.get("name") == "SlashCommand":  # which is then recorded as if the user had typed it
            self._launched.add(" ".join(string_or_empty(mapping(block.get("input")).get("command")).split()))
        reply.calls.append((call_id, string_or_empty(block.get("name")), arguments_json(block.get("input"))))
        return False

    def _add_result(self, block: dict[str, Any], *, is_refusal: bool = False, own: frozenset[str] = OWN_WORDS) -> None:
        call_id = string_or_empty(block.get("tool_use_id")) or None
        content = content_text(block.get("content"))
        if call_id in self.inherited_calls:
            self.hygiene["inherited_turns"] += 1
            return
        if call_id is not None:
            if self._answered.get(call_id) == content:
                self.hygiene["duplicate_turns_dropped"] += 1
                return
            self._answered[call_id] = content
        tool = self._called.get(call_id or "", "")
        is_error = bool(block.get("is_error")) or ended_badly(content, tool)  # absent means no error in this format
        mark = result_mark(content, tool, is_refusal=is_refusal, own=own) if is_error else None
        self.turns.append(ResultTurn(call_id, content, None if mark else is_error, mark))

    def _note_model(self, model: Any) -> None:
        if isinstance(model, str) and model and model != _SYNTHETIC_MODEL:
            self.models[model] += 1

    def _note_usage(self, reply_id: str, message: dict[str, Any], cost_usd: Any) -> None:
        recorded = message.get("usage")
        if isinstance(recorded, dict) and message.get("model") != _SYNTHETIC_MODEL:
            # Early lines of a reply may count only the tokens so far: the largest figure is the whole reply's.
            self.usages[reply_id] = largest_usage(self.usages.get(reply_id, Usage()), claude_usage(recorded))
        if (cost := number(cost_usd)) is not None:
            self.costs_usd[reply_id] = max(cost, self.costs_usd.get(reply_id, 0.0))


def _put(builder: TrajectoryBuilder, turn: ReplyTurn | UserTurn | ResultTurn) -> None:
    match turn:
        case ReplyTurn():
            text, thinking = "\n\n".join(turn.texts), "\n\n".join(turn.thinking)
            builder.assistant(text, thinking=thinking, calls=list(turn.calls))
        case UserTurn():
            builder.user(turn.text, turn.mark)
        case ResultTurn():
            builder.tool(turn.call_id, turn.content, is_error=turn.is_error, mark=turn.mark)
