"""What surrounds a command: time, permissions, folder; the same command works once they fit (signals 7 and 12)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson, WordedEntry, Wording, error_line, lesson, quote_command
from agent_wiki.engines.offline.tables import AnyOf, Entry, entries
from agent_wiki.stages.extract_guidelines import CitedQuote
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 8
_TIMED_OUT = regex(
    r"(?:[Cc]ommand|[Pp]rocess|[Ee]xecution|[Tt]ool)\b[^\n]{0,40}\btimed out(?: after [^\n]{0,40})?|TIMEOUT "
    r"EXPIRED|timed out after \d+"
)
_LIMITS = ("timeout", "timeout_ms", "timeout_seconds", "yield_time_ms", "max_time")
_ESCALATED = ("sandbox_permissions", "with_escalated_permissions", "dangerouslyDisableSandbox")


class SandboxReason(WordedEntry):
    """One entry of `tables/sandbox.toml`, which says what `error` means."""

    error: AnyOf


class FolderMark(Entry):
    """One entry of `tables/folders.toml`: the file that a program looks for, and what it says without it."""

    file: str
    error: AnyOf


def sandbox_reasons() -> tuple[SandboxReason, ...]:
    """Why commands fail in a sandbox, in the order in which an output is compared with them."""
    return entries("sandbox", SandboxReason)


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each command that failed for its surroundings and worked, unchanged, in others."""
    found = [each for call in session.calls for each in _more_time(session, call)]
    for failed in session.attempts:
        if failed.verdict == "failed" and failed.actions:
            found += _outside_sandbox(session, failed) or _right_folder(session, failed)
    return found


def _more_time(session: MinedSession, failed: Call) -> list[Lesson]:
    """A command ran out of time and finished with a longer limit or in the background."""
    line = failed.command()
    result = failed.result or ""
    if line is None or failed.mark is not None or not any(word in result for word in ("timed out", "TIMEOUT")):
        return []
    match = _TIMED_OUT.search(result[:600]) or _TIMED_OUT.search(result[-600:])
    if match is None:
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
            return (
                lesson(wording, rationale, quotes, {failed.turn}, 62, remedy=later.turn, confirmed=later.turn)
                if len(wording.title.split()) <= 7
                else []
            )
    return []


def _same_heads(session: MinedSession, failed: Call) -> Iterator[Attempt]:
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


def _outside_sandbox(session: MinedSession, failed: Attempt) -> list[Lesson]:
    """The same command, run outside the sandbox, works."""
    if _is_escalated(failed.call):
        return []
    heads = {command.head for command in failed.actions}
    for later in session.attempts_after(failed, _WITHIN_CALLS):
        is_same = bool(heads & {command.head for command in later.actions})
        if is_same and later.verdict == "passed" and _is_escalated(later.call):
            return _outside_lesson(session, failed, later)
    return []


def _outside_lesson(session: MinedSession, failed: Attempt, worked: Attempt) -> list[Lesson]:
    for reason in sandbox_reasons():
        match = reason.error.search(failed.output)
        if match:
            line = _line_at(failed.output, match.start())
            rationale = f"`{failed.actions[0].head}` stopped with `{line}` in the sandbox, and worked outside of it."
            evidence = [session.quote(failed.result_turn, line), _escalation(session, worked)]
            return lesson(
                reason.wording, rationale, evidence, {failed.turn}, 73, remedy=worked.turn, confirmed=worked.turn
            )
    return []


def _is_escalated(call: Call) -> bool:
    return any(call.arguments.get(name) in (True, "require_escalated", "danger-full-access") for name in _ESCALATED)


def _escalation(session: MinedSession, worked: Attempt) -> CitedQuote | None:
    raw = worked.call.raw_arguments
    start = next((raw.find(f'"{name}"') for name in _ESCALATED if f'"{name}"' in raw), 0)
    return session.quote(worked.turn, raw[max(start, 0) :])


def _right_folder(session: MinedSession, failed: Attempt) -> list[Lesson]:
    """The same command, run in the folder that holds what it needs."""
    marks = entries("folders", FolderMark)
    marker = next((mark.file for mark in marks if mark.error.search(failed.output)), None)
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
            return lesson(wording, rationale, evidence, {failed.turn}, 64, remedy=later.turn, confirmed=later.turn)
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
