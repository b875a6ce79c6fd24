"""ATIF, the Agent Trajectory Interchange Format (Harbor RFC 0001, v1.0 to v1.7): one JSON document per session.

A session whose context was full continues in a second file, whose first steps are copies
(`is_copied_context`). Subagents have files of their own, or are nested under `subagent_trajectories`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from agent_wiki.readers.builder import Call, TrajectoryBuilder
from agent_wiki.readers.recorded import (
    count,
    flat_text,
    iso_utc,
    mapping,
    number,
    objects,
    seconds_between,
    short_digest,
    usage_of,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Role, Source, Trajectory
from agent_wiki.trajectory.json_text import value_or

FORMAT = "atif"

_UNIQUE_CHARACTERS = 8
_FILLERS = frozenset({"[tool call]", "[tool calls]"})
_TERMINAL = "terminal"


def claims(sample: Sample) -> bool:
    """One ATIF document, a list of them, or one per line."""
    return any(_is_atif(record) for record in _documents(sample.values))


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every session of a recording; a nested subagent follows its parent.

    Raises `UnreadableRecording` when a document does not follow ATIF.
    """
    for document in _documents(recording.values()):
        if _is_atif(document):
            yield from _sessions(recording, document, parent=None)


def _documents(values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for value in values:
        yield from objects(value if isinstance(value, list) else [value])


def _is_atif(document: dict[str, Any]) -> bool:
    if not isinstance(document.get("steps"), list):
        return False
    version = document.get("schema_version")
    if isinstance(version, str) and version.upper().startswith("ATIF"):
        return True
    first = next(iter(objects(document["steps"])), {})
    return isinstance(document.get("agent"), dict) and {"step_id", "source"} <= first.keys()


def _sessions(recording: Recording, document: dict[str, Any], parent: str | None) -> Iterator[Trajectory]:
    trajectory = _Session(document, parent).trajectory()
    recording.expect_messages(trajectory.messages)
    yield trajectory
    embedded = document.get("subagent_trajectories")
    for child in _documents(embedded if isinstance(embedded, list) else []):
        if isinstance(child.get("steps"), list):
            yield from _sessions(recording, child, trajectory.session_id)


class _Session:
    """Turns one ATIF document into a trajectory."""

    def __init__(self, document: dict[str, Any], parent: str | None) -> None:
        self.document = document
        self.parent = parent
        self.agent = mapping(document.get("agent"))
        self.steps = objects(document["steps"])
        self.builder = TrajectoryBuilder()
        self.tokens: Counter[str] = Counter()
        self.inherited_turns = 0
        self.has_request = False

    def trajectory(self) -> Trajectory:
        """The session's messages and metadata."""
        for step in self.steps:
            self._step(step)
        if not self.tokens:
            self._totals(mapping(self.document.get("final_metrics")))
        moments = [step["timestamp"] for step in self.steps if iso_utc(step.get("timestamp"))]
        started, ended = (moments[0], moments[-1]) if moments else (None, None)
        session_id, forked_from = self._identity()
        source = Source(
            format=FORMAT,
            agent_version=_line(self.agent.get("version")),
            usage=usage_of(self.tokens),
            duration_seconds=seconds_between(started, ended) if len(moments) > 1 else None,
            ended_at=iso_utc(ended),
            parent_session_id=self.parent,
            forked_from=forked_from,
            hygiene={"inherited_turns": self.inherited_turns},
        )
        return self.builder.finish(
            session_id,
            source,
            agent=_line(self.agent.get("name")),
            model=_line(self.agent.get("model_name")),
            timestamp=iso_utc(started),
        )

    def _identity(self) -> tuple[str, str | None]:
        """The session's id, and for a continuation the id of the session that it continues."""
        recorded = str(self.document.get("session_id") or "")
        if not is_unique(recorded):
            name = str(self.agent.get("name") or "")
            digest = short_digest([name, self._first("user"), self._first("assistant")])
            return f"{recorded or FORMAT}-{digest}", None
        part = count(mapping(self.agent.get("extra")).get("continuation_index"))
        if not part:
            return recorded, None
        suffix = f"-cont-{part}"
        return recorded.removesuffix(suffix) + suffix, recorded.removesuffix(suffix)

    def _first(self, role: Role) -> str:
        return next((message.content or "" for message in self.builder.messages if message.role == role), "")

    def _step(self, step: dict[str, Any]) -> None:
        is_copy = step.get("is_copied_context") is True
        text, kind = flat_text(step.get("message")), step.get("source")
        if is_copy and kind == "agent":
            self.inherited_turns += 1
            return
        if kind == "agent":
            if _is_result(step, text):
                self._add_results(step, _results(step), [_line(mapping(step.get("extra")).get("tool_call_id"))])
            else:
                self._reply(step, text)
            return
        if kind == "user":
            # The first copied turn is the task; the others belong to the handoff.
            is_handoff = is_copy and self.has_request
            self.builder.user(text, mark="compaction" if is_handoff else None)
            self.has_request = True
        elif _is_compaction(step):
            self.builder.user(text, mark="compaction")
        else:
            self.builder.system(text)
        for result in _results(step):
            if result_text := _result_text(result, with_links=False):
                self.builder.tool(_line(result.get("source_call_id")), result_text)

    def _reply(self, step: dict[str, Any], text: str) -> None:
        recorded = objects(step.get("tool_calls"))
        calls = [(_line(c.get("tool_call_id")), str(c.get("function_name", "")), c.get("arguments")) for c in recorded]
        if recorded and _is_filler(text, calls):
            text = ""
        results = _results(step)
        if not recorded and results and (keystrokes := _keystrokes(text)):
            calls = [(None, _TERMINAL, {"command": keystrokes})]
        thinking = flat_text(step.get("reasoning_content"))
        self.builder.assistant(text, thinking=thinking, calls=calls)
        self._add_results(step, results, [call_id for call_id, _, _ in calls])
        if model := _line(step.get("model_name")):
            self.builder.models[model] += 1
        self._totals(mapping(step.get("metrics")))

    def _add_results(self, step: dict[str, Any], results: list[dict[str, Any]], call_ids: list[str | None]) -> None:
        """Pair results with the calls they name; results that name none answer the last calls still open.

        A call without an id is open under None, as the builder expects.
        """
        named = {_line(result.get("source_call_id")) for result in results} - {None}
        open_ids = [call_id for call_id in call_ids if call_id not in named]
        unnamed = sum(_line(result.get("source_call_id")) is None for result in results)
        open_ids = open_ids[max(0, len(open_ids) - unnamed) :]
        flag = mapping(step.get("extra")).get("tool_result_is_error")
        for result in results:
            call_id = _line(result.get("source_call_id")) or (open_ids.pop(0) if open_ids else None)
            is_error = mapping(result.get("extra")).get("is_error", flag)
            text = _result_text(result, with_links=True)
            self.builder.tool(call_id, text, is_error=is_error if isinstance(is_error, bool) else None)

    def _totals(self, metrics: dict[str, Any]) -> None:
        """Tokens and cost of a step, or of the whole session. ATIF counts cached tokens as part of the prompt."""
        recorded = {
            name: count(metrics.get(f"{name}_tokens", metrics.get(f"total_{name}_tokens")))
            for name in ("prompt", "completion", "cached")
        }
        if recorded["prompt"] is not None:
            self.tokens["input_tokens"] += max(0, recorded["prompt"] - (recorded["cached"] or 0))
        if recorded["cached"] is not None:
            self.tokens["cache_read_input_tokens"] += recorded["cached"]
        if recorded["completion"] is not None:
            self.tokens["output_tokens"] += recorded["completion"]
        self.builder.note_cost(number(metrics.get("cost_usd", metrics.get("total_cost_usd"))))


def is_unique(session_id: str) -> bool:
    """Whether an id looks unique: at least eight hex characters in its words that contain a digit."""
    words = re.findall(r"[0-9A-Za-z]+", session_id)
    coded = "".join(word for word in words if any(character.isdigit() for character in word))
    return len(re.findall(r"[0-9a-fA-F]", coded)) >= _UNIQUE_CHARACTERS


def _results(step: dict[str, Any]) -> list[dict[str, Any]]:
    return objects(mapping(step.get("observation")).get("results"))


def _is_result(step: dict[str, Any], text: str) -> bool:
    """Whether a step is nothing but the result of a call before it, as a converter of OpenClaw's sessions writes it."""
    results = _results(step)
    return bool(text) and not step.get("tool_calls") and [flat_text(each.get("content")) for each in results] == [text]


def _result_text(result: dict[str, Any], *, with_links: bool) -> str:
    """A result's content; without any, the sessions of the subagents that the call started."""
    text = flat_text(result.get("content"))
    links = result.get("subagent_trajectory_ref")
    if text or not with_links or not isinstance(links, list):
        return text
    names = [_line(link.get("session_id")) or _line(link.get("trajectory_path")) for link in map(mapping, links)]
    return "\n".join(f"[subagent trajectory {name}]" for name in names if name)


def _is_compaction(step: dict[str, Any]) -> bool:
    return mapping(mapping(step.get("extra")).get("context_management")).get("type") == "compaction"


def _is_filler(text: str, calls: list[Call]) -> bool:
    """Whether a converter wrote this text because the model wrote none beside its calls."""
    stripped = text.strip()
    return stripped.lower() in _FILLERS or any(stripped == f"Executed {name} {call_id}" for call_id, name, _ in calls)


def _keystrokes(text: str) -> str | None:
    """What Terminus typed into its terminal. It has no tool calls: its reply is JSON with `commands`."""
    start, end = text.find("{"), text.rfind("}")
    reply = mapping(value_or(text[start : end + 1], None)) if 0 <= start < end else {}
    typed = [command.get("keystrokes") for command in objects(reply.get("commands"))]
    return "".join(keys for keys in typed if isinstance(keys, str)).strip() or None


def _line(value: Any) -> str | None:
    """The first line of a string, None when it is blank."""
    return value.strip().partition("\n")[0].strip() or None if isinstance(value, str) else None
