"""Whether a quote bears a rule: it shares a term with the rule, or is an error text. A generic one bears nothing."""

from __future__ import annotations

from functools import lru_cache

from agent_wiki.pages.compare.similarity import STOP_WORDS, stem
from agent_wiki.shell.result_lines import complains, shows_failure
from agent_wiki.trajectory.lazily import regex

_WORD = regex(r"[^\W_]{2,}")
_SHORTEST_TERM = 3
_LATIN = 0x250


def bears(quote: str, claim: str) -> bool:
    """Whether a quote has to do with a claim.

    Words in another script than the claim's cannot be compared with it, and count as bearing it.
    """
    own = _WORD.findall(quote.lower())
    terms = [word for word in own if len(word) >= _SHORTEST_TERM]
    lower = claim.lower()
    if any(_has_word(lower, word) for word in terms if word not in STOP_WORDS):
        return True  # as nearly all do
    words = _words(lower)
    stems = {stem(word) for word in words}
    if any(word in stems or (found := stem(word)) in stems or found in words for word in terms):
        return True
    return shows_failure(quote) or complains(quote) or any(ord(word[0]) >= _LATIN for word in own)


@lru_cache(maxsize=256)  # of one claim several quotes are judged
def _words(lower: str) -> frozenset[str]:
    return frozenset([word for word in _WORD.findall(lower) if len(word) >= _SHORTEST_TERM]) - STOP_WORDS


def _has_word(lower: str, word: str) -> bool:
    """Whether a text in lower case has a word that is not a part of another: sooner known than all its words."""
    start = lower.find(word)
    while start >= 0:
        end = start + len(word)
        if not (lower[start - 1 : start].isalnum() or lower[end : end + 1].isalnum()):
            return True
        start = lower.find(word, end)
    return False
