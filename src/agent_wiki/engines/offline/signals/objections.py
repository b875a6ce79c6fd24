"""Objections that users raise again and again, after a completion claim or with a refusal (signals 1 and 2)."""

from __future__ import annotations

import re
from typing import Literal

from agent_wiki.engines.offline.attempts import MinedSession, is_edit
from agent_wiki.engines.offline.lessons import Lesson, WordedEntry, lesson
from agent_wiki.engines.offline.tables import AnyOf, entries, written
from agent_wiki.engines.offline.user_words import UserWords, user_words
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_CONCEDES = written("concedes", re.IGNORECASE)
_TEST_PATH = regex(r"(?:^|[/_.-])tests?(?:[/_.-]|$)|\.spec\.|_test\.", re.IGNORECASE)

# What must be true of the session besides the words.
Need = Literal["nothing", "a test is added", "agent concedes"]


class Objection(WordedEntry):
    """One entry of `tables/objections.toml`, which says what each field means, and the rule that it asks for."""

    words: AnyOf
    needs: Need = "nothing"


def known_objections() -> tuple[Objection, ...]:
    """All of them, in the order of the table."""
    return entries("objections", Objection)


def lessons(session: MinedSession) -> list[Lesson]:
    """Lessons from what the user objected to; none for sessions in which the user is a customer."""
    if not session.has_workspace:
        return []
    found: list[Lesson] = []
    for words in user_words(session):
        for objection in known_objections():
            found += _lesson(session, words, objection)
    return found


def _lesson(session: MinedSession, words: UserWords, objection: Objection) -> list[Lesson]:
    match = objection.words.search(words.own.lower().replace("’", "'"))
    is_against = words.is_after_claim or words.rejected is not None
    met = _met(session, words, objection.needs) if match and is_against and words.sentences else None
    if match is None or met is None:
        return []
    said = _sentence_at(words, match.start())
    shown = plain_line(said, 220)
    is_cut = not shown.endswith((".", "!", "?", "…")) and not words.own.rstrip().endswith(said)
    rationale = f'The user objected: "{shown}{" …" if is_cut else ""}"'
    evidence = [session.quote(words.turn, said)]
    if words.claim and words.is_after_claim:
        evidence.append(session.quote(words.claim_turn, words.claim))
        rationale += f' right after the report "{plain_line(words.claim, 140)}"'
    return lesson(objection.wording, rationale + ".", evidence, words.event, 85, remedy=met.turn)


def _met(session: MinedSession, words: UserWords, needs: Need) -> Call | None:
    """The edit that met the objection, where what the agent did or said bears the entry out."""
    after = [call for call in session.calls_after(words.turn, 24) if is_edit(call) and call.mark is None]
    if needs == "a test is added":
        return next((call for call in after if _TEST_PATH.search(call.path() or "")), None)
    said = session.said(words.turn + 1, words.turn + 6)
    if needs == "agent concedes" and not any(_CONCEDES.search(text[:1500]) for _, text in said):
        return None
    return next(iter(after), None)


def _sentence_at(words: UserWords, position: int) -> str:
    """The line of the user's words that holds the objection."""
    start = words.own.rfind("\n", 0, position) + 1
    return words.own[start:].partition("\n")[0].strip()
