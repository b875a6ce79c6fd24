"""A check fails for what it runs in, that is changed, and the same check runs (signals 4 and 7).

What is changed is not the work: the version of a language, the search path.
Whether nothing else was changed is judged by the lesson's grade. Where the failure itself says what to run, its text
is all that one needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.imperatives import has_length_of_title
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_line, error_name, lesson, quote_line, tag
from agent_wiki.shell.judged_steps import called_steps, failed_steps
from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.past_failure import has_started
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand, simple_commands
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 10
_SELECTS = regex(
    r"(?:nvm|fnm|sdk) use\b|n \d|(?:pyenv|rbenv|nodenv|jenv|asdf) (?:shell|local|global|set)\b|mise use\b"
    r"|rustup (?:default|override set)\b|conda activate\b|corepack enable\b"
)
_ON_PATH = regex(r"PATH=[\"']?(?:\$PATH:|\$\{PATH\}:)?(?P<folder>[^:\"'\s]{3,80})(?::\$\{?PATH\}?)?[\"']?")
_OF_EVERYONE = regex(r"(?:/(?!Users/|home/|root/|tmp/)|~/|\$HOME/)[\w./+-]{2,80}")
_NOT_ON_PATH = regex(r"([\w.+-]{1,40}): (?:command )?not found(?!:)|command not found: ([\w.+-]{1,40})")
_ASSIGNED = regex(r"(?:^|[;&] ?)(?P<text>PATH=[^\s;&]{3,200}) ?(?:&&|;)")
_LONGEST = 60


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each check that failed for its surroundings."""
    found: list[Lesson] = []
    for failed in session.attempts:
        if failed.verdict == "failed" and failed.actions:
            found += _surrounded(session, failed)
    return found


def _surrounded(session: MinedSession, failed: Attempt) -> list[Lesson]:
    for later in session.attempts_after(failed, _WITHIN_CALLS):
        for wanted, used in _runs_again(failed, later):
            changes = list(_changes(session, failed, later, used))
            kinds = {kind for _, _, kind in changes}
            if len({step.text() for _, step, _ in changes}) != 1 or len(kinds) != 1:
                continue
            attempt, step, kind = changes[0]
            if kind == "path":
                return _on_path(session, failed, (attempt, step), later, wanted)
            if is_check(wanted) and step.text()[:_LONGEST] not in failed.output:
                return _selected(session, failed, (attempt, step), later, wanted)
            return []
    return []


def _runs_again(failed: Attempt, later: Attempt) -> Iterator[tuple[SimpleCommand, SimpleCommand]]:
    """Each step that failed with the one that shows that it runs now: it passed, or reports what had not begun."""
    states = dict(zip(called_steps(later.ended), verdict_of(later.ended).steps, strict=False))
    has_passed = later.verdict == "passed"
    for wanted in failed_steps(failed.ended):
        for used in called_steps(later.call):
            is_through = states.get(used) == "passed" or has_passed or has_started(failed.ended, later.ended)
            if is_through and is_same_check(wanted, used):
                yield wanted, used


def _changes(
    session: MinedSession, failed: Attempt, later: Attempt, used: SimpleCommand
) -> Iterator[tuple[Attempt, SimpleCommand, str]]:
    """The steps after the failure, before the run that counts, that change the surroundings."""
    before = {step.text() for step in called_steps(failed.call)}
    for attempt in session.attempts_after(failed, _WITHIN_CALLS):
        if attempt.position > later.position:
            return
        for step in (*_assigned(attempt), *called_steps(attempt.call)):
            if attempt is later and step == used:
                return
            kind = _kind(step)
            if kind and step.text() not in before and (attempt is later or attempt.verdict != "failed"):
                yield attempt, step, kind


def _assigned(attempt: Attempt) -> list[SimpleCommand]:
    """`PATH=… &&`, which is no command, as the `export` that it stands for."""
    match = _ASSIGNED.search(attempt.line)
    exports = simple_commands(f"export {match['text']}") if match else []
    return [replace(each, source=match["text"]) for each in exports if match]


def _kind(step: SimpleCommand) -> str:
    text = step.text()
    if step.program == "export" and _ON_PATH.search(text):
        return "path"
    return "version" if _SELECTS.match(text) else ""


def _selected(
    session: MinedSession, failed: Attempt, change: tuple[Attempt, SimpleCommand], later: Attempt, wanted: SimpleCommand
) -> list[Lesson]:
    attempt, step = change
    line = verdict_of(failed.ended).line or error_line(failed.output) or ""
    name, run = error_name(line, session), step.text()
    check = shell.Command(wanted.called or wanted.words, (), "", wanted.source).head
    if name is None or len(run) > _LONGEST or re.search(r"[~$<]|/\w+/", run):
        return []
    wording = Wording(
        "surroundings/version-selected",
        f"Run {' '.join(run.split()[:2])} before {check}",
        f"Run `{run}` before `{check}`: as the shell starts, it stops with `{name}`.",
        f"`{check}` is next, or stops with `{name}`.",
        (tag(wanted.program), tag(step.program), "environment"),
    )
    rationale = f"`{check}` stopped with `{line.strip()}`; after `{run}`, and no edit, it ran."
    return _lesson(session, (failed, attempt, later), wording, rationale, line, step)


def _on_path(
    session: MinedSession, failed: Attempt, change: tuple[Attempt, SimpleCommand], later: Attempt, wanted: SimpleCommand
) -> list[Lesson]:
    attempt, step = change
    missing = _NOT_ON_PATH.search(failed.output)
    folder = _ON_PATH.search(step.text())
    program = next(filter(None, missing.groups()), "") if missing else ""
    if missing is None or folder is None or program != wanted.program or not _OF_EVERYONE.fullmatch(folder["folder"]):
        return []
    wording = Wording(
        "surroundings/path",
        f"Put {program} on the PATH",
        f"Put `{folder['folder']}` on the `PATH` before calling `{program}`: the shell does not find it otherwise.",
        f"`{program}` is to be called, or the shell answers `{program}: command not found`.",
        (tag(program), "path", "shell"),
    )
    line = next(each for each in failed.output.splitlines() if missing[0] in each)
    rationale = f"The shell answered `{line.strip()}`; with `{folder['folder']}` on the `PATH` `{program}` ran."
    return _lesson(session, (failed, attempt, later), wording, rationale, line, step)


def _lesson(
    session: MinedSession,
    turns: tuple[Attempt, Attempt, Attempt],
    wording: Wording,
    rationale: str,
    line: str,
    step: SimpleCommand,
) -> list[Lesson]:
    failed, remedy, later = turns
    if not has_length_of_title(wording.title):
        return []
    evidence = [
        quote_line(session, failed, line),
        session.quote(remedy.turn, step.source),
        session.quote(later.turn, later.line),
    ]
    return lesson(wording, rationale, evidence, {failed.turn}, 77, remedy=remedy.turn, confirmed=later.turn)
