"""A check fails, and the next pass of the same check shows what helped (signals 4, 8, 11 and 12).

Between the two stands the remedy: other surroundings, or leave to run outside the sandbox. Whether nothing else was
changed is judged by the lesson's grade.
"""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals.outside_sandbox import Refusal, let_out, refusal_of
from agent_wiki.engines.offline.signals.recovery import Recovery
from agent_wiki.engines.offline.signals.surroundings import in_others
from agent_wiki.shell.judged_steps import failed_steps
from agent_wiki.shell.past_failure import gone_on_steps
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.tools import is_escalated

_WITHIN_CALLS = 10


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each failed call."""
    found: list[Lesson] = []
    refused: list[Refusal] = []
    for failed in (each for each in session.attempts if each.verdict == "failed"):
        recovery = _recovery(session, failed)
        refusal = refusal_of(session, recovery) if recovery else None
        if refusal is not None:
            refused.append(refusal)
        found += in_others(session, failed) if refusal is None else []
    return found + let_out(session, refused)


def _recovery(session: MinedSession, failed: Attempt) -> Recovery | None:
    wanted = sorted(failed_steps(failed.ended), key=lambda step: step.program not in failed.output[:4000])
    after = list(session.attempts_after(failed, _WITHIN_CALLS))
    after.sort(key=lambda later: not (later.line == failed.line and is_escalated(later.call)))
    for later in after:  # the very command, let out of the sandbox, says most
        for step in wanted:
            ran = (each for each in gone_on_steps(failed.ended, later.ended) if is_same_check(step, each))
            if (used := next(ran, None)) is not None:
                return Recovery(failed, later, step, used)
    return None
