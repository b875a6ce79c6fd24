"""A cause sentence of the agent, confirmed by the success that follows (signal 10).

Only a cause that speaks of a known tool or language, and of nothing in this session, can be part of a rule:
"zsh doesn't word-split unquoted variables. Let me use an explicit loop."
"""

from __future__ import annotations

import re
from itertools import pairwise

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import generalize
from agent_wiki.engines.offline.imperatives import title_of
from agent_wiki.engines.offline.lessons import (
    Lesson,
    Wording,
    error_line,
    error_name,
    lesson,
    quote_command,
    quote_line,
)
from agent_wiki.engines.offline.tables import table
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

KNOWN_NAMES = frozenset(table("names")["known"].split())
_CAUSE = regex(
    r"\b(?:doesn't|does not|don't|do not|can't|cannot|only|requires?|needs?|expects?|treats?|ignores?|rejects?|strips?"
    r"|must|always|never|has no|have no|isn't|is not|won't|will not|supports?)\b"
)
_REMEDY = regex(
    r"^(?:let me|let's|i'll|i will|i need to|i should|we need to|i have to)(?: instead| just| now)? (?P<what>[a-z].+)$",
    re.I,
)
_VERBS = frozenset(
    {"use", "add", "set", "pass", "quote", "escape", "run", "install", "wrap", "call", "write", "split", "pin"}
)
_SESSION_WORDS = regex(
    r"\b(?:this|that|these|those|here|it|its|i|we|my|our|your|you|the (?:file|test|code|function|project|repo"
    r"|branch|change"
    r"|fix|import|output|error|user|command|script)|above|again|now|still|actually)\b",
    re.IGNORECASE,
)

_CODE = regex(r"`([^`]{1,80})`")


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each failure whose cause the agent named in general words before it overcame it."""
    found: list[Lesson] = []
    for failed in session.attempts:
        if failed.verdict != "failed" or not failed.actions or failed.result_turn is None:
            continue
        for later in session.attempts_after(failed, 2):
            if later.verdict == "passed" and later.actions:
                found += _lesson(session, failed, later)
                break
    return found


def _lesson(session: MinedSession, failed: Attempt, worked: Attempt) -> list[Lesson]:
    for turn, text in session.said((failed.result_turn or failed.turn) + 1, worked.turn):
        sentences = [each.strip() for each in re.split(r"(?<=[.!?:])\s+|\n+|\s[—–]\s", text[:1200]) if each.strip()]
        for cause, remedy in pairwise(sentences):
            what = _remedy(session, remedy)
            if what and _is_general(session, cause):
                return _worded(session, failed, worked, (turn, cause, remedy), what)
    return []


def _is_general(session: MinedSession, cause: str) -> bool:
    """A short statement about something that is known outside this session."""
    words = cause.split()
    subject = " ".join(words[:3]).lower().replace("`", "").replace("'s", "")
    is_known = any(word.strip(",:;.") in KNOWN_NAMES for word in subject.split()[:2])
    is_short = 4 <= len(words) <= 24 and len(cause) <= 180
    plain = cause.rstrip(".:!")
    return bool(is_known and is_short and _CAUSE.search(cause) and not _SESSION_WORDS.search(cause)) and (
        generalize(plain, session.trajectory) == plain
    )


def _remedy(session: MinedSession, sentence: str) -> str | None:
    """The remedy as an imperative (`use an explicit loop`), when it too is general."""
    match = _REMEDY.match(sentence.rstrip(".:!"))
    if match is None:
        return None
    what = re.sub(r"\s+instead$", "", match["what"].strip())
    words = what.split()
    is_plain = words[0].lower() in _VERBS and 3 <= len(words) <= 16 and not _SESSION_WORDS.search(what)
    return what if is_plain and generalize(what, session.trajectory) == what else None


def _situation(session: MinedSession, name: str, head: str, line: str | None) -> str:
    """The command that failed; one that names a file of this session is named by what it works with, and its error."""
    if not re.search(r"[/\\]|\.\w", head):
        return f"About to run `{head}`, or it has failed."
    error = error_name(re.split(r":? ['\"]", line)[0], session) if line else None  # what is in quotes is this session's
    return f"A command that works with {name} stops with `{error}`." if error else f"A command of {name} has failed."


def _tags(*names: str) -> tuple[str, ...]:
    """What the rule names: the subject, the program, the remedy's first words in backticks."""
    words = (
        re.sub(r"[^a-z0-9]+", "-", name.lower().split()[0].partition("(")[0]).strip("-")
        for name in names
        if name.split()
    )
    return tuple(dict.fromkeys(word for word in words if 1 < len(word) <= 24))[:4]


def _worded(
    session: MinedSession, failed: Attempt, worked: Attempt, said: tuple[int, str, str], what: str
) -> list[Lesson]:
    turn, cause, remedy = said
    because = plain_line(cause, 180).rstrip(".:!")
    imperative = plain_line(what[0].upper() + what[1:], 120)
    name = re.sub(r"'s$|[^a-z0-9.+-]", "", cause.split()[0].lower().replace("’", "'"))
    head = failed.actions[0].head
    line = error_line(failed.output)
    wording = Wording(
        "causes/named-by-agent",
        title_of(imperative) or imperative,
        f"{imperative}: {because}.",
        _situation(session, name, head, line),
        _tags(name, failed.actions[0].program, *_CODE.findall(what)),
    )
    rationale = f"`{head}` failed; the agent named the cause, and the next attempt worked."
    evidence = [quote_line(session, failed, line), session.quote(turn, cause), session.quote(turn, remedy)]
    return lesson(
        wording,
        rationale,
        [*evidence, quote_command(session, worked)],
        {failed.turn},
        77,
        remedy=worked.turn,
        confirmed=worked.turn,
    )
