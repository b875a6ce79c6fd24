"""A comparison as Markdown, for people, and as JSON values, for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from agent_wiki.evaluation.compare import (
    CONFIDENCE,
    FEWEST_TRIALS,
    MEASURES,
    Comparison,
    Difference,
    Figure,
    Interval,
    Level,
    Measure,
    Scope,
    Unit,
)
from agent_wiki.wiki.text import plain_line

_MOST_NAME = 80
_UNKNOWN = "—"
_NO_PRICE = "no price"
_BY_NAME = {measure.name: measure for measure in MEASURES}
RULE = (
    f"A difference is significant if both arms have at least {FEWEST_TRIALS} trials and its 95 % interval excludes 0. "
    f"With fewer trials not even the lowest and the highest of them bound the median with 95 %."
)
METHOD = (
    "Figures are medians of the known values; accuracy is the share of judged trials that succeeded. In brackets: 95 % "
    "intervals of a bootstrap that draws tasks with all their trials (of an arm's accuracy: Wilson's)."
)


def to_json(comparison: Comparison) -> dict[str, Any]:
    """The whole comparison. Unknown values are null; `delta` of the first arm is null."""
    return {
        "arms": [
            {"name": name, "trials": trials} for name, trials in zip(comparison.arms, comparison.trials, strict=True)
        ],
        "compared_with": comparison.arms[0],
        "scopes": [_scope_json(scope, comparison.arms) for scope in comparison.scopes],
        "warnings": list(comparison.warnings),
        "method": {
            "seed": comparison.seed,
            "resamples": comparison.resamples,
            "confidence": CONFIDENCE,
            "fewest_trials": FEWEST_TRIALS,
            "figures": METHOD,
            "rule": RULE,
        },
    }


def _scope_json(scope: Scope, arms: Sequence[str]) -> dict[str, Any]:
    measures = [
        {
            "measure": name,
            "unit": _BY_NAME[name].unit,
            "statistic": "share" if _BY_NAME[name].unit == "share" else "median",
            "arms": [_figure_json(arm, figure) for arm, figure in zip(arms, figures, strict=True)],
        }
        for name, figures in scope.figures.items()
    ]
    return {"level": scope.level, "name": scope.name, "trials": list(scope.trials), "measures": measures}


def _figure_json(arm: str, figure: Figure) -> dict[str, Any]:
    return {
        "arm": arm,
        "known": figure.known,
        "unknown": figure.unknown,
        "value": figure.value,
        "interval": figure.interval,
        "delta": None if figure.difference is None else _delta_json(figure.difference),
    }


def _delta_json(difference: Difference) -> dict[str, Any]:
    """The difference under the keys that programs read, which are older than the name of the attribute."""
    return {("is_told" if name == "is_significant" else name): value for name, value in asdict(difference).items()}


def to_markdown(comparison: Comparison) -> str:
    """The comparison as a report: first the warnings, then all trials, families and tasks."""
    lines = [f"# {_compared(comparison)}", "", *_warning_lines(comparison), "## All trials", ""]
    lines += _table(_aggregate_rows(comparison))
    lines += [*_level_lines(comparison, "family"), *_level_lines(comparison, "task")]
    lines += ["## How to read this", "", f"- {METHOD}", f"- {RULE}"]
    lines += [
        f"- `?` marks a difference that is not significant. Seed {comparison.seed}, {comparison.resamples} resamples."
    ]
    return "\n".join(lines) + "\n"


def _compared(comparison: Comparison) -> str:
    first, *others = [_plain(name) for name in comparison.arms]
    return f"{', '.join(others)} compared with {first}" if others else first


def _warning_lines(comparison: Comparison) -> list[str]:
    return [*(f"> {_plain(each, 600)}" for each in comparison.warnings), ""] if comparison.warnings else []


def _aggregate_rows(comparison: Comparison) -> Iterator[list[str]]:
    aggregate = comparison.aggregate
    yield ["Measure", *_heads(comparison)]
    yield ["Trials", *_interleaved([str(trials) for trials in aggregate.trials], ["" for _ in aggregate.trials])]
    for name, figures in aggregate.figures.items():
        measure = _BY_NAME[name]
        yield [measure.title, *_cells(measure, figures, with_intervals=True)]


def _level_lines(comparison: Comparison, level: Level) -> list[str]:
    scopes = comparison.at(level)
    lines: list[str] = []
    for measure in MEASURES:
        if measure.is_main and any(measure.name in scope.figures for scope in scopes):
            lines += [f"## {measure.title} by {level}", "", *_table(_level_rows(comparison, scopes, measure))]
    return lines


def _level_rows(comparison: Comparison, scopes: Sequence[Scope], measure: Measure) -> Iterator[list[str]]:
    yield [scopes[0].level.capitalize(), "Trials", *_heads(comparison)]
    for scope in scopes:
        figures = scope.figures.get(measure.name)
        if figures is not None:
            trials = "/".join(map(str, scope.trials))
            yield [_plain(scope.name), trials, *_cells(measure, figures, with_intervals=False)]


def _heads(comparison: Comparison) -> list[str]:
    names = [_plain(name) for name in comparison.arms]
    return _interleaved(names, [f"Δ {name}" if len(names) > 2 else "Δ" for name in names])


def _cells(measure: Measure, figures: Sequence[Figure], *, with_intervals: bool) -> list[str]:
    values = [_figure(measure, figure, with_intervals=with_intervals) for figure in figures]
    deltas = [_delta(measure, figure.difference, with_interval=with_intervals) for figure in figures]
    return _interleaved(values, deltas)


def _interleaved(values: Sequence[str], deltas: Sequence[str]) -> list[str]:
    """Each arm's value followed by its difference; the first arm has none."""
    pairs = zip(values[1:], deltas[1:], strict=True)
    return [values[0], *(cell for pair in pairs for cell in pair)]


