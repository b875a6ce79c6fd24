"""Objections after a completion claim, refusals with a reason, refused undoings (signals 1 to 3)."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import MinedSession, is_edit
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson
from agent_wiki.engines.offline.objections import Need, Objection, known_objections
from agent_wiki.engines.offline.signals.runners import purpose
from agent_wiki.engines.offline.user_words import UserWords, user_words
from agent_wiki.shell.tools import EDIT_TOOLS
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_CONCEDES = regex(
    r"\bmade (?:that|it|this) up\b|\byou(?:'|’)?re (?:absolutely )?right\b|\bi apologi[sz]e\b|\bmy mistake\b|\bi "
    r"was wrong\b"
    r"|\b(?:does ?n(?:'|’)t|does not) (?:actually )?(?:exist|support)|\bnot (?:actually )?(?:supported|a real)\b",
    re.IGNORECASE,
)
_TEST_PATH = regex(r"(?:^|[/_.-])tests?(?:[/_.-]|$)|\.spec\.|_test\.", re.IGNORECASE)
_GIT_WRITES = regex(r"\bgit (?:commit|push|merge)\b|\bgh pr (?:create|merge)\b")
_DISCARDS = regex(
    r"\bgit (?:checkout (?:\S+ )?-- |checkout \.|reset --hard|clean -\w*f|stash drop|restore )|\brm -\w*r|\bgit "
    r"push\b.{0,60}--force"
)
_DISCARDING = Wording(
    "objections/discarding-changes",
    "Ask before discarding changes",
    "Ask the user before running what throws work away (`git checkout -- <file>`, `git reset --hard`, `git clean`, "
    "`rm -r`), and leave changes you did not make as they are.",
    "The working tree holds changes that are not yours, or a check fails because of them.",
    ("git", "user-consent", "working-tree"),
)


def lessons(session: MinedSession) -> list[Lesson]:
    """Lessons from what the user objected to; none for sessions in which the user is a customer."""
    if not session.has_workspace:
        return []
    found: list[Lesson] = []
    for words in user_words(session):
        for objection in known_objections():
            found += _lesson(session, words, objection)
    return found + _refused_discards(session)


def _lesson(session: MinedSession, words: UserWords, objection: Objection) -> list[Lesson]:
    match = objection.words.search(words.text.lower().replace("’", "'"))
    is_against = words.is_after_claim or words.rejected is not None
    if not match or not is_against or len(words.sentences) == 0 or not _holds(session, words, objection.needs):
        return []
    said = _sentence_at(words, match.start())
    rationale = f'The user objected: "{plain_line(said, 220)}"'
    evidence = [session.quote(words.turn, said)]
    if words.claim and words.is_after_claim:
        evidence.append(session.quote(_turn_of(session, words), words.claim))
        rationale += f' right after the report "{plain_line(words.claim, 140)}"'
    return lesson(objection.wording, rationale + ".", evidence, _event(words), 85)


def _holds(session: MinedSession, words: UserWords, needs: Need) -> bool:
    """Is what the agent did before, or does after, what the entry wants?"""
    before = [call for call in session.calls if call.turn < words.turn]
    after = session.calls_after(words.turn, 24)
    if needs == "no check ran":
        return _last_edit_unchecked(session, before)
    if needs == "a test is added":
        return any(_TEST_PATH.search(call.path() or "") for call in after if call.name.lower() in EDIT_TOOLS)
    if needs == "agent concedes":
        return any(_CONCEDES.search(text[:1500]) for _, text in session.said(words.turn + 1, words.turn + 6))
    if needs == "git writes":
        return any(_GIT_WRITES.search(call.command() or "") for call in before[-12:])
    if needs == "version edited":
        return any("version" in call.raw_arguments and _writes(call) for call in after)
    return any(is_edit(call) for call in before)


def _writes(call: Call) -> bool:
    return is_edit(call) or call.command() is not None


def _last_edit_unchecked(session: MinedSession, before: list[Call]) -> bool:
    """Was something edited and reported without a test, build or lint after the last edit?"""
    edits = [call.position for call in before if is_edit(call)]
    if not edits:
        return False
    later = [attempt for attempt in session.attempts if edits[-1] < attempt.position <= before[-1].position]
    return not any(purpose(command.head) for attempt in later for command in attempt.actions)


def _refused_discards(session: MinedSession) -> list[Lesson]:
    """A command that discards work, refused by the user."""
    found: list[Lesson] = []
    for call in session.calls:
        match = _DISCARDS.search((call.command() or "")[:4000])
        if call.mark == "rejected" and match:
            line = (call.command() or "")[match.start() :].partition("\n")[0]
            rationale = f"The user refused `{plain_line(line, 160)}`."
            found += lesson(_DISCARDING, rationale, [session.quote(call.turn, line)], {call.turn}, 78)
    return found


def _event(words: UserWords) -> set[int]:
    return {words.turn} | ({words.rejected.turn} if words.rejected else set())


def _sentence_at(words: UserWords, position: int) -> str:
    """The line of the user's words that holds the objection."""
    start = words.text.rfind("\n", 0, position) + 1
    return words.text[start:].partition("\n")[0].strip()


def _turn_of(session: MinedSession, words: UserWords) -> int | None:
    return next(
        (turn for turn, text in reversed(session.said(max(1, words.turn - 6), words.turn - 1)) if text == words.claim),
        None,
    )
