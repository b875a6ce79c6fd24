"""Arms → the differences between them, and how sure they are. Pure: the same rows and seed give the same figures.

Every measure is reported as the median of its known values, over all trials, per family of tasks and per task. Each
arm is compared with the first. Intervals are 95 % percentile intervals of a bootstrap that draws whole tasks with their
trials of every arm, because trials of one task are similar. With fewer than 6 tasks, which give too few different
experiments, trials are also drawn within the drawn tasks, which errs on the wide side. The interval of
one arm's accuracy is Wilson's, since a bootstrap of trials that all succeeded has zero width.

With fewer than 6 trials, the true median is between the lowest and the highest with a probability below 95 %
(1 - 2 * 0.5**5 = 94 %), so no interval exists without assumptions about the distribution, and no difference is called
significant. With 6 or more, a difference whose interval includes 0 is not significant.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from statistics import median
from typing import Literal

from agent_wiki.evaluation.arms import Arm, Trial
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import some_of

FEWEST_TRIALS = 6
FEWEST_TASKS = 6  # for a bootstrap over whole tasks
CONFIDENCE = 0.95
RESAMPLES = 2_000
_Z = 1.959963984540054  # of a two-sided 95 %

Unit = Literal["usd", "seconds", "count", "share"]
Level = Literal["aggregate", "family", "task"]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure to compare: a field of a row or, for `accuracy`, the share of judged trials that succeeded."""

    name: str
    title: str
    unit: Unit
    is_main: bool = False


