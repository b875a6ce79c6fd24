"""English imperatives, as far as rules need them: verbs that begin a recommendation, and titles.

The list of verbs is closed on purpose: a sentence whose first word is not known to be a verb gives no rule.
"""

from __future__ import annotations

from agent_wiki.engines.offline.tables import named

VERBS = named("imperatives")
_FEWEST_WORDS, _MOST_WORDS = 3, 7  # of a title


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


def cut_title(words: str) -> str:
    """As many of the words as a title may have, with a sign that others follow."""
    first = words.split()[:_MOST_WORDS]
    return f"{' '.join(first).rstrip(',')}…" if first != words.split() else words
