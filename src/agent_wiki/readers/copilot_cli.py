"""Sessions of GitHub Copilot CLI: `events.jsonl` in `~/.copilot/session-state/<id>`, and `--output-format json`.

One event a line, `{type, data, id, timestamp, parentId}`; `agentId` names the subagent whose event it is. A session of
the time before is imported whole as one event when it is gone on with. Read after the schema in npm's
@github/copilot-sdk and compared with what its program was sent; the import after the code of @github/copilot 0.0.351.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.copilot_history import add_session, without_blocks
from agent_wiki.readers.recorded import (
    count,
    mapping,
    most_used,
    objects,
    recorded_call,
    short_digest,
    text_or_none,
    usage_of,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Message, MessageMark, Source, Trajectory

FORMAT = "copilot-cli"

_KINDS = frozenset(
    {"session", "user", "assistant", "tool", "system", "subagent", "skill", "hook", "permission", "model"}
)
_TURNS = frozenset({"user.message", "assistant.message", "assistant.turn_start"})
_CACHED = {"cacheReadTokens": "cache_read_input_tokens", "cacheWriteTokens": "cache_creation_input_tokens"}
_BY_USER = "denied-interactively-by-user"
# Below the output of a command that was waited for; older versions give the code nowhere else.
_LONGEST_END = 200
_PRINTED_CODE = re.compile(r"<shellId: \S{1,60} completed with exit code (-?\d{1,10})>\s*\Z")


def claims(sample: Sample) -> bool:
    """A `session.start` of Copilot with its session's id, or the events that `--output-format json` prints."""
    records = sample.records()
    events = [record for record in records if _is_event(record)]
    if any(event["type"] == "session.start" and _is_start(event["data"]) for event in events):
        return True
    return len(events) >= max(len(records) - 1, 1) and any(event["type"] in _TURNS for event in events)


