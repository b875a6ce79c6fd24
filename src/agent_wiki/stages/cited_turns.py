"""The turns and quotes that a lesson cites, looked up in its recording."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_wiki.shell.result_lines import speaks_of_failure
from agent_wiki.stages.call_effects import KEPT_BACK, asked_in
from agent_wiki.stages.trust import trust_of
from agent_wiki.stages.user_reactions import reaction_of
from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.calls import Call, paired_calls
from agent_wiki.trajectory.evidence import Trust
from agent_wiki.trajectory.lazily import regex

_BECAUSE = regex(
    r"\b(?:because|since|due to|the (?:problem|issue|cause|reason|culprit|error|fix)|root cause|requires?|needs? to"
    r"|must|pre-?existing|already fail\w*|unrelated to"
    r"|(?<!\bi )(?<!\bwe )(?<!\byou )(?:doesn['’]t|does not|don['’]t|can['’]t|cannot)"
    r"|only (?:works|accepts|supports)|instead of|expects?|turns out"
    r"|should (?:be|have))\b",
    re.IGNORECASE,
)
_ANNOUNCES = regex(
    r"\W*(?:(?:now|ok(?:ay)?|first|good|great)\b[,.! ]*)*(?:let me|let['’]s|i['’]ll|i will|i(?:['’]m| am) going to)\b",
    re.I,
)
_LEAST_REASON = 12  # characters
_ILL = regex(  # words of a result that a lesson takes for a failure, too wide for a verdict
    r"\bmismatch|\bbad (?:credentials|request|gateway)\b|\bHTTP[ /:]?(?:000|[45]\d\d)\b"
    r"|\b(?:un(?:authorized|available|reachable)|forbidden|crash(?:ed|es)?|incompatible|corrupt(?:ed)?|out of memory"
    r"|overrid(?:es|den)|blocked|locked|in use)\b",
    re.IGNORECASE,
)
_WANTS = regex(
    r"\b(?:please|must|exactly|expected|only one|instead|not? (?:valid|allowed|supported|found))\b", re.IGNORECASE
)


class CitedTurns:
    """A recording with what is cited of it: `quotes` are `(turn, text)`, verbatim; turns count from 1."""

    def __init__(self, trajectory: Trajectory, quotes: Sequence[tuple[int, str]]) -> None:
        self.trajectory, self.quotes = trajectory, quotes
        self.calls = paired_calls(trajectory)

    def message(self, turn: int) -> Message:
        """What stands in a turn."""
        return self.trajectory.messages[turn - 1]

    def said_between(self, first: int, last: int) -> int | None:
        """The first cited turn in these in which the words are the user's."""
        users = (at for at, quote in self.quotes if trust_of(self.trajectory, at, quote) == "user")
        return next((at for at in users if first <= at <= last), None)

    def next_users_turn(self, after: int) -> int | None:
        """The next turn that the user typed."""
        turns = range(after + 1, len(self.trajectory.messages) + 1)
        return next((turn for turn in turns if self.is_users(turn)), None)

    def is_users(self, turn: int) -> bool:
        """Whether the user typed it."""
        message = self.message(turn)
        return message.role == "user" and message.mark is None

    def calls_at(self, turn: int | None) -> list[Call]:
        """The calls made or answered in a turn."""
        return [call for call in self.calls if turn is not None and turn in (call.turn, call.result_turn)]

    def is_shown(self, turn: int) -> bool:
        """A quote from the result there speaks of a failure or keeps back what was asked for; the verdict does not."""
        turns = {turn, *(call.result_turn for call in self.calls_at(turn))}
        said = (quote for at, quote in self.quotes if at in turns)
        return any(speaks_of_failure(quote) or _ILL.search(quote) or KEPT_BACK.search(quote) for quote in said)

    def is_harness(self, turn: int) -> bool:
        """A harness wrote that turn, as the user, to refuse a reply: what is cited of it says what it wants instead."""
        message = self.message(turn)
        says_so = any(at == turn and (_WANTS.search(quote) or speaks_of_failure(quote)) for at, quote in self.quotes)
        return message.role == "user" and message.mark == "injected" and says_so

    def quoted_at(self, call: Call) -> list[str]:
        """What is cited of a call and its result."""
        turns = {call.turn, call.result_turn, asked_in(call).turn, asked_in(call).result_turn}
        return [quote for turn, quote in self.quotes if turn in turns]

    def stated_at(self, since: int, named: int | None = None) -> tuple[int, str] | None:
        """The cited turn from `since` on in which somebody says why, with the words: earlier ones may be wrong.

        Where the lesson has `named` a turn, that one, if it is cited and no words of strangers; of those that it leaves
        open the first in which the agent or the user speaks of a cause.
        """
        for turn, quote in self.quotes:
            if turn < since or named not in (None, turn):
                continue
            is_argument = any(
                quote in call.raw_arguments or quote in (call.command() or "")
                for call in self.calls_at(turn)
                if call.turn == turn
            )
            is_symptom = self.is_users(turn) and reaction_of(quote) == "report"
            is_talk = self.message(turn).role in ("user", "assistant")
            if is_argument or is_symptom or (named is None and not is_talk):
                continue
            if _BECAUSE.search(quote) if named is None else self._may_be_reason(turn, quote):
                return turn, quote
        return None

    def _may_be_reason(self, turn: int, quote: str) -> bool:
        """Words of some length that do not only announce something, and that no stranger said."""
        announces = _ANNOUNCES.match(quote) is not None and not _BECAUSE.search(quote)
        return len(quote) >= _LEAST_REASON and not announces and self.speaker(turn, quote) != "external"

    def speaker(self, turn: int, quote: str) -> Trust:
        """Whose words a quote is; the user's reason for a refusal stands in a result."""
        return trust_of(self.trajectory, turn, quote)
