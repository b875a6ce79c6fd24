"""Objections that users raise again and again, after a completion claim or with a refusal (signals 1 and 2)."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import MinedSession, is_edit
from agent_wiki.engines.offline.lessons import Lesson, WordedEntry, lesson
from agent_wiki.engines.offline.tables import AnyOf, entries
from agent_wiki.engines.offline.user_words import UserWords, user_words
from agent_wiki.wiki.text import plain_line


class Objection(WordedEntry):
    """One entry of `tables/objections.toml`, which says what each field means, and the rule that it asks for."""

    words: AnyOf


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
    if match is None or not is_against or not words.sentences:
        return []
    met = next((call for call in session.calls_after(words.turn, 24) if is_edit(call) and call.mark is None), None)
    if met is None:
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


def _sentence_at(words: UserWords, position: int) -> str:
    """The line of the user's words that holds the objection."""
    start = words.own.rfind("\n", 0, position) + 1
    return words.own[start:].partition("\n")[0].strip()