def _is_event(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    is_known = isinstance(kind, str) and kind.partition(".")[0] in _KINDS and "." in kind
    return is_known and isinstance(record.get("data"), dict) and "timestamp" in record and "parentId" in record


def _printed_code(text: str) -> int | None:
    code = _PRINTED_CODE.search(text[-_LONGEST_END:])
    return int(code[1]) if code else None


def _is_start(start: dict[str, Any]) -> bool:
    return "sessionId" in start and ("copilotVersion" in start or str(start.get("producer")).startswith("copilot"))


def read(recording: Recording) -> Iterator[Trajectory]:
    """The session, then its subagents in the order of their first event. Raises `UnreadableRecording` without turns."""
    session = _Session()
    for record in recording.records():
        session.take(record)
    recording.expect_messages(session.agents[""].builder.messages)
    yield from session.trajectories()


class _Agent:
    """The turns of the session itself, or of one of its subagents."""

    def __init__(self) -> None:
        self.builder = TrajectoryBuilder()
        self.tokens: Counter[str] = Counter()
        self.system: str | None = None
        self.call: str | None = None  # of the model, of which the last reply is a part
        self.parts: list[Message] = []  # of the last reply, where it was recorded in several
        self.by_harness: set[str] = set()  # tool calls that no model asked for
        self.refused: set[str] = set()  # tool calls that the user refused
        self.title: str | None = None

    def take(self, kind: str, data: dict[str, Any], *, is_subagent: bool, names_calls: bool) -> None:
        """One event of this agent. `names_calls`: each reply says which call of the model it is of."""
        if kind == "assistant.message":
            self._reply(data, names_calls=names_calls)
        elif kind == "tool.execution_complete":
            self._result(data)
        elif kind == "user.message":
            words, blocks = without_blocks(text_or_none(data.get("content")) or "")  # behind it until late in 2025
            self.builder.hygiene["system_reminders_stripped"] += blocks
            self.builder.user(words, None if _is_typed(data, is_subagent) else "injected")
        elif kind == "system.message":
            self._system(text_or_none(data.get("content")))
        elif kind in ("session.usage_record", "assistant.usage"):
            self.add_tokens(mapping(data.get("usage")) or data)
        elif kind == "permission.completed" and mapping(data.get("result")).get("kind") == _BY_USER:
            self.refused.add(str(data.get("toolCallId")))
        else:
            self._between(kind, data)

    def _between(self, kind: str, data: dict[str, Any]) -> None:
        """What the harness put among the turns."""
        if kind == "session.compaction_complete" and data.get("success") is not False:
            self.builder.user(text_or_none(data.get("summaryContent")), "compaction")
        elif kind == "skill.invoked":
            folder = posixpath.dirname(str(data.get("path", "")))
            self.builder.user(f"Base directory for this skill: {folder}\n\n{data.get('content', '')}", "injected")
        elif kind == "system.notification":
            self.builder.user(text_or_none(data.get("content")), "injected")
        elif kind == "session.import_legacy":
            add_session(self.builder, mapping(data.get("legacySession")))
        elif kind == "abort":
            self.builder.user(f"[aborted: {data.get('reason', 'no reason recorded')}]", "interrupt")

    def _system(self, prompt: str | None) -> None:
        """It is recorded again in each run of the session."""
        if prompt is not None and prompt != self.system:
            self.builder.system(prompt)
        self.system = prompt or self.system

    def _reply(self, data: dict[str, Any], *, names_calls: bool) -> None:
        requests = objects(data.get("toolRequests"))
        if requests and names_calls and not any(data.get(name) for name in ("model", "apiCallId", "interactionId")):
            self.by_harness.update(str(request.get("toolCallId")) for request in requests)
            return
        if isinstance(model := data.get("model"), str):
            self.builder.models[model] += 1
        calls = [recorded_call(request, "toolCallId", "name", "arguments") for request in requests]
        thinking = text_or_none(data.get("reasoningText"))
        self.builder.assistant(text_or_none(data.get("content")), thinking=thinking, calls=calls)
        call, self.call = self.call, text_or_none(data.get("apiCallId"))
        if call is not None and call == self.call:
            self._join_last_two()

    def _join_last_two(self) -> None:
        """A reply that was recorded in parts, one for each stretch of reasoning, is one."""
        messages = self.builder.messages
        if [message.role for message in messages[-2:]] != ["assistant", "assistant"]:
            return
        last = messages.pop()
        if not self.parts or self.parts[0] is not messages[-1]:
            self.join_parts()
            self.parts = [messages[-1]]
        self.parts.append(last)
        self.builder.hygiene["split_replies_joined"] += 1

    def join_parts(self) -> None:
        """Put the parts of a reply together, all at once."""
        for first in self.parts[:1]:
            first.content = "\n\n".join(part.content for part in self.parts if part.content) or None
            first.thinking = "\n\n".join(part.thinking for part in self.parts if part.thinking) or None
            first.tool_calls = [call for part in self.parts for call in part.tool_calls]
        self.parts = []

    def _result(self, data: dict[str, Any]) -> None:
        call_id, error, result = text_or_none(data.get("toolCallId")), mapping(data.get("error")), data.get("result")
        text = str(error.get("message", "")) if error else _shown(mapping(result))
        if data.get("isUserRequested") or call_id in self.by_harness:
            self.builder.user(text, "injected")  # a command that the user ran, or what the harness looked up
            return
        code = mapping(data.get("shellExecution")).get("exitCode", _printed_code(text))
        has_failed = data.get("success") is False or (isinstance(code, int) and code != 0)
        is_refused = call_id in self.refused
        mark: MessageMark | None = "rejected" if is_refused else None
        self.builder.tool(call_id, text, is_error=None if is_refused else has_failed, mark=mark)

    def add_tokens(self, usage: dict[str, Any]) -> None:
        """Add the tokens of one call of the model. The cached ones are a part of the input."""
        cached = {ours: count(usage.get(name)) for name, ours in _CACHED.items()}
        for ours, spent in cached.items():
            if spent is not None:
                self.tokens[ours] += spent
        if (given := count(usage.get("inputTokens"))) is not None:
            self.tokens["input_tokens"] += max(given - sum(spent or 0 for spent in cached.values()), 0)
        if (written := count(usage.get("outputTokens"))) is not None:
            self.tokens["output_tokens"] += written


class _Session:
    """Processes the events of one file in order."""

    def __init__(self) -> None:
        self.agents: dict[str, _Agent] = {"": _Agent()}
        self.start: dict[str, Any] = {}
        self.names: dict[str, str] = {}
        self.end: dict[str, Any] = {}
        self.session_id: str | None = None
        self.first_event: str | None = None
        self.names_calls = True  # not before version 1

    def take(self, event: dict[str, Any]) -> None:
        """Process one line of the file."""
        kind, data = str(event.get("type")), mapping(event.get("data"))
        self.first_event = self.first_event or text_or_none(event.get("id"))
        if kind == "result":
            self.session_id = text_or_none(event.get("sessionId"))
            return
        owner = text_or_none(event.get("agentId")) or text_or_none(data.get("parentToolCallId")) or ""
        agent = self.agents.setdefault(owner, _Agent())
        agent.builder.note_time(event.get("timestamp"))
        if kind == "session.start":
            self.start = self.start or data
            self.names_calls = str(data.get("copilotVersion", "1"))[:1] in "123456789"
        elif kind == "session.shutdown":
            self.end = data
        elif kind == "session.title_changed":
            agent.title = text_or_none(data.get("title"))
        elif kind == "subagent.started":
            agent.title = text_or_none(data.get("agentDescription"))
        agent.take(kind, data, is_subagent=bool(owner), names_calls=self.names_calls)

    def trajectories(self) -> Iterator[Trajectory]:
        """The session and its subagents; one without a turn is left out."""
        for agent in self.agents.values():
            agent.join_parts()
        main = self.agents[""]
        by_texts = f"copilot-{short_digest([message.content or '' for message in main.builder.messages])}"
        by_event = f"copilot-{short_digest([self.first_event])}" if self.first_event else by_texts
        # Without its last line, which says the id, it is known by its first event, and was once by its texts.
        session_id = text_or_none(self.start.get("sessionId")) or self.session_id or by_event
        apart = sum(len(agent.builder.messages) for owner, agent in self.agents.items() if owner)
        for owner, agent in self.agents.items():
            if agent.builder.messages:
                end = f".agent-{owner}" if owner else ""
                made = self._trajectory(agent, session_id + end, session_id if owner else None, 0 if owner else apart)
                made.earlier_ids = [each + end for each in (by_event, by_texts) if each != session_id]
                yield made

    def _trajectory(self, agent: _Agent, session_id: str, parent: str | None, apart: int) -> Trajectory:
        context = mapping(self.start.get("context"))
        agent.builder.started = (not parent and self.start.get("startTime")) or agent.builder.started
        repository, host = text_or_none(context.get("repository")), text_or_none(context.get("repositoryHost"))
        source = Source(
            format=FORMAT,
            agent_version=text_or_none(self.start.get("copilotVersion")),
            cwd=text_or_none(context.get("cwd")),
            git_branch=text_or_none(context.get("branch")),
            remote=f"https://{host}/{repository}" if host and repository else None,
            title=agent.title,
            exit_status=None if parent else text_or_none(self.end.get("shutdownType")),
            usage=usage_of(agent.tokens or (Counter() if parent else self._totals())),
            parent_session_id=parent,
            hygiene={"subagent_turns_apart": apart},
        )
        model = most_used(agent.builder.models) or text_or_none(self.start.get("selectedModel"))
        return agent.builder.finish(session_id, source, agent=FORMAT, model=model)

    def _totals(self) -> Counter[str]:
        """What the last `session.shutdown` counts, subagents included: older versions record nothing else."""
        total = _Agent()
        for metrics in mapping(self.end.get("modelMetrics")).values():
            total.add_tokens(mapping(mapping(metrics).get("usage")))
        return total.tokens


def _is_typed(data: dict[str, Any], is_subagent: bool) -> bool:
    """What the user typed; a subagent's prompt stands for it. A source names who else wrote a message."""
    source = data.get("source")
    is_own = source in (None, "", "user") or (is_subagent and str(source).startswith("agent-"))
    return is_own and not data.get("isAutopilotContinuation")


def _shown(result: dict[str, Any]) -> str:
    """What the model was shown of a result."""
    content = result.get("content")
    if isinstance(content, str):
        return content
    return str(result.get("detailedContent", ""))
