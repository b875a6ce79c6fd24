"""Codex rollouts: one JSONL file per session, `{timestamp, type, payload}` per line.

What the model and the user said is recorded twice, as `event_msg` and as `response_item`. The item is authoritative,
and the event shows which user messages a person typed. The oldest files have bare items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from agent_wiki.readers.builder import ReplyParts, TrajectoryBuilder
from agent_wiki.readers.codex_cells import Cells
from agent_wiki.readers.codex_cells_ran import RanItems
from agent_wiki.readers.codex_history import InheritedHistory, TokenMeter
from agent_wiki.readers.codex_items import RUN_BY_THE_SERVICE, call_of, is_refusal, part_texts, result_of
from agent_wiki.readers.codex_prompts import (
    Prompts,
    TypedPrompt,
    agent_message,
    is_interruption,
    prompt_of_item,
    typed_prompt,
)
from agent_wiki.readers.codex_ran import ran_item
from agent_wiki.readers.recorded import (
    epoch_seconds,
    flat_text,
    iso_utc,
    mapping,
    most_used,
    seconds_between,
    short_digest,
    text_or_none,
    usage_of,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Source, Trajectory

FORMAT = "codex"

_LINE_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_BARE_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call"})


def claims(sample: Sample) -> bool:
    """Rollout lines, or a header followed by bare items as in the oldest files."""
    records = sample.records()
    if any(str(record.get("type")) in _LINE_TYPES and isinstance(record.get("payload"), dict) for record in records):
        return True
    is_headed = bool(records) and "instructions" in records[0] and "timestamp" in records[0]
    return is_headed and any(str(record.get("type")) in _BARE_ITEMS for record in records[1:])


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a rollout; its messages are empty when all of it was copied from another session.

    Raises `UnreadableRecording` when it has no messages.
    """
    rollout = _Rollout()
    for record in recording.records():
        rollout.take(record)
    trajectory = rollout.trajectory()
    recording.expect_messages(trajectory.messages or "inherited_turns" in trajectory.source.hygiene)
    yield trajectory


