"""A check fails for what is not there yet, one command of set-up runs, and the check gets past it (signals 7 and 8).

What has to run first, in a fresh checkout or before one's own work is joined with that of others, nobody knows who
meets the repository for the first time. So does a command that the failure names and the session then runs. What only
the session's own edits made necessary is no lesson. Whether the failure is gone, and nothing else was changed, is
judged by the lesson's grade.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import general_command
from agent_wiki.engines.offline.imperatives import has_length_of_title
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_name, lesson, quote_line, tag
from agent_wiki.engines.offline.signals.recovery import Recovery, command_of, lesson_of, went
from agent_wiki.engines.offline.tables import pattern, table, written
from agent_wiki.shell.edited_parts import edited_files
from agent_wiki.shell.judged_steps import called_steps, passed_steps
from agent_wiki.shell.kinds import shell_kind
from agent_wiki.shell.result_lines import error_line
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.stages.call_effects import doing
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 10
_SETS_UP = tuple(map(pattern, table("runners")["set_up"]))
_NOT_READY = written("not_ready")
_HINT = regex(r"\b(?:try|run|use|execute|hint|please|first|need to|must|should|forget|with)\b", re.IGNORECASE)
_PACKAGES = regex(r"\b(?:install|i|add|get)\b(?P<rest>.*)$")
_PINNED = regex(r"[=@~<>]=?\d")
_IN_PACKAGE = regex(r"(?:(?:site|dist)-packages|node_modules)[/\\]((?:@[\w.-]{1,60}[/\\])?[\w.-]{2,60})[/\\]")
_OF_PROJECT = regex(r"^(?:-e|--editable|-r|\.|\.\[[\w,-]+\]|requirements[\w-]*\.txt)$")
_MANIFEST = regex(
    r"(?:^|[/\\])(?:package\.json|go\.mod|pyproject\.toml|Cargo\.toml|requirements[\w-]*\.txt|Gemfile|pom\.xml|schema\.prisma"
    r"|build\.gradle(?:\.kts)?|[\w.]+\.csproj|composer\.json|pubspec\.yaml|mise\.toml|docker-compose\.ya?ml|compose\.ya?ml)$"
)


def set_up(session: MinedSession, recovery: Recovery) -> list[Lesson]:
    """One lesson where one command of set-up, and no edit, stands between a failure and the next run of its check."""
    failed, found = recovery.failed, list(_prepared(session, recovery))
    said = _not_ready(recovery) or next((line for step, _, line in found if line not in ("", step.text())), "")
    is_look = shell_kind(recovery.wanted) == "look"  # of what the set-up makes
    if not said or is_look or len({step.text() for step, _, _ in found}) != 1 or _is_own_doing(session, recovery):
        return []
    step, remedy, hint = found[0]
    call, head = general_command(command_of(step), session.trajectory), command_of(recovery.wanted).head
    name = error_name(said, session)
    if name is None or re.search(r"<\w+>", call) or _only_names(step, failed.output):
        return []
    # What the failure itself asks for is run where it does; what sets a repository up is run there once.
    where, until = ("", "where that is needed") if hint else (" in this repository", "until then")
    first = "" if hint else f"About to run `{head}`{where} for the first time, or "
    short = re.sub(r"^\w+ run -n \S+ ", "", call).split()[:3]  # in which environment, the rule says
    titles = [f"Run {' '.join(short)} before {each}" for each in (head, head.split()[-1])]
    wording = Wording(
        "recoveries/set-up",
        next(filter(has_length_of_title, titles), titles[0]),
        f"Run `{call}` before `{head}`{where}: `{head}` stops with `{name}` {until}.",
        f"{first}`{head}` stops with `{name}`.",
        (tag(step.program), tag(recovery.wanted.program), "set-up"),
    )
    rationale = f"`{head}` stopped with `{said[:160]}`; after `{step.text()[:100]}`, and no edit, {went(recovery)}."
    return lesson_of(session, recovery, remedy, wording, rationale, 71, said)


def _not_ready(recovery: Recovery) -> str:
    """The line that says what is not there; of a check that only got past its failure, that failure."""
    line, output = verdict_of(recovery.failed.ended).line, recovery.failed.output
    if recovery.passed.verdict == "failed":
        return line
    reasons = [line, *output[:4000].splitlines(), error_line(output)]
    return next((each.strip() for each in reasons if _NOT_READY.search(each) and len(each) <= 300), "")


def _is_own_doing(session: MinedSession, recovery: Recovery) -> bool:
    """An edit in between, or one before it of what the set-up reads: new dependencies have to be installed."""
    at, edits = recovery.failed.position, session.edits_between(-1, recovery.passed.position)
    return any(edit.position > at for edit in edits) or any(map(_MANIFEST.search, edited_files(edits)))


def _prepared(session: MinedSession, recovery: Recovery) -> Iterator[tuple[SimpleCommand, Attempt, str]]:
    """What set something up before the retry, or was named by the failure in that line; and what ran beside it."""
    before = {step.text() for step in called_steps(recovery.failed.call)}
    lines = [line.strip() for line in recovery.failed.output[:8000].splitlines()]
    for attempt in session.attempts_after(recovery.failed, _WITHIN_CALLS):
        if attempt.position > recovery.passed.position:
            return
        worked, steps = set(passed_steps(attempt.ended)), doing(attempt.call)
        first = list(takewhile(lambda step: step != recovery.used, steps)) if attempt is recovery.passed else steps
        done = [step for step in first if step in worked and step.text() not in before and step.program != "sleep"]
        named = {step: next((line for line in lines if _is_named(step, recovery.wanted, line)), "") for step in done}
        if any(named.values()) or any(each.search(step.text()) for each in _SETS_UP for step in done):
            yield from ((step, attempt, line) for step, line in named.items())


def _is_named(step: SimpleCommand, wanted: SimpleCommand, line: str) -> bool:
    """A line names a command, or a sub-command of the very program that failed."""
    said, verb = " ".join(step.words[:2]), "".join(step.words[1:2])
    is_own = step.program == wanted.program and len(verb) > 4 and verb not in wanted.words
    is_said = bool(verb) and (said in line or (is_own and verb in re.split(r"[^\w-]+", line)))
    return step.program != "git" and is_said and (line == step.text() or bool(_HINT.search(line)))


def _only_names(step: SimpleCommand, output: str) -> bool:
    """A package that the failure names is installed by that name: who meets the failure reads it there."""
    match = _PACKAGES.search(step.text())
    names = [each for each in match["rest"].split() if not each.startswith("-")] if match else []
    return any(
        not _OF_PROJECT.match(each) and not _PINNED.search(each) and each.lower() in output.lower() for each in names
    )


def other_version(session: MinedSession, recovery: Recovery) -> list[Lesson]:
    """One lesson where the failure speaks of a package, and only another version of it is installed in between."""
    failed, until = recovery.failed, recovery.passed.position
    later = [each for each in session.attempts_after(failed, _WITHIN_CALLS) if each.position <= until]
    known = {step.text() for step in (recovery.used, *called_steps(failed.call))}
    done = [(step, each) for each in later for step in doing(each.call) if step.text() not in known]
    spec = _pinned_package(done[0][0]) if len(done) == 1 and done[0][0] in passed_steps(done[0][1].ended) else ""
    package, line = _PINNED.split(spec)[0], verdict_of(failed.ended).line
    name = error_name(line, session) if line else None
    is_meant = re.search(rf"(?<![\w-]){re.escape(package)}(?![\w-])", failed.output) and spec not in failed.output
    if not spec or not is_meant or name is None or session.edits_between(failed.position, until):
        return []
    results = "\n".join(each.result or "" for each in session.calls[: done[0][1].position + 1])
    if len(set(re.findall(rf"\b{re.escape(package)}[-=@ ]{{1,2}}v?(\d[\w.]*\w)", results))) < 2:
        return []  # that another one had been there is not known
    head = command_of(recovery.wanted).head
    users = [each for each in _IN_PACKAGE.findall(failed.output) if each.lower() != package.lower()]
    beside = users[-1] if users else head
    wording = Wording(
        "recoveries/other-version",
        f"Pin {spec} {'beside' if users else 'for'} {beside}",
        f"Pin `{spec}` {'beside' if users else 'for'} `{beside}`: with the version that comes by itself, `{head}` "
        f"stops with `{name}`.",
        f"`{beside}` is about to be {'installed' if users else 'run'}, or `{head}` stops with `{name}`.",
        (tag(package), tag(beside), "versions"),
    )
    rationale = f"`{head}` stopped with `{line[:160]}`; with `{spec}`, and no edit, {went(recovery)}."
    remedy, passed = done[0][1].turn, recovery.passed.turn
    said = [(turn, each) for turn, text in session.said(failed.turn + 1, remedy) for each in text.splitlines()]
    why = [session.quote(turn, each) for turn, each in said if package in each][:2]
    evidence = [quote_line(session, failed, line), *why, session.quote(remedy, spec)]
    return lesson(wording, rationale, evidence, {failed.turn}, 72, remedy=remedy, confirmed=passed)


def _pinned_package(step: SimpleCommand) -> str:
    """The one package that a command installs, with its version; empty where there are several, or no version."""
    match = _PACKAGES.search(step.text())
    named = [each for each in match["rest"].split() if not each.startswith("-")] if match else []
    return named[0] if len(named) == 1 and _PINNED.search(named[0]) else ""
