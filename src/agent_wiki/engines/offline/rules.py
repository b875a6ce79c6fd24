"""All rules of this engine, one value each: what `wiki rules` lists, `_config.yaml` switches off and pages name.

The order is that in which lessons and drafts are looked for. Ids never change: a page and an owner's configuration
name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.extra_rules import extra_rules
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.rule import AnyRule, GuidelineRule, SkillRule
from agent_wiki.engines.offline.signals import (
    arguments,
    corrections,
    known_remedies,
    other_names,
    preferences,
    recoveries,
    refused_edits,
    runners,
    safeguards,
)
from agent_wiki.engines.offline.tables import entries, table
from agent_wiki.engines.offline.written_scripts import script_skill
from agent_wiki.errors import UsageError


def _found_by(find: Callable[[MinedSession], Sequence[Lesson]], *ids: str) -> Iterator[GuidelineRule]:
    """The rules whose lessons one function finds."""
    return (GuidelineRule(rule_id, table("rules")[rule_id], find) for rule_id in ids)


GUIDELINE_RULES: tuple[GuidelineRule, ...] = (
    *_found_by(corrections.lessons, "corrections/program-replaced", "corrections/use-instead"),
    *_found_by(preferences.lessons, "preferences/stated-rule", "preferences/own-words"),
    *(GuidelineRule(each.id, each.title, known_remedies.lessons) for each in known_remedies.remedies()),
    *(
        GuidelineRule(each.id, each.title, refused_edits.lessons)
        for each in entries("edits", refused_edits.RefusedEdit)
    ),
    *_found_by(arguments.lessons, "arguments/preparing-call", "arguments/missing"),
    *_found_by(recoveries.lessons, "recoveries/outside-sandbox", "surroundings/variable"),
    *_found_by(other_names.lessons, "recoveries/other-name", "recoveries/renamed", "recoveries/unknown-option"),
    *_found_by(runners.lessons, "runners/other-runner"),
    *_found_by(safeguards.lessons, "safeguards/one-command", "safeguards/tool-call"),
)


SKILL_RULES: tuple[SkillRule, ...] = (SkillRule("recipes/script", table("rules")["recipes/script"], script_skill),)

RULES: tuple[AnyRule, ...] = (*GUIDELINE_RULES, *SKILL_RULES)


@cache
def all_rules() -> tuple[AnyRule, ...]:
    """The rules of this package and of others. Raises `UsageError` where two have one id."""
    found = {rule.id: rule for rule in RULES}
    for package, rule in extra_rules():
        if found.setdefault(rule.id, rule) is not rule:
            raise UsageError(f"{package} gives the rule {rule.id}, which there is already; uninstall it")
    return tuple(found.values())
