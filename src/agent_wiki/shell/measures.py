"""Counts over a trajectory that need no interpretation. Unknown is None, never 0."""

from __future__ import annotations

from collections import Counter

from agent_wiki.shell.verdict import has_failed
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls
from agent_wiki.trajectory.lazily import dataclass


@dataclass(frozen=True, slots=True)
class Measures:
    """Counts over the turns `first..last` of one trajectory."""

    tool_calls: int
    errors: int
    tools_used: tuple[str, ...]  # by number of calls, then by name


def measures(trajectory: Trajectory, first_turn: int = 1, last_turn: int | None = None) -> Measures:
    """Count calls and failures between two turns, inclusive; the whole trajectory by default."""
    last = len(trajectory.messages) if last_turn is None else last_turn
    calls = [call for call in paired_calls(trajectory) if first_turn <= call.turn <= last]
    counted = Counter(call.name for call in calls)
    names = sorted(counted, key=lambda name: (-counted[name], name))
    return Measures(len(calls), sum(map(has_failed, calls)), tuple(names))