ACCURACY = Measure("accuracy", "Accuracy", "share", is_main=True)
MEASURES = (
    ACCURACY,
    Measure("total_cost_usd", "Cost", "usd", is_main=True),
    Measure("duration_s", "Duration", "seconds", is_main=True),
    Measure("tool_calls", "Tool calls", "count", is_main=True),
    Measure("errors", "Errors", "count"),
    Measure("turns", "Turns", "count"),
    Measure("input_tokens", "Input tokens", "count"),
    Measure("cache_creation_input_tokens", "Cache-write tokens", "count"),
    Measure("cache_read_input_tokens", "Cache-read tokens", "count"),
    Measure("output_tokens", "Output tokens", "count"),
    Measure("billable_tokens_proxy", "Input + cache-write + output tokens", "count"),
    Measure("wiki_reads_total", "Wiki reads", "count"),
    Measure("guideline_reads", "Guideline reads", "count"),
    Measure("cluster_reads", "Cluster reads", "count"),
    Measure("skill_reads", "Skill reads", "count"),
    Measure("task_reads", "Task reads", "count"),
    Measure("summary_reads", "Summary reads", "count"),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """How an arm differs from the first. Unless `is_significant`, `reason` says why not."""

    absolute: float
    percent: float | None  # None for accuracy, and if the first arm's figure is 0
    interval: Interval | None = None  # of `absolute`
    percent_interval: Interval | None = None
    is_significant: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure in one arm: the median (for accuracy the share) over `known` trials; `unknown` trials lack it."""

    known: int
    unknown: int
    value: float | None = None
    interval: Interval | None = None
    difference: Difference | None = None  # None for the first arm, and if either figure is unknown


@dataclass(frozen=True, slots=True)
class Scope:
    """All trials, those of a family, or those of a task: figures by measure, one per arm in the arms' order."""

    level: Level
    name: str
    trials: tuple[int, ...]
    tasks: int
    figures: Mapping[str, tuple[Figure, ...]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A whole comparison. `warnings` are complete sentences."""

    arms: tuple[str, ...]
    trials: tuple[int, ...]
    scopes: tuple[Scope, ...]
    warnings: tuple[str, ...]
    seed: int
    resamples: int

    @property
    def aggregate(self) -> Scope:
        """The scope of all trials."""
        return self.scopes[0]

    def at(self, level: Level) -> tuple[Scope, ...]:
        """The scopes of a level."""
        return tuple(scope for scope in self.scopes if scope.level == level)


def compare(arms: Sequence[Arm], seed: int = 0, resamples: int = RESAMPLES) -> Comparison:
    """Compare each arm with the first, over all trials, by family and by task. In: at least one arm with trials."""
    scopes = [_scope("aggregate", "all", [arm.trials for arm in arms], seed, resamples)]
    for level in ("family", "task"):
        for name in _names(arms, level):
            chosen = [tuple(each for each in arm.trials if getattr(each, level) == name) for arm in arms]
            scopes.append(_scope(level, name, chosen, seed, resamples))
    names = tuple(arm.name for arm in arms)
    return Comparison(
        names, tuple(len(arm.trials) for arm in arms), tuple(scopes), tuple(_warnings(names, scopes)), seed, resamples
    )


def _names(arms: Sequence[Arm], level: Literal["family", "task"]) -> list[str]:
    found = {getattr(trial, level) for arm in arms for trial in arm.trials}
    return sorted((name for name in found if name is not None), key=_natural)


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """`t2` before `t10`."""
    pieces = re.split("([0-9]+)", f"{name}\0")  # words and numbers by turns
    return tuple((int(piece), "") if at % 2 else (0, piece) for at, piece in enumerate(pieces))


def _scope(level: Level, name: str, trials: Sequence[Sequence[Trial]], seed: int, resamples: int) -> Scope:
    present = [measure for measure in MEASURES if any(_known(each, measure) for each in trials)]
    enough = any(len(each) >= FEWEST_TRIALS for each in trials)
    figures = {}
    for measure in present:
        random = Random(f"{seed} {level} {name} {measure.name}")
        draws = _draws(trials, measure, random, resamples) if enough else []
        figures[measure.name] = _figures(measure, trials, draws)
    tasks = len({trial.task for each in trials for trial in each})
    return Scope(level, name, tuple(map(len, trials)), tasks, figures)


def _known(trials: Iterable[Trial], measure: Measure) -> list[float]:
    values = (_value(trial, measure) for trial in trials)
    return [value for value in values if value is not None]


def _value(trial: Trial, measure: Measure) -> float | None:
    if measure is ACCURACY:
        return None if trial.outcome is None else float(trial.outcome)
    return trial.numbers.get(measure.name)


def _middle(values: Sequence[float], measure: Measure) -> float:
    return sum(values) / len(values) if measure is ACCURACY else median(values)


Draw = tuple[float | None, ...]  # one figure per arm


def _draws(trials: Sequence[Sequence[Trial]], measure: Measure, random: Random, resamples: int) -> list[Draw]:
    """The figures of every arm in each of `resamples` drawn experiments."""
    values_of_tasks = _by_task(trials, measure)
    is_by_task_alone = len(values_of_tasks) >= FEWEST_TASKS
    draws: list[Draw] = []
    for _ in range(resamples):
        drawn: list[list[float]] = [[] for _ in trials]
        for task in random.choices(values_of_tasks, k=len(values_of_tasks)):
            for position, values in enumerate(task):
                drawn[position] += values if is_by_task_alone or not values else random.choices(values, k=len(values))
        draws.append(tuple(_middle(values, measure) if values else None for values in drawn))
    return draws


def _by_task(trials: Sequence[Sequence[Trial]], measure: Measure) -> list[list[list[float]]]:
    """The known values by task and arm, in an order that does not depend on the files."""
    by_task: dict[str, list[list[float]]] = {}
    for position, each in enumerate(trials):
        for trial in each:
            value = _value(trial, measure)
            if value is not None:
                by_task.setdefault(trial.task or "", [[] for _ in trials])[position].append(value)
    return [[sorted(values) for values in by_task[task]] for task in sorted(by_task)]


def _figures(measure: Measure, trials: Sequence[Sequence[Trial]], draws: Sequence[Draw]) -> tuple[Figure, ...]:
    known = [_known(each, measure) for each in trials]
    figures: list[Figure] = []
    for position, values in enumerate(known):
        unknown = len(trials[position]) - len(values)
        if not values:
            figures.append(Figure(0, unknown))
            continue
        value = _middle(values, measure)
        interval = _interval_of_arm(measure, values, [draw[position] for draw in draws])
        has_difference = position > 0 and bool(known[0])
        difference = _difference(measure, known[0], values, position, draws) if has_difference else None
        figures.append(Figure(len(values), unknown, value, interval, difference))
    return tuple(figures)


def _interval_of_arm(measure: Measure, values: Sequence[float], draws: Sequence[float | None]) -> Interval | None:
    if len(values) < FEWEST_TRIALS:
        return None
    if measure is ACCURACY:
        return wilson(round(sum(values)), len(values))
    return _percentiles([draw for draw in draws if draw is not None])


def _difference(
    measure: Measure, first: Sequence[float], values: Sequence[float], position: int, draws: Sequence[Draw]
) -> Difference:
    base, value = _middle(first, measure), _middle(values, measure)
    is_relative = measure is not ACCURACY
    percent = (value / base - 1) * 100 if is_relative and base else None
    fewest = min(len(first), len(values))
    if fewest < FEWEST_TRIALS:
        return Difference(value - base, percent, reason=f"{fewest} trials, at least {FEWEST_TRIALS} per arm are needed")
    pairs = [(draw[0], draw[position]) for draw in draws]
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    interval = _percentiles([other - one for one, other in both])
    ratios = [(other / one - 1) * 100 for one, other in both if one] if percent is not None else []
    is_significant = interval is not None and (interval[0] > 0 or interval[1] < 0)
    reason = "" if is_significant else "the interval of the difference includes 0"
    return Difference(value - base, percent, interval, _percentiles(ratios), is_significant, reason)


def _percentiles(values: Sequence[float]) -> Interval | None:
    """The interval between the outer 2.5 % on either side, interpolated."""
    if not values:
        return None
    ordered = sorted(values)
    return (_quantile(ordered, (1 - CONFIDENCE) / 2), _quantile(ordered, (1 + CONFIDENCE) / 2))


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def wilson(successes: int, trials: int) -> Interval:
    """Wilson's 95 % interval for a share. In: at least one trial."""
    share, square = successes / trials, _Z * _Z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    half = _Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials)) / (1 + square / trials)
    return (max(0.0, middle - half), min(1.0, middle + half))


