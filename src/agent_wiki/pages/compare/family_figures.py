"""The figures of a family that a prompt shows, bounded regardless of the number of sessions.

Code computes counts and medians over all sessions, so that findings can cite them, and knows out of how many sessions
something can be counted at all; only some sessions are shown row by row. Comparing what successful sessions changed
with what the others changed separates most mixed tasks.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from agent_wiki.pages.compare.facts import MOST_WRITES
from agent_wiki.pages.compare.views import SessionView
from agent_wiki.pages.compare.writes import tool_of
from agent_wiki.trajectory.lazily import dataclass

MOST_ROWS = 24
MOST_ROW_WRITES = 12

_MOST_GROUPS = 16
_MOST_CHANGES = 24
_OUTCOMES = ("success", "partial", "failure", "unknown")
_FEWEST_WITH = 2  # any single session changes something that no other session does
_MEASURES: tuple[tuple[str, Callable[[SessionView], float | None]], ...] = (
    ("tool calls", lambda session: session.tool_calls),
    ("errors", lambda session: session.errors),
    ("attempts given up", lambda session: session.dead_ends),
    ("cost in USD", lambda session: session.cost_usd),
    ("seconds", lambda session: session.duration_seconds),
    ("reward", lambda session: session.reward),
)


@dataclass(frozen=True, slots=True)
class Group:
    """Sessions that have something in common. `medians`: measure → (median, sessions that recorded it).

    `known` counts sessions with a known outcome, `succeeded` the successes; both are 0 for a group by outcome.
    """

    label: str
    sessions: int
    succeeded: int
    known: int
    medians: dict[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """One tool or write, with how many successful and how many other sessions made it."""

    text: str
    succeeded: int
    failed: int


@dataclass(frozen=True, slots=True)
class FamilyFigures:
    """`succeeded` and `failed` count sessions with a known outcome; `rows` are at most `MOST_ROWS` of all.

    `shared` are the writes and look-ups that every session made, which set none of them apart.
    """

    sessions: int
    succeeded: int
    failed: int
    groups: tuple[Group, ...]
    changes: tuple[ChangeCounts, ...]
    shared: frozenset[str]
    full_lists: int
    rows: tuple[SessionView, ...]


def family_figures(sessions: Sequence[SessionView]) -> FamilyFigures:
    """The figures of a family, determined by its sessions and their order. A partial success is not a success."""
    won = [session for session in sessions if session.outcome == "success"]
    lost = [session for session in sessions if session.outcome in ("failure", "partial")]
    return FamilyFigures(
        sessions=len(sessions),
        succeeded=len(won),
        failed=len(lost),
        groups=tuple(_groups(sessions))[:_MOST_GROUPS],
        changes=_changes(won, lost),
        shared=_shared(sessions),
        full_lists=sum(len(session.writes) >= MOST_WRITES for session in sessions),
        rows=_rows(sessions),
    )


def _shared(sessions: Sequence[SessionView]) -> frozenset[str]:
    made = [frozenset((*session.writes, *session.look_ups)) for session in sessions]
    return frozenset.intersection(*made) if made else frozenset()


def countable(sessions: Sequence[SessionView]) -> frozenset[int]:
    """Every number of sessions that a finding may count out of: all, a group, or those that made one change."""
    outcomes = Counter(session.outcome for session in sessions)
    made = Counter(name for session in sessions for name in _made(session))
    groups = _groups(sessions)
    known = [len(sessions) - outcomes["unknown"] - outcomes[None], outcomes["partial"] + outcomes["failure"]]
    of_groups = (number for group in groups for number in (group.sessions, group.known, group.succeeded))
    return frozenset([len(sessions), *known, *outcomes.values(), *made.values(), *of_groups])


def _groups(sessions: Sequence[SessionView]) -> list[Group]:
    """Groups by outcome, by use of the wiki and by condition; groups by outcome have no success counts."""
    members: dict[tuple[int, str], list[SessionView]] = defaultdict(list)
    for session in sessions:
        for place in _places(session):
            members[place].append(session)
    return [
        _group(label, members[order, label], has_outcomes=order >= len(_OUTCOMES)) for order, label in sorted(members)
    ]


def _places(session: SessionView) -> Iterator[tuple[int, str]]:
    """The groups a session belongs to, each as (order, label)."""
    outcome = session.outcome if session.outcome in _OUTCOMES else "unknown"
    yield _OUTCOMES.index(outcome), f"outcome {outcome}"
    if session.wiki_consulted is not None:
        yield len(_OUTCOMES), "wiki consulted" if session.wiki_consulted else "wiki not consulted"
    if session.condition:
        yield len(_OUTCOMES) + 1, f"condition {session.condition}"


def _group(label: str, members: Sequence[SessionView], *, has_outcomes: bool) -> Group:
    medians = {}
    for name, measure in _MEASURES:
        values = [value for session in members if (value := measure(session)) is not None]
        if values:
            medians[name] = (f"{median(values):.4g}", len(values))
    known = [session.outcome for session in members if has_outcomes and session.outcome in _OUTCOMES[:3]]
    return Group(label, len(members), known.count("success"), len(known), medians)


def _changes(won: Sequence[SessionView], lost: Sequence[SessionView]) -> tuple[ChangeCounts, ...]:
    """Tools and whole writes whose shares differ between the two sides, largest difference first."""
    if not won or not lost:
        return ()
    left, right = (Counter(name for session in side for name in _made(session)) for side in (won, lost))
    found: list[tuple[float, ChangeCounts]] = []
    for text in sorted({*left, *right}):
        gap = abs(left[text] / len(won) - right[text] / len(lost))
        if gap and left[text] + right[text] >= _FEWEST_WITH:
            found.append((-round(gap, 9), ChangeCounts(text, left[text], right[text])))
    return tuple(change for _, change in sorted(found, key=lambda item: (item[0], item[1].text))[:_MOST_CHANGES])


def _made(session: SessionView) -> set[str]:
    return {name for write in session.writes for name in (write, tool_of(write)) if name}


def _rows(sessions: Sequence[SessionView]) -> tuple[SessionView, ...]:
    """A sample with each outcome in turn, in the order of the family."""
    seen: dict[str | None, int] = {}
    ranked = []
    for position, session in enumerate(sessions):
        seen[session.outcome] = seen.get(session.outcome, 0) + 1
        ranked.append((seen[session.outcome], position))
    return tuple(sessions[position] for position in sorted(position for _, position in sorted(ranked)[:MOST_ROWS]))
