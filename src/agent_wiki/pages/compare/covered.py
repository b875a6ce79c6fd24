"""Which guidelines a skill states literally, so that they can be archived.

An archived guideline is no longer retrieved, and a skill is read in its own situation only: archiving too few is better
than one too many. So the skill's own words have to hold the rule, word by word, and the situation it is for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from agent_wiki.trajectory.lazily import dataclass

_FEWEST_WORDS = 3
_MARKS = ".,;:!?()[]\"'`*“”‘’…"


@dataclass(frozen=True, slots=True)
class Subject:
    """A page by id: a guideline's rule and trigger, or all that a skill says and its trigger."""

    id: str
    text: str
    trigger: str


def covered_guidelines(skills: Iterable[Subject], guidelines: Iterable[Subject]) -> dict[str, str]:
    """Guideline id → the first skill by id that states its rule and its trigger."""
    by_start: dict[tuple[str, ...], list[tuple[str, str, str]]] = defaultdict(list)
    for each in guidelines:
        rule = _words(each.text)
        if len(rule) >= _FEWEST_WORDS and _words(each.trigger):
            by_start[tuple(rule[:_FEWEST_WORDS])].append((each.id, _phrase(rule), _phrase(_words(each.trigger))))
    covered: dict[str, str] = {}
    for skill in sorted(skills, key=lambda each: each.id):
        words = _words(f"{skill.text} {skill.trigger}")
        said = _phrase(words)
        for start in {tuple(words[at : at + _FEWEST_WORDS]) for at in range(len(words))}:
            for guideline_id, rule_phrase, trigger in by_start.get(start, ()):
                if rule_phrase in said and trigger in said:
                    covered.setdefault(guideline_id, skill.id)
    return covered


def _phrase(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "


def _words(text: str) -> list[str]:
    """Lower-case words without the marks around them; flags, paths and numbers are words."""
    return [word for each in text.lower().split() if (word := each.strip(_MARKS))]
