"""The embedded engine's answer to synthesize-skill: one workflow worth doing again, or none with the reason.

Precision first: "none" is the usual answer. What a skill cites has to lie in a part of the session that worked.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.engines.offline.rule import AnyRule, SkillRule
from agent_wiki.engines.offline.rules import RULES
from agent_wiki.stages.synthesize_skill import SkillAnswer, SkillQuestion, SkillsAnswer


def answer(question: SkillQuestion, rules: Sequence[AnyRule] = RULES) -> SkillsAnswer:
    """A trajectory with its summary → at most one skill. Deterministic; nothing is read but the question."""
    for rule in (each for each in rules if isinstance(each, SkillRule)):
        skill = rule.find(question.trajectory)
        if skill is not None and _has_worked(skill, question):
            return SkillsAnswer(skill=skill.model_copy(update={"rule_id": rule.id}))
    return SkillsAnswer(reason="no workflow that worked and that another session would repeat")


def _has_worked(skill: SkillAnswer, question: SkillQuestion) -> bool:
    """Each turn that it cites is in an arc whose outcome is success."""
    worked = [arc for arc in question.summary.arcs if arc.outcome == "success"]
    return all(any(arc.first_turn <= cited.turn <= arc.last_turn for arc in worked) for cited in skill.evidence)
