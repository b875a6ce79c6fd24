"""How sure the cause in a lesson is whose event is something that the user said, or a call that the user refused.

What the user says against what the agent did or claimed is a cause: nobody knows better what the user wants. A
question, a new request and a pasted error come from the user as well, and say nothing of why a lesson holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_wiki.shell.tools import tool_kind
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.stages.cited_turns import CitedTurns
from agent_wiki.stages.trust import trust_of
from agent_wiki.stages.turnings import Grade, Turning
from agent_wiki.stages.user_reactions import Reaction, accepts, is_for_good, is_judged, is_standing, reaction_of
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.trajectory.own_words import own_text

_END_OF_A_REPLY = 160  # characters
_MOST_BETWEEN = 2  # turns of the user before the one that accepts: later ones speak of other work
_APPROVED = regex(r"\s*(?:the )?user (?:has )?approved\b", re.IGNORECASE)  # as harnesses write it of a plan
_DID: dict[Reaction, str] = {
    "report": "reported in {turn} what did not work, and not why",
    "question": "asked something in {turn}, in which no objection is recognized",
    "acceptance": "said something in {turn}, in which no objection is recognized",
    "request": "asked for something in {turn}, in which no objection is recognized",
    "remark": "said something in {turn}, in which no objection is recognized",
}


def _is_refused(call: Call) -> bool:
    """The user, or the harness for the user, stopped it; a signal that ended it says nothing of that."""
    state = verdict_of(call).state
    return state == "refused" or (state == "called off" and call.mark is not None)


class ObjectedCase(CitedTurns):
    """A lesson before the recording, as far as the user's words go. `refused`: the call at its event, where refused."""

    def __init__(self, trajectory: Trajectory, turning: Turning, quotes: Sequence[tuple[int, str]]) -> None:
        super().__init__(trajectory, quotes)
        self.turning = turning
        at_event = (call.ended_by or call for call in self.calls_at(turning.event))
        self.refused = next((call for call in at_event if _is_refused(call)), None)

    @property
    def is_users_event(self) -> bool:
        """The user typed what stands at the event, or refused the call there."""
        return self.refused is not None or self.is_users(self.turning.event)

    def objected_at(self) -> int | None:
        """The cited turn in which the user objects: at the event or after it, and not after it was remedied."""
        first, last = self._span()
        found = (at for at, quote in self.quotes if first <= at <= last and self._is_objection(at, quote))
        return next(found, None)

    def of_objection(self) -> Grade:
        """The user's words are the cause; that they were met, and accepted in words, makes it sure.

        A user who continues without an objection may not have looked: that is said, and makes nothing sure.
        """
        said = self.objected_at()
        if said is None:
            return self._of_request(self._remedy())
        reason, followed = f"the user said so in T{said}", self._followed_at(said)
        words = self._own_words(said) if self.is_users(said) else ""
        if reaction_of(words) != "objection" and words and not is_judged(words):
            reason = f"the user's words in T{said}, not in English, are taken for an objection"
        if followed is None:
            return Grade("stated", reason)
        reason += f"; followed in T{followed}"
        accepted = self._accepted_at(followed)
        if accepted is not None:
            return Grade("checked", f"{reason}, accepted in T{accepted}")
        turn = self.next_users_turn(followed)
        is_let_pass = turn is not None and self._reaction_at(turn) not in ("objection", "report")
        return Grade("stated", f"{reason}, not objected to in T{turn}" if is_let_pass else reason)

    def _remedy(self) -> Call | None:
        return next((call for call in self.calls_at(self.turning.remedy) if not verdict_of(call).has_failed), None)

    def _followed_at(self, said: int) -> int | None:
        """The turn in which the user's words were met: by a call that did not fail, or by a reply without one."""
        call, turn = self._remedy(), self.turning.remedy
        if call is not None or turn is None or self.calls_at(turn):
            return None if call is None else call.turn
        message = self.message(turn) if said < turn <= len(self.trajectory.messages) else None
        return turn if message is not None and message.role == "assistant" and message.content else None

    def _accepted_at(self, followed: int) -> int | None:
        """The turn in which the user accepts in words: the next, or the one that is named if the ones before let it be.

        The harness says so of a plan; the user of all else.
        """
        named = self.turning.confirmation
        for call in self.calls_at(self.turning.remedy):
            if tool_kind(call) == "plan" and _APPROVED.match(call.result or ""):
                return call.result_turn
        turn: int | None = followed
        for _ in range(_MOST_BETWEEN + 1):
            turn = self.next_users_turn(turn or followed)
            if turn is None or self._reaction_at(turn) in ("objection", "report"):
                return None
            if self._reaction_at(turn) == "acceptance" and accepts(self.message(turn).content or ""):
                return turn
            if named is None or turn >= named:
                return None
        return None

    def _of_request(self, remedy: Call | None) -> Grade:
        """What the user asked for is a cause where it was done, or was meant for later work too."""
        asked = self._asked_at()
        if asked is not None and remedy is not None:
            return Grade("stated", f"the user asked for it in T{asked}; followed in T{remedy.turn}")
        if asked is not None and any(is_standing(quote) for at, quote in self.quotes if at == asked):
            return Grade("stated", f"the user asked for it in T{asked}, for later work too")
        return self.unless_stated(self._what_was_said())

    def unless_stated(self, reason: str, against: str = "") -> Grade:
        """The grade where nothing is checked: whether a cited turn says why."""
        stated = self.stated_at(self.turning.event, self.turning.reason)
        if stated is None:
            return Grade("asserted", reason, against)
        turn, quote = stated
        who = {"user": "the user", "assistant": "the agent"}.get(self.speaker(turn, quote), "the output")
        said = f"{who} gives a reason in T{turn}"
        return Grade(
            "stated", said if reason.startswith("the user") and f"T{turn}," in reason else f"{reason}; {said}", against
        )

    def _what_was_said(self) -> str:
        """What the user did in place of objecting, or that the objection is not cited."""
        said = self.said_between(*self._span())
        if said is not None:
            return f"the user {_DID[self._reaction_at(said)].format(turn=f'T{said}')}"
        event = self.turning.event
        if self.refused is not None or self._reaction_at(event) == "objection":
            return f"the user objected in T{event}, in no words that are cited"
        return f"what is cited of T{event} was pasted by the user, or no objection is recognized in it"

    def _asked_at(self) -> int | None:
        """The cited turn in which the user asks for something, where the quote has the words that do."""
        first, last = self._span()
        cited = ((at, quote) for at, quote in self.quotes if first <= at <= last)
        users = ((at, quote) for at, quote in cited if trust_of(self.trajectory, at, quote) == "user")
        asks = (
            at for at, quote in users if is_for_good(quote) or reaction_of(quote) == self._reaction_at(at) == "request"
        )
        return next(asks, None)

    def _is_objection(self, turn: int, quote: str) -> bool:
        if trust_of(self.trajectory, turn, quote) != "user":
            return False
        is_reason = self.refused is not None and (
            turn == self.refused.result_turn
            or (turn == self.next_users_turn(self.refused.turn) and len(quote.split()) > 1)  # no bare name
        )
        return is_reason or self._reaction_at(turn, quote) == "objection"

    def _own_words(self, turn: int) -> str:
        return own_text(self.message(turn).content or "", follows_reply=True)

    def _reaction_at(self, turn: int, quote: str = "") -> Reaction:
        """How the user takes what was done, by the whole turn or the quote; the first words of all take nothing."""
        if not self.is_users(turn):
            return "objection"  # the reason of a refusal, which stands in the call's result
        replies = [each.content for each in self.trajectory.messages[: turn - 1] if each.role == "assistant"]
        if not replies:
            return "request"
        said = next((reply for reply in reversed(replies) if reply), "")
        words = self._own_words(turn)
        reaction = reaction_of(words, is_answer="?" in said[-_END_OF_A_REPLY:])
        if reaction != "report" and not is_judged(words):
            return "objection"  # in a language whose words are not known here, it is what the lesson takes it for
        return "objection" if quote and reaction_of(quote, is_answer=True) == "objection" else reaction

    def _span(self) -> tuple[int, int]:
        first = self.turning.event if self.refused is None else min(self.turning.event, self.refused.turn)
        return first, self.turning.remedy or len(self.trajectory.messages)
