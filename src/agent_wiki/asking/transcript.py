"""A trajectory as a model reads it: every turn labelled, all of it inside a fence that it cannot close.

Short labels that map back to turns are inspect_scout's. A recording's text is data: it can neither end the fence,
whose name depends on its whole content, nor begin a line with the label of another turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import count

from agent_wiki.trajectory import Message, MessageMark, Trajectory, without_surrogates
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.text import plain_line

MARKS: dict[MessageMark, str] = {
    "compaction": "summary by the harness",
    "injected": "put there by the harness",
    "interrupt": "the user stopped the agent",
    "rejected": "refused by the user",
    "denied": "reads like a refusal",
    "cancelled": "called off with a sibling",
    "no-call": "its call is not recorded",
}
"""The note after a turn's role for each mark; the prompts explain these words."""

_MOST_NAME = 80
_MOST_FACT = 200
_FENCE_DIGITS = 12
_SPOKEN_LABEL = regex(r"(^|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])(?=\[T\d)")


@dataclass(frozen=True, slots=True)
class Segment:
    """A range of turns, inclusive, with its number (from 1) and the number of segments."""

    first: int
    last: int
    number: int
    of: int


def transcript(trajectory: Trajectory, segment: Segment | None = None) -> str:
    """The trajectory as text: its metadata, then each turn from `[T1]` on, or those of a segment.

    In: any trajectory. Out: content, thinking and call arguments verbatim, except for lone surrogates and a space
    before what would look like a label. The same trajectory gives the same text. Turns and calls have the same numbers
    in a segment as in the whole.
    """
    lines = [*_head(trajectory)]
    if segment is not None:
        lines.append(f"shown: turns {segment.first} to {segment.last}")
    lines += ["", *(text for turn in turn_texts(trajectory, segment) for text in turn)]
    return without_surrogates("\n".join(lines))


def turn_texts(trajectory: Trajectory, segment: Segment | None = None) -> Iterator[list[str]]:
    """For each turn (of a segment), its labelled parts as in the transcript."""
    calls = _CallNumbers()
    for turn, message in trajectory.turns():
        parts = _parts(message, calls)
        if segment is None or segment.first <= turn <= segment.last:
            yield [f"[T{turn}] {head}: {without_labels(text)}" for head, text in parts]
        else:
            for call in message.tool_calls:
                calls.give(call.id, call.name)


def fenced(text: str, name: str) -> str:
    """`text` between two tags that begin with `name` and cannot occur in it, because they end in a digest of it."""
    digest = _digest_not_in(text)
    return f"<{name}-{digest}>\n{text.strip(chr(10))}\n</{name}-{digest}>"


def _digest_not_in(text: str) -> str:
    digests = (sha256_of(f"{salt}\n{text}") for salt in count())
    return next(digest[:_FENCE_DIGITS] for digest in digests if digest[:_FENCE_DIGITS] not in text)


@dataclass(slots=True)
class _CallNumbers:
    """Numbers for calls: recorded ids are long, and some recordings repeat them."""

    given: int = 0
    by_id: dict[str, str] = field(default_factory=dict)

    def give(self, call_id: str, name: str) -> str:
        self.given += 1
        self.by_id[call_id] = f"#{self.given} {_name(name)}"
        return self.by_id[call_id]


def _head(trajectory: Trajectory) -> Iterator[str]:
    """The session's metadata, except for the recording's location and digest, which mean nothing to a reader."""
    source = trajectory.source
    facts = {
        "agent": trajectory.agent,
        "model": trajectory.model,
        "working folder": source.cwd,
        "started by another agent, in session": source.parent_session_id,
        "recorded reward": source.reward,
        "recorded verdict": None if source.resolved is None else "resolved" if source.resolved else "not resolved",
        "recorded end state of the agent": source.exit_status,
    }
    for name, value in facts.items():
        if value is not None:
            yield f"{name}: {without_labels(plain_line(str(value), _MOST_FACT))}"
    yield f"turns: {len(trajectory.messages)}"


def _parts(message: Message, calls: _CallNumbers) -> Iterator[tuple[str, str]]:
    """The parts of one turn, each as (head, text)."""
    if message.thinking is not None:
        yield f"{message.role}, thinking", message.thinking
    is_calling = bool(message.tool_calls) or message.thinking is not None
    if message.content or not is_calling:
        yield _spoken_head(message, calls), message.content or ""
    for call in message.tool_calls:
        missing = " (no result recorded)" if call.mark == "no-result" else ""
        yield f"{message.role} calls {calls.give(call.id, call.name)}{missing}", call.arguments


def _spoken_head(message: Message, calls: _CallNumbers) -> str:
    notes = [MARKS[message.mark]] if message.mark else []
    if message.is_error and message.mark not in ("rejected", "denied", "cancelled"):
        notes.append("failed")
    behind = f" ({', '.join(notes)})" if notes else ""
    if message.role != "tool":
        return message.role + behind
    call = calls.by_id.get(message.tool_call_id or "") or _name(message.name or "a call")
    return f"result of {call}{behind}"


def _name(name: str) -> str:
    return plain_line(name, _MOST_NAME) or "(no name)"


def without_labels(text: str) -> str:
    """The text with a space before each line that would begin like a turn's label."""
    return _SPOKEN_LABEL.sub(r"\1 ", text) if "[T" in text else text
