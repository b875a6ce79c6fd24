"""Which sessions attempted the same thing: decided by the owner, else by recorded task ids, else by the text.

A family depends on the set of sessions, not on their order. Text is compared by average linkage over
TF-IDF vectors of the terms in the users' own turns. The greatest risk is a family of sessions that merely share
a repository or a prompt's boilerplate, so a family must also have distinctive terms in common and have been asked the
same thing first (`same_request`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from agent_wiki.pages.compare.facts import distinctive_terms
from agent_wiki.pages.compare.linkage import MayJoin, average_linkage
from agent_wiki.pages.compare.same_request import asked, asked_the_same, may_be_one
from agent_wiki.pages.compare.similarity import (
    WORD,
    Vector,
    dot,
    inverse_document_frequency,
    stem,
    strength,
    tokens,
    unit,
)
from agent_wiki.pages.compare.trials import are_trials
from agent_wiki.pages.compare.views import SessionView
from agent_wiki.trajectory.lazily import dataclass, regex

LEAST_SESSIONS = 3

_ALIKE = 0.28  # least average cosine of sessions joined by their text alone
_SAME_WORDS = 0.5  # if only some have a recorded id, or they worked in several repositories: trials have 0.5 to 1.0
_SAYS_ALL = 10.0  # sum of the strengths of a request's words that say what to do without their repository
_NOT_UNLIKE = 0.10  # the same for sessions with the same recorded task number
_ALONE = 0.75  # weight of a word that no other session uses: half that of a plain word of a fifth of the sessions
_FADING = 40  # the rank at which a term's weight is halved
_COMPARED = 32  # members that represent a group with a recorded id
_MANY_TRIALS = 64  # of one recorded task number: more than these are separated in one pass
_SHARE = 2 / 3  # of a family's sessions must use a word for it to be shared
_LEAST_SHARED = 3.0  # sum of the shared words' strengths
_COUNTER = regex(r"[a-z]*[-_]?\d{1,4}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FamilyRule:
    """One family that the owner defined in `_config.yaml`: its name and what its goals contain."""

    family: str
    goal_substring: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Override:
    """The family that the owner assigned to one session; an empty `family` excludes it from all."""

    family: str | None = None
    trial: str | None = None
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """At least three sessions that attempted the same thing, ordered by date and id.

    `name` is the owner's name for it, None if it was discovered; `shared_terms` are ordered by distinctiveness.
    """

    sessions: tuple[SessionView, ...]
    shared_terms: tuple[str, ...]
    name: str | None = None
    task_id: str | None = None


def beginning_of(family: Family) -> Family:
    """The family as its first three sessions made it: what is taken from them stays when others come."""
    first = family.sessions[:LEAST_SESSIONS]
    if len(first) == len(family.sessions):
        return family
    return Family(first, _shared_terms(first), family.name, family.task_id)


def families(
    sessions: Iterable[SessionView], overrides: Mapping[str, Override], family_match: Sequence[FamilyRule]
) -> list[Family]:
    """All families among `sessions`, ordered by their first session.

    An override takes precedence over a rule, a rule over a recorded task id, and that over the text: a session without
    an id, or of another source, joins a recorded task only if its request is nearly the same. A subagent's session
    whose root is present is part of the root's attempt and in no family; one whose root is elsewhere, only in a family
    that the owner or a recorded id decides.
    """
    ordered = sorted(_roots(sessions), key=lambda session: (session.date or "", session.session_id))
    pinned = {session.session_id: _owners_family(session, overrides, family_match) for session in ordered}
    found: list[Family] = []
    for name in sorted({name for name in pinned.values() if name}):
        found += _family([session for session in ordered if pinned[session.session_id] == name], name)
    free = [
        session
        for session in ordered
        if pinned[session.session_id] is None and (session.task_id is not None or not session.is_side)
    ]
    for group in _grouped_by_text(free):
        found += _family([free[position] for position in group], None)
    return sorted(found, key=lambda family: (family.sessions[0].date or "", family.sessions[0].session_id))


def _roots(sessions: Iterable[SessionView]) -> list[SessionView]:
    """One view per session id, without sessions whose root is among them."""
    by_id: dict[str, SessionView] = {}
    for session in sessions:
        known = by_id.setdefault(session.session_id, session)
        if known is not session:
            by_id[session.session_id] = max(known, session, key=repr)
    return [
        session
        for session in by_id.values()
        if session.root_session_id in (None, session.session_id) or session.root_session_id not in by_id
    ]


def _owners_family(
    session: SessionView, overrides: Mapping[str, Override], family_match: Sequence[FamilyRule]
) -> str | None:
    """The family that the owner assigned to a session; empty for no family, None if the owner does not say."""
    override = overrides.get(session.session_id)
    if override is not None and override.family is not None:
        return override.family
    goal = session.goal.casefold()
    for rule in sorted(family_match, key=lambda rule: rule.family):
        if any(part and part.casefold() in goal for part in rule.goal_substring):
            return rule.family
    return None


def _family(sessions: list[SessionView], name: str | None) -> list[Family]:
    """The family of these sessions, or none if they are too few, or share too few distinctive words or no request."""
    if len(sessions) >= LEAST_SESSIONS and name is None and not any(session.task_id for session in sessions):
        sessions = asked_the_same(sessions) if are_trials(sessions) else []
    if len(sessions) < LEAST_SESSIONS:
        return []
    shared = _shared_terms(sessions)
    ids = {session.task_id for session in sessions}
    task_id = next(iter(ids)) if len(ids) == 1 else None
    if name is None and task_id is None and sum(strength(term) for term in shared) < _LEAST_SHARED:
        return []
    return [Family(tuple(sessions), shared, name, task_id)]


def _shared_terms(sessions: Sequence[SessionView]) -> tuple[str, ...]:
    """Words that two thirds of the sessions use, most distinctive first."""
    used: Counter[str] = Counter()
    forms: dict[str, str] = {}
    ranks: dict[str, int] = defaultdict(int)
    for session in sessions:
        for rank, (key, term) in enumerate(_terms_by_stem(session).items()):
            used[key] += 1
            ranks[key] += rank
            forms[key] = min(term, forms.get(key, term), key=lambda form: (len(form), form))
    shared = [key for key, count in used.items() if count >= _SHARE * len(sessions)]
    shared.sort(key=lambda key: (-strength(forms[key]) * used[key], ranks[key] / used[key], key))
    return tuple(forms[key] for key in shared)


def _terms_by_stem(session: SessionView) -> dict[str, str]:
    """The session's request terms, or those of its goal if the page has none, in their order."""
    terms = session.request_terms or distinctive_terms([session.goal])
    return dict(reversed({stem(term): term for term in reversed(terms)}.items()))


