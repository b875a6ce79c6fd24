"""What the user continued with: another thing in place of one that did not work (signals 1 and 10).

The cause is in the session's own words: the agent's, confirmed by a user who continues without an objection.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.generalize import generalize
from agent_wiki.engines.offline.imperatives import title_of
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_line, error_name, lesson, tag
from agent_wiki.engines.offline.user_words import UserWords, user_words
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_TRY = regex(r"^(?:ok,? |please |let's |just )?(?:try|use|go with|switch to) `?(?P<new>[\w./@:+-]{4,40})`?[.!]?$", re.I)
_NAME = regex(r"`([\w./@:+-]{4,40})`")
_FAILS = regex(
    r"\b(?:isn't|is not|doesn't|does not|can't|cannot|won't|not (?:reliable|properly)|fails?|limitation|instead of)\b",
    re.IGNORECASE,
)
_SWITCHED = regex(
    r"\b(?:switch(?:ed|ing)|mov(?:ed|ing)|migrat(?:ed|ing)) from (?P<old>[^.;\n]{3,110}?) to (?P<new>[^.;\n—–]{3,110})"
)
_TYPED_ERROR = regex(r"\b[A-Z]\w*(?:Error|Exception): [^\n]{8,200}")
_IS_ERROR = regex(r"(?:[Ee]rror|ERROR|[Ee]xception|fatal|[Ff]ailed to|[Cc]annot|not found)\b")
_SPEAKS_OF_SESSION = regex(r"\b(?:this|that|these|those|it|its|we|my|our|your|you|i)\b", re.IGNORECASE)
_FARTHEST = 6


def lessons(session: MinedSession) -> list[Lesson]:
    """Lessons from what the user accepted; none for sessions in which the user is a customer."""
    found: list[Lesson] = []
    said = user_words(session) if session.has_workspace else []
    for words in said:
        found += _named_instead(session, words)
    return found + _switched(session)


def _named_instead(session: MinedSession, words: UserWords) -> list[Lesson]:
    """`try X`, right after the agent has said that `Y` fails and has named X."""
    match = _TRY.match(words.text.strip())
    new = match["new"].rstrip(".") if match else ""
    before = session.said(words.turn - _FARTHEST, words.turn - 1) if match else []
    taken_up = _taken_up(session, words.turn, new) if any(new in text for _, text in before) else None
    if not new or taken_up is None:
        return []
    for turn, text in before:
        for sentence in _sentences(text):
            old = next((name for name in _NAME.findall(sentence) if _is_same_kind(name, new)), None)
            if old and _is_general(session, sentence) and _FAILS.search(sentence):
                wording = Wording(
                    "accepted/named-instead",
                    f"Use {new} instead of {old}",
                    f"Use `{new}` instead of `{old}`: {sentence.rstrip('.:')}.",
                    f"About to use `{old}`.",
                    (tag(new, "style"), tag(old, "style"), "user-preference"),
                )
                rationale = f"The agent found that `{old}` does not do; the user named `{new}` and continued with it."
                evidence = [session.quote(turn, sentence), session.quote(words.turn, words.text)]
                return lesson(wording, rationale, evidence, {words.turn}, 83, remedy=taken_up.turn)
    return []


def _is_general(session: MinedSession, sentence: str) -> bool:
    """It speaks of things that have their name elsewhere too; how many there were may stand in it."""
    general = generalize(sentence, session.trajectory) or "<file>"
    return not _SPEAKS_OF_SESSION.search(sentence) and not re.search(r"<(?!number>)[a-z]+>", general)


def _is_same_kind(name: str, new: str) -> bool:
    """Names of one form: `mistral:latest` and `llama3.1:8b`."""
    marks = [mark for mark in ":/@" if mark in new]
    return name != new and bool(marks) and all(mark in name for mark in marks)


def _taken_up(session: MinedSession, turn: int, new: str) -> Call | None:
    calls = session.calls_after(turn, 6)
    return next((call for call in calls if call.mark is None and new in call.raw_arguments), None)


def _switched(session: MinedSession) -> list[Lesson]:
    """An error that the user pasted; the agent says at the end what it switched to, and the user continues."""
    turns = [turn for turn, message in session.trajectory.turns() if message.role == "user" and message.mark is None]
    for position, turn in enumerate(turns[1:-1], 1):
        line = _pasted_error((session.message(turn).content or "")[:4000])
        name = error_name(line, session) if line else None
        following = turns[position + 1]
        edits = [edit for edit in session.edits if turn < edit.turn < following]
        for at, text in reversed(session.said(turn + 1, following - 1)) if name and edits else ():
            match = _SWITCHED.search(text)
            if match and line and name:
                return _switch_lesson(session, (turn, at, edits[0].turn), match, line, name)
    return []


def _pasted_error(text: str) -> str | None:
    """The typed error in a text that the user pasted, without what a console puts before it; else its error line."""
    match = _TYPED_ERROR.search(text)
    line = None if match else error_line(text)
    return match[0].strip() if match else line if line and _IS_ERROR.search(line) else None


def _switch_lesson(
    session: MinedSession, turns: tuple[int, int, int], match: re.Match[str], line: str, name: str
) -> list[Lesson]:
    turn, said_at, edited_at = turns
    old, new = (match[part].strip(" ,:").removesuffix(" directly") for part in ("old", "new"))
    rule = f"Use {new} instead of {old}"
    title = title_of(f"Use {_bare(new)} instead of {_bare(old)}")
    if title is None or _SPEAKS_OF_SESSION.search(rule) or generalize(rule, session.trajectory) != rule:
        return []
    wording = Wording(
        "accepted/switched",
        title,
        f"{rule} when it fails with `{name}`.",
        f"`{name}`, with {_bare(old)}.",
        (tag(_bare(new), "style"), tag(_bare(old), "style"), "error"),
    )
    rationale = f'The user came back with `{plain_line(line, 160)}`. The agent: "{plain_line(match[0], 240)}".'
    evidence = [session.quote(turn, line), session.quote(said_at, match[0])]
    return lesson(wording, rationale, evidence, {turn}, 81, remedy=edited_at)


def _bare(words: str) -> str:
    """Without what stands in brackets, and without backticks."""
    return " ".join(re.sub(r"\([^)]*\)|`", "", words).split())


def _sentences(text: str) -> list[str]:
    return [piece.strip(" *-") for piece in re.split(r"(?<=[.!?])\s+|\n+", text[:4000]) if 20 <= len(piece) <= 240]
