"""The tool names the remedy, or its documentation does, and the session follows it (signals 8 and 9).

A hint that nobody followed is junk: the named command has to be run, and the failed one has to work afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import general_command
from agent_wiki.engines.offline.lessons import (
    Lesson,
    Wording,
    error_line,
    error_name,
    lesson,
    quote_command,
    quote_line,
    tag,
)
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 8
_HINT = regex(
    r"\b(?:try|run|use|execute|hint|please|first|need to|must|should|forget|with|using|instead)\b", re.IGNORECASE
)
_NAMED = regex(
    r"[`'\"]([a-z][\w./-]{1,30}(?: [^`'\"\n]{1,80})?)[`'\"]|(?:run|try|use|hint|execute):? ([a-z][\w./-]{1,30} "
    r"[^`'\"\n]{1,80})$"
)
_USAGE = regex(
    r"\b(?:unknown|unrecogni[sz]ed|invalid|illegal) (?:shorthand )?(?:flag|option|argument|command|subcommand)"
    r"|^usage:|\busage: "
    r"|required (?:flag|option|argument)|accepts \d+ arg|missing (?:required )?(?:argument|flag|option)|too "
    r"(?:many|few) arguments"
    r"|specify --",
    re.IGNORECASE | re.MULTILINE,
)
_HELP = regex(r"(?:\s(?:--help|-h|help)\b|^man |^tldr )")
_OWN_PROGRAM = regex(r"[/.]|^(?:python\S*|node|ruby|bash|sh|zsh|go|cargo|npx|deno|bun)$")


def lessons(session: MinedSession) -> list[Lesson]:
    """Lessons from hints that were followed and from manuals that ended a loop."""
    found: list[Lesson] = []
    for failed in session.attempts:
        if failed.verdict == "failed" and failed.actions:
            found += _followed(session, failed)
    return found + _looked_up(session)


def _followed(session: MinedSession, failed: Attempt) -> list[Lesson]:
    """A command that the output names is run, and what failed works."""
    hints = list(_hints(failed))
    line = error_line(failed.output)
    name = error_name(line, session) if line else None
    if not hints or line is None or name is None:
        return []
    heads = {command.head for command in failed.actions}
    for step in session.attempts_after(failed, _WITHIN_CALLS):
        for command in step.actions if step.verdict == "passed" else ():
            hint = next((text for text, words in hints if command.words[: len(words)] == words), None)
            works = _works_later(session, step, heads) if hint and command.head not in heads else None
            if works is not None:
                general = general_command(command, session.trajectory)
                head = failed.actions[-1].head
                wording = Wording(
                    "hints/followed",
                    f"Run {command.head} before {head}",
                    f"Run `{general}` when `{head}` stops with `{name}`.",
                    f"`{head}` stops with `{name}`.",
                    (tag(command.program), tag(failed.actions[-1].program), "hint"),
                )
                rationale = f"`{head}` stopped with `{line.strip()}` and named `{hint}`; after that it worked."
                quotes = [quote_line(session, failed, line), quote_command(session, step, command.text[:80])]
                is_short = 3 <= len(wording.title.split()) <= 7
                found = lesson(wording, rationale, quotes, {failed.turn}, 72, remedy=step.turn, confirmed=works.turn)
                return found if is_short else []
    return []


def _hints(failed: Attempt) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`(text, its first words)` of each command that a line of advice names."""
    for line in failed.output[:8000].splitlines()[:200]:
        if len(line) > 400 or not _HINT.search(line):
            continue
        for match in _NAMED.finditer(line):
            text = match[1] or match[2]
            commands = shell.split(text)
            if len(commands) == 1 and len(commands[0].words) >= 2 and not commands[0].only_looks():
                plain = [word for word in commands[0].words if not re.search(r"[<>\[\]{}.]{1}", word)]
                yield text, tuple(plain[:3])


def _works_later(session: MinedSession, step: Attempt, heads: set[str]) -> Attempt | None:
    later = [step, *session.attempts_after(step, _WITHIN_CALLS)]
    return next((each for each in later if each.verdict == "passed" and heads & {c.head for c in each.actions}), None)


def _looked_up(session: MinedSession) -> list[Lesson]:
    """Two refusals of the same program's usage, a look into its help, then a call that works."""
    refused: dict[str, list[Attempt]] = {}
    helped: dict[str, Attempt] = {}
    for attempt in session.attempts:
        for command in shell.split(attempt.line):
            program = command.program
            if not command.words or command.only_prepares() or _OWN_PROGRAM.search(program):
                continue
            if _HELP.search(command.text):
                helped[program] = attempt
            elif attempt.verdict == "failed" and _USAGE.search(attempt.output[:3000]) and attempt.actions:
                refused.setdefault(program, []).append(attempt)
            elif attempt.verdict == "passed" and program in helped and len(refused.get(program, ())) >= 2:
                return _manual_lesson(session, program, refused[program], helped[program], attempt)
    return []


def _manual_lesson(
    session: MinedSession, program: str, refused: list[Attempt], helped: Attempt, worked: Attempt
) -> list[Lesson]:
    if not refused[0].position < helped.position < worked.position:
        return []
    wording = Wording(
        "hints/read-manual",
        f"Read {program} help before guessing flags",
        f"Read `{program} --help`, and that of the subcommand, before the first call of `{program}`.",
        f"About to call `{program}`, whose flags are not known from this session.",
        (tag(program), "command-line", "documentation"),
    )
    lines = [error_line(attempt.output) for attempt in refused[:2]]
    rationale = (
        f"`{program}` refused {len(refused)} calls with guessed words; after a look into its help the next one worked."
    )
    evidence = [quote_line(session, attempt, line) for attempt, line in zip(refused, lines, strict=False)]
    evidence += [quote_command(session, helped, program), quote_command(session, worked, program)]
    return lesson(
        wording,
        rationale,
        evidence,
        {attempt.turn for attempt in refused},
        66,
        remedy=helped.turn,
        confirmed=worked.turn,
    )
