"""All rules of this engine, one value each: what `wiki rules` lists, `_config.yaml` switches off and pages name.

The order is that in which lessons and drafts are looked for. Ids never change: a page and an owner's configuration
name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.extra_rules import extra_rules
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.rule import AnyRule, GuidelineRule, SkillRule
from agent_wiki.engines.offline.signals import (
    added_options,
    arguments,
    corrections,
    known_remedies,
    other_names,
    preferences,
    recoveries,
    runners,
    safeguards,
)
from agent_wiki.engines.offline.written_scripts import script_skill
from agent_wiki.errors import UsageError


def _found_by(
    find: Callable[[MinedSession], Sequence[Lesson]], summaries: Mapping[str, str]
) -> Iterator[GuidelineRule]:
    """The rules by id and summary whose lessons one function finds."""
    return (GuidelineRule(rule_id, summary, find) for rule_id, summary in summaries.items())


GUIDELINE_RULES: tuple[GuidelineRule, ...] = (
    *_found_by(
        corrections.lessons,
        {
            "corrections/program-replaced": "The user refuses a command and names another program, which is then used.",
            "corrections/use-instead": "The user asks for one thing instead of another, and the agent takes it up.",
        },
    ),
    *_found_by(
        preferences.lessons,
        {
            "preferences/stated-rule": "The user states how things are done from now on, in general words.",
            "preferences/own-words": "The user states how things are done from now on; the page gives the sentence.",
        },
    ),
    *_found_by(known_remedies.lessons, {each.id: each.title for each in known_remedies.remedies()}),
    *_found_by(
        arguments.lessons,
        {
            "arguments/absolute-path": "A tool for files wants an absolute path, and works with one.",
            "arguments/preparing-call": "A call fails, and works after one other tool was called.",
            "arguments/missing": "A tool says which argument is missing, is given it, and works.",
        },
    ),
    *_found_by(
        recoveries.lessons,
        {
            "recoveries/set-up": "A check fails, and gets past it by one command that the failure names.",
            "recoveries/outside-sandbox": "A command fails in the sandbox, and the same command passes outside of it.",
            "surroundings/variable": "A command fails, and passes with one variable set that holds elsewhere, too.",
        },
    ),
    *_found_by(
        other_names.lessons,
        {
            "recoveries/other-name": "A program is not found by its name, and does the same by another name.",
            "recoveries/renamed": "A program does not know a word, and works with another, or without its wrapper.",
        },
    ),
    *_found_by(
        added_options.lessons,
        {"recoveries/added-option": "A refusal names an option that is missing, and the command passes with it."},
    ),
    *_found_by(runners.lessons, {"runners/other-runner": "A runner is not installed, and another one does its job."}),
    *_found_by(
        safeguards.lessons,
        {
            "safeguards/one-command": "A harness refuses a reply for its number of commands, and accepts the next.",
            "safeguards/tool-call": "A harness refuses a reply without a tool call, and accepts the next.",
        },
    ),
)


SKILL_RULES: tuple[SkillRule, ...] = (
    SkillRule("recipes/script", "A script that takes its inputs from outside was written and ran.", script_skill),
)

RULES: tuple[AnyRule, ...] = (*GUIDELINE_RULES, *SKILL_RULES)


@cache
def all_rules() -> tuple[AnyRule, ...]:
    """The rules of this package and of others. Raises `UsageError` where two have one id."""
    found = {rule.id: rule for rule in RULES}
    for package, rule in extra_rules():
        if found.setdefault(rule.id, rule) is not rule:
            raise UsageError(f"{package} gives the rule {rule.id}, which there is already; uninstall it")
    return tuple(found.values())
