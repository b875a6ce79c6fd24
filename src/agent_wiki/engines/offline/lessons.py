"""What a signal returns: a guideline, the event it comes from, and how sure the signal is."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import generalize
from agent_wiki.engines.offline.shell import split
from agent_wiki.engines.offline.tables import Entry, written
from agent_wiki.stages.extract_guidelines import CitedQuote, GuidelineAnswer, GuidelineType
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.text import plain_line

_PREFIX = written("error_prefix")
_WRAPPED = regex(r'"text":\s?"([^"\\]{6,600})"')
_STATUS = regex(r": [45]\d\d ([A-Z][\w ,'-]{5,120})")
_MOST_WRAPPED = 4_000
# `plain_line` neutralises every tag; these are ours and mean nothing to a browser.
_OWN_PLACEHOLDER = regex(r"‹(file|path|id|commit|branch|number|port|name|text|value|amount|duration|date|url|address)>")


@dataclass(frozen=True, slots=True)
class Lesson:
    """One candidate. `event`: the turns that cost something; lessons that share one are about the same event.

    `weight`: how much a reader should trust the signal, 1 to 100; only its order matters.
    """

    guideline: GuidelineAnswer
    event: frozenset[int]
    weight: int


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a rule, the same in every session that shows it. `rule_id` names the rule that found it."""

    rule_id: str
    title: str
    rule: str
    trigger: str
    tags: tuple[str, ...]
    type: GuidelineType = "guideline"


class WordedEntry(Entry):
    """An entry of a table that carries the words of its rule."""

    title: str
    rule: str
    trigger: str
    tags: tuple[str, ...]

    @property
    def wording(self) -> Wording:
        """The words as lessons take them."""
        return Wording(self.id, self.title, self.rule, self.trigger, self.tags)


def lesson(
    wording: Wording,
    rationale: str,
    evidence: list[CitedQuote | None],
    event: set[int],
    weight: int,
    *,
    remedy: int | None = None,
    confirmed: int | None = None,
) -> list[Lesson]:
    """A lesson in a list, or an empty one when nothing that happened can be quoted.

    In: `remedy` and `confirmed`, the turns of what was done differently and of what shows that it helped.
    """
    quotes = list(dict.fromkeys(quote for quote in evidence if quote is not None))[:4]
    if not quotes:
        return []
    guideline = GuidelineAnswer(
        type=wording.type,
        title=wording.title,
        rule=wording.rule,
        rationale=_OWN_PLACEHOLDER.sub(r"<\1>", plain_line(rationale, 600)),
        trigger=wording.trigger,
        tags=list(dict.fromkeys(wording.tags))[:6],
        evidence=quotes,
        rule_id=wording.rule_id,
        event_turn=min(event),
        remedy_turn=remedy,
        confirming_turn=confirmed,
    )
    return [Lesson(guideline, frozenset(event), weight)]


def tag(word: str, instead: str = "shell", most: int = 30) -> str:
    """A word as a tag, at most `most` characters; `instead` where nothing of it is left."""
    return re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")[:most] or instead


def innermost_error(result: str) -> str | None:
    """What a server answered, without the wrappers of the harness that repeat the call; None without a wrapper."""
    texts = _WRAPPED.findall(result[-_MOST_WRAPPED:]) if "tool error" in result[:200] else []
    if not texts:
        return None
    status = _STATUS.search(texts[-1])
    return status[1].strip() if status else texts[-1].strip()[:300]


def error_name(line: str, session: MinedSession) -> str | None:
    """An error line as other sessions would show it, short enough for a rule; None when nothing is left."""
    text = _PREFIX.sub("", plain_line(line, 300)).replace("`", "'")
    general = generalize(text, session.trajectory)
    if general is None:
        return None
    general = plain_line(re.sub(r"^(?:(?:<[a-z]+>|\(\d+,(?:\d+|<number>)\)):? ?)+", "", general).strip(" :."), 90)
    general = _OWN_PLACEHOLDER.sub(r"<\1>", general)
    return general if len(re.findall(r"[A-Za-z]{2,}", general)) >= 2 else None


def quote_line(session: MinedSession, attempt: Attempt, line: str | None) -> CitedQuote | None:
    """The error line of an attempt as evidence."""
    return session.quote(attempt.result_turn, line) if line else None


def quote_command(session: MinedSession, attempt: Attempt, program: str = "") -> CitedQuote | None:
    """The command of an attempt as evidence: its first action, or the one that runs `program`."""
    wanted = [command for command in (*attempt.actions, *split(attempt.line)) if program and program in command.text]
    for command in (*wanted, *attempt.actions):
        found = session.quote(attempt.turn, command.text)
        if found:
            return found
    return session.quote(attempt.turn, attempt.line)
