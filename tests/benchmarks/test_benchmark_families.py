"""The families benchmark: its index is right, and the figure on real recordings holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.families import adjusted_rand_index, figures


def test_the_index_is_one_for_the_same_grouping_whatever_its_labels() -> None:
    assert adjusted_rand_index([1, 1, 2, 2, 3], ["b", "b", "a", "a", "c"]) == 1.0


def test_the_index_of_a_grouping_that_agrees_by_chance_is_near_nothing() -> None:
    assert adjusted_rand_index([1, 1, 2, 2], [1, 2, 1, 2]) == pytest.approx(-0.5)
    assert adjusted_rand_index([1, 1, 1, 2, 2, 2], [1, 1, 1, 1, 1, 1]) == 0.0


def test_the_index_is_that_of_a_worked_example() -> None:
    # Hubert and Arabie 1985, by hand: together 2, pairs 4 and 4 of 15, expected 16/15
    assert adjusted_rand_index([1, 1, 1, 2, 2, 3], [1, 1, 2, 2, 2, 3]) == pytest.approx((2 - 16 / 15) / (4 - 16 / 15))


@pytest.mark.long
def test_families_of_real_sessions_are_found_with_their_ids_hidden(traces: Path) -> None:
    measured = figures(traces)
    assert measured.sessions >= 6
    assert measured.alone >= 0.9
    assert measured.among_all >= 0.9
    assert measured.fewer_turns[0] >= 0.9
    assert measured.fewer_sessions[0] >= 0.9
