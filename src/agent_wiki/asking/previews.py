"""Texts of a trajectory that are too long to show a model whole, and the previews that replace them. Pure.

A preview has the text's head, its size, where the whole text is, and its tail. A decision about a text is
permanent, so that later questions on it send the same bytes: `decided` returns it. A ledger of what a model saw of
each tool result is an idea of Claude Code.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_wiki.asking.transcript import without_labels
from agent_wiki.redaction.redact import redact_text
from agent_wiki.trajectory import Message, Trajectory, without_surrogates
from agent_wiki.trajectory.lazily import dataclass

SHORTEST_PREVIEWED = 1_000
"""Characters. A shorter text is always shown whole, and no decision about it is recorded."""

_MOST_HEAD = 4_000
_SHORT_HEAD = 400
_NOTE_CHARACTERS = 300  # more than the text between head and tail
_LINE_BREAK_WITHIN = 200


class Limits(BaseModel):
    """How much a model is shown. Texts are measured in characters; segments, which must fit, in bytes of UTF-8."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    result_characters: int = Field(default=50_000, ge=2_000)
    turn_characters: int = Field(default=100_000, ge=2_000)
    segment_bytes: int = Field(default=200_000, ge=20_000)
    instruction_characters: int = Field(default=8_000, ge=2_000)

    @property
    def head_characters(self) -> int:
        """Length of a preview's head, and of its tail, unless a turn has so many that they must be shorter."""
        return min(_MOST_HEAD, self.result_characters * 2 // 5, self.segment_bytes // 20)

    @property
    def turn_bytes(self) -> int:
        """The largest size of one turn: a segment must hold it beside the turn that it shares with another segment."""
        return self.segment_bytes // 3


@dataclass(frozen=True, slots=True)
class Part:
    """One text of a trajectory. `place` is `content`, `thinking`, or the position of a call whose arguments it is.

    `id` is the recorded id of the tool use for a tool's result, "" for any other text; `digest` is the text's, 32 hex
    digits.
    """

    turn: int
    place: str
    id: str
    text: str
    is_instruction: bool = False  # what a system prompt says, or a harness in the user's place
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        object.__setattr__(self, "digest", digest)  # once: texts are long

    @property
    def is_result(self) -> bool:
        """True for a tool's result."""
        return bool(self.id)

    @property
    def key(self) -> tuple[str, str]:
        """What a decision is about: the tool use and the text, regardless of its place."""
        return self.id, self.digest


@dataclass(frozen=True, slots=True)
class Preview:
    """The replacement of a text. `shown` counts the text's own characters in it."""

    text: str
    shown: int


Decision = Preview | Literal["left"] | None
"""The earlier decision on a part: its preview, that it is shown whole, or None."""


@dataclass(frozen=True, slots=True)
class PreviewPlan:
    """New decisions: parts to replace, each with the length of its preview's head, and parts left whole."""

    replaced: tuple[tuple[Part, int], ...]
    left: tuple[Part, ...]


def parts_of(trajectory: Trajectory) -> Iterator[Part]:
    """Every text that is long enough to be previewed."""
    for turn, message in trajectory.turns():
        for place, text in _texts(message):
            if len(text) > SHORTEST_PREVIEWED:
                is_result = message.role == "tool" and place == "content"
                yield Part(turn, place, _tool_use(message, turn) if is_result else "", text, _is_instruction(message))


def _is_instruction(message: Message) -> bool:
    return message.role == "system" or message.mark == "injected"


def _texts(message: Message) -> Iterator[tuple[str, str]]:
    yield "content", message.content or ""
    yield "thinking", message.thinking or ""
    for position, call in enumerate(message.tool_calls):
        yield str(position), call.arguments


def _tool_use(message: Message, turn: int) -> str:
    """The id, made safe for the journal: in a recording it can be anything."""
    return redact_text(without_surrogates(message.tool_call_id or ""))[0] or f"turn-{turn}"


@dataclass(slots=True)
class _Group:
    """Texts with a joint limit of `most`: those of one turn, or the results that answer one turn."""

    most: int
    measure: Callable[[str], int]
    size: int = 0
    undecided: list[Part] = field(default_factory=list)

    def heads(self, limits: Limits) -> dict[Part, int]:
        """The undecided parts to replace, with the length of the head: those that are too long, then the largest."""
        heads: dict[Part, int] = {}
        for part in self.undecided:
            if part.is_result and _is_too_long(part.text, limits):
                self._replace(part, limits.head_characters, heads)
            elif part.is_instruction and len(part.text) > limits.instruction_characters:
                self._replace(part, min(limits.head_characters, limits.instruction_characters // 3), heads)
        largest_first = sorted(self.undecided, key=lambda part: (-self.measure(part.text), part.turn, part.place))
        for head in (limits.head_characters, _SHORT_HEAD):
            for part in largest_first:
                if self.size <= self.most:
                    return heads
                if len(part.text) > 2 * head + _NOTE_CHARACTERS and heads.get(part, head + 1) > head:
                    self._replace(part, head, heads)
        return heads

    def _replace(self, part: Part, head: int, heads: dict[Part, int]) -> None:
        now = self._shown(part, heads[part]) if part in heads else self.measure(part.text)
        self.size += self._shown(part, head) - now
        heads[part] = head

    def _shown(self, part: Part, head: int) -> int:
        """The largest size of a preview."""
        most = _ends(part.text, head)
        return self.measure(part.text[:most]) + _NOTE_CHARACTERS + self.measure(part.text[len(part.text) - most :])


def plan(
    trajectory: Trajectory, parts: Sequence[Part], limits: Limits, decided: Callable[[Part], Decision]
) -> PreviewPlan:
    """Decide on the parts without a decision. In: a trajectory and its `parts_of`.

    Results and instructions over their limit are replaced; then the largest results, while those that answer one turn
    exceed their joint limit. Any other text is replaced only if no segment could hold its turn.
    """
    group_of = _groups(trajectory, limits)
    for part in parts:
        group, decision = group_of[part.turn], decided(part)
        if isinstance(decision, Preview):
            group.size += group.measure(decision.text) - group.measure(part.text)
        elif decision is None:
            group.undecided.append(part)
    heads: dict[Part, int] = {}
    undecided: list[Part] = []
    for group in {id(group): group for group in group_of.values() if group.undecided}.values():
        heads.update(group.heads(limits))
        undecided += group.undecided
    replaced = tuple((part, heads[part]) for part in undecided if part in heads)
    return PreviewPlan(replaced, tuple(part for part in undecided if part not in heads))


def _groups(trajectory: Trajectory, limits: Limits) -> dict[int, _Group]:
    """Turn → its group: its own texts or, for a tool's result, all results that answer the same turn."""
    groups: dict[int, _Group] = {}
    results = _Group(limits.turn_characters, len)
    for turn, message in trajectory.turns():
        if message.role == "tool":
            results.size += len(message.content or "")
            groups[turn] = results
        else:
            results = _Group(limits.turn_characters, len)
            size = sum(_bytes_within(text, limits.turn_bytes) for _, text in _texts(message))
            groups[turn] = _Group(limits.turn_bytes, _bytes, size)
    return groups


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))  # the replacement of a lone surrogate has as many


def _bytes_within(text: str, most: int) -> int:
    """Bytes of a text, or an upper bound if that is at most `most`: most texts need not be encoded to be counted."""
    return 4 * len(text) if 40 * len(text) <= most else _bytes(text)


def _is_too_long(text: str, limits: Limits) -> bool:
    is_over = len(text) > limits.result_characters
    return is_over or (4 * len(text) > limits.turn_bytes and _bytes(text) > limits.turn_bytes)


def _ends(text: str, head: int) -> int:
    """How many characters are shown at each end; less for a text that is hardly longer than its preview."""
    return head if len(text) > 2 * head + _NOTE_CHARACTERS else len(text) // 3


def preview_of(text: str, head_characters: int, where: str) -> Preview:
    """Head, note and tail of a text, cut at line breaks if one is near. `where` says where the whole text is.

    The preview is sent literally, so a transcript must not change anything in it.
    """
    most = _ends(text, head_characters)
    head = text[:most]
    at = head.rfind("\n", max(0, most - _LINE_BREAK_WITHIN))
    head = head[: at + 1] if at >= 0 else head
    tail = text[len(text) - most :].rstrip("\n")
    at = tail.find("\n", 0, _LINE_BREAK_WITHIN)
    tail = tail[at + 1 :] if at >= 0 else tail
    shown = len(head) + len(tail)
    note = f"[{len(text) - shown:,} of {len(text):,} characters are not shown here; {where}]"
    gap = "" if head.endswith("\n") else "\n"
    return Preview(without_labels(without_surrogates(f"{head}{gap}{note}\n{tail}")), shown)


def with_previews(trajectory: Trajectory, previews: Mapping[tuple[int, str], Preview]) -> Trajectory:
    """A copy of the trajectory with texts replaced by previews, given by turn and place; it shares the rest."""
    if not previews:
        return trajectory
    by_turn: dict[int, dict[str, Preview]] = defaultdict(dict)
    for (turn, place), preview in previews.items():
        by_turn[turn][place] = preview
    messages = [
        _with_texts(message, by_turn[turn]) if turn in by_turn else message for turn, message in trajectory.turns()
    ]
    return replace(trajectory, messages=messages)


def _with_texts(message: Message, previews: Mapping[str, Preview]) -> Message:
    calls = [
        replace(call, arguments=previews[str(position)].text) if str(position) in previews else call
        for position, call in enumerate(message.tool_calls)
    ]
    made = replace(message, tool_calls=calls)
    if "content" in previews:
        made = replace(made, content=previews["content"].text)
    if "thinking" in previews:
        made = replace(made, thinking=previews["thinking"].text)
    return made
