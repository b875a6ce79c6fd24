"""A check fails, and the next pass of the same check shows what helped (signals 4, 7, 8, 11 and 12).

Between the two stands the remedy: a program that mends what the check reports, the same program under a name that is
there, leave to run outside the sandbox, a command of set-up. Whether nothing else was changed is judged by the
lesson's grade.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.edit_changes import edited_files
from agent_wiki.engines.offline.generalize import general_command
from agent_wiki.engines.offline.lessons import Lesson, Wording, tag
from agent_wiki.engines.offline.signals.folders import elsewhere
from agent_wiki.engines.offline.signals.outside_sandbox import Refusal, let_out, refusal_of
from agent_wiki.engines.offline.signals.recovery import Recovery, command_of, lesson_of, retried
from agent_wiki.engines.offline.signals.set_up import set_up
from agent_wiki.engines.offline.signals.surroundings import in_others
from agent_wiki.shell.judged_steps import failed_steps, passed_steps
from agent_wiki.shell.result_lines import error_line
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.task_runners import TASK_RUNNERS, runner_name, task_words
from agent_wiki.shell.tools import is_escalated
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 10
_TIDY = regex(
    r"\b(?:lint|format|fmt|style|check|biome|prettier|eslint|stylelint|ruff|black|isort|gofmt|gofumpt|clippy|rubocop"
    r"|markdownlint|golangci-lint)\b",
    re.IGNORECASE,
)
_REPORTS = regex(
    r"FIXABLE|[Ff]ormatter would|would (?:be )?reformat|Found \d+ (?:error|issue|problem|warning)|\d+ problems?\b"
    r"|^Diff in |style issues|not (?:properly )?formatted|needs? formatting|Formatting issues"
)
_FIXING_TASK = regex(r"(?:^|[:_.-])(?:fix|format|fmt)$")
_FORMATTERS = frozenset({"black", "isort", "gofumpt", "rustfmt"})
_SUBCOMMANDS = frozenset({("ruff", "format"), ("cargo", "fmt"), ("go", "fmt"), ("deno", "fmt"), ("dart", "format")})
_FIX_FLAGS = frozenset({"--fix", "--write", "--autocorrect", "--fix-dry-run"})
_VERBS = frozenset({"check", "lint", "format", "fmt", "ci"})
_ONLY_CHECKS = frozenset({"--check", "--dry-run", "--diff", "-l"})


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each failed call."""
    found: list[Lesson] = []
    refused: list[Refusal] = []
    for failed in session.attempts:
        if failed.verdict != "failed":
            continue
        recovery = _recovery(session, failed)
        refusal = refusal_of(session, recovery) if recovery else None
        if refusal is not None:
            refused.append(refusal)
        elif recovery is not None:
            found += _mended(session, recovery) or elsewhere(session, recovery)
        again = retried(session, failed, _WITHIN_CALLS) if refusal is None else None
        found += set_up(session, again) if again else []
        found += in_others(session, failed) if refusal is None else []
    return found + let_out(session, refused)


def _recovery(session: MinedSession, failed: Attempt) -> Recovery | None:
    wanted = sorted(failed_steps(failed.ended), key=lambda step: step.program not in failed.output[:4000])
    after = list(session.attempts_after(failed, _WITHIN_CALLS))
    after.sort(key=lambda later: not (later.line == failed.line and is_escalated(later.call)))
    for later in after:  # the very command, let out of the sandbox, says most
        for step in wanted:
            used = next((each for each in passed_steps(later.ended) if is_same_check(step, each)), None)
            if used is not None and (not _fixes(used) or _fixes(step)):
                return Recovery(failed, later, step, used)
    return None


def _mended(session: MinedSession, recovery: Recovery) -> list[Lesson]:
    """A fixer ran in between, and no edit."""
    failed, passed = recovery.failed, recovery.passed
    if session.edits_between(failed.position, passed.position) or not _TIDY.search(_name(recovery.wanted)):
        return []
    fixes = list(_fixers(session, recovery))
    edited = {re.split(r"[/\\]", path)[-1] for path in edited_files(session.edits_between(-1, failed.position))}
    is_own = any(name in failed.output for name in edited)  # what others left is theirs to mend
    if not fixes or _fixes(recovery.wanted) or not is_own:
        return []
    attempt, fixer = fixes[-1]
    check, mends = _name(recovery.wanted), general_command(command_of(fixer), session.trajectory)
    short = (_short(recovery.wanted), _short(fixer))
    wording = Wording(
        "recoveries/fixer",
        f"Mend {short[0]} findings with {short[1]}",
        f"Run `{mends}` when `{check}` reports findings, and `{check}` again, before mending anything by hand.",
        f"`{check}` reports findings that a program can mend, such as of format.",
        (tag(short[0]), tag(short[1]), "linting"),
    )
    reports = (each for each in failed.output.splitlines() if _REPORTS.search(each))
    line = next(reports, None) or verdict_of(failed.ended).line or error_line(failed.output)
    rationale = f"`{check}` stopped with `{line.strip()}`; after `{fixer.text()[:120]}`, and no edit, it passed."
    return lesson_of(session, recovery, attempt, wording, rationale, 79, line)


def _fixers(session: MinedSession, recovery: Recovery) -> Iterator[tuple[Attempt, SimpleCommand]]:
    later = list(session.attempts_after(recovery.failed, _WITHIN_CALLS))
    for attempt in later[: later.index(recovery.passed) + 1]:
        yield from ((attempt, step) for step in passed_steps(attempt.ended) if _fixes(step))


def _fixes(step: SimpleCommand) -> bool:
    """The step rewrites files so that a check is content with them."""
    words = set(step.words)
    if not step.words or words & _ONLY_CHECKS:
        return False
    if runner_name(step.program) in TASK_RUNNERS:
        return any(map(_FIXING_TASK.search, task_words(step.words)[:3])) or bool(words & _FIX_FLAGS)
    is_formatter = step.program in _FORMATTERS or tuple(step.words[:2]) in _SUBCOMMANDS
    return is_formatter or bool(words & _FIX_FLAGS) or (step.program in ("gofmt", "goimports") and "-w" in words)


def _name(step: SimpleCommand) -> str:
    """What is run, without what it is run on: `bun run lint`, `bunx biome check`, `cargo fmt --check`."""
    command = command_of(step)
    verb = next((word for word in step.words[1:2] if word in _VERBS and word not in command.head.split()), "")
    flag = next((word for word in step.words if word in _ONLY_CHECKS), "")
    return " ".join(filter(None, (command.head, verb, flag)))


def _short(step: SimpleCommand) -> str:
    """The last word of a task's name; of another program, what it was asked for."""
    if runner_name(step.program) in TASK_RUNNERS:
        return command_of(step).head.split()[-1]
    verb = next((word for word in step.words[1:2] if word.isalpha()), "")
    flag = next((word for word in step.words[1:] if word in _FIX_FLAGS), "") if not verb else ""
    return f"{step.program} {verb or flag}".strip()
