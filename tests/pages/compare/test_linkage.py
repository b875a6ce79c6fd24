"""Average linkage over sparse vectors."""

from __future__ import annotations

import itertools
import random

from agent_wiki.pages.compare.linkage import average_linkage
from agent_wiki.pages.compare.similarity import Vector, dot, unit


def _vector(words: str) -> Vector:
    return unit(dict.fromkeys(words.split(), 1.0))


def test_vectors_that_share_most_of_their_words_are_one_group() -> None:
    vectors = [_vector("a b c d"), _vector("x y z"), _vector("a b c e"), _vector("x y w")]
    assert average_linkage(vectors, 0.5) == [[0, 2], [1, 3]]


def test_a_chain_of_neighbours_is_not_one_group() -> None:
    chain = [_vector(" ".join(f"w{at + step}" for step in range(4))) for at in range(12)]
    groups = average_linkage(chain, 0.5)
    assert max(map(len, groups)) <= 4
    for group in groups:
        pairs = list(itertools.combinations(group, 2))
        assert not pairs or sum(dot(chain[a], chain[b]) for a, b in pairs) / len(pairs) >= 0.4


def test_what_may_not_join_does_not() -> None:
    vectors = [_vector("a b"), _vector("a b"), _vector("a b c")]
    assert average_linkage(vectors, 0.1, may_join=lambda left, right: not {0, 2} <= {*left, *right})[0] == [0, 1]


def test_a_seed_is_a_group_from_the_start_however_unlike_its_members() -> None:
    assert average_linkage([_vector("a"), _vector("b"), _vector("c")], 0.5, [[0, 2]]) == [[0, 2], [1]]


def test_an_empty_vector_is_alone() -> None:
    assert average_linkage([{}, {}, _vector("a"), _vector("a")], 0.1) == [[0], [1], [2, 3]]


def test_hundreds_of_trials_of_one_kind_are_one_group() -> None:
    dice = random.Random(3)
    common = [f"task{number}" for number in range(20)]
    vectors = [_vector(" ".join(dice.sample(common, 15) + [f"own{at}x{n}" for n in range(4)])) for at in range(300)]
    assert [len(group) for group in average_linkage(vectors, 0.3)] == [300]


def test_the_groups_do_not_depend_on_the_order_of_the_vectors() -> None:
    dice = random.Random(5)
    words = [f"w{number}" for number in range(60)]
    vectors = [unit({word: dice.random() for word in dice.sample(words[at % 6 * 10 :][:14], 8)}) for at in range(48)]
    first = {frozenset(group) for group in average_linkage(vectors, 0.3)}
    shuffled = dice.sample(range(48), 48)
    again = average_linkage([vectors[at] for at in shuffled], 0.3)
    assert {frozenset(shuffled[at] for at in group) for group in again} == first