def _figure(measure: Measure, figure: Figure, *, with_intervals: bool) -> str:
    if figure.value is None:
        return _NO_PRICE if measure.unit == "usd" else _UNKNOWN
    shown = quantity(figure.value, measure.unit)
    if measure.unit == "share" and not with_intervals:
        return f"{round(figure.value * figure.known)}/{figure.known}"
    return f"{shown}{_bracket(figure.interval, measure.unit)}" if with_intervals else shown


def _bracket(interval: Interval | None, unit: Unit) -> str:
    return "" if interval is None else f" [{quantity(interval[0], unit)}, {quantity(interval[1], unit)}]"


def _delta(measure: Measure, difference: Difference | None, *, with_interval: bool) -> str:
    """A difference in percent; for accuracy in points; if the first arm's figure is 0, in the measure's unit."""
    if difference is None:
        return ""
    if measure.unit == "share":
        value, unit, factor, interval = difference.absolute, " pt", 100.0, difference.interval
    elif difference.percent is not None:
        value, unit, factor, interval = difference.percent, " %", 1.0, difference.percent_interval
    else:
        value, unit, factor, interval = difference.absolute, "", 1.0, difference.interval
    shown = f"{_signed(value * factor)}{unit}"
    if with_interval and interval is not None:
        shown += f" [{_signed(interval[0] * factor)}, {_signed(interval[1] * factor)}]"
    return shown if difference.is_significant else f"{shown} ?"


def _signed(value: float) -> str:
    text = f"{value:+.0f}" if abs(value) >= 1 else f"{value:+.1f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def quantity(value: float, unit: Unit) -> str:
    """A figure for people: `$0.170`, `26.7 s`, `91.2 %`, `21,856`."""
    if unit == "usd":
        return f"${value:,.2f}" if value >= 10 else f"${value:.3f}"
    if unit == "share":
        return f"{value * 100:.1f} %"
    number = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"
    return f"{number} s" if unit == "seconds" else number


def _table(rows: Iterator[list[str]]) -> list[str]:
    """A Markdown table with aligned columns, so that it is readable on a terminal too."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = [" | ".join(_padded(row, widths)) for row in cells]
    rule = " | ".join("-" * widths[0] if not column else "-" * (width - 1) + ":" for column, width in enumerate(widths))
    return [f"| {line} |" for line in [lines[0], rule, *lines[1:]]] + [""]


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.rjust(width) if column else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def _plain(text: str, most: int = _MOST_NAME) -> str:
    """A name from a row, which may be any text, made safe for Markdown."""
    return plain_line(text, most) or "(no name)"
