"""The embedded engine's answer to synthesize-skill: one workflow worth doing again, or none with the reason.

Precision first: "none" is the usual answer. A session must have worked; what it did must be several steps or a
script that was written and then ran; nothing of the session may be left in the commands.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.engines.offline.recipes.drafts import finished
from agent_wiki.engines.offline.recipes.performed import performed
from agent_wiki.engines.offline.rule import AnyRule, SkillRule, WorkDone
from agent_wiki.engines.offline.rules import RULES
from agent_wiki.stages.synthesize_skill import SkillQuestion, SkillsAnswer
from agent_wiki.trajectory.calls import paired_calls


def answer(question: SkillQuestion, rules: Sequence[AnyRule] = RULES) -> SkillsAnswer:
    """A trajectory with its summary → at most one skill. Deterministic; nothing is read but the question."""
    outcome = question.summary.outcome()
    if outcome != "success":
        return SkillsAnswer(reason=f"the session's outcome is {outcome}")
    calls = paired_calls(question.trajectory)
    if not calls:
        return SkillsAnswer(reason="no tool calls")
    reason = "no workflow of several steps that another session would repeat"
    work = WorkDone(question.trajectory, calls, performed(calls))
    for rule in (each for each in rules if isinstance(each, SkillRule)):
        draft = rule.draft(work)
        result = finished(draft) if draft is not None else None
        if result is not None and not isinstance(result, str):
            return SkillsAnswer(skill=result.model_copy(update={"rule_id": rule.id}))
        reason = result or reason
    return SkillsAnswer(reason=reason)
