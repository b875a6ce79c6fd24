"""A command may not open a port in the sandbox, and works outside of it (signal 12)."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson
from agent_wiki.stages.extract_guidelines import CitedQuote
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 8
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
    """One lesson for each command that the sandbox refused a port and that worked, unchanged, outside of it."""
    failures = (each for each in session.attempts if each.verdict == "failed" and each.actions)
    return [lesson for failed in failures for lesson in _outside_sandbox(session, failed)]


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
