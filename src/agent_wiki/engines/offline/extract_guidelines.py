"""extract-guidelines, answered from the recording alone: precision first, an empty list is a good answer.

Every family of signals offers lessons; of those about the same event the surest one is kept, and at most five
of a session.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson, tag
from agent_wiki.engines.offline.rule import AnyRule, GuidelineRule
from agent_wiki.engines.offline.rules import RULES
from agent_wiki.engines.offline.tables import named
from agent_wiki.stages.extract_guidelines import (
    GuidelineAnswer,
    GuidelinesAnswer,
    GuidelinesQuestion,
    grade_of,
    rests_on_wiki,
)
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.scopes import REPOSITORY

CANNED = frozenset({"remedies", "recoveries/outside-sandbox"})
"""Families of rules, or single rules, whose words are the same in every session."""
# Families, or single rules of a family, that hold for the repository alone; and families whose first tag is the tool.
_OF_REPOSITORY, _OF_TOOL, _OF_AGENT = named("of_repository"), named("of_tool"), named("of_agent")
_MOST_PER_SESSION = 5
# What would help was taken out: the value itself, or all that a command is given.
_VALUE_LOST = regex(r"<value>|`--?[\w-]+ <text>`|`(?:source|cd|export|\.) <\w+>`")


def answer(question: GuidelinesQuestion, rules: Sequence[AnyRule] = RULES) -> GuidelinesAnswer:
    """The lessons of one trajectory, in the order of their events; often none. Pure and deterministic."""
    session = MinedSession.of(question.trajectory)
    sure = [lesson for lesson in offered(session, rules) if _is_sure(lesson, session)]
    borne = [each for each in sure if not grade_of(each.guideline, session.trajectory).contradiction]
    others = [each for each in sure if not any(_same_rule(each, other) for other in borne)]
    guidelines = [lesson.guideline for lesson in chosen([*borne, *others])]
    return GuidelinesAnswer(guidelines=[_with_scope(each, question.trajectory.agent) for each in guidelines])


def _with_scope(guideline: GuidelineAnswer, agent: str | None) -> GuidelineAnswer:
    """How far a rule of each family holds: the user's wishes and a repository's own runner for that repository."""
    scope: str | None = REPOSITORY if _is_one_of(_OF_REPOSITORY, guideline) else "general"
    if _is_one_of(_OF_AGENT, guideline):
        scope = f"tool:{tag(agent)}" if agent else None
    elif _is_one_of(_OF_TOOL, guideline):
        scope = f"tool:{guideline.tags[0]}"
    return guideline.model_copy(update={"scope": scope})


def _is_one_of(families_and_rules: frozenset[str], guideline: GuidelineAnswer) -> bool:
    """Whether the rule that a guideline comes from, or its family, is named."""
    rule_id = guideline.rule_id or ""
    return bool(families_and_rules & {rule_id, rule_id.partition("/")[0]})


def _is_sure(lesson: Lesson, session: MinedSession) -> bool:
    """Whether the recording bears the cause out, and the rule can still be followed without this session's values.

    Words that are not the session's own: their cause has to be checked.

    One that a later turn contradicts is left to the stage, which drops and counts it.
    """
    if _VALUE_LOST.search(lesson.guideline.rule) or rests_on_wiki(lesson.guideline, session.trajectory):
        return False
    cause = grade_of(lesson.guideline, session.trajectory).cause
    return cause == "checked" or (cause == "stated" and not _is_one_of(CANNED, lesson.guideline))


def offered(session: MinedSession, rules: Sequence[AnyRule] = RULES) -> list[Lesson]:
    """All that these rules find; where rules share a function, what it finds by other rules is left out."""
    ids = {rule.id for rule in rules}
    finders = dict.fromkeys(rule.find for rule in rules if isinstance(rule, GuidelineRule))
    return [lesson for find in finders for lesson in find(session) if lesson.guideline.rule_id in ids]


def chosen(lessons: list[Lesson]) -> list[Lesson]:
    """The surest lesson of each event, no rule twice, at most five, in the order of their events."""
    kept: list[Lesson] = []
    for lesson in sorted(lessons, key=lambda lesson: (-lesson.weight, min(lesson.event), lesson.guideline.rule)):
        is_known = any(lesson.event & other.event or _same_rule(lesson, other) for other in kept)
        if not is_known and len(kept) < _MOST_PER_SESSION:
            kept.append(lesson)
    return sorted(kept, key=lambda lesson: (min(lesson.event), lesson.guideline.rule))


def _same_rule(one: Lesson, other: Lesson) -> bool:
    return one.guideline.rule.lower() == other.guideline.rule.lower() or one.guideline.title == other.guideline.title
