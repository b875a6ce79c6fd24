"""A command is refused for want of an option, and passes with it, nothing else being changed (signals 4 and 8)."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_name, tag
from agent_wiki.engines.offline.signals.recovery import Recovery, command_of, lesson_of
from agent_wiki.engines.offline.tables import written
from agent_wiki.shell.judged_steps import failed_steps, passed_steps
from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 10
_MOST_QUOTED = 160  # characters
_ERROR = regex(r"^(?:ERROR|Error|error): ")
_NAME = regex(r"[a-z][a-z-]{1,40}")
_OPTION = regex(r"--(?P<name>[a-z][a-z-]{2,30})(?:=(?P<value>[A-Za-z]{1,12}))?")
_OVERRULES = written("overruling_option")
_OFFERS_WAYS = written("offers_ways", re.IGNORECASE)
_WANTS = written("wants_option", re.IGNORECASE)


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each call that was refused: the last of those that the same pass confirms."""
    found = [lesson for failed in session.attempts if failed.verdict == "failed" for lesson in _lesson(session, failed)]
    return list({each.guideline.confirming_turn: each for each in found}.values())


def _lesson(session: MinedSession, failed: Attempt) -> list[Lesson]:
    for later in session.attempts_after(failed, _WITHIN_CALLS) if _WANTS.search(failed.output) else ():
        for wanted in failed_steps(failed.ended):
            for used in passed_steps(later.ended):
                if (option := _added(wanted, used)) and (line := _line_with(option["name"], failed.output)):
                    return _worded(session, Recovery(failed, later, wanted, used), option[0], line)
    return []


def _added(wanted: SimpleCommand, used: SimpleCommand) -> re.Match[str] | None:
    """The one option that the same call has more; None where it overrules a refusal, or something else differs."""
    more = [word for word in used.words if word not in wanted.words]
    is_same = wanted.program == used.program and [word for word in used.words if word not in more] == list(wanted.words)
    option = _OPTION.fullmatch(more[0]) if is_same and 1 <= len(more) <= 2 and not is_check(wanted) else None
    is_its_value = len(more) == 1 or (len(more) == 2 and used.words.index(more[1]) == used.words.index(more[0]) + 1)
    return None if option is None or not is_its_value or _OVERRULES.search(option[0]) else option


def _line_with(name: str, output: str) -> str:
    """The longest line of a refusal that names the option, as such or in words: `condition` for `--condition`."""
    word = re.compile(rf"(?<![\w-])(?:--)?{name.replace('-', '[- ]')}(?![\w-])", re.IGNORECASE)
    lines = [line.strip() for line in output[:4000].splitlines() if word.search(line) and _WANTS.search(line)]
    lines = [line for line in lines if not _OFFERS_WAYS.search(line)]
    return max(lines, key=lambda line: (len(line) <= _MOST_QUOTED, len(line)), default="")


def _worded(session: MinedSession, recovery: Recovery, option: str, line: str) -> list[Lesson]:
    name, given = error_name(_ERROR.sub("", line), session), option
    called, word = command_of(recovery.wanted).head, "".join(recovery.wanted.words[1:2])
    called = f"{called} {word}" if " " not in called and _NAME.fullmatch(word) else called
    if len(recovery.used.words) > len(recovery.wanted.words) + 1:  # the word behind it may be an argument
        given, name = f"{option} <value>", name if re.search(rf"{option}[ =]<", line) else None
    if name is None:
        return []
    wording = Wording(
        "recoveries/added-option",
        f"Give `{called}` {option}",
        f"Call `{called}` with `{given}` where it answers “{name}”.",
        f"`{called}` is to be called without a terminal or a person to ask, or answers “{name}”."
        if option == "--yes"
        else f"`{called}` is to be called, or answers “{name}”.",
        (tag(recovery.wanted.program), tag(option), "shell"),
    )
    ran, answered = (text.replace("`", "'") for text in (recovery.wanted.text()[:100], line[:160]))
    rationale = f"`{ran}` stopped with `{answered}`; with `{option}` it passed."
    return lesson_of(session, recovery, recovery.passed, wording, rationale, 75, line)
