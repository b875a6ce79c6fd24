"""What the user wants done from now on, or instead of what the agent did, as a rule (signals 1 to 3).

The words stay the user's own; `norms` decides whether they mean something in another session.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.generalize import generalize
from agent_wiki.engines.offline.imperatives import cut_title, has_length_of_title, sentence_case
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson
from agent_wiki.engines.offline.norms import ON_SCREEN, Norm, norm_of
from agent_wiki.engines.offline.tables import named, written
from agent_wiki.engines.offline.user_words import UserWords, user_words, with_reason
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_FARTHEST = 8  # turns between an objection and the words that say what is wanted instead
_OBJECTS = written("objects_to_preference", re.IGNORECASE)
_FIRST = regex(r"^(?P<what>.+?),? first$", re.IGNORECASE)
_ONE_OFF = regex(r"\b(?:called|named|rename|v?\d+\.\d+|screenshot|minutes?|hours?)\b|[{}<>|\\]|https?:", re.IGNORECASE)
_INTERJECTION = regex(r"(?:[ ,]+(?:f+s+|wtf|lol|omg|pl[sz]|damn ?it|man|dude|bro))+(?=[.!]*$)", re.IGNORECASE)
# What a prompt shouts, and the wish that the agent asks first: it holds for any work, or for none.
_OF_PROMPT = written("of_prompt")
_SPECIFIES = regex(r"\brequirements?\s*:|\bfollowing requirements?\b", re.IGNORECASE)  # of what the agent is building
_OF_PIECE = regex(r"\b(?:rewrite|redo|regenerate)\b|[.!;\n] *(?:just|only|simply) [a-z]", re.I)  # that one is wrong
_TAG_WORDS = regex(r"[a-z][a-z0-9+.-]{2,}")
_EMPTY_WORDS = named("empty")


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each rule a user states; none for sessions in which the user is a customer."""
    if not session.has_workspace:
        return []
    found: list[Lesson] = []
    said = user_words(session)
    for position, words in enumerate(said):
        before = said[position - 1] if position else None
        is_correction = _is_correction(words, before)
        for sentence in words.sentences if not _SPECIFIES.search(words.text) else ():
            bare = _INTERJECTION.sub("", sentence)
            norm = norm_of(_with_occasion(words, bare), is_correction=is_correction)
            if norm is None or _OF_PROMPT.search(bare) or _is_of_work(words, norm):
                continue
            if not words.text.partition(sentence)[0].rpartition("\n")[2].rstrip().endswith(("-", "–", "—")):
                # Before a dash stands the condition under which it holds, or what it is about.
                found += _stated(session, words, sentence, norm)
    return found


def _is_correction(words: UserWords, before: UserWords | None) -> bool:
    """The user refuses a call, contradicts, or continues after an objection a moment ago."""
    if words.rejected is not None or _OBJECTS.match(words.text.replace("’", "'")):
        return True
    return bool(before and words.turn - before.turn <= _FARTHEST and _OBJECTS.match(before.text.replace("’", "'")))


def _is_of_work(words: UserWords, norm: Norm) -> bool:
    """It says what the one piece at hand should be, or what a product shows."""
    return not norm.is_lasting and bool(_OF_PIECE.search(words.text) or ON_SCREEN.search(norm.words))


def _with_occasion(words: UserWords, sentence: str) -> str:
    """`run the tests first`, as the reason why `git commit` was refused: `run the tests before `git commit``."""
    line = words.rejected.command() if words.rejected else None
    match = _FIRST.match(sentence.strip(" .!"))
    if match is None or line is None:
        return sentence
    return next((f"{match['what']} before `{each.head}`" for each in shell.actions(line)), sentence)


def _stated(session: MinedSession, words: UserWords, sentence: str, norm: Norm) -> list[Lesson]:
    """A norm, as far as none of its words is of this session alone."""
    if generalize(norm.words, session.trajectory) != norm.words or _ONE_OFF.search(norm.words):
        return []
    said = plain_line(norm.words, 240)
    rule = f"{sentence_case(said)}." if norm.is_imperative else f"Keep to what the user said: “{said}”."
    weight, trigger = 90 if norm.is_lasting or words.rejected else 84, f"{plain_line(norm.situation, 200)}."
    return _lesson(
        session, words, sentence, Wording("preferences/stated-rule", _title(said), rule, trigger, _tags(said)), weight
    )


def _lesson(session: MinedSession, words: UserWords, sentence: str, wording: Wording, weight: int) -> list[Lesson]:
    rationale = f'The user said so: "{with_reason(words, sentence).rstrip(".")}"'
    if words.rejected is not None:
        rationale += f", refusing a call of `{words.rejected.name}`"
    return lesson(wording, f"{rationale}.", [session.quote(words.turn, sentence)], words.event, weight)


def _title(said: str) -> str:
    title = cut_title(sentence_case(said).rstrip(","))
    return title if has_length_of_title(title) else f"Keep to the user's words: {said[:40]}"


def _tags(rule: str) -> tuple[str, ...]:
    words = [word.strip(".-") for word in _TAG_WORDS.findall(rule.lower())]
    specific = [word for word in words if word not in _EMPTY_WORDS]
    return (*dict.fromkeys(specific[:3]), "user-preference")
