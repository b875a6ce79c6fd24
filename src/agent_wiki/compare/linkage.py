"""Average linkage over sparse unit vectors, in near-linear time: only pairs that share a heavy word are compared.

UPGMA (Sokal and Michener 1958): two groups are as similar as their members are on average. For unit vectors this
is the inner product of the groups' sums over the product of their sizes, so a group is its sum. Candidate pairs
come from an inverted index over each vector's heaviest words. In a long posting list each vector meets only its
next neighbours, which still connects the whole list. The result depends only on the order of `vectors`, and
not even on that unless two pairs are equally similar: pass them in a fixed order.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from agent_wiki.compare.similarity import Vector, dot, unit

_INDEXED_WORDS = 12
_WINDOW = 8
_SHOWN = 0.4  # of the least similarity must come from the heaviest words
_MOST_NEIGHBOURS = 32  # compared with a new group; the others meet it in the next round
_LONGEST_SUM = 160

MayJoin = Callable[[Sequence[int], Sequence[int]], bool]


def average_linkage(
    vectors: Sequence[Vector],
    least: float,
    seeds: Sequence[Sequence[int]] = (),
    may_join: MayJoin = lambda left, right: True,  # noqa: ARG005
) -> list[list[int]]:
    """Positions of `vectors` in groups whose average similarity was at least `least` when they were joined.

    `seeds` are initial groups, `may_join` can forbid joins. Every position is in exactly one
    group; groups and members are in ascending order.
    """
    grouping = _Grouping(vectors, [*seeds, *_equal(vectors, seeds)])
    is_growing = True
    while is_growing:  # compare whole groups again: they may be similar where no two members were
        is_growing = False
        for left, right in _candidate_pairs(grouping.sums, least):
            grouping.compare(left, right, least)
        while grouping.queue:
            _, left, right = heapq.heappop(grouping.queue)
            is_current = left in grouping.members and right in grouping.members
            if is_current and may_join(grouping.members[left], grouping.members[right]):
                grouping.join(left, right, least)
                is_growing = True
    return sorted(sorted(members) for members in grouping.members.values())


def _equal(vectors: Sequence[Vector], seeds: Sequence[Sequence[int]]) -> list[list[int]]:
    """Groups of equal vectors outside the seeds: a benchmark repeats one prompt a thousand times."""
    taken = {position for seed in seeds for position in seed}
    same: dict[tuple[tuple[str, float], ...], list[int]] = defaultdict(list)
    for position, vector in enumerate(vectors):
        if vector and position not in taken:
            same[tuple(vector.items())].append(position)
    return [positions for positions in same.values() if len(positions) > 1]


class _Grouping:
    """The groups so far, with members, sums and compared neighbours, and the queue of candidate joins."""

    def __init__(self, vectors: Sequence[Vector], seeds: Sequence[Sequence[int]]) -> None:
        self.group_of = list(range(len(vectors)))
        self.members = {position: [position] for position in range(len(vectors))}
        self.sums: dict[int, Vector] = dict(enumerate(vectors))
        self.neighbours: dict[int, dict[int, float]] = defaultdict(dict)
        self.queue: list[tuple[float, int, int]] = []
        for seed in seeds:
            first, *others = sorted(seed)
            for other in others:
                self._absorb(first, other)

    def compare(self, left: int, right: int, least: float) -> None:
        """Queue the pair if it is similar enough. Otherwise no group that either joins can be similar to the other:

        an average never exceeds both of its parts. A group's number is not reused after a join.
        """
        if left == right or right in self.neighbours[left]:
            return
        size = len(self.members[left]) * len(self.members[right])
        alike = dot(self.sums[left], self.sums[right]) / size
        if alike >= least:
            self.neighbours[left][right] = self.neighbours[right][left] = alike
            heapq.heappush(self.queue, (-round(alike, 9), min(left, right), max(left, right)))

    def join(self, left: int, right: int, least: float) -> None:
        """Merge two groups under a new number and compare the result with all neighbours of both."""
        new = len(self.group_of)
        self.group_of.append(new)
        self.members[new], self.sums[new] = [], {}
        around = self.neighbours.pop(left) | self.neighbours.pop(right)
        for old in (left, right):
            self._absorb(new, old)
            around.pop(old, None)
        for other in around:
            self.neighbours[other].pop(left, None)
            self.neighbours[other].pop(right, None)
        nearest = heapq.nsmallest(_MOST_NEIGHBOURS, around, key=lambda other: (-round(around[other], 9), other))
        for other in nearest:
            self.compare(new, other, least)

    def _absorb(self, into: int, other: int) -> None:
        for position in self.members[other]:
            self.group_of[position] = into
        self.members[into] = self.members[into] + self.members.pop(other)
        total = dict(self.sums[into])
        for word, value in self.sums.pop(other).items():
            total[word] = total.get(word, 0.0) + value
        if len(total) > _LONGEST_SUM:
            heaviest = heapq.nsmallest(_LONGEST_SUM, total.items(), key=lambda item: (-item[1], item[0]))
            total = dict(heaviest)
        self.sums[into] = total


def _candidate_pairs(sums: Mapping[int, Vector], least: float) -> list[tuple[int, int]]:
    """Pairs of groups whose heaviest common words alone contribute a good part of `least`, in ascending order."""
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for number in sorted(sums):
        vector = unit(sums[number])
        for word in heapq.nsmallest(_INDEXED_WORDS, vector, key=lambda word: (-vector[word], word)):
            postings[word].append((number, vector[word]))
    shared: dict[tuple[int, int], float] = defaultdict(float)
    for posting in postings.values():
        for place, (left, weight) in enumerate(posting):
            for right, other in posting[place + 1 : place + 1 + _WINDOW]:
                shared[left, right] += weight * other
    return sorted(pair for pair, weight in shared.items() if weight >= _SHOWN * least)
