"""A sentence of the agent about a known tool, between a failure and the next pass of the same check (signal 10).

Only what holds outside this session can be part of a rule: "SQLite doesn't support `ORDER BY` in `UPDATE`". And only
what the recording supports: what the sentence names stands in the failure, or in what was changed before the pass, or
the remedy that it announces in code was then applied. Of a program that is missing, another one passes that the agent
announces so, on the same files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import generalize
from agent_wiki.engines.offline.imperatives import sentence_case
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_name, lesson, quote_line, tag
from agent_wiki.engines.offline.norms import names_own_things
from agent_wiki.engines.offline.tables import table, written
from agent_wiki.shell.edited_parts import edit_old_text, edit_text
from agent_wiki.shell.judged_steps import failed_steps, passed_steps
from agent_wiki.shell.programs import LOOKERS
from agent_wiki.shell.result_lines import error_line
from agent_wiki.shell.same_check import check_run, is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.language import is_english
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.text import plain_line

KNOWN_NAMES = frozenset(table("names")["known"].split())
_WORDS_TOO = frozenset(table("names")["words_too"].split())
_WITHIN_CALLS = 25
_MOST_OF_TITLE = 60
_MOST_WORDS = 7  # of a title
_MOST_OUTPUT = 4_000
_MOST_EDITS = 6  # with more of them one sentence does not say what helped
_SENTENCES = regex(r"(?<=[.!?:])\s+|\n+|\s[—–]\s|\s--\s|\s\((?=[A-Z])|\)(?=[.,;:\s]|$)")
_LEAD = regex(
    r"^(?:but|however|no|so|also|because|right|yes|fix|and|note|the (?:issue|problem|cause) is(?: that)?)\b[,:]? ", re.I
)
_EVENT = regex(r"^.{0,120}\b(?:fail(?:s|ed|ing)?|breaks?|broke|stops?|crash(?:es|ed)?)\b.{0,60}?\b(?:because|since) ")
_LIMIT = written("has_limits")
_NEED = written("needs")
_OF_SESSION = written("of_this_session", re.IGNORECASE)
_THINKS_AGAIN = regex(r"\b(?:[Ww]ait|[Hh]mm|[Aa]ctually|[Uu]nless|[Ll]et me (?:check|think|see|verify))\b")
_HEDGED = regex(r"\b(?:likely|might|may|probably|seems?|should|could|would|unless|perhaps|maybe|if|whether)\b|\?", re.I)
_OPEN = regex(r"\b(?:different|another|other|correct|proper|right|new|special|specific|certain)\b", re.I)  # which?
_ERROR = regex(r"^(?:E\s+)?(?:[\w.]{1,80}(?:Error|Exception)|error(?:\[\w+\])?|ERROR): \S.{5,300}$")
_OF_TEST = regex(r"^\W*(?:FAIL(?:ED|URE)?|not ok|\d+ fail\w*|Tests?(?: Suites| Files)?)\b|^\W*[✕✗×⨯❯●]")
_TEXT = regex(r"[\"“]\w[^\"”]* [^\"”]*[\"”]")  # what a program of the session says
_CODE = regex(r"`([^`]{1,80})`")
_THING = regex(
    r"(?<![\w-])(?:[A-Z][A-Z_]{2,30}|[A-Za-z_][\w-]*(?:[._/@:-]+\w+)+|--?[a-z][\w-]+|\w*[a-z][A-Z]\w*)(?![\w-])"
)
_WORDS = regex(r"[\w-]{2,}")
_MISSING = regex(r"\b(?:command )?not found\b|is not recognized as")
_NAMES_IN = regex(r"[A-Za-z][\w.+-]*")
_REMEDY = regex(
    r"^(?:let me|let's|i'll|i will|i need to|i should|we need to|i have to)(?: instead| just| now)? (?P<what>[a-z].+)$",
    re.IGNORECASE,
)
_VERBS = frozenset(
    {"use", "add", "set", "pass", "quote", "escape", "run", "install", "wrap", "call", "write", "split", "pin", "match"}
)


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence that names the cause, what of it is known outside, and the remedy where the next one says it."""

    turn: int
    cause: str
    name: str
    remedy: str


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each failure whose cause the agent named in general words before the same check passed."""
    found: list[Lesson] = []
    for failed in session.attempts:
        passed = _passed(session, failed) if failed.verdict == "failed" and failed.result_turn else None
        if passed is not None and len(session.edits_between(failed.position, passed.position)) <= _MOST_EDITS:
            holds = _is_supported if _is_again(failed, passed) else _is_applied
            said = (each for each in _causes(session, failed, passed) if holds(session, failed, passed, each))
            cause = next(said, None)
            if cause and not _is_used(session, failed, passed, cause):
                cause = replace(cause, remedy="")
            found += _worded(session, failed, passed, cause) if cause else []
    return found


def _passed(session: MinedSession, failed: Attempt) -> Attempt | None:
    later = session.attempts_after(failed, _WITHIN_CALLS)
    return next((each for each in later if _is_again(failed, each) or _is_in_its_place(failed, each)), None)


def _is_again(failed: Attempt, later: Attempt) -> bool:
    wanted = [step for step in failed_steps(failed.ended) if step.program not in LOOKERS]  # no hit is an answer
    return any(is_same_check(step, each) for step in wanted for each in passed_steps(later.ended))


def _is_in_its_place(failed: Attempt, later: Attempt) -> bool:
    """A program is missing, and another one ran on the same files."""
    line = verdict_of(failed.ended).line
    missing = [step for step in failed_steps(failed.ended) if step.program in line and _MISSING.search(line)]
    return any(_has_same_files(step, each) for step in missing for each in passed_steps(later.ended))


def _has_same_files(missing: SimpleCommand, other: SimpleCommand) -> bool:
    files = check_run(missing).targets
    return bool(files) and files <= check_run(other).targets and missing.program != other.program


def _causes(session: MinedSession, failed: Attempt, passed: Attempt) -> Iterator[_Said]:
    for turn, text in session.said((failed.result_turn or failed.turn) + 1, passed.turn):
        settled = _THINKS_AGAIN.split(text[:3000])[0]
        sentences = [each.strip(" *-") for each in _SENTENCES.split(settled) if each.strip(" *-")]
        for cause, following in pairwise([*sentences, ""]):
            bare = _LEAD.sub("", _EVENT.sub("", cause)).rstrip(".:!")
            name = _known_name(bare)
            if name and _is_general(session, bare) and _is_about(failed, bare, name):
                yield _Said(turn, bare, name, _remedy(session, following))


def _is_about(failed: Attempt, cause: str, name: str) -> bool:
    """What failed, or how it was called, has the tool or something else that the sentence names in code."""
    shown = f"{failed.line}\n{failed.output}".lower()
    called = {step.program for step in failed_steps(failed.ended)} & set(_WORDS.findall(cause))
    return bool(called) or any(each.lower() in shown for each in (name, *_CODE.findall(cause), *_THING.findall(cause)))


def _known_name(cause: str) -> str:
    """The tool or the language that the sentence is about: its subject, or where something of it fails."""
    prose = _CODE.sub(lambda code: " " * len(code[0]), cause)
    named = (match for match in _NAMES_IN.finditer(cause) if match[0].lower().removesuffix("'s") in KNOWN_NAMES)
    found = [each for each in named if each[0] not in _WORDS_TOO or not prose.startswith(each[0], each.start())]
    predicate = _LIMIT.search(cause) or _NEED.search(cause)
    first = next(iter(found), None)
    return first[0].removesuffix("'s") if first and predicate and first.start() <= predicate.end() + 12 else ""


def _is_general(session: MinedSession, cause: str) -> bool:
    """A short statement that means the same outside of this session."""
    if not is_english(cause):
        return False
    is_short = 4 <= len(cause.split()) <= 26 and len(cause) <= 200 and cause.count("(") == cause.count(")")
    is_short &= not (cause.lower().startswith("the ") and names_own_things(" ".join(cause.split()[:2])))
    is_open = _OPEN.search(cause) or _HEDGED.search(cause)
    if not is_short or _OF_SESSION.search(cause) or is_open or _TEXT.search(_CODE.sub("", cause)):
        return False
    own = [each for code in _CODE.findall(cause) for each in re.findall(r"\w{3,}", code)]
    if any(each.lower() in (session.trajectory.source.cwd or "").lower() for each in own):
        return False
    return generalize(cause, session.trajectory) == cause and not session.defines(own)


def _is_supported(session: MinedSession, failed: Attempt, passed: Attempt, said: _Said) -> bool:
    """What the sentence names is in what the failure printed, in an edited part, or changed in the command."""
    edits = session.edits_between(failed.position, passed.position)
    one, other = (set(_WORDS.findall(attempt.line.lower())) for attempt in (failed, passed))
    shown = failed.output[-_MOST_OUTPUT:] if edits else verdict_of(failed.ended).line
    text = "\n".join([shown, *map(edit_text, edits), *map(edit_old_text, edits)]).lower()
    things = {thing for code in _CODE.findall(said.cause) for thing in [code, *_THING.findall(code)]}
    things |= {thing for thing in _THING.findall(_CODE.sub("", said.cause)) if thing.lower() not in KNOWN_NAMES}
    named = {thing.lower().rstrip("()") for thing in things}
    is_there = any(thing in text or set(_WORDS.findall(thing)) & (one ^ other) for thing in named)
    return is_there or _is_applied(session, failed, passed, said)


def _is_applied(session: MinedSession, failed: Attempt, passed: Attempt, said: _Said) -> bool:
    """The remedy names in code what had not been there, and what was run or written since then has it."""
    edits, later = session.edits_between(failed.position, passed.position), _done(session, failed, passed)
    before = "\n".join([failed.line, *map(edit_old_text, edits)])
    return any(code in later and code not in before for code in _CODE.findall(said.remedy))


def _is_used(session: MinedSession, failed: Attempt, passed: Attempt, said: _Said) -> bool:
    """Of all that the remedy names in code, what was run or written since then has something."""
    later = _done(session, failed, passed)
    return all(any(word in later for word in _WORDS.findall(code)) for code in _CODE.findall(said.remedy))


def _done(session: MinedSession, failed: Attempt, passed: Attempt) -> str:
    """What was run and written after the failure, up to the pass."""
    between = session.attempts_after(failed, passed.position - failed.position)
    edits = session.edits_between(failed.position, passed.position)
    return "\n".join([*(each.line for each in between), *map(edit_text, edits)])


def _remedy(session: MinedSession, sentence: str) -> str:
    """The remedy as an imperative (`Use an explicit loop`), when it too is general; else empty."""
    match = _REMEDY.match(sentence.rstrip(".:!"))
    if match is None:
        return ""
    what = re.sub(r"\s+instead$", "", match["what"].strip())
    words = what.split()
    is_plain = words[0].lower() in _VERBS and 3 <= len(words) <= 16 and not _OF_SESSION.search(what)
    is_general = is_plain and generalize(what, session.trajectory) == what
    return sentence_case(plain_line(what, 120)) if is_general else ""


def _worded(session: MinedSession, failed: Attempt, passed: Attempt, said: _Said) -> list[Lesson]:
    step = next(iter(failed_steps(failed.ended)), None)
    head = shell.Command(step.called or step.words, (), "", step.source).head if step else ""
    lines = [
        verdict_of(failed.ended).line,
        error_line(failed.output),
        *filter(_ERROR.search, failed.output.splitlines()),
    ]
    line = next((each for each in lines if each and each not in passed.output), "")
    cause = sentence_case(plain_line(said.cause, 200))
    title = _title(cause, said)
    if not title or (not line and any(lines)):
        return []  # it cannot be said in a few words; or a warning, which it passes with: what failed is not known
    is_error = line and not _OF_TEST.match(line)
    error = error_name(re.split(r":? ['\"]/", line)[0], session) if is_error else None
    wording = Wording(
        "causes/named-by-agent",
        title,
        f"{said.remedy}: {plain_line(said.cause, 200)}."
        if said.remedy
        else f"Remember when working with {said.name}: {cause}.",
        _trigger(said, head, error, is_missing=not _is_again(failed, passed)),
        (tag(said.name), tag(head.split()[0] if head.split() else ""), "cause"),
    )
    what = "the same check passed" if _is_again(failed, passed) else "another program did the same on the same files"
    rationale = f"`{head}` stopped with `{line.strip()[:160]}`; the agent named the cause, and {what}."
    evidence = [
        quote_line(session, failed, line),
        session.quote(said.turn, said.cause),
        session.quote(passed.turn, passed.line),
    ]
    edits = session.edits_between(failed.position, passed.position)
    remedy = edits[-1].turn if edits else passed.turn
    return lesson(wording, rationale, evidence, {failed.turn}, 66, remedy=remedy, confirmed=passed.turn)


def _trigger(said: _Said, head: str, error: str | None, *, is_missing: bool) -> str:
    stops = f"`{head}` stops with `{error}`" if error else ""
    if is_missing:
        return f"{stops}." if stops else f"`{head}` is not there."
    return f"Working with {said.name}, or {stops}." if stops else f"Working with {said.name}."


def _title(cause: str, said: _Said) -> str:
    """A remedy in code, or the cause, where one is short enough; else empty: cut it would say too much."""
    if _CODE.search(said.remedy) and len(said.remedy) <= _MOST_OF_TITLE:
        return said.remedy
    words = cause.split()
    is_whole = len(words) <= _MOST_WORDS and len(_CODE.sub("code", cause).split()) >= 3
    return cause if is_whole else ""
