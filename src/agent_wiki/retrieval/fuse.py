"""One score from two: how many of the request's words a page has, and how close its meaning is.

The constants were measured (`benchmarks/questions.py`, docs/benchmarks.md): chosen with some of the judged
questions, reported with others.
"""

from __future__ import annotations

import math

from agent_wiki.wiki.kinds import EPISODE

LEXICAL = 0.6
MEANING = 0.4
THRESHOLD = 0.52  # below it a page is unrelated to the request
_EACH_WORD = 0.06  # one word in common may be a coincidence
_MOST_WORDS = 3
_SHORT = 8  # words
_LONG_TASK = 0.08
_OF_HERE = 0.05
_MORE_FOR_EPISODE = 0.1  # one session's failed attempt is worth less than a lesson
_LESS_SURE = {"stated": 0.01, "asserted": 0.05}
AGAINST = frozenset({"contradicted", "harmful"})


def discounted(nearness: float, task: str) -> float:
    """A cosine corrected for the length of a task: the average of a long text is close to everything."""
    words = max(len(task.split()), _SHORT)
    return max(nearness - _LONG_TASK * math.log(words / _SHORT), 0.0)


def fused(lexical: float, meaning: float, shared: int) -> float:
    """The score of a page from its two scores, and the number of words outside its body that it shares."""
    return LEXICAL * lexical + MEANING * meaning + _EACH_WORD * min(shared, _MOST_WORDS)


def ranked(score: float, cause: object, *, is_of_here: bool) -> float:
    """The score that decides the order: of pages that fit about as well, first comes the one whose cause is surer.

    A page of the very repository that the reader works in is preferred by as much. Neither lifts one over the floor.
    """
    doubt = _LESS_SURE.get(cause, 0.0) if isinstance(cause, str) else 0.0
    return score - doubt + (_OF_HERE if is_of_here else 0.0)


def floor_of(kind: str) -> float:
    """The score below which a page of a kind is unrelated to the request."""
    return THRESHOLD + (_MORE_FOR_EPISODE if kind == EPISODE else 0.0)


def sinks(used: object) -> bool:
    """Whether a page did more harm than good in the sessions that read it; `used`: status → number of sessions."""
    if not isinstance(used, dict):
        return False
    counts = {status: count for status, count in used.items() if isinstance(count, int)}
    return sum(counts.get(status, 0) for status in AGAINST) > counts.get("followed", 0)
