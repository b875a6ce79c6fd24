"""Whether sessions were asked the same thing, judged by their first requests alone.

Sessions of one repository, one template or one person's habits share words all the time. Attempts at one task share
what they were asked first: either the very prompt, or a short request in other words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import TypeVar

from agent_wiki.pages.compare.facts import distinctive_terms
from agent_wiki.pages.compare.similarity import ENTITY, stem, strength
from agent_wiki.pages.compare.views import SessionView

_Item = TypeVar("_Item")
Asked = Mapping[str, float]
"""The terms of a first request by their stem, with the strength of each."""

_ALIKE = 0.25  # least average share of common terms; trials of one task had 0.33 and more, tasks of one project 0.18
_ALIKE_IN_NAME = 0.15  # the same where all sessions name one particular thing
_ALIKE_IN_FEW_WORDS = 0.5  # the same where the requests are too short to say what the task is: "learn this project"
_FEW_WORDS = 4.0  # average sum of the strengths of a request's terms
_STRANGER = 0.1  # a member whose request has less in common with the others on average is none
_LONG = 25  # terms; a request of so many is given again word for word, or it is another one
_COPIED = 0.85  # least share of common terms of two long requests
_MOST_COMPARED = 24  # members of a group, evenly spread
_MOST_JOINED = 4
_DIGITS = 3  # of fewer, a number is no term


def asked(session: SessionView) -> Asked:
    """The terms of a session's first request, or of its goal if nothing was recorded of the request."""
    terms = session.request_terms[: session.first_terms] or distinctive_terms([session.goal])
    return {stem(term): strength(term) for term in terms}


def agreement(left: Asked, right: Asked) -> float:
    """The common terms' share of all terms, 0 to 1. Long requests that are no copies have nothing in common.

    A template that two prompts repeat is most of both: what counts is that one has words and the other has others.
    """
    common = sum(weight for key, weight in left.items() if key in right)
    share = common / ((sum(left.values()) + sum(right.values()) - common) or 1.0)
    if len(left) < _LONG or len(right) < _LONG:
        return share
    is_another = not left.keys() <= right.keys() and not right.keys() <= left.keys()
    return 0.0 if share < _COPIED or is_another else share


def may_be_one(left: Sequence[Asked], right: Sequence[Asked]) -> bool:
    """Whether no long request of one group is another than one of the other group, and none is of another number."""
    pairs = [*product(_some(left, _MOST_JOINED), _some(right, _MOST_JOINED))]
    if any(agreement(*pair) <= 0 for pair in pairs if min(map(len, pair)) >= _LONG):
        return False
    return not any(one and other and one.isdisjoint(other) for one, other in (map(_numbers, pair) for pair in pairs))


def _numbers(request: Asked) -> set[str]:
    """The long numbers that a request names, such as those of an issue, a run or an order."""
    return {term for term in request if term.isdecimal() and len(term) >= _DIGITS}


def asked_the_same(sessions: Sequence[SessionView]) -> list[SessionView]:
    """Those of `sessions` that were asked the same thing, in their order; none when their requests differ."""
    if len(sessions) > _MOST_COMPARED:
        return list(sessions) if _agree(_some(sessions, _MOST_COMPARED)) else []
    requests = [asked(session) for session in sessions]
    totals = [0.0] * len(sessions)
    for (first, left), (second, right) in combinations(enumerate(requests), 2):
        alike = agreement(left, right)
        totals[first] += alike
        totals[second] += alike
    kept = [
        session for session, total in zip(sessions, totals, strict=True) if total >= _STRANGER * (len(sessions) - 1)
    ]
    return kept if len(kept) > 1 and _agree(kept) else []


def _agree(sessions: Sequence[SessionView]) -> bool:
    requests = [asked(session) for session in sessions]
    pairs = [agreement(*pair) for pair in combinations(requests, 2)]
    said = sum(sum(request.values()) for request in requests) / len(requests)
    least = _ALIKE if said >= _FEW_WORDS else _ALIKE_IN_FEW_WORDS
    if _names_in_common(sessions):
        least = _ALIKE_IN_NAME
    return sum(pairs) >= least * len(pairs)


def _names_in_common(sessions: Iterable[SessionView]) -> bool:
    """Whether every session names one identifier, in whichever turn."""
    named = ({stem(term) for term in session.request_terms if strength(term) >= ENTITY} for session in sessions)
    return bool(set.intersection(*named))


def _some(items: Sequence[_Item], most: int) -> Sequence[_Item]:
    """At most `most` of `items`, evenly spread."""
    return items if len(items) <= most else [items[at * len(items) // most] for at in range(most)]
