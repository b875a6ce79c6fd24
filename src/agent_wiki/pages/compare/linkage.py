"""Average linkage over sparse unit vectors, in near-linear time: only pairs that share a heavy word are compared.

UPGMA (Sokal and Michener 1958): two groups are as similar as their members are on average. For unit vectors this
is the inner product of the groups' sums over the product of their sizes, so a group is its sum. Candidate pairs
come from an inverted index over each vector's heaviest words. In a long posting list each vector meets only its
next neighbours, which still connects the whole list. The result depends only on the order of `vectors`, and
not even on that unless two pairs are equally similar: pass them in a fixed order.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from agent_wiki.pages.compare.similarity import Vector, dot, unit

_INDEXED_WORDS = 12
_WINDOW = 8
_SHOWN = 0.4  # of the least similarity must come from the heaviest words
_MOST_NEIGHBOURS = 32  # compared with a new group; the others meet it in the next round
_LONGEST_SUM = 160

Pair = tuple[float, int, int]
"""How alike two groups are, negative so that the most similar come first, and their numbers, the smaller first."""
MayJoin = Callable[[Sequence[int], Sequence[int]], bool]


def average_linkage(
    vectors: Sequence[Vector],
    least: float,
    seeds: Sequence[Sequence[int]] = (),
    may_join: MayJoin = lambda left, right: True,  # noqa: ARG005
    kinds: Sequence[str | None] = (),
) -> list[list[int]]:
    """Positions of `vectors` in groups whose average similarity was at least `least` when they were joined.

    `seeds` are initial groups, `may_join` can forbid joins; equal vectors are joined unasked, of one of `kinds` (one a
    position; empty: all are of one). Every position is in exactly one
    group; groups and members are in ascending order.
    """
    grouping = _Grouping(vectors, [*seeds, *_equal(vectors, seeds, kinds)])
    is_growing = True
    while is_growing:  # compare whole groups again: they may be similar where no two members were
        is_growing = False
        pairs = [
            pair for left, others in _candidates(grouping.sums, least) for pair in grouping.compare(left, others, least)
        ]
        pairs.sort(reverse=True)
        while pairs or grouping.queue:
            is_first = pairs and not (grouping.queue and grouping.queue[0] < pairs[-1])
            _, left, right = pairs.pop() if is_first else heapq.heappop(grouping.queue)
            is_current = left in grouping.members and right in grouping.members
            if is_current and may_join(grouping.members[left], grouping.members[right]):
                grouping.join(left, right, least)
                is_growing = True
    return sorted(sorted(members) for members in grouping.members.values())


def _equal(vectors: Sequence[Vector], seeds: Sequence[Sequence[int]], kinds: Sequence[str | None]) -> list[list[int]]:
    """Groups of equal vectors outside the seeds: a benchmark repeats one prompt a thousand times."""
    taken = {position for seed in seeds for position in seed}
    same: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for position, vector in enumerate(vectors):
        if vector and position not in taken:
            same[kinds[position] if kinds else None, *vector.items()].append(position)
    return [positions for positions in same.values() if len(positions) > 1]


class _Grouping:
    """The groups so far, with members, sums and compared neighbours, and the queue of joins of groups that grew."""

    def __init__(self, vectors: Sequence[Vector], seeds: Sequence[Sequence[int]]) -> None:
        self.members = {position: [position] for position in range(len(vectors))}
        self.sums: dict[int, Vector] = dict(enumerate(vectors))
        self.neighbours: dict[int, dict[int, float]] = defaultdict(dict)
        self.queue: list[Pair] = []
        self._numbers = itertools.count(len(vectors))
        for seed in seeds:
            first, *others = sorted(seed)
            for other in others:
                self._add(first, other)

    def compare(self, group: int, others: Iterable[int], least: float) -> list[Pair]:
        """The pairs that are similar enough. Otherwise no group that either joins can be similar to the other:

        an average never exceeds both of its parts. A group's number is not reused after a join.
        """
        total, size, near = self.sums[group], len(self.members[group]), self.neighbours[group]
        found = []
        for other in others:
            if other in near:
                continue
            alike = dot(total, self.sums[other]) / (size * len(self.members[other]))
            if alike >= least:
                near[other] = self.neighbours[other][group] = alike
                found.append((-round(alike, 9), *((group, other) if group < other else (other, group))))
        return found

    def join(self, left: int, right: int, least: float) -> None:
        """Merge two groups under a new number and compare the result with all neighbours of both."""
        new = next(self._numbers)
        self.members[new], self.sums[new] = self.members.pop(left), self.sums.pop(left)
        self._add(new, right)
        around = self.neighbours.pop(left) | self.neighbours.pop(right)
        del around[left], around[right]
        for other in around:
            near = self.neighbours[other]
            near.pop(left, None)
            near.pop(right, None)
        nearest: Iterable[int] = around
        if len(around) > _MOST_NEIGHBOURS:
            nearest = heapq.nsmallest(_MOST_NEIGHBOURS, around, key=lambda other: (-round(around[other], 9), other))
        for pair in self.compare(new, nearest, least):
            heapq.heappush(self.queue, pair)

    def _add(self, into: int, other: int) -> None:
        self.members[into] = self.members[into] + self.members.pop(other)
        total = self.sums[into].copy()
        for word, value in self.sums.pop(other).items():
            total[word] = total.get(word, 0.0) + value
        if len(total) > _LONGEST_SUM:
            heaviest = heapq.nsmallest(_LONGEST_SUM, total.items(), key=lambda item: (-item[1], item[0]))
            total = dict(heaviest)
        self.sums[into] = total


def _candidates(sums: Mapping[int, Vector], least: float) -> Iterator[tuple[int, list[int]]]:
    """Groups, each with later ones of which the heaviest common words alone contribute a good part of `least`."""
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for number in sorted(sums):
        by_weight = sorted(unit(sums[number]).items(), key=lambda item: (-item[1], item[0]))
        for word, weight in by_weight[:_INDEXED_WORDS]:
            postings[word].append((number, weight))
    shared: dict[int, dict[int, float]] = defaultdict(dict)
    for posting in postings.values():
        for place, (left, weight) in enumerate(posting, 1):
            row = shared[left]
            for right, other in posting[place : place + _WINDOW]:
                row[right] = row.get(right, 0.0) + weight * other
    for left, row in shared.items():
        yield left, [right for right, weight in row.items() if weight >= _SHOWN * least]
