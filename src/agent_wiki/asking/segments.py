"""Where to cut a trajectory that is too long for one request: between turns, each segment starting with the last turn
of the previous one. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

from agent_wiki.asking.transcript import Segment, turn_texts
from agent_wiki.trajectory import Trajectory

Cuts = Sequence[Sequence[int]]
"""`(first turn, last turn)` of each segment, in order."""

_MOST_LABEL = 500  # bytes before a text: turn, role, marks and the name of a call


def segments(trajectory: Trajectory, most_bytes: int) -> tuple[Segment, ...]:
    """The segments of a trajectory, in order; empty if it fits into `most_bytes` of UTF-8 as a whole.

    Together they show every turn; two neighbours share one. A segment exceeds `most_bytes` only if two turns alone do.
    The text before the turns, at most two thousand bytes, is not counted.
    """
    if _most_size(trajectory) <= most_bytes:
        return ()  # avoids rendering just to count
    sizes = _sizes(trajectory)
    if sum(sizes) <= most_bytes:
        return ()
    cuts = _cuts(sizes, most_bytes)
    return _numbered(cuts) if len(cuts) > 1 else ()


def segments_at(trajectory: Trajectory, cuts: Cuts, most_bytes: int) -> tuple[Segment, ...]:
    """The segments of an earlier cut; empty if they do not show every turn, or if one is now too large."""
    sizes = _sizes(trajectory)
    try:
        ends = [(int(first), int(last)) for first, last in cuts]
    except (TypeError, ValueError):
        return ()
    is_whole = len(ends) > 1 and ends[0][0] == 1 and ends[-1][1] == len(sizes)
    is_chain = all(before[1] == after[0] < after[1] for before, after in pairwise(ends))
    if not is_whole or not is_chain:
        return ()
    fits = all(last - first == 1 or sum(sizes[first - 1 : last]) <= most_bytes for first, last in ends)
    return _numbered(ends) if fits else ()


def turns_digest(trajectory: Trajectory) -> str:
    """The digest of all turns as a model reads them, 32 hex digits."""
    hasher = hashlib.sha256()
    for texts in turn_texts(trajectory):
        for text in texts:
            hasher.update(text.encode("utf-8", "surrogatepass") + b"\n")
    return hasher.hexdigest()[:32]


def _numbered(cuts: Cuts) -> tuple[Segment, ...]:
    return tuple(Segment(first, last, number, len(cuts)) for number, (first, last) in enumerate(cuts, start=1))


def _sizes(trajectory: Trajectory) -> list[int]:
    return [sum(len(text.encode("utf-8", "surrogatepass")) + 1 for text in texts) for texts in turn_texts(trajectory)]


def _most_size(trajectory: Trajectory) -> int:
    """An upper bound for the turns' bytes: four per character, one for a label's escape, and the labels."""
    texts = sum(2 + len(message.tool_calls) for message in trajectory.messages)
    return 5 * trajectory.characters() + _MOST_LABEL * texts


def _cuts(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """`(first turn, last turn)` of each segment; each has at least one turn beyond its first."""
    cuts: list[tuple[int, int]] = []
    first, weight = 1, sizes[0]
    for turn in range(2, len(sizes) + 1):
        size = sizes[turn - 1]
        if weight + size > most and turn - 1 > first:
            cuts.append((first, turn - 1))
            first, weight = turn - 1, sizes[turn - 2]
        weight += size
    return [*cuts, (first, len(sizes))]