def _warnings(arms: Sequence[str], scopes: Sequence[Scope]) -> list[str]:
    aggregate, tasks = scopes[0], [scope for scope in scopes if scope.level == "task"]
    warnings = []
    if len(arms) == 1:
        warnings.append("There is only one arm: nothing to compare it with.")
    warnings += _few_warnings(scopes) if len(arms) > 1 else []
    warnings += _unknown_warnings(arms, aggregate)
    for position, arm in enumerate(arms):
        lacking = [scope.name for scope in tasks if not scope.trials[position]]
        if lacking:
            warnings.append(f"{arm} has no trial of {some_of(lacking)}, so the arms did different tasks.")
    uneven = [scope for scope in tasks if all(scope.trials) and len(set(scope.trials)) > 1]
    if uneven:
        names = [f"{scope.name} ({'/'.join(map(str, scope.trials))})" for scope in uneven]
        warnings.append(
            f"Arms differ in their number of trials, and trials are rarely missing by chance: {some_of(names)}."
        )
    return warnings


def _few_warnings(scopes: Sequence[Scope]) -> list[str]:
    """One sentence per level with too few trials, and one per measure whose differences are not all significant."""
    warnings = []
    for level, plural in (("aggregate", ""), ("family", "families"), ("task", "tasks")):
        chosen = [scope for scope in scopes if scope.level == level]
        few = [scope for scope in chosen if any(0 < trials < FEWEST_TRIALS for trials in scope.trials)]
        if few:
            where = f"in {len(few)} of {len(chosen)} {plural}" if plural else "over all trials"
            fewest = min(trials for scope in few for trials in scope.trials if trials)
            warnings.append(
                f"Too few trials {where}: as few as {fewest} per arm, but a 95 % interval of a median needs at least "
                f"{FEWEST_TRIALS}. Differences there are shown, but mean nothing by themselves."
            )
    for measure in MEASURES:
        figures = scopes[0].figures.get(measure.name, ()) if measure.is_main else ()
        unclear = [each.difference for each in figures if each.difference and not each.difference.is_significant]
        if unclear and all(difference.interval is not None for difference in unclear):
            which = "the difference" if len(figures) == 2 else f"{len(unclear)} of {len(figures) - 1} differences"
            warnings.append(f"{measure.title}: {which} over all trials may be chance (the 95 % interval includes 0).")
    return warnings


def _unknown_warnings(arms: Sequence[str], aggregate: Scope) -> list[str]:
    """One sentence per arm: the measures that some of its trials lack."""
    warnings = []
    for position, arm in enumerate(arms):
        figures = [
            (measure, aggregate.figures[measure.name][position])
            for measure in MEASURES
            if measure.name in aggregate.figures
        ]
        lacking = [
            f"{measure.title.lower()} in {figure.unknown}"
            for measure, figure in figures
            if figure.unknown and (measure.is_main or figure.known)
        ]
        if lacking:
            warnings.append(f"Unknown of the {aggregate.trials[position]} trials of {arm}: {some_of(lacking)}.")
    return warnings
