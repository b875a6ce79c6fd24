"""A skill in the making: what every kind of workflow fills in, and the checks that are the same for all.

The promote-or-skip rubric is that of the original agent-wiki's synthesize-skill: non-trivial, likely to recur,
no secrets, no one-off values, successful, a general name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from agent_wiki.engines.offline.recipes.citations import citation
from agent_wiki.engines.offline.recipes.operations import Operation
from agent_wiki.engines.offline.recipes.parameters import describe, has_one_off
from agent_wiki.stages.extract_guidelines import CitedQuote
from agent_wiki.stages.synthesize_skill import SkillAnswer, SkillParameter, SkillScript, SkillStep
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.text import plain_line

MOST_STEPS = 12
MOST_EVIDENCE = 6
_LONGEST_NAME = 40
_LONGEST_TEXT = 1000  # an Agent Skills description may have 1024
_LONGEST_COMMAND = 300
_SINGLE_QUOTED = regex(r"'[^']*'")
_EXPANSION = regex(r"`|\$(?!\(pwd\)|\(nproc\)|\{?(?:HOME|PWD|USER)\b)[A-Za-z_{(]")
_PLACEHOLDER = regex(r"<([a-z][a-z0-9-]*)>")


@dataclass(slots=True)
class DraftStep:
    """One step, with the call and the text in it that show that it was done."""

    text: str
    command: str | None = None
    call: Call | None = None
    quote: str = ""
    operation: Operation | None = None


@dataclass(slots=True)
class Draft:
    """A workflow found in a session. `descriptions` describe parameters better than their names do."""

    name: str
    description: str
    trigger: str
    overview: str
    when_to_use: str
    steps: list[DraftStep]
    tags: list[str]
    scripts: list[SkillScript] = field(default_factory=list)
    descriptions: dict[str, str] = field(default_factory=dict)
    evidence: list[CitedQuote] = field(default_factory=list)  # in addition to that of the steps


def slug(text: str, most: int = _LONGEST_NAME) -> str:
    """`[a-z0-9-]`, at most `most` characters, cut at a dash; never ends in a function word."""
    words = [word for word in re.split(r"[^a-z0-9]+", text.lower()) if word]
    while words and (len("-".join(words)) > most or words[-1] in ("with", "and", "the", "a", "of", "to", "for", "in")):
        words.pop()
    return "-".join(words)


def tags(*words: str) -> list[str]:
    """Words as tags: lower case, dashes, each once, empty ones left out."""
    return list(dict.fromkeys(tag for tag in map(slug, words) if tag))


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def is_usable(command: str) -> bool:
    """True for a command that another session can run as it is, its parameters filled in.

    Variables that only the session had set, and commands inside the command, are not recognised.
    """
    if not 0 < len(command) <= _LONGEST_COMMAND or "\n" in command or has_one_off(command):
        return False
    return _EXPANSION.search(_SINGLE_QUOTED.sub("", command)) is None


def finished(draft: Draft) -> SkillAnswer | str:
    """The answer, or the reason why the draft is no skill."""
    evidence = _evidence(draft)
    if not draft.name:
        return "no general name for what it does"
    if not evidence:
        return "nothing to cite"
    if len(draft.steps) > MOST_STEPS:
        return "too many different things for one workflow"
    if any(step.command is not None and not is_usable(step.command) for step in draft.steps):
        return "a step holds values of this session alone"
    text = "\n".join(step.command or "" for step in draft.steps)
    names = sorted(set(_PLACEHOLDER.findall(text)))
    return SkillAnswer(
        name=draft.name,
        description=plain_line(draft.description, _LONGEST_TEXT),
        trigger=plain_line(draft.trigger, _LONGEST_TEXT),
        overview=plain_line(draft.overview, _LONGEST_TEXT),
        when_to_use=plain_line(draft.when_to_use, _LONGEST_TEXT),
        steps=[SkillStep(text=step.text, command=step.command) for step in draft.steps],
        parameters=[
            SkillParameter(name=name, description=draft.descriptions.get(name) or describe(name)) for name in names
        ],
        scripts=draft.scripts,
        tags=draft.tags[:6],
        evidence=evidence,
    )


def _evidence(draft: Draft) -> list[CitedQuote]:
    """The steps' own quotes in order of turn, each place once."""
    found = [citation(step.call, step.quote) for step in draft.steps if step.call is not None]
    kept: dict[tuple[int, str], CitedQuote] = {}
    for each in [*draft.evidence, *(quote for quote in found if quote is not None)]:
        kept.setdefault((each.turn, each.quote), each)
    return sorted(list(kept.values())[:MOST_EVIDENCE], key=lambda each: (each.turn, each.quote))
