"""A recorded session as people like to read it: requests and replies, each call folded under how it went.

Quotes of pages are marked where they stand. Long results are cut with their size; what is cited in them is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from agent_wiki.shell.outcomes import Verdict
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.site.diffs import DiffLine, diff_in, diff_of_call
from agent_wiki.site.shown_text import TextPiece, anchors_in, parted, pieces_of, quote_anchor, visible
from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.calls import Call, paired_calls
from agent_wiki.trajectory.lazily import dataclass

Speaker = Literal["user", "agent", "system", "harness", "tool", "compaction"]

_MOST_SAID = 6_000  # characters
_MOST_THOUGHT = 2_000
_MOST_HEAD = 140
_MOST_REQUEST = 1_200  # the instructions of a benchmark go on for pages
_MOST_FAILED = 12  # turns that are linked above the session
_RESULTS = ((400, 1_600), (1_500, 700), (1 << 30, 240))  # up to so many calls: characters of a result
_MARKS: Mapping[str, Speaker] = {"compaction": "compaction", "injected": "harness"}
_ROLES: Mapping[str, Speaker] = {"user": "user", "assistant": "agent", "system": "system", "tool": "tool"}
_FOLDED: frozenset[Speaker] = frozenset({"system", "harness", "compaction", "tool"})


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """What somebody said in a turn. `loose` are quotes of it that stand in none of the shown pieces.

    `rest` are the pieces of a long request that are folded.
    """

    turn: int
    speaker: Speaker
    pieces: list[TextPiece]
    thinking: list[TextPiece]
    loose: list[TextPiece]
    size: int
    is_folded: bool
    is_open: bool
    is_interrupt: bool = False
    rest: list[TextPiece] = field(default_factory=list)
    kind: str = "said"

    @property
    def is_rest_open(self) -> bool:
        """Whether a page cites what is folded."""
        return any(piece.kind == "cited" for piece in self.rest)


@dataclass(frozen=True, slots=True)
class CallShown:
    """A tool call with its result. `result_turn` is None where the recording has none."""

    turn: int
    is_first: bool
    result_turn: int | None
    tool: str
    head: str
    verdict: str
    shown_by: str
    arguments: list[TextPiece]
    change: list[DiffLine]
    result: list[TextPiece]
    result_change: list[DiffLine]
    result_size: int
    loose: list[TextPiece]
    has_failed: bool
    is_open: bool
    kind: str = "called"


@dataclass(frozen=True, slots=True)
class Transcript:
    """The whole session, in the order of its turns."""

    turns: int
    items: list[SpokenTurn | CallShown]
    calls: int
    failed: int
    failed_turns: list[int]  # the first ones
    compactions: int


def transcript_of(trajectory: Trajectory, quotes: Mapping[int, Sequence[str]]) -> Transcript:
    """A trajectory, redacted already, with the quotes of pages by turn."""
    calls = paired_calls(trajectory)
    reader = _Reader(trajectory, calls, quotes)
    items = list(reader.items())
    failed = [item.turn for item in items if isinstance(item, CallShown) and item.has_failed]
    linked = list(dict.fromkeys(failed))[:_MOST_FAILED]
    compactions = sum(message.mark == "compaction" for message in trajectory.messages)
    return Transcript(len(trajectory.messages), items, len(calls), len(failed), linked, compactions)


class _Reader:
    """Goes through a session once; a quote is marked where it is first found."""

    def __init__(self, trajectory: Trajectory, calls: Sequence[Call], quotes: Mapping[int, Sequence[str]]) -> None:
        self._trajectory = trajectory
        self._by_turn: dict[int, list[Call]] = {}
        for call in calls:
            self._by_turn.setdefault(call.turn, []).append(call)
        self._answered = {call.result_turn for call in calls}
        self._quotes = {turn: list(dict.fromkeys(found)) for turn, found in quotes.items()}
        self._most = next(most for count, most in _RESULTS if len(calls) <= count)

    def items(self) -> Iterator[SpokenTurn | CallShown]:
        for turn, message in self._trajectory.turns():
            calls = self._by_turn.get(turn, ())
            if turn not in self._answered and (message.content or message.thinking or not calls):
                yield self._said(turn, message, has_calls=bool(calls))
            for position, call in enumerate(calls):
                is_first = position == 0 and not (message.content or message.thinking)
                yield self._called(call, is_first=is_first, is_last=position == len(calls) - 1)

    def _said(self, turn: int, message: Message, *, has_calls: bool) -> SpokenTurn:
        speaker = _MARKS.get(message.mark or "", _ROLES[message.role])
        text = message.content or ""
        if message.role != "assistant":
            text += "".join(f"\n{call.name} {call.arguments}" for call in message.tool_calls)
        is_cited = bool(self._quotes.get(turn))
        pieces = self._pieces(text, turn, _MOST_SAID)
        thinking = self._pieces(message.thinking or "", turn, _MOST_THOUGHT)
        loose = [] if has_calls else self._loose(turn)
        is_interrupt, is_folded = message.mark == "interrupt", speaker in _FOLDED
        pieces, rest = parted(pieces, _MOST_REQUEST) if speaker == "user" else (pieces, [])
        return SpokenTurn(turn, speaker, pieces, thinking, loose, len(text), is_folded, is_cited, is_interrupt, rest)

    def _called(self, call: Call, *, is_first: bool, is_last: bool) -> CallShown:
        verdict = verdict_of(call)
        turns = [turn for turn in (call.turn, call.result_turn) if turn is not None]
        is_cited = any(self._quotes.get(turn) for turn in turns)
        change = diff_of_call(call.arguments) or diff_in(call.command() or "")
        result = call.result or ""
        result_change = diff_in(result)
        shown = [] if change else self._pieces(_arguments(call), call.turn, self._most)
        found = [] if result_change else self._pieces(result, call.result_turn or 0, self._most)
        loose = self._loose(call.turn) if is_last else []
        loose += self._loose(call.result_turn) if call.result_turn is not None else []
        return CallShown(
            turn=call.turn,
            is_first=is_first,
            result_turn=call.result_turn,
            tool=visible(call.name[:80]),
            head=_head(call),
            verdict=verdict.state,
            shown_by=_shown_by(verdict),
            arguments=shown,
            change=change,
            result=found,
            result_change=result_change,
            result_size=len(result),
            loose=loose,
            has_failed=verdict.has_failed,
            is_open=is_cited,
        )

    def _pieces(self, text: str, turn: int, most: int) -> list[TextPiece]:
        if not text:
            return []
        quotes = self._quotes.get(turn, [])
        pieces = pieces_of(text, turn, quotes, most)
        if quotes:
            found = anchors_in(text, turn, quotes)
            self._quotes[turn] = [quote for quote in quotes if quote_anchor(turn, quote) not in found]
        return pieces

    def _loose(self, turn: int) -> list[TextPiece]:
        """The quotes of a turn that stand in none of its shown texts."""
        return [TextPiece("cited", visible(quote), quote_anchor(turn, quote)) for quote in self._quotes.pop(turn, ())]


def _arguments(call: Call) -> str:
    """What a call was given: of a shell its command line, else each value under its name."""
    command = call.command()
    if command is not None:
        return command
    lines = [f"{name}: {_plain(value)}" for name, value in call.arguments.items()]
    return "\n".join(lines)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _head(call: Call) -> str:
    """What a folded call is known by: the first line of its command, its file, or its first argument."""
    first = (
        call.command() or call.path() or next((each for each in call.arguments.values() if isinstance(each, str)), "")
    )
    line = visible(" ".join(first[: 4 * _MOST_HEAD].split()))
    return line if len(line) <= _MOST_HEAD else f"{line[: _MOST_HEAD - 1]}…"


def _shown_by(verdict: Verdict) -> str:
    return visible(" ".join(verdict.line[:_MOST_HEAD].split())) if verdict.has_failed else ""
