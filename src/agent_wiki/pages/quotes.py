"""The quotes of a record, with what each is for and its turn: what the recording has to bear verbatim."""

from __future__ import annotations

from collections.abc import Iterator

from agent_wiki.pages.guideline import EXTRACT_GUIDELINES
from agent_wiki.pages.sessions import SUMMARIZE, Arc
from agent_wiki.pages.skill import SYNTHESIZE_SKILL
from agent_wiki.pages.support import Evidence
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.records import SessionRecord


@dataclass(frozen=True, slots=True)
class CitedWords:
    """Words cited from a turn, and `what` they are evidence of."""

    what: str
    turn: int
    words: str


def evidence_of(record: SessionRecord) -> Iterator[tuple[str, Evidence]]:
    """All evidence of a record's lessons, each with what it is for."""
    for guideline in record.answer(EXTRACT_GUIDELINES) or ():
        yield from ((f"guideline {guideline.id}", each) for each in guideline.evidence)
    for skill in record.answer(SYNTHESIZE_SKILL) or ():
        yield from ((f"skill {skill.name}", each) for each in skill.evidence)


def quotes_of(record: SessionRecord) -> Iterator[CitedWords]:
    """The quotes of a record: of its lessons, of outcomes and acceptances, and of what became of pages it read."""
    for what, evidence in evidence_of(record):
        yield CitedWords(what, evidence.turn, evidence.quote)
    for arc in record.answer(SUMMARIZE) or ():
        yield from quotes_of_arc(arc)


def quotes_of_arc(arc: Arc) -> Iterator[CitedWords]:
    """The quotes of an outcome, an acceptance and of what became of the pages that were read."""
    given = [("outcome", arc.outcome_turn, arc.outcome_quote), ("acceptance", arc.accepted_turn, arc.accepted_quote)]
    given += [(f"recall of {each.id}", each.turn, each.quote) for each in arc.recalled]
    yield from (CitedWords(what, turn, words) for what, turn, words in given if turn is not None and words)
