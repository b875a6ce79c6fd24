"""What the user objected to, and what the agent did before and after.

The best source of lessons. A first request is no correction; neither is text that a harness wrote as the user.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.tables import written
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.trajectory.own_words import own_text
from agent_wiki.trajectory.unwrapping import unwrapped
from agent_wiki.wiki.text import plain_line

_MOST_CHARACTERS = 700
_LONGEST_REASON = 300
_REASON = regex(r"(?:the user said:|reason for the rejection:)\s*(.{1,2000})", re.DOTALL)
_AFTER_REASON = regex(r"\n\s*\n?Note: The user's next message|\nNote: ", re.DOTALL)
_SENTENCES = written("sentence_ends", re.IGNORECASE)
_CLAIM = written("claims_done", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UserWords:
    """One thing the user said after the first request.

    `turn` is that of the words; `rejected` the call they refuse, when they came as the reason of a refusal;
    `is_after_claim` whether the agent's text right before reports something as done.
    """

    turn: int
    text: str
    rejected: Call | None
    is_after_claim: bool

    @property
    def event(self) -> set[int]:
        """The turns of the words, and of the call that they refuse."""
        return {self.turn} | ({self.rejected.turn} if self.rejected else set())

    @property
    def own(self) -> str:
        """The text without what the user pasted, quoted or forwarded."""
        return own_text(self.text, follows_reply=True)

    @property
    def sentences(self) -> list[str]:
        """The user's own sentences; none of a text with a code block, or of many lines."""
        if "```" in self.text or self.text.count("\n") > 8:
            return []
        pieces = _SENTENCES.split(self.own)
        return [piece.strip(" -*❯>\t") for piece in pieces if piece.strip(" -*❯>\t")]


def with_reason(words: UserWords, sentence: str) -> str:
    """A sentence together with what else the user said at that moment, where that is short: it often says why."""
    whole = plain_line(words.own, _MOST_CHARACTERS)
    return whole if len(whole) <= _LONGEST_REASON and sentence in whole else plain_line(sentence, 220)


def user_words(session: MinedSession) -> list[UserWords]:
    """Everything the user said after the first request, and the reasons of refusals, in order of turns.

    Worked out once and kept with the trajectory.
    """
    return list(session.trajectory.worked_out(_user_words))


def _user_words(trajectory: Trajectory) -> list[UserWords]:
    if trajectory.source.parent_session_id:
        return []  # a subagent's "user" is another agent
    session = MinedSession.of(trajectory)
    found = [_turn_words(session, turn) for turn in _later_user_turns(session)]
    for call in session.calls:
        if call.mark == "rejected" and call.result_turn is not None:
            match = _REASON.search(call.result or "")
            if match:
                reason = _AFTER_REASON.split(match[1])[0].strip()
                found.append(_words(session, call.result_turn, reason, call))
    return sorted((each for each in found if each is not None), key=lambda each: (each.turn, each.text))


def _later_user_turns(session: MinedSession) -> list[int]:
    """Turns of the user that come after the agent has done or said something."""
    acted = False
    turns: list[int] = []
    for turn, message in session.trajectory.turns():
        acted = acted or message.role == "assistant"
        if acted and message.role == "user" and message.mark is None:
            turns.append(turn)
    return turns


def _turn_words(session: MinedSession, turn: int) -> UserWords | None:
    text = (session.message(turn).content or "").strip()
    text = text if text.startswith(">") else unwrapped(text)  # where it does not quote
    last = session.last_call_before(turn)
    is_answer_to_refusal = last is not None and last.mark == "rejected" and _only_interrupt_between(session, last, turn)
    return _words(session, turn, text, last if is_answer_to_refusal else None)


def _only_interrupt_between(session: MinedSession, call: Call, turn: int) -> bool:
    """A rejection and the interrupt line after it are one event with the words that follow."""
    start = call.result_turn or call.turn
    between = [session.message(each) for each in range(start + 1, turn)]
    return all(message.role == "tool" or message.mark == "interrupt" for message in between)


def _words(session: MinedSession, turn: int, text: str, rejected: Call | None) -> UserWords | None:
    if not text or len(text) > _MOST_CHARACTERS or text.startswith(("<", "{", "[", "This session is being continued")):
        return None
    said = session.said(max(1, turn - 6), turn - 1)
    claim = said[-1][1] if said else ""
    previous = session.message(turn - 1) if turn > 1 else None
    is_after_claim = bool(
        previous and previous.role == "assistant" and not previous.tool_calls and _CLAIM.search(claim[:3000])
    )
    return UserWords(turn, text, rejected, is_after_claim)
