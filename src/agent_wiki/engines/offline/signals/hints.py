"""The tool names the remedy, and the session follows it (signal 8).

A hint that nobody followed is junk: the named command has to be run, and the failed one has to work afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import general_command
from agent_wiki.engines.offline.imperatives import has_length_of_title
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


def lessons(session: MinedSession) -> list[Lesson]:
    """Lessons from hints that were followed."""
    failures = (each for each in session.attempts if each.verdict == "failed" and each.actions)
    return [lesson for failed in failures for lesson in _followed(session, failed)]


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
            if command.program == "git":
                continue  # its advice is known, and of which branch it is, the session's own
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
                is_short = has_length_of_title(wording.title)
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
