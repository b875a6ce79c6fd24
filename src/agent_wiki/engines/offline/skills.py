"""The embedded engine's answer to synthesize-skill: one workflow worth doing again, or none with the reason.

Precision first: "none" is the usual answer. A session must have worked; what it did must be several steps or a
script that was written and then ran; nothing of the session may be left in the commands.
"""

from __future__ import annotations

from agent_wiki.engines.offline.recipes.drafts import Draft, finished
from agent_wiki.engines.offline.recipes.performed import performed
from agent_wiki.engines.offline.recipes.scripts import script_draft
from agent_wiki.engines.offline.recipes.services import service_draft
from agent_wiki.engines.offline.recipes.workflow import shell_workflow
from agent_wiki.stages.synthesize_skill import SkillQuestion, SkillsAnswer
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call, paired_calls


def answer(question: SkillQuestion) -> SkillsAnswer:
    """A trajectory with its summary → at most one skill. Deterministic; nothing is read but the question."""
    outcome = question.summary.outcome()
    if outcome != "success":
        return SkillsAnswer(reason=f"the session's outcome is {outcome}")
    calls = paired_calls(question.trajectory)
    if not calls:
        return SkillsAnswer(reason="no tool calls")
    reason = "no workflow of several steps that another session would repeat"
    for draft in _drafts(question.trajectory, calls):
        result = finished(draft)
        if not isinstance(result, str):
            return SkillsAnswer(skill=result)
        reason = result
    return SkillsAnswer(reason=reason)


def _drafts(trajectory: Trajectory, calls: list[Call]) -> list[Draft]:
    """What the session may have to offer, the most telling first."""
    done = performed(calls)
    drafts = (script_draft(calls, done), service_draft(trajectory, calls), shell_workflow(done))
    return [draft for draft in drafts if draft is not None]
