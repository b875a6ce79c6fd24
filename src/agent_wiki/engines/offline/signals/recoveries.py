"""A check fails, and the next pass of the same check shows what helped (signals 4, 7, 8, 11 and 12).

Between the two stands the remedy: a program that mends what the check reports, the same program under a name that is
there, leave to run outside the sandbox, a folder that was made. Whether nothing else was changed is judged by the
lesson's grade.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import general_command
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_line, error_name, tag
from agent_wiki.engines.offline.signals.recovery import Recovery, lesson_of
from agent_wiki.shell.judged_steps import called_steps, failed_steps, passed_steps
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
_OF_PLACE = regex(
    r"EPERM|EACCES|not permitted|[Pp]ermission denied|Access is denied|[Rr]ead-only file|ENOTFOUND|EAI_AGAIN"
    r"|[Cc]ould not resolve|no such host|unreachable|[Cc]onnection refused|[Ff]ailed to connect|error connecting"
)
# Codex gives the answer of its sandbox as it prints its own values.
_DENIED = regex(
    r"(?:SandboxDenied \{|Sandbox\(Denied \{).{0,2000}?"
    r"(?P<why>(?:[Pp]ermission denied|Operation not permitted|[Cc]ould not resolve|[Cc]onnection refused)"
    r"[^\\\"]{0,120})"
)
_MOST_TITLE_WORDS = 3  # of an error, after "Leave the sandbox at"
_SANDBOX = regex(r"^(?:bwrap|bubblewrap|sandbox-exec|landlock|firejail)\b")
_NO_FOLDER = regex(r"No such file or directory|Could not find a part of the path|cannot find the path")
_WRITERS = frozenset({"Set-Content", "Add-Content", "Out-File", "tee", "cp", "mv", "touch", "curl", "wget"})
_MAKES_FOLDER = regex(r"^(?:mkdir|New-Item\b.*-ItemType\s+Directory)\b", re.IGNORECASE)


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each failed call."""
    found: list[Lesson] = []
    refused: dict[str, list[Recovery]] = {}
    for failed in session.attempts:
        if failed.verdict != "failed":
            continue
        recovery = _recovery(session, failed)
        name = _refused_by_sandbox(session, recovery) if recovery else None
        if name is not None and recovery is not None:
            refused.setdefault(name, []).append(recovery)
        elif recovery is not None:
            found += _mended(session, recovery) or _folder_made(session, recovery)
    return found + [each for name, several in refused.items() for each in _let_out(session, name, several)]


def _recovery(session: MinedSession, failed: Attempt) -> Recovery | None:
    wanted = sorted(failed_steps(failed.ended), key=lambda step: step.program not in failed.output[:4000])
    for later in session.attempts_after(failed, _WITHIN_CALLS):
        for step in wanted:
            used = next((each for each in passed_steps(later.ended) if is_same_check(step, each)), None)
            if used is not None and not _fixes(used):
                return Recovery(failed, later, step, used)
    return None


def _mended(session: MinedSession, recovery: Recovery) -> list[Lesson]:
    """A fixer ran in between, and no edit."""
    failed, passed = recovery.failed, recovery.passed
    if session.edits_between(failed.position, passed.position) or not _TIDY.search(_name(recovery.wanted)):
        return []
    fixes = list(_fixers(session, recovery))
    if not fixes or _fixes(recovery.wanted):
        return []
    attempt, fixer = fixes[-1]
    check, mends = _name(recovery.wanted), _general(session, fixer)
    short = (_short(recovery.wanted), _short(fixer))
    wording = Wording(
        "recoveries/fixer",
        f"Mend {short[0]} findings with {short[1]}",
        f"Run `{mends}` when `{check}` reports findings, and `{check}` again, before mending anything by hand.",
        f"`{check}` reports findings that a program can mend, such as of format.",
        (tag(short[0]), tag(short[1]), "linting"),
    )
    reports = (each for each in failed.output.splitlines() if _REPORTS.search(each))
    line = next(reports, None) or verdict_of(failed.ended).line or error_line(failed.output) or ""
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


def _refused_by_sandbox(session: MinedSession, recovery: Recovery) -> str | None:
    """The error with which the sandbox refused a command that, unchanged, passed outside of it; None for any other."""
    failed, passed = recovery.failed, recovery.passed
    line = _line_of_place(failed)
    if failed.line != passed.line or is_escalated(failed.call) or not is_escalated(passed.call) or line is None:
        return None
    if _SANDBOX.match(line):
        return error_name(line, session)
    if recovery.wanted.program in shell.LOOKING:
        return None
    # Between colons stand the program, what it was at, and the system's own words, which are the same everywhere.
    said = _DENIED.search(line)
    parts = [said["why"]] if said else [each for each in re.split(r":\s", line) if _OF_PLACE.search(each)]
    parts = [re.split(r"[,'\"(]|\bat \w+://", part)[0].strip() for part in parts]
    return next((name for part in parts if (name := error_name(part, session))), None)


