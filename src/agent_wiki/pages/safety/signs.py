"""Signs: expressions that show what a text advises, each searched for only where its key words occur."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from agent_wiki.pages.safety.finding import SafetyFinding
from agent_wiki.pages.safety.key_words import register
from agent_wiki.pages.safety.reading import Passage
from agent_wiki.trajectory.lazily import dataclass, regex

_MOST_KEPT = 512  # sets of words

Findings: TypeAlias = Callable[[Passage], Iterator[SafetyFinding]]


@dataclass(frozen=True, slots=True)
class Sign:
    """A rule's id, an expression, and the words without which it cannot match: one of each group, in lower case.

    Where the expression has a group `at`, the place of that group decides whether it is advised.
    """

    rule: str
    needs: tuple[frozenset[str], ...]
    pattern: re.Pattern[str]


def sign(rule: str, needs: str, pattern: str) -> Sign:
    """A sign. `needs` are words, groups of them separated by `;`; a tilde is a blank."""
    groups = tuple(frozenset(word.replace("~", " ") for word in group.split()) for group in needs.split(";"))
    return Sign(rule, groups, regex(pattern, re.IGNORECASE | re.MULTILINE))


class Signs:
    """Signs in their order, found by their words."""

    def __init__(self, *signs: Sign) -> None:
        self._signs = signs
        self._by_word: dict[str, list[int]] = {}  # a word of its first group → the signs' positions
        for position, each in enumerate(signs):
            for word in each.needs[0]:
                self._by_word.setdefault(word, []).append(position)
            register(word for group in each.needs for word in group)
        self.possible_with = lru_cache(maxsize=_MOST_KEPT)(self._possible_with)  # many texts have the same words

    def is_possible(self, words: frozenset[str]) -> bool:
        """Whether a text with these key words may have one."""
        return bool(self.possible_with(words))

    def _possible_with(self, words: frozenset[str]) -> tuple[Sign, ...]:
        """Those whose words are all among the key words of a text."""
        positions = {at for word in self._by_word.keys() & words for at in self._by_word[word]}
        begun = [self._signs[at] for at in sorted(positions)]
        return tuple(each for each in begun if not any(map(words.isdisjoint, each.needs[1:])))


class NamedPrograms:
    """Programs that a text may run: it names one as a word of its own, and not as the scheme of an address."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        register(self._names)
        self._alone = lru_cache(maxsize=_MOST_KEPT)(_alone)

    def is_possible(self, words: frozenset[str]) -> bool:
        """Whether a text with these key words may name one."""
        return not self._names.isdisjoint(words)

    def may_run_in(self, passage: Passage) -> bool:
        """Whether a text names one."""
        found = self._names & passage.key_words
        return bool(found) and self._alone(found).search(passage.lower) is not None


class SignFamily:
    """What looks for findings of one kind in a text, and the signs and programs of which the text has to name one."""

    def __init__(self, findings: Findings, *named: Signs | NamedPrograms) -> None:
        self.findings = findings
        self._named = named

    def is_possible(self, words: frozenset[str]) -> bool:
        """Whether it may find anything in a text with these key words."""
        return any(each.is_possible(words) for each in self._named)


class SignFamilies:
    """SignFamilies in their order; of each text those are asked that may find anything in it."""

    def __init__(self, *families: SignFamily) -> None:
        self._families = families
        self._possible_with = lru_cache(maxsize=_MOST_KEPT)(self._with)

    def _with(self, words: frozenset[str]) -> tuple[Findings, ...]:
        return tuple(each.findings for each in self._families if each.is_possible(words))

    def findings(self, passage: Passage) -> Iterable[SafetyFinding]:
        """What they find in a text."""
        return chain.from_iterable([findings(passage) for findings in self._possible_with(passage.key_words)])


def _alone(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b(?!://)")


def matches(passage: Passage, signs: Signs) -> Iterator[tuple[str, re.Match[str]]]:
    """Each match of each sign in a text: the rule, and the match."""
    for each in signs.possible_with(passage.key_words):
        for match in each.pattern.finditer(passage.seen):
            yield each.rule, match


def advised(passage: Passage, signs: Signs) -> Iterator[tuple[str, re.Match[str]]]:
    """The same, of what the text advises."""
    for rule, match in matches(passage, signs):
        start = match.start("at" if "at" in match.re.groupindex else 0)
        if passage.is_advised(start, match.end()):
            yield rule, match
