"""What surrounds a command: time, permissions, folder; the same command works once they fit (signals 7 and 12)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline.attempts import Attempt, Session
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_line, lesson, quote_command
from agent_wiki.stages.extract_guidelines import CitedQuote
from agent_wiki.trajectory.calls import Call

_WITHIN_CALLS = 8
_TIMED_OUT = re.compile(
    r"(?:[Cc]ommand|[Pp]rocess|[Ee]xecution|[Tt]ool)\b[^\n]{0,40}\btimed out(?: after [^\n]{0,40})?|TIMEOUT "
    r"EXPIRED|timed out after \d+"
)
_LIMITS = ("timeout", "timeout_ms", "timeout_seconds", "yield_time_ms", "max_time")
_ESCALATED = ("sandbox_permissions", "with_escalated_permissions", "dangerouslyDisableSandbox")
_NETWORK = re.compile(
    r"[Cc]ould not resolve|no such host|[Nn]etwork is unreachable|[Tt]emporary failure in name resolution"
    r"|ENOTFOUND|EAI_AGAIN"
    r"|error connecting to|[Ff]ailed to connect|[Cc]onnection refused|proxyconnect|Couldn't connect"
)
_GIT_FOLDER = re.compile(
    r"\.git/[^\n]{0,200}(?:[Oo]peration not permitted|[Pp]ermission denied|[Rr]ead-only)|index\.lock"
)
_PORTS = re.compile(r"\b(?:bind|listen)\b[^\n]{0,120}(?:not permitted|denied)")
_WRITES = re.compile(r"[Oo]peration not permitted|[Pp]ermission denied|[Rr]ead-only file system|EPERM|EACCES")
_REASONS = (
    (
        "sandbox-network",
        _NETWORK,
        "Request network access outside the sandbox",
        "commands that need the network",
        "network",
    ),
    (
        "sandbox-ports",
        _PORTS,
        "Run port-opening tests outside the sandbox",
        "tests and servers that open local ports",
        "ports",
    ),
    ("sandbox-git", _GIT_FOLDER, "Run git writes outside the sandbox", "git commands that write to `.git`", "git"),
    (
        "sandbox-writes",
        _WRITES,
        "Request write access outside the sandbox",
        "commands that write outside the workspace",
        "permissions",
    ),
)
_MARKERS = (
    (re.compile(r"go\.mod file not found|cannot find main module|does not contain main module"), "go.mod"),
    (re.compile(r"(?:ENOENT|no such file|Could not read|No package\.json)[^\n]{0,200}package\.json|No "
                r"package\.json", re.I),
     "package.json"),
    (re.compile(r"could not find `?Cargo\.toml"), "Cargo.toml"),
    (re.compile(r"can't open file [^\n]{0,200}manage\.py"), "manage.py"),
    (re.compile(r"No targets specified and no makefile found|No rule to make target"), "Makefile"),
    (re.compile(r"does not appear to be a Python project|pyproject\.toml[^\n]{0,80}not found|No "
                r"pyproject\.toml"), "pyproject.toml"),
    (re.compile(r"not a git repository"), ".git"),
)  # fmt: skip


def lessons(session: Session) -> list[Lesson]:
    """One lesson for each command that failed for its surroundings and worked, unchanged, in others."""
    found = [each for call in session.calls for each in _more_time(session, call)]
    for failed in session.attempts:
        if failed.verdict == "failed" and failed.actions:
            found += _outside_sandbox(session, failed) or _right_folder(session, failed)
    return found


def _more_time(session: Session, failed: Call) -> list[Lesson]:
    """A command ran out of time and finished with a longer limit or in the background."""
    line = failed.command()
    result = failed.result or ""
    match = _TIMED_OUT.search(result[:600]) or _TIMED_OUT.search(result[-600:])
    if line is None or match is None or failed.mark is not None:
        return []
    for later in _same_heads(session, failed):
        if later.verdict == "passed" and (
            _limit(later.call) > _limit(failed) or later.call.arguments.get("run_in_background")
        ):
            head = later.actions[-1].head
            wording = Wording(
                "surroundings/more-time",
                f"Give {head} more time"[:60],
                f"Run `{head}` with a longer time limit, or in the background: it does not finish within the "
                f"default one.",
                f"About to run `{head}` with the default time limit.",
                (_slug(later.actions[-1].program), "timeout"),
            )
            rationale = f"`{head}` ended with `{match[0]}`, and finished with more time."
            quotes = [session.quote(failed.result_turn, match[0]), quote_command(session, later)]
            return lesson(wording, rationale, quotes, {failed.turn}, 62) if len(wording.title.split()) <= 7 else []
    return []


def _same_heads(session: Session, failed: Call) -> Iterator[Attempt]:
    attempt = next((each for each in session.attempts if each.position == failed.position), None)
    heads = {command.head for command in attempt.actions} if attempt else set()
    for later in session.attempts_after(attempt, _WITHIN_CALLS) if attempt else ():
        if later.actions and later.actions[-1].head in heads:
            yield later


def _limit(call: Call) -> float:
    for name in _LIMITS:
        value = call.arguments.get(name)
        if isinstance(value, int | float):
            return float(value)
    return 0.0


def _outside_sandbox(session: Session, failed: Attempt) -> list[Lesson]:
    """The same command, let out of the sandbox, works."""
    if _is_escalated(failed.call):
        return []
    heads = {command.head for command in failed.actions}
    for later in session.attempts_after(failed, _WITHIN_CALLS):
        is_same = bool(heads & {command.head for command in later.actions})
        if is_same and later.verdict == "passed" and _is_escalated(later.call):
            return _outside_lesson(session, failed, later)
    return []


def _outside_lesson(session: Session, failed: Attempt, worked: Attempt) -> list[Lesson]:
    for name, pattern, title, what, tag in _REASONS:
        match = pattern.search(failed.output)
        if match:
            wording = Wording(
                f"surroundings/{name}",
                title,
                f"Ask for permission to leave the sandbox right away for {what}: inside it they fail.",
                f"The shell runs in a sandbox, and the next step is one of the {what}.",
                ("sandbox", tag, "permissions") if tag != "permissions" else ("sandbox", tag),
            )
            line = _line_at(failed.output, match.start())
            rationale = f"`{failed.actions[0].head}` stopped with `{line}` in the sandbox, and worked outside of it."
            evidence = [session.quote(failed.result_turn, line), _escalation(session, worked)]
            return lesson(wording, rationale, evidence, {failed.turn}, 73)
    return []


def _is_escalated(call: Call) -> bool:
    return any(call.arguments.get(name) in (True, "require_escalated", "danger-full-access") for name in _ESCALATED)


def _escalation(session: Session, worked: Attempt) -> CitedQuote | None:
    raw = worked.call.raw_arguments
    start = next((raw.find(f'"{name}"') for name in _ESCALATED if f'"{name}"' in raw), 0)
    return session.quote(worked.turn, raw[max(start, 0) :])


def _right_folder(session: Session, failed: Attempt) -> list[Lesson]:
    """The same command, run in the folder that holds what it needs."""
    marker = next((name for pattern, name in _MARKERS if pattern.search(failed.output)), None)
    if marker is None:
        return []
    failed_heads = {command.head for command in failed.actions}
    for later in session.attempts_after(failed, _WITHIN_CALLS):
        same = [command for command in later.actions if command.head in failed_heads]
        if same and later.verdict == "passed" and _folder(later) not in ("", _folder(failed)):
            program = same[0].program
            holder = "the repository's own folder" if marker == ".git" else f"the folder that holds `{marker}`"
            wording = Wording(
                "surroundings/right-folder",
                f"Run {program} where {'the repository' if marker == '.git' else marker} is",
                f"Run `{program}` in {holder}: go there with `cd` or name the folder in the call.",
                f"About to run `{program}` in a workspace with several folders or repositories.",
                (_slug(program), "working-directory"),
            )
            line = error_line(failed.output) or failed.output.strip().partition("\n")[0]
            rationale = f"`{same[0].head}` stopped with `{line}`, and worked from another folder."
            evidence = [
                session.quote(failed.result_turn, line),
                quote_command(session, failed),
                session.quote(later.turn, later.line),
            ]
            return lesson(wording, rationale, evidence, {failed.turn}, 64)
    return []


def _folder(attempt: Attempt) -> str:
    """The folder a command names for itself; empty when it names none."""
    match = re.search(r"\b(?:cd|-C|--prefix|--dir|--cwd) +([^\s;&|]+)", attempt.line[:2000])
    workdir = attempt.call.arguments.get("workdir") or attempt.call.arguments.get("cwd")
    return match[1] if match else workdir if isinstance(workdir, str) else ""


def _line_at(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start : end if end >= 0 else len(text)].strip()


def _slug(word: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")[:30] or "shell"