def _line_of_place(failed: Attempt) -> str | None:
    return next((each for each in failed.output.splitlines() if _OF_PLACE.search(each)), None)


def _let_out(session: MinedSession, name: str, several: list[Recovery]) -> list[Lesson]:
    """What the sandbox refused with one error; whatever commands met it, it is one lesson."""
    first, line = several[0], _line_of_place(several[0].failed) or ""
    heads = list(dict.fromkeys(_name(each.wanted) for each in several))[:3]
    named = " and ".join(f"`{head}`" for head in heads)
    if _SANDBOX.match(line):
        rationale = f"The sandbox itself stopped {named} with `{name}`; the same command passed outside."
        return lesson_of(session, first, first.passed, _sandbox_fails(name), rationale, 70, line)
    match = _OF_PLACE.search(name)
    short = name if match is None or len(name.split()) <= _MOST_TITLE_WORDS else match[0]
    wording = Wording(
        "recoveries/outside-sandbox",
        f"Leave the sandbox at {short}",
        f"Ask to run a command outside the sandbox, before changing anything, when it stops with `{name}` inside: "
        "the sandbox refused it here, and unchanged it passed outside.",
        f"A command stops with `{name}` in a sandbox.",
        ("sandbox", "permissions", *map(tag, heads)),
    )
    rationale = f"{named} stopped with `{name}` in the sandbox; unchanged, outside of it, it passed."
    found = lesson_of(session, first, first.passed, wording, rationale, 70, line)
    event = frozenset(each.failed.turn for each in several)
    return [Lesson(each.guideline, event, each.weight) for each in found]


def _sandbox_fails(name: str) -> Wording:
    """The sandbox cannot start anything: no matter of the command that met it first."""
    return Wording(
        "recoveries/outside-sandbox",
        "Leave a sandbox that cannot start",
        f"Ask to run commands outside the sandbox as soon as one stops with `{name}`: the sandbox itself fails, and "
        "will for any command.",
        f"A command stops with `{name}`.",
        ("sandbox", "permissions"),
    )


def _folder_made(session: MinedSession, recovery: Recovery) -> list[Lesson]:
    """A folder was made in between, and the same write passes."""
    match = _NO_FOLDER.search(recovery.failed.output)
    again = {step.words for step in called_steps(recovery.passed.call)}
    writers = (step for step in called_steps(recovery.failed.call) if step.program in _WRITERS and step.words in again)
    writer = next(writers, None)
    if match is None or writer is None:
        return []
    program = writer.program
    for made in session.attempts_after(recovery.failed, _WITHIN_CALLS):
        step = next((each for each in called_steps(made.call) if _MAKES_FOLDER.match(each.text())), None)
        if step is None or made.verdict == "failed" or made.position > recovery.passed.position:
            continue
        maker = "New-Item -ItemType Directory -Force" if step.program == "New-Item" else "mkdir -p"
        wording = Wording(
            "recoveries/folder-made",
            f"Make folders before {program} writes",
            f"Make the folder with `{maker}` before `{program}` writes into it: `{program}` makes none.",
            f"About to write a file with `{program}` into a folder that may not be there.",
            (tag(program), "folders", "shell"),
        )
        rationale = f"`{program}` stopped with `{match[0]}`, and passed once the folder was made."
        line = next(each for each in recovery.failed.output.splitlines() if match[0] in each)
        return lesson_of(session, recovery, made, wording, rationale, 66, line)
    return []


def _name(step: SimpleCommand) -> str:
    """What is run, without what it is run on: `bun run lint`, `bunx biome check`, `cargo fmt --check`."""
    command = _command(step)
    verb = next((word for word in step.words[1:2] if word in _VERBS and word not in command.head.split()), "")
    flag = next((word for word in step.words if word in _ONLY_CHECKS), "")
    return " ".join(filter(None, (command.head, verb, flag)))


def _short(step: SimpleCommand) -> str:
    """The last word of a task's name; of another program, what it was asked for."""
    if runner_name(step.program) in TASK_RUNNERS:
        return _command(step).head.split()[-1]
    verb = next((word for word in step.words[1:2] if word.isalpha()), "")
    flag = next((word for word in step.words[1:] if word in _FIX_FLAGS), "") if not verb else ""
    return f"{step.program} {verb or flag}".strip()


def _general(session: MinedSession, step: SimpleCommand) -> str:
    return general_command(_command(step), session.trajectory)


def _command(step: SimpleCommand) -> shell.Command:
    words = step.called or step.words
    return shell.Command(words, (), "", step.source)
