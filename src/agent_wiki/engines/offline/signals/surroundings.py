"""What surrounds a command: time and permissions; the same command works once they fit (signals 7 and 12)."""

from __future__ import annotations

from collections.abc import Iterator

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson, quote_command, tag
from agent_wiki.stages.extract_guidelines import CitedQuote
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 8
_TIMED_OUT = regex(
    r"(?:[Cc]ommand|[Pp]rocess|[Ee]xecution|[Tt]ool)\b[^\n]{0,40}\btimed out(?: after [^\n]{0,40})?|TIMEOUT "
    r"EXPIRED|timed out after \d+"
)
_NAME = regex(r"\w[\w@+./-]*(?: |$)")  # a path of another system's shell is none that a reader could run
_LIMITS = ("timeout", "timeout_ms", "timeout_seconds", "yield_time_ms", "max_time")
_ESCALATED = ("sandbox_permissions", "with_escalated_permissions", "dangerouslyDisableSandbox")
_PORT_REFUSED = regex(r"\b(?:bind|listen)\b[^\n]{0,120}(?:not permitted|denied)")
_PORTS = Wording(
    "sandbox/ports",
    "Run port-opening tests outside the sandbox",
    "Ask for permission to leave the sandbox right away for tests and servers that open local ports: inside it they "
    "fail.",
    "The shell runs in a sandbox, and the next step is one of the tests and servers that open local ports.",
    ("sandbox", "ports", "permissions"),
)


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each command that failed for its surroundings and worked, unchanged, in others."""
    found = [each for call in session.calls for each in _more_time(session, call)]
    for failed in session.attempts:
        if failed.verdict == "failed" and failed.actions:
            found += _outside_sandbox(session, failed)
    return found


def _more_time(session: MinedSession, failed: Call) -> list[Lesson]:
    """A command ran out of the default time and finished with a longer limit or in the background.

    A limit of the agent's own was its own slip; a program that finishes in the default time elsewhere was slow once.
    """
    line = failed.command()
    result = failed.result or ""
    is_candidate = line is not None and failed.mark is None and not _limit(failed)
    if not is_candidate or not any(word in result for word in ("timed out", "TIMEOUT")):
        return []
    match = _TIMED_OUT.search(result[:600]) or _TIMED_OUT.search(result[-600:])
    if match is None:
        return []
    for later in _same_heads(session, failed):
        is_let_out = _is_escalated(later.call) and not _is_escalated(failed)  # then it was not the time
        if (
            later.verdict == "passed"
            and not is_let_out
            and _NAME.match(later.actions[-1].head)
            and _has_more_time(later.call)
            and not _finishes_in_default(session, later.actions[-1].head)
        ):
            head = later.actions[-1].head
            wording = Wording(
                "surroundings/more-time",
                f"Give {head} more time"[:60],
                f"Run `{head}` with a longer time limit, or in the background: it does not finish within the "
                f"default one.",
                f"About to run `{head}` with the default time limit.",
                (tag(later.actions[-1].program), "timeout"),
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


def _has_more_time(call: Call) -> bool:
    return _limit(call) > 0 or bool(call.arguments.get("run_in_background"))


def _finishes_in_default(session: MinedSession, head: str) -> bool:
    """Another call of the same program finished without a limit of its own."""
    return any(
        each.verdict == "passed"
        and not _has_more_time(each.call)
        and head in (command.head for command in each.actions)
        for each in session.attempts
    )


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
    match = _PORT_REFUSED.search(failed.output)
    if match is None:
        return []
    line = _line_at(failed.output, match.start())
    rationale = f"`{failed.actions[0].head}` stopped with `{line}` in the sandbox, and worked outside of it."
    evidence = [session.quote(failed.result_turn, line), _escalation(session, worked)]
    return lesson(_PORTS, rationale, evidence, {failed.turn}, 73, remedy=worked.turn, confirmed=worked.turn)


def _is_escalated(call: Call) -> bool:
    return any(call.arguments.get(name) in (True, "require_escalated", "danger-full-access") for name in _ESCALATED)


def _escalation(session: MinedSession, worked: Attempt) -> CitedQuote | None:
    raw = worked.call.raw_arguments
    start = next((raw.find(f'"{name}"') for name in _ESCALATED if f'"{name}"' in raw), 0)
    return session.quote(worked.turn, raw[max(start, 0) :])


def _line_at(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start : end if end >= 0 else len(text)].strip()
