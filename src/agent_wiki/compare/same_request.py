"""Whether sessions were asked the same thing, judged by their first requests alone.

Sessions of one repository, one template or one person's habits share words all the time. Attempts at one task share
what they were asked first: either the very prompt, or a short request in other words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations, product
from typing import TypeVar

from agent_wiki.compare.facts import distinctive_terms
from agent_wiki.compare.similarity import ENTITY, stem, strength
from agent_wiki.compare.views import SessionView
from agent_wiki.compare.writes import changed_file

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
_SAME_FILES = 0.4  # least average overlap of changed files; other work by the same long prompt had 0.33 at most
_SOME_FILES = (
    0.2  # the same where the requests are short; of their folders, where hardly more than one file was changed
)
_SEVERAL = 2
_SAYS_SOMETHING = 3  # terms
_SAME_LATER = 0.2
_SAME_LATER_OF_BARE = 0.4  # the same where the first request is a path, or a word: "CLI"
_DIGITS = 3  # of fewer, a number is no term
_BY_SEVERAL = 1 / 3  # of the files that a loop's sessions change
_DOCUMENTS = (".md", ".mdx", ".txt", ".org")


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


def works_off_a_list(sessions: Sequence[SessionView]) -> bool:
    """Whether one prompt was given again and again to work off a document, as loops of agents do.

    Each session that changes files changes a document that the prompt names, where it ticks off what it did, and few
    other files are changed by two of them: they did one item each. Trials of one task change the same files.
    """
    named = {term for session in sessions for term in asked(session) if term.endswith(_DOCUMENTS)}
    changed = [{file for file in map(changed_file, session.writes) if file} for session in sessions]
    others = [{file for file in files if _name(file) not in named} for files in changed]
    counts = Counter(chain.from_iterable(others))
    return (
        all(len(files) > len(own) for files, own in zip(changed, others, strict=True) if files)
        and sum(map(bool, others)) > 1
        and sum(count > 1 for count in counts.values()) <= _BY_SEVERAL * len(counts)
    )


def do_other_work(sessions: Sequence[SessionView]) -> bool:
    """Whether the words that the requests share only say how to work, and each session was about something else.

    Commands of a harness (`/implement`), roles and loops are recorded as first requests, often word for word the same.
    Attempts at one task change the same files; where hardly any were changed, the same is spoken of later on.
    """
    changed = [files for session in sessions if (files := set(filter(None, map(changed_file, session.writes))))]
    terms = sum(session.first_terms for session in sessions) / len(sessions)
    is_template, is_bare = terms >= _LONG, terms < _SAYS_SOMETHING and not _names_in_common(sessions)
    if len(changed) > 1 and 2 * len(changed) >= len(sessions):
        if not is_template and sum(map(len, changed)) < _SEVERAL * len(
            changed
        ):  # each wrote a report of its own, maybe
            changed = [{file.rpartition("/")[0] for file in files} for files in changed]
        shares = [len(one & two) / min(len(one), len(two)) for one, two in combinations(changed, 2)]
        return sum(shares) < (_SAME_FILES if is_template else _SOME_FILES) * len(shares)
    later = [set(map(stem, session.request_terms[session.first_terms :])) for session in sessions]
    said = [terms for terms in later if len(terms) >= _SAYS_SOMETHING]
    shares = [len(one & two) / len(one | two) for one, two in combinations(said, 2)]
    least = _SAME_LATER if is_template else _SAME_LATER_OF_BARE if is_bare else 0
    return bool(shares) and sum(shares) < least * len(shares)


def _name(file: str) -> str:
    return file.rpartition("/")[2].lower()


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
