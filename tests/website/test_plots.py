"""Plots: as few periods as can be shown, and columns that add up."""

from __future__ import annotations

import pytest

from agent_wiki.site.plots import periods_of, plot_of, round_up, short


@pytest.mark.parametrize(
    ("first", "last", "unit", "count"),
    [
        ("2026-01-05", "2026-01-05", "day", 1),
        ("2026-01-01", "2026-02-11", "day", 42),
        ("2026-01-01", "2026-03-01", "week", 9),
        ("2025-01-01", "2026-03-01", "month", 15),
        ("2010-01-01", "2026-03-01", "year", 17),
    ],
)
def test_periods_are_as_short_as_can_be_shown(first: str, last: str, unit: str, count: int) -> None:
    found, names, period_of = periods_of([last, "no date", first])
    assert (found, len(names)) == (unit, count)
    assert (period_of(first), period_of(last)) == (names[0], names[-1])


def test_columns_are_stacked_to_their_sum() -> None:
    counts = {"a": {"good": 3.0, "bad": 1.0}, "b": {"bad": 2.0}}
    plot = plot_of("Title", "What it says", ["a", "b"], counts, ("good", "bad", "none"), "{:g}".format)
    assert plot is not None
    assert plot.series == ["good", "bad"]
    good, bad, other = plot.bars
    assert bad.y + bad.height == pytest.approx(good.y)
    assert other.height == pytest.approx(2 * bad.height)
    assert plot.rows == [("a", ["3", "1"]), ("b", ["0", "2"])]
    assert [tick.text for tick in plot.y_ticks] == ["0", "2", "4"]
    assert plot_of("Title", "", ["a"], {}, ("good",), str) is None


def test_axes_end_at_round_numbers() -> None:
    assert [round_up(value) for value in (0, 1, 3, 7, 10, 11, 950)] == pytest.approx([0, 1, 4, 8, 10, 20, 1_000])
    assert [short(value) for value in (0, 950, 1_250, 66_200, 1_080_000)] == ["0", "950", "1.25 k", "66.2 k", "1.08 M"]
