"""English imperatives, as far as rules need them: verbs that begin a recommendation, gerunds, titles.

The list of verbs is closed on purpose: a sentence whose first word is not known to be a verb gives no rule.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline.tables import named, written
from agent_wiki.trajectory.lazily import regex

VERBS = named("imperatives")
_DOUBLED = frozenset({"run", "put", "get", "set", "stop", "skip", "drop", "cut", "let", "begin", "log", "tag", "wrap",
                      "submit", "pin", "squat", "stub", "commit", "plan", "swap", "map", "ship"})  # fmt: skip
_FEWEST_WORDS, _MOST_WORDS = 3, 7  # of a title
_CLAUSE = written("imperative_clause", re.IGNORECASE)
_RESTRICTION = regex(r"\b(?:only|unless|until|without|if|that|which|who|not|except)\b", re.IGNORECASE)
_DANGLING = frozenset("a an the of to for in on with and or every each is are what by from at as".split())  # noqa: SIM905


def gerund(verb: str) -> str:
    """`run` → `running`, `write` → `writing`, `use` → `using`; a form in `-ing` is returned unchanged."""
    if verb.endswith("ing"):
        return verb
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ing"
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    return f"{verb[:-1]}ing" if verb.endswith("e") and not verb.endswith("ee") else f"{verb}ing"


def base(word: str) -> str | None:
    """The verb a word is a form of (`using` → `use`, `commit` → `commit`); None when it is no known verb."""
    word = word.lower()
    if word in VERBS:
        return word
    return next((verb for verb in (word.removesuffix("ing"), f"{word.removesuffix('ing')}e", word[:-4])
                 if word.endswith("ing") and verb in VERBS), None)  # fmt: skip


def begins_with_verb(text: str) -> bool:
    """True when the first word is a known verb in its base form."""
    return text.split(" ", 1)[0].lower() in VERBS


def sentence_case(text: str) -> str:
    """The first letter in upper case, the rest as it is."""
    return text[:1].upper() + text[1:]


def has_length_of_title(words: str) -> bool:
    """Whether a text has the 3 to 7 words of a guideline's title."""
    return _FEWEST_WORDS <= len(words.split()) <= _MOST_WORDS


def title_of(rule: str) -> str | None:
    """A title of 3 to 7 words: the rule, or its beginning; None when it has fewer words.

    A rule with a restriction (`only`, `that …`) is not cut at a clause: without it the title would say too much.
    """
    rule = rule.rstrip(".").replace(" only if the user asks", " only when asked")
    if not rule.split()[_MOST_WORDS:]:
        return rule if has_length_of_title(rule) else None
    for match in reversed(list(_CLAUSE.finditer(rule[:200]))):
        head = " ".join(rule[: match.start()].rstrip(" ,").split())
        if has_length_of_title(head) and head.split()[-1].lower() not in _DANGLING and not _RESTRICTION.search(rule):
            return head
    return cut_title(rule)


def cut_title(words: str) -> str:
    """As many of the words as a title may have, with a sign that others follow."""
    first = words.split()[:_MOST_WORDS]
    return f"{' '.join(first).rstrip(',')}…" if first != words.split() else words
