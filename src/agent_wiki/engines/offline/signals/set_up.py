"""A failure names a command, that command runs, and the failed check gets past it (signals 7 and 8).

What only the session's own edits made necessary is no lesson, nor is a package that the failure names: who meets it
reads it there. Whether the failure is gone, and nothing else was changed, is judged by the lesson's grade.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import general_command
from agent_wiki.engines.offline.imperatives import has_length_of_title
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_name, tag
from agent_wiki.engines.offline.signals.recovery import Recovery, command_of, lesson_of, went
from agent_wiki.engines.offline.tables import written
from agent_wiki.shell.edited_parts import edited_files
from agent_wiki.shell.judged_steps import called_steps, passed_steps
from agent_wiki.shell.kinds import shell_kind
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.stages.call_effects import doing
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_WITHIN_CALLS = 10
_MOST_SAID = 160  # characters
_HINT = regex(r"\b(?:try|run|use|execute|hint|please|first|need to|must|should|forget|with)\b", re.IGNORECASE)
_PACKAGES = regex(r"\b(?:install|i|add|get)\b.*$")
_MANIFEST = written("manifest")


def set_up(session: MinedSession, recovery: Recovery) -> list[Lesson]:
    """One lesson where one command that the failure names, and no edit, stands between it and the next run."""
    failed, found = recovery.failed, list(_named(session, recovery))
    is_look = shell_kind(recovery.wanted) == "look"  # of what the command makes
    if len({step.text() for step, _, _ in found}) != 1 or is_look or _is_own_doing(session, recovery):
        return []
    step, remedy, said = found[0]
    call, head = general_command(command_of(step), session.trajectory), command_of(recovery.wanted).head
    line = verdict_of(failed.ended).line or said
    name = error_name(line, session)
    if name is None or re.search(r"<\w+>", call) or _PACKAGES.search(step.text()):
        return []
    titles = [f"Run {' '.join(call.split()[:3])} before {each}" for each in (head, head.split()[-1])]
    wording = Wording(
        "recoveries/set-up",
        next(filter(has_length_of_title, titles), titles[0]),
        f"Run `{call}` when `{head}` says “{said}”.",
        f"`{head}` stops with `{name}`.",
        (tag(step.program), tag(recovery.wanted.program), "set-up"),
    )
    rationale = f"`{head}` stopped with `{line[:160]}`; after `{step.text()[:100]}`, and no edit, {went(recovery)}."
    return lesson_of(session, recovery, remedy, wording, rationale, 71, line)


def _is_own_doing(session: MinedSession, recovery: Recovery) -> bool:
    """An edit in between, or one before it of what the command reads: new dependencies have to be installed."""
    at, edits = recovery.failed.position, session.edits_between(-1, recovery.passed.position)
    return any(edit.position > at for edit in edits) or any(map(_MANIFEST.search, edited_files(edits)))


def _named(session: MinedSession, recovery: Recovery) -> Iterator[tuple[SimpleCommand, Attempt, str]]:
    """What ran before the retry, or before it in its line, with what the failure says of it; nothing beside it."""
    before = {step.text() for step in called_steps(recovery.failed.call)}
    lines = [line.strip() for line in recovery.failed.output[:8000].splitlines() if line.strip()]
    for attempt in session.attempts_after(recovery.failed, _WITHIN_CALLS):
        if attempt.position > recovery.passed.position:
            return
        worked, steps = set(passed_steps(attempt.ended)), doing(attempt.call)
        first = takewhile(lambda step: step != recovery.used, steps) if attempt is recovery.passed else steps
        done = [step for step in first if step in worked and step.text() not in before and step.program != "sleep"]
        said = {step: _said(step, recovery.wanted, lines) for step in done}
        if any(said.values()):
            yield from ((step, attempt, line) for step, line in said.items())


def _said(step: SimpleCommand, wanted: SimpleCommand, lines: list[str]) -> str:
    """What a failure says of a command, or of a sub-command of the very program that failed; empty for nothing."""
    named, verb = " ".join(step.words[:2]), "".join(step.words[1:2])
    is_own = step.program == wanted.program and len(verb) > 4 and verb not in wanted.words
    for at, line in enumerate(lines if verb and step.program != "git" else ()):
        if line == step.text():  # on a line of its own: what leads in to it says when
            return plain_line(" ".join(lines[max(at - 2, 0) : at + 1]), _MOST_SAID).replace("`", "'").rstrip(".:")
        if _HINT.search(line) and (named in line or (is_own and verb in re.split(r"[^\w-]+", line))):
            return plain_line(line, _MOST_SAID).replace("`", "'").rstrip(".:")
    return ""