class _Rollout:
    """Processes the lines of one rollout in order."""

    def __init__(self) -> None:
        self.history = InheritedHistory()
        self.meter = TokenMeter()
        self.models: Counter[str] = Counter()
        self.inherited_turns = 0
        self.cells = Cells()
        self.ran = RanItems()
        self.moment: float | None = None  # of the line at hand, in seconds since 1970
        self.verdicts: dict[str, bool] = {}  # call id → whether it failed, from an event before the output
        self.ended_at: Any = None
        self.exit_status: str | None = None
        self.title: str | None = None
        self._begin()
        self.line_handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "turn_context": self._turn_context,
            "response_item": self._item,
            "event_msg": self._event,
            "compacted": self._compacted,
            "token_usage_record": self._reply_tokens,
        }
        self.event_handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "task_started": self.history.turn,
            "user_message": lambda event: self._typed(typed_prompt(event)),
            "item_completed": self._completed,
            "agent_message": lambda event: self._say(event.get("message")),
            "agent_reasoning": lambda event: self._think([event.get("text")]),
            "token_count": self._tokens,
            "exec_command_end": self._exec_end,
            "patch_apply_end": self._patch_end,
            "task_complete": lambda event: self._ends(event.get("type")),
            "turn_aborted": lambda event: self._ends(event.get("reason")),
            "thread_name_updated": self._name,
        }

    def _begin(self) -> None:
        self.builder = TrajectoryBuilder()
        self.reply = ReplyParts()
        self.prompts = Prompts()

    def take(self, record: dict[str, Any]) -> None:
        """Process one line of the file."""
        kind, payload = str(record.get("type")), record.get("payload")
        if not isinstance(payload, dict):
            if kind not in _BARE_ITEMS and "instructions" not in record:
                return
            kind, payload = ("response_item" if kind in _BARE_ITEMS else "session_meta"), record
        timestamp = record.get("timestamp")
        if isinstance(timestamp, str):
            self.ended_at = timestamp
        self.moment = epoch_seconds(timestamp)
        was_inside = self.history.is_inside
        self.history.line(timestamp)
        if kind == "session_meta":
            self.history.meta(payload)
        elif kind == "turn_context" or payload.get("type") == "task_started":
            self.history.turn(payload)
        if was_inside and not self.history.is_inside:
            self._leave_inherited()
        if handler := self.line_handlers.get(kind):
            handler(payload)

    def trajectory(self) -> Trajectory:
        """The trajectory of all lines processed."""
        self._finish_reply()
        if self.history.is_inside:
            self._leave_inherited()
        self.prompts.settle()
        self.builder.messages = self.ran.put_in(self.builder.messages)
        own = self.history.own
        session_id = own.get("id")
        if not isinstance(session_id, str) or not session_id:
            digest = short_digest((message.content or "" for message in self.builder.messages), 12)
            session_id = f"{FORMAT}-{digest}"
        return self.builder.finish(
            session_id,
            self._source(own),
            agent=FORMAT,
            model=most_used(self.models),
            timestamp=iso_utc(own.get("timestamp")),
        )

    def _source(self, own: dict[str, Any]) -> Source:
        git = mapping(own.get("git"))
        return Source(
            format=FORMAT,
            agent_version=text_or_none(own.get("cli_version")),
            cwd=text_or_none(own.get("cwd")),
            git_branch=text_or_none(git.get("branch")),
            remote=text_or_none(git.get("repository_url")),
            title=self.title,
            exit_status=self.exit_status,
            usage=usage_of(self.meter.tokens),
            duration_seconds=seconds_between(own.get("timestamp"), self.ended_at),
            ended_at=iso_utc(self.ended_at),
            parent_session_id=_parent(own),
            forked_from=self.history.forked_from,
            hygiene={"inherited_turns": self.inherited_turns},
        )

    def _leave_inherited(self) -> None:
        self._finish_reply()
        self.inherited_turns += len(self.builder.messages)
        self._begin()

    def _turn_context(self, payload: dict[str, Any]) -> None:
        model = payload.get("model")
        if isinstance(model, str) and not self.history.is_inside:
            self.models[model] += 1

    def _event(self, payload: dict[str, Any]) -> None:
        if handler := self.event_handlers.get(str(payload.get("type"))):
            handler(payload)

    def _item(self, payload: dict[str, Any]) -> None:
        kind = str(payload.get("type"))
        if kind == "message":
            self._message(payload)
        elif kind == "reasoning":
            self._think(part_texts(payload.get("summary")) or part_texts(payload.get("content")))
        elif kind == "agent_message":
            self._agent_message(payload)
        elif kind.endswith("_output"):
            self._result(payload)
        elif kind.endswith("_call"):
            self._call(kind, payload)

    def _call(self, kind: str, payload: dict[str, Any]) -> None:
        call = call_of(kind, payload)
        unpacked = self.cells.unpacked(call)
        self.reply.calls.append(unpacked)
        call_id, name, arguments = call
        if call_id is not None and name in ("exec", "wait"):
            source = str(arguments.get("input")) if name == "exec" and isinstance(arguments, dict) else None
            self.ran.called(call_id, source, is_read=unpacked is not call, moment=self.moment)
        if kind in RUN_BY_THE_SERVICE:
            self._answer_by_service(payload)

    def _answer_by_service(self, payload: dict[str, Any]) -> None:
        """End the reply at a call that the model's service ran within it: what the model says next, it says after that.

        Of the result nothing but the status is recorded.
        """
        self._finish_reply()
        call = self.builder.messages[-1].tool_calls[-1]
        self.builder.tool(call.id, "", is_error={"completed": False, "failed": True}.get(str(payload.get("status"))))

    def _message(self, payload: dict[str, Any]) -> None:
        role, content = payload.get("role"), payload.get("content")
        if role == "assistant":
            self._say(flat_text(content))
        elif role == "user" or is_interruption(flat_text(content)):
            self._user(content)
        else:
            self._finish_reply()
            self.builder.system(flat_text(content))

    def _say(self, text: Any) -> None:
        """Add a text of the model, once although an event and an item record it."""
        if isinstance(text, str) and text and text not in self.reply.texts:
            self.reply.texts.append(text)

    def _think(self, thoughts: list[Any]) -> None:
        for thought in thoughts:
            if isinstance(thought, str) and thought and thought not in self.reply.thoughts:
                self.reply.thoughts.append(thought)

    def _finish_reply(self) -> None:
        reply, self.reply = self.reply, ReplyParts()
        if reply != ReplyParts():
            self.prompts.forget_announced()
            reply.add_to(self.builder)

    def _user(self, content: Any) -> None:
        text = flat_text(content)
        self._finish_reply()
        if self.prompts.was_announced(text):
            return
        before = len(self.builder.messages)
        self.builder.user(text, mark=self.prompts.mark_of(text))
        if len(self.builder.messages) > before:
            self.prompts.add(self.builder.messages[-1], content)

    def _agent_message(self, payload: dict[str, Any]) -> None:
        """What another agent of the team wrote: a subagent's task is its request, the rest is put in by the harness."""
        self._finish_reply()
        text, task = agent_message(payload)
        self.builder.user(task or text, mark=None if task else "injected")

    def _typed(self, prompt: TypedPrompt | None) -> None:
        """A prompt that a person typed; for a subagent, the prompt that its parent wrote."""
        self.exit_status = None  # how the turn before it ended
        if prompt is None or self.prompts.confirm(prompt):
            return
        self._finish_reply()
        self.builder.user(prompt.shown())
        self.prompts.announce(prompt)

    def _completed(self, event: dict[str, Any]) -> None:
        item = mapping(event.get("item"))
        if item.get("type") == "UserMessage":
            self._typed(prompt_of_item(item))
        elif found := ran_item(event):
            self.ran.take(found)

    def _compacted(self, payload: dict[str, Any]) -> None:
        self._finish_reply()
        if summary := text_or_none(payload.get("message")):
            self.builder.user(summary, mark="compaction")

    def _result(self, payload: dict[str, Any]) -> None:
        self._finish_reply()
        call_id = text_or_none(payload.get("call_id"))
        output = payload.get("output")
        self.ran.answered(call_id, self.moment, self.cells.several_of(call_id, output))
        text, is_error = self.cells.result_of(call_id, output) or result_of(payload)
        if is_refusal(text):
            self.builder.tool(call_id, text, mark="rejected")
            return
        if call_id is not None:
            is_error = self.verdicts.pop(call_id, is_error)
        self.builder.tool(call_id, text, is_error=is_error)

    def _exec_end(self, event: dict[str, Any]) -> None:
        if isinstance(code := event.get("exit_code"), int):
            self.verdicts[str(event.get("call_id"))] = code != 0

    def _patch_end(self, event: dict[str, Any]) -> None:
        if isinstance(success := event.get("success"), bool):
            self.verdicts[str(event.get("call_id"))] = not success

    def _tokens(self, event: dict[str, Any]) -> None:
        is_fork = self.history.forked_from is not None
        is_inherited = self.history.is_inside or (is_fork and not self._has_replied())
        self.meter.take(event.get("info"), is_inherited=is_inherited, is_fork=is_fork)

    def _has_replied(self) -> bool:
        """Whether the model has said anything of the session's own: until then a fork repeats its parent's totals."""
        return self.reply != ReplyParts() or any(message.role == "assistant" for message in self.builder.messages)

    def _reply_tokens(self, payload: dict[str, Any]) -> None:
        if not self.history.is_inside and payload.get("thread_id") in (None, self.history.own.get("id")):
            self.meter.take_reply(payload.get("usage"))

    def _ends(self, status: Any) -> None:
        self.exit_status = text_or_none(status)

    def _name(self, event: dict[str, Any]) -> None:
        self.title = text_or_none(event.get("thread_name")) or self.title


def _parent(own: dict[str, Any]) -> str | None:
    """The session that started this one as its subagent."""
    spawn = mapping(mapping(mapping(own.get("source")).get("subagent")).get("thread_spawn"))
    return text_or_none(spawn.get("parent_thread_id")) or text_or_none(own.get("parent_thread_id"))
