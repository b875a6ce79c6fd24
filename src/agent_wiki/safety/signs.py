"""Signs: expressions that show what a text advises, each searched for only where its key words occur."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent_wiki.safety.reading import Passage
from agent_wiki.trajectory.lazily import dataclass, regex


@dataclass(frozen=True, slots=True)
class Sign:
    """A rule's id, an expression, and the words without which it cannot match: one of each group, in lower case.

    Where the expression has a group `at`, the place of that group decides whether it is advised.
    """

    rule: str
    needs: tuple[tuple[str, ...], ...]
    pattern: re.Pattern[str]

    def may_match(self, lower: str) -> bool:
        """Whether a text in lower case has the words."""
        for group in self.needs:
            for word in group:
                if word in lower:
                    break
            else:
                return False
        return True


def sign(rule: str, needs: str, pattern: str) -> Sign:
    """A sign. `needs` are words, groups of them separated by `;`; a tilde is a blank."""
    groups = tuple(tuple(word.replace("~", " ") for word in group.split()) for group in needs.split(";"))
    return Sign(rule, groups, regex(pattern, re.IGNORECASE | re.MULTILINE))


def matches(passage: Passage, signs: Iterable[Sign]) -> Iterator[tuple[str, re.Match[str]]]:
    """Each match of each sign in a text: the rule, and the match."""
    for each in signs:
        if each.may_match(passage.lower):
            for match in each.pattern.finditer(passage.seen):
                yield each.rule, match


def advised(passage: Passage, signs: Iterable[Sign]) -> Iterator[tuple[str, re.Match[str]]]:
    """The same, of what the text advises."""
    for rule, match in matches(passage, signs):
        start = match.start("at" if "at" in match.re.groupindex else 0)
        if passage.is_advised(start, match.end()):
            yield rule, match
