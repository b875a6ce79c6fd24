"""Which texts of a trajectory are too long for a model to be shown whole, and what it is shown instead. Pure.

A preview is the text's head, its size, where the whole is, and its tail. What was decided once about a text stays
decided, so that later questions on it send the same bytes: `decided` tells. The idea of a ledger of what a model saw of
each tool result is Claude Code's.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_wiki.trajectory import Message, Trajectory, without_surrogates

SHORTEST_PREVIEWED = 1_000
"""Characters. A shorter text is shown whole whatever the limits, and nothing is noted of it."""

_MOST_HEAD = 4_000
_NOTE_CHARACTERS = 300  # at most what stands between head and tail
_LINE_BREAK_WITHIN = 200


class Limits(BaseModel):
    """How much a model is shown. A text is measured in characters, a segment, which has to fit, in bytes of UTF-8."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    result_characters: int = Field(default=20_000, ge=2_000)
    turn_characters: int = Field(default=60_000, ge=2_000)
    segment_bytes: int = Field(default=300_000, ge=20_000)

    @property
    def head_characters(self) -> int:
        """Length of a preview's head, and of its tail."""
        return min(_MOST_HEAD, self.result_characters * 2 // 5, self.segment_bytes // 20)

    @property
    def text_bytes(self) -> int:
        """The longest text that may stand in a segment beside others: a turn and its overlap have to fit."""
        return self.segment_bytes // 3


@dataclass(frozen=True, slots=True)
class Part:
    """One text of a trajectory. `place` is `content`, `thinking`, or the position of a call whose arguments it is.

    `id` is the recorded id of the tool use for a tool's result, "" for any other text.
    """

    turn: int
    place: str
    id: str
    text: str

    @property
    def digest(self) -> str:
        """Of the text, 32 hex digits."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @property
    def is_result(self) -> bool:
        """True for a tool's result."""
        return bool(self.id)


@dataclass(frozen=True, slots=True)
class Preview:
    """What stands in a text's place. `shown` counts the text's own characters in it."""

    text: str
    shown: int


Decision = Preview | Literal["left"] | None
"""What was decided of a part before: its preview, that it is shown whole, or nothing."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a model saw of a trajectory, in characters of content, thinking and call arguments."""

    trajectory_characters: int
    elided_characters: int = 0

    @property
    def seen_characters(self) -> int:
        return self.trajectory_characters - self.elided_characters

    @property
    def share(self) -> float:
        """Seen over all, 1.0 for an empty trajectory."""
        return self.seen_characters / self.trajectory_characters if self.trajectory_characters else 1.0

    def to_json(self) -> dict[str, int]:
        """As summary pages and reports have it."""
        return {
            "trajectory_characters": self.trajectory_characters,
            "seen_characters": self.seen_characters,
            "elided_characters": self.elided_characters,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be replaced anew, and what was seen for the first time and is left whole."""

    replaced: tuple[Part, ...]
    left: tuple[Part, ...]


def parts_of(trajectory: Trajectory) -> Iterator[Part]:
    """Every text that is long enough to be previewed."""
    for turn, message in trajectory.turns():
        for place, text in _texts(message):
            if len(text) > SHORTEST_PREVIEWED:
                is_result = message.role == "tool" and place == "content"
                yield Part(turn, place, (message.tool_call_id or f"turn-{turn}") if is_result else "", text)


def _texts(message: Message) -> Iterator[tuple[str, str]]:
    yield "content", message.content or ""
    yield "thinking", message.thinking or ""
    for position, call in enumerate(message.tool_calls):
        yield str(position), call.arguments


def plan(trajectory: Trajectory, limits: Limits, decided: Callable[[Part], Decision]) -> Plan:
    """What to replace of what nothing was decided about: results over the limit, then in a turn the largest first.

    The results that answer one message of the agent count as one turn. Any other text is replaced only where no segment
    could hold it.
    """
    replaced: list[Part] = []
    left: list[Part] = []
    weights: dict[int, int] = defaultdict(int)
    open_parts: dict[int, list[Part]] = defaultdict(list)
    group_of = _groups(trajectory)
    for part in parts_of(trajectory):
        decision = decided(part)
        group = group_of[part.turn]
        if isinstance(decision, Preview):
            weights[group] += len(decision.text) if part.is_result else 0
        elif decision == "left":
            weights[group] += len(part.text) if part.is_result else 0
        elif _has_to_go(part, limits):
            replaced.append(part)
            weights[group] += 2 * limits.head_characters if part.is_result else 0
        elif part.is_result:
            open_parts[group].append(part)
        else:
            left.append(part)
    for group, candidates in open_parts.items():
        weight = weights[group] + sum(len(part.text) for part in candidates)
        for part in sorted(candidates, key=lambda each: (-len(each.text), each.turn)):
            if weight > limits.turn_characters and _is_worth_it(part, limits):
                replaced.append(part)
                weight -= len(part.text) - 2 * limits.head_characters
            else:
                left.append(part)
    return Plan(tuple(replaced), tuple(left))


def _groups(trajectory: Trajectory) -> dict[int, int]:
    """Turn → the turn that it counts to: a tool's result to the message before the results it stands among."""
    groups: dict[int, int] = {}
    group = 0
    for turn, message in trajectory.turns():
        group = group if message.role == "tool" else turn
        groups[turn] = group
    return groups


def _has_to_go(part: Part, limits: Limits) -> bool:
    is_over = part.is_result and len(part.text) > limits.result_characters
    return is_over or len(part.text.encode("utf-8", "replace")) > limits.text_bytes


def _is_worth_it(part: Part, limits: Limits) -> bool:
    return len(part.text) > 2 * limits.head_characters + _NOTE_CHARACTERS


def preview_of(text: str, limits: Limits, where: str) -> Preview:
    """Head, note and tail of a text, cut at line breaks where one is near. `where` says where the whole is."""
    most = limits.head_characters
    if len(text) <= 2 * most:
        most = len(text) // 3
    head = text[:most]
    at = head.rfind("\n", max(0, most - _LINE_BREAK_WITHIN))
    head = head[: at + 1] if at >= 0 else head
    tail = text[len(text) - most :]
    at = tail.find("\n", 0, _LINE_BREAK_WITHIN)
    tail = tail[at + 1 :] if at >= 0 else tail
    shown = len(head) + len(tail)
    note = f"[{len(text) - shown:,} of {len(text):,} characters are not shown here; {where}]"
    return Preview(without_surrogates(f"{head.rstrip(chr(10))}\n{note}\n{tail}"), shown)


def with_previews(trajectory: Trajectory, previews: Mapping[tuple[int, str], Preview]) -> Trajectory:
    """A copy of the trajectory in which previews, by turn and place, stand for the texts; it shares the rest."""
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
