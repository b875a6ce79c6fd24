"""A program does not know an option, and the same call passes with another one in its place.

The failure says itself what is wrong, and the rest of the call stays as it was: nothing else can be the cause.
"""

from __future__ import annotations

import re
from itertools import takewhile

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import general_word
from agent_wiki.engines.offline.lessons import Lesson, Wording, tag
from agent_wiki.engines.offline.signals.recovery import Recovery, lesson_of
from agent_wiki.engines.offline.tables import written
from agent_wiki.shell.judged_steps import failed_steps, passed_steps
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 8
_MOST_OUTPUT = 6_000
_LONGEST_VALUE = 12
_UNKNOWN = written("unknown_option", re.IGNORECASE | re.MULTILINE, needs=("flag", "option", "argument", "switch"))
_SUB_COMMAND = regex(r"[a-z]{2,12}")
_RUNNERS = frozenset(
    {"npm", "pnpm", "yarn", "bun", "make", "just", "docker"}
)  # the option may be that of what they run


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each call with an option that its program does not know."""
    failures = (each for each in session.attempts if each.verdict == "failed")
    return [lesson for failed in failures for lesson in _lesson(session, failed)]


def _lesson(session: MinedSession, failed: Attempt) -> list[Lesson]:
    match = _UNKNOWN.search(failed.output[:_MOST_OUTPUT])
    for wanted in failed_steps(failed.ended) if match else ():
        for later in session.attempts_after(failed, _WITHIN_CALLS):
            again = [step for step in passed_steps(later.ended) if step.program == wanted.program]
            for used in again:
                found = _replaced(wanted, used, match[1]) if match and wanted.program not in _RUNNERS else None
                if match and found is not None:
                    return _worded(session, Recovery(failed, later, wanted, used), *found, match[0].strip())
            if again:
                break  # something else was wanted then
    return []


def _replaced(wanted: SimpleCommand, used: SimpleCommand, name: str) -> tuple[str, tuple[str, ...]] | None:
    """The option that is not known and what stands in its place; None where more than that is different."""
    if "--" in wanted.words or "--" in used.words:
        return None  # what stands after it is for another program
    gone = tuple(word for word in wanted.words if word not in used.words)
    come = tuple(word for word in used.words if word not in wanted.words)
    option = gone[0].partition("=")[0] if gone else ""
    is_one = option.lstrip("-") == name and option[:1] == "-" and len(gone) <= 2 and len(come) <= 2
    is_value = len(gone) < 2 or (gone[1][:1] != "-" and f"{gone[0]} {gone[1]}" in wanted.text())
    is_other = bool(come) and come[0][:1] == "-" and come[0] not in ("-h", "--help")  # without it, less was asked
    is_same = wanted.words[:2] == used.words[:2] or _called(wanted) == _called(used)
    return (option, come) if is_one and is_value and is_other and is_same else None


def _called(step: SimpleCommand) -> str:
    """The program with its sub-command: `gh run list`, `shelf close`."""
    plain = takewhile(_SUB_COMMAND.fullmatch, step.words[1:3])
    return " ".join([step.program, *plain])


def _worded(session: MinedSession, recovery: Recovery, option: str, come: tuple[str, ...], line: str) -> list[Lesson]:
    head = _called(recovery.wanted)
    other, equals, value = come[0].partition("=")
    value = value or " ".join(come[1:])
    is_shown = len(value) <= _LONGEST_VALUE and general_word(value, session.trajectory) == value
    if value and is_shown and value not in " ".join(recovery.wanted.words):
        other += f"{equals or ' '}{value}"
    wording = Wording(
        "retries/unknown-option",
        f"Give {head} {other}, not {option}",
        f"Give `{head}` `{other}` and not `{option}`, which it does not know.",
        f"About to run `{head}` with `{option}`.",
        (tag(recovery.wanted.program), "options", "shell"),
    )
    rationale = f"`{head}` stopped with `{line[:160]}`; with `{other}` it passed."
    return lesson_of(session, recovery, recovery.passed, wording, rationale, 74, line)