def _grouped_by_text(sessions: Sequence[SessionView]) -> list[list[int]]:
    vectors = _vectors(sessions)
    seeds: list[list[int]] = []
    by_id: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for position, session in enumerate(sessions):
        if session.task_id is not None:
            by_id[_task_key(session)].append(position)
    for key in sorted(by_id):
        seeds += _seeds(key, by_id[key], vectors)
    wanted = [seed for seed in seeds if len(seed) > 1]
    repositories = [session.repository for session in sessions]
    return average_linkage(vectors, _ALIKE, wanted, _may_join(sessions, vectors), repositories)


def _may_join(sessions: Sequence[SessionView], vectors: Sequence[Vector]) -> MayJoin:
    """Never joins two tasks of one source or two long prompts.

    Joins a recorded task, or sessions in different repositories, only where the requests are nearly the same.
    """
    requests = [asked(session) for session in sessions]

    def may_join(left: Sequence[int], right: Sequence[int]) -> bool:
        ids: dict[str | None, set[str]] = defaultdict(set)
        for position in (*left, *right):
            if (task_id := sessions[position].task_id) is not None:
                ids[sessions[position].source_format].add(task_id)
        if any(len(of_source) > 1 for of_source in ids.values()):
            return False
        if ids and {sessions[at].task_id for at in left} == {sessions[at].task_id for at in right}:
            return True
        is_elsewhere = len({sessions[at].repository for at in (*left, *right)} - {None}) > 1
        if is_elsewhere and any(sum(requests[at].values()) < _SAYS_ALL for at in (left[0], right[0])):
            return False
        if (ids or is_elsewhere) and _alikeness(left, right, vectors) < _SAME_WORDS:
            return False
        return may_be_one([requests[at] for at in left], [requests[at] for at in right])

    return may_join


def _alikeness(left: Sequence[int], right: Sequence[int], vectors: Sequence[Vector]) -> float:
    """The average cosine of two groups, computed over their first members."""
    pairs = [dot(vectors[first], vectors[second]) for first in left[:_COMPARED] for second in right[:_COMPARED]]
    return sum(pairs) / len(pairs)


def _task_key(session: SessionView) -> tuple[str, ...]:
    """A task id with its scope: a distinctive id is unique everywhere, a plain number within its source."""
    task_id = session.task_id or ""
    return (session.source_format or "", task_id) if _COUNTER.fullmatch(task_id) else (task_id,)


def _seeds(key: tuple[str, ...], positions: list[int], vectors: Sequence[Vector]) -> list[list[int]]:
    """Groups of sessions with one recorded id. For a number the text must agree: two benchmarks may count from 0."""
    if len(key) == 1:
        return [positions]
    if len(positions) > _MANY_TRIALS:
        return _led(positions, vectors)
    groups = average_linkage([vectors[position] for position in positions], _NOT_UNLIKE)
    return [[positions[each] for each in group] for group in groups]


def _led(positions: list[int], vectors: Sequence[Vector]) -> list[list[int]]:
    """Leader clustering in one pass, in the given order: each joins the first group that is similar enough."""
    groups: list[tuple[list[int], Vector]] = []
    for position in positions:
        for members, total in groups:
            if dot(vectors[position], total) >= _NOT_UNLIKE * len(members):
                break
        else:
            members, total = [], {}
            groups.append((members, total))
        members.append(position)
        for word, value in vectors[position].items():
            total[word] = total.get(word, 0.0) + value
    return [members for members, _ in groups]


def _vectors(sessions: Sequence[SessionView]) -> list[Vector]:
    """A unit vector per session: each term's shape × idf, decreasing with its rank among the session's terms.

    A word that no other session uses cannot join sessions. It still shows that this session is about more
    than what it shares, so it has a small fixed weight.
    """
    terms = [_terms_by_stem(session) for session in sessions]
    used = Counter(chain.from_iterable(terms))
    idf = inverse_document_frequency(terms)

    def weight(key: str, term: str, rank: int) -> float:
        said = max(strength(term), WORD) * idf[key] if used[key] > 1 else _ALONE
        return said / (1.0 + rank / _FADING)

    return [unit({key: weight(key, each[key], rank) for rank, key in enumerate(each)}) for each in terms]


def words_in_order(text: str, wanted: Iterable[str]) -> list[str]:
    """The words of `text` whose stem is in `wanted`, in text order, each once."""
    stems = {stem(term) for term in wanted}
    found: dict[str, str] = {}
    for token in tokens(text):
        if stem(token) in stems:
            found.setdefault(stem(token), token)
    return list(found.values())
