"""Two opinions on a page, one score: how much it shares the request's words, and how near its meaning lies.

The figures are measured (`benchmarks/recall.py`, docs/benchmarks.md): chosen on some recordings, reported on others.
"""

from __future__ import annotations

import math

LEXICAL = 0.4
MEANING = 0.6
THRESHOLD = 0.34  # below it a page says nothing about the request
_SHORT = 8  # words
_LONG_TASK = 0.08
AGAINST = frozenset({"contradicted", "harmful"})


def discounted(nearness: float, task: str) -> float:
    """A cosine, less what it owes to the length of a task: a long text averages out to lie near everything."""
    words = max(len(task.split()), _SHORT)
    return max(nearness - _LONG_TASK * math.log(words / _SHORT), 0.0)


def fused(lexical: float, meaning: float) -> float:
    """The score of a page from its two opinions, each 0 to 1."""
    return LEXICAL * lexical + MEANING * meaning


def sinks(used: object) -> bool:
    """Whether a page did more harm than good in the sessions that read it; `used`: status → number of sessions."""
    if not isinstance(used, dict):
        return False
    counts = {status: count for status, count in used.items() if isinstance(count, int)}
    return sum(counts.get(status, 0) for status in AGAINST) > counts.get("followed", 0)
