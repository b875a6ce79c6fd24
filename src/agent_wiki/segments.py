"""Where a trajectory that is too long for one request is cut: between turns, each segment beginning with the turn that
the one before ended with. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.trajectory import Trajectory
from agent_wiki.transcript import Segment, turn_texts


def segments(trajectory: Trajectory, most_bytes: int) -> tuple[Segment, ...]:
    """The segments of a trajectory, in order; none where it fits into `most_bytes` of UTF-8 as it is.

    Together they show every turn; two neighbours share one. A segment has more than `most_bytes` only where two turns
    alone have.
    """
    if 2 * trajectory.characters() < most_bytes // 2 and len(trajectory.messages) < most_bytes // 500:
        return ()  # by far: nothing is rendered only to be counted
    sizes = [sum(len(text.encode("utf-8", "replace")) + 1 for text in texts) for texts in turn_texts(trajectory)]
    if sum(sizes) <= most_bytes:
        return ()
    cuts = _cuts(sizes, most_bytes)
    return tuple(Segment(first, last, number, len(cuts)) for number, (first, last) in enumerate(cuts, start=1))


def _cuts(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """`(first turn, last turn)` of each segment; each gets past the turn it begins with."""
    cuts: list[tuple[int, int]] = []
    first, weight = 1, sizes[0]
    for turn in range(2, len(sizes) + 1):
        size = sizes[turn - 1]
        if weight + size > most and turn - 1 > first:
            cuts.append((first, turn - 1))
            first, weight = turn - 1, sizes[turn - 2]
        weight += size
    return [*cuts, (first, len(sizes))]
