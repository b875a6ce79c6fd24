"""Plots as values for inline SVG: stacked columns over time. The style sheet gives them their colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta

from agent_wiki.trajectory.lazily import dataclass

WIDTH, HEIGHT = 720, 150
LEFT, RIGHT, TOP, BOTTOM = 52, 4, 8, 22
_MOST_COLUMNS = 42
_MOST_TICKS = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of a column."""

    x: float
    y: float
    width: float
    height: float
    series: str
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A label on an axis, at its place along it."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot: bars, the labels of both axes, and the same as a table. `says` is its content in a sentence."""

    title: str
    says: str
    bars: list[Bar]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    series: list[str]
    rows: list[tuple[str, list[str]]]


Counts = Mapping[str, Mapping[str, float]]
"""Period → series → value."""


def plot_of(
    title: str,
    says: str,
    periods: Sequence[str],
    counts: Counts,
    series: Sequence[str],
    shown: Callable[[float], str],
    least: float = 0,
) -> Plot | None:
    """Columns over periods, each stacked of `series`; None where all is zero. The axis ends at `least` or above."""
    totals = [sum(counts.get(period, {}).values()) for period in periods]
    if not any(totals):
        return None
    top = round_up(max(*totals, least))
    named = [each for each in series if any(counts.get(period, {}).get(each) for period in periods)]
    slot = (WIDTH - LEFT - RIGHT) / len(periods)
    bars: list[Bar] = []
    for position, period in enumerate(periods):
        bars += _column(period, LEFT + position * slot, slot, counts.get(period, {}), named, top, shown)
    every = -(-len(periods) // _MOST_TICKS)
    x_ticks = [Tick(round(LEFT + (at + 0.5) * slot, 1), period) for at, period in enumerate(periods) if at % every == 0]
    y_ticks = [Tick(round(height_of(value, top), 1), shown(value)) for value in (0, top / 2, top)]
    rows = [
        (period, [shown(counts[period].get(each, 0)) for each in named]) for period in periods if counts.get(period)
    ]
    return Plot(title, says, bars, x_ticks, y_ticks, named, rows)


def _column(
    period: str,
    left: float,
    slot: float,
    values: Mapping[str, float],
    series: Sequence[str],
    top: float,
    shown: Callable[[float], str],
) -> Iterator[Bar]:
    width = min(slot * 0.78, 36.0)
    below = 0.0
    for name in series:
        value = values.get(name, 0)
        if value:
            y = height_of(below + value, top)
            height = height_of(below, top) - y
            x = left + (slot - width) / 2
            yield Bar(
                round(x, 1), round(y, 1), round(width, 1), round(height, 1), name, f"{period}: {shown(value)} {name}"
            )
            below += value


def height_of(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top


def round_up(value: float) -> float:
    """The next of 2, 4, 6, 8, 10, 20 … that is not below, so that half of it reads well, too."""
    if value <= 0:
        return 0
    step = 1e-6
    while step * 10 < value:
        step *= 10
    return next(step * factor for factor in (2, 4, 6, 8, 10) if step * factor >= value)


def periods_of(dates: Iterable[str]) -> tuple[str, list[str], Callable[[str], str]]:
    """The periods from the first of some dates (ISO 8601) to the last, as few as a plot can show.

    Out: what a period is (day, week, month, year), their names in order, and the period of a date.
    """
    days = sorted(found for each in dates if (found := day_of(each)) is not None)
    units: tuple[tuple[str, Callable[[date], str]], ...] = (
        ("day", date.isoformat),
        ("week", lambda day: (day - timedelta(days=day.weekday())).isoformat()),
        ("month", lambda day: f"{day:%Y-%m}"),
        ("year", lambda day: f"{day:%Y}"),
    )
    for unit, name in units:
        names = list(dict.fromkeys(name(day) for day in _days(days, unit)))
        if len(names) <= _MOST_COLUMNS or unit == "year":
            return unit, names, lambda text, name=name: name(day_of(text) or date.min)
    raise AssertionError


def _days(days: Sequence[date], unit: str) -> Iterator[date]:
    """Days that touch every period of a unit between the first and the last; no more than are needed to choose."""
    if not days:
        return
    step = {"day": 1, "week": 7, "month": 28, "year": 360}[unit]
    at = days[0]
    for _ in range(_MOST_COLUMNS * 2 if unit != "year" else 400):
        if at >= days[-1]:
            break
        yield at
        at += timedelta(days=step)
    else:
        if unit != "year":
            yield from (days[0] + timedelta(days=400 * each) for each in range(_MOST_COLUMNS))
    yield days[-1]


def day_of(text: str) -> date | None:
    """The day of a date (ISO 8601); None for a text that is none."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def short(value: float) -> str:
    """A large number in three figures: `1.25 M`."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:g}"
