"""Arms and what differs between them: the figures, their intervals, and differences that are not significant."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agent_wiki.evaluation.arms import Arm, Read, Trial, arms_of, read_rows, with_families
from agent_wiki.evaluation.compare import Figure, compare, wilson
from agent_wiki.evaluation.render import quantity, to_json, to_markdown
from tests.conftest import TRACES

METRICS = TRACES.parent / "metrics"


def trial(cost: float | None, task: str = "t1", outcome: bool | None = True, family: str | None = None) -> Trial:
    return Trial(None, task, family, outcome, {} if cost is None else {"total_cost_usd": cost}, {})


def arm(name: str, costs: list[float | None], **fields: Any) -> Arm:
    return Arm(name, tuple(trial(cost, **fields) for cost in costs))


def cost_figures(*arms: Arm) -> tuple[Figure, ...]:
    return compare(arms).aggregate.figures["total_cost_usd"]


def read(*files: tuple[str, str]) -> Read:
    found = Read()
    for place, text in files:
        read_rows(text, place, found)
    return found


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_figures_are_medians_and_differences_from_the_first_arm() -> None:
    first, second = cost_figures(arm("a", [1, 2, 9]), arm("b", [1, 1, 4]))
    assert (first.value, second.value) == (2, 1)
    assert first.difference is None
    assert second.difference is not None
    assert (second.difference.absolute, second.difference.percent) == (-1, -50)


def test_an_unknown_value_is_left_out_counted_and_reported() -> None:
    compared = compare([arm("a", [1, None, 3]), arm("b", [None, None, None])])
    first, second = compared.aggregate.figures["total_cost_usd"]
    assert (first.value, first.known, first.unknown) == (2, 2, 1)
    assert second == Figure(0, 3)
    assert "Unknown of the 3 trials of b: cost in 3." in compared.warnings


def test_no_difference_between_fewer_than_six_trials_is_significant() -> None:
    _, five = cost_figures(arm("a", [1.0] * 6), arm("b", [9.0] * 5))
    assert five.interval is None
    assert five.difference is not None
    assert (five.difference.is_significant, five.difference.reason) == (
        False,
        "5 trials, at least 6 per arm are needed",
    )
    _, six = cost_figures(arm("a", [1.0] * 6), arm("b", [9.0] * 6))
    assert six.difference is not None
    assert six.difference.is_significant


def test_a_difference_whose_interval_includes_zero_is_not_significant() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    _, second = cost_figures(arm("a", list(values)), arm("b", [value + 0.1 for value in values]))
    assert second.difference is not None
    assert second.difference.interval is not None
    assert second.difference.interval[0] < 0 < second.difference.interval[1]
    assert (second.difference.is_significant, second.difference.reason) == (
        False,
        "the interval of the difference includes 0",
    )


def test_the_same_seed_gives_the_same_figures_whatever_the_order_of_the_rows() -> None:
    random = Random(5)
    trials = [trial(random.random(), task=f"t{number % 4}") for number in range(40)]
    one = compare([Arm("a", tuple(trials[:20])), Arm("b", tuple(trials[20:]))], seed=7)
    again = compare([Arm("a", tuple(trials[:20])), Arm("b", tuple(trials[20:]))], seed=7)
    other = compare([Arm("a", tuple(trials[:20])), Arm("b", tuple(trials[20:]))], seed=8)
    turned = compare([Arm("a", tuple(trials[19::-1])), Arm("b", tuple(trials[:19:-1]))], seed=7)
    assert to_json(one) == to_json(again) == to_json(turned)
    assert one.scopes != other.scopes


def test_trials_of_one_task_are_alike_and_widen_the_interval() -> None:
    """Twelve trials of twelve tasks say more than twelve of three, where all of a task cost the same."""
    costs = [float(number) for number in range(12)]
    apart = Arm("a", tuple(trial(cost, task=f"t{number}") for number, cost in enumerate(costs)))
    together = Arm("a", tuple(trial(number // 4 * 4.0 + 2, task=f"t{number // 4}") for number in range(12)))
    (one,), (other,) = cost_figures(apart), cost_figures(together)
    assert one.interval is not None
    assert other.interval is not None
    assert one.interval[1] - one.interval[0] < other.interval[1] - other.interval[0]


def test_the_interval_holds_the_true_difference_about_as_often_as_it_says() -> None:
    """Eight tasks of four trials, drawn anew 120 times: tasks differ, the second arm costs 0.3 less."""
    random, held = Random(1), 0
    for _ in range(120):
        arms: list[list[Trial]] = [[], []]
        for task in range(8):
            level = random.gauss(5, 1)
            for position, shift in enumerate((0.0, -0.3)):
                arms[position] += [trial(level + shift + random.gauss(0, 0.3), task=f"t{task}") for _ in range(4)]
        figures = compare([Arm("a", tuple(arms[0])), Arm("b", tuple(arms[1]))], resamples=200)
        difference = figures.aggregate.figures["total_cost_usd"][1].difference
        assert difference is not None
        assert difference.interval is not None
        held += difference.interval[0] <= -0.3 <= difference.interval[1]
    assert held >= 0.9 * 120


def test_accuracy_is_the_share_of_judged_trials_with_wilsons_interval() -> None:
    arms = [arm("a", [1.0] * 10), Arm("b", (*[trial(1.0, outcome=False)] * 5, *[trial(1.0, outcome=None)] * 5))]
    first, second = compare(arms).aggregate.figures["accuracy"]
    assert (first.value, first.known) == (1.0, 10)
    assert first.interval == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert (second.value, second.known, second.unknown) == (0.0, 5, 5)
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)


def test_families_and_tasks_are_compared_in_the_order_people_count() -> None:
    trials = [trial(1.0, task=task, family=family) for task, family in (("t10", "zip"), ("t2", "csv"), ("t2", "csv"))]
    compared = compare([Arm("a", tuple(trials)), Arm("b", tuple(trials))])
    assert [(scope.name, scope.trials) for scope in compared.at("family")] == [("csv", (2, 2)), ("zip", (1, 1))]
    assert [scope.name for scope in compared.at("task")] == ["t2", "t10"]


def test_arms_that_did_different_tasks_are_warned_of() -> None:
    compared = compare([arm("a", [1.0], task="t1"), arm("b", [1.0], task="t2")])
    assert "b has no trial of t1, so the arms did different tasks." in compared.warnings


def test_missing_trials_are_warned_of() -> None:
    compared = compare([arm("a", [1.0] * 2), arm("b", [1.0] * 3)])
    assert any("t1 (2/3)" in warning for warning in compared.warnings)


def test_rows_are_split_by_a_field_over_all_files_numbers_in_order() -> None:
    one = lines({"session_id": "a", "batch": 10}, {"session_id": "b", "batch": 2})
    two = lines({"session_id": "c", "batch": 2}, {"session_id": "d"})
    found = read(("one.jsonl", one), ("two.jsonl", two))
    assert [(arm.name, len(arm.trials)) for arm in arms_of(found, "batch")] == [("batch 2", 2), ("batch 10", 1)]
    assert found.problems == ["two.jsonl:2: it has no field 'batch' that says its arm"]
    assert [arm.name for arm in arms_of(found, "batch", "10")] == ["batch 10", "batch 2"]


def test_files_are_arms_named_by_the_shortest_unique_part() -> None:
    row = lines({"tool_calls": 1})
    assert [arm.name for arm in arms_of(read(("x/a.metrics.jsonl", row), ("x/b.jsonl", row)))] == ["a", "b"]
    assert [arm.name for arm in arms_of(read(("x/a.jsonl", row), ("y/a.jsonl", row)))] == ["x/a", "y/a"]


def test_a_session_counts_once_an_arm() -> None:
    found = read(("a.jsonl", lines({"session_id": "s"}, {"session_id": "s"}, {"session_id": "?"}, {"session_id": "?"})))
    (only,) = arms_of(found)
    assert len(only.trials) == 3
    assert found.problems == ["a.jsonl:2: session s is already in a.jsonl:1"]


def test_what_a_subagent_did_is_no_trial() -> None:
    found = read(("a.jsonl", lines({"session_id": "s"}, {"session_id": "s.agent-1", "parent_session_id": "s"})))
    assert (len(arms_of(found)[0].trials), found.subagents) == (1, 1)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[1, 2]", "a row is a JSON object, not list"),
        ('{"tool_calls": -1}', "tool_calls: not a finite number of at least 0: -1"),
        ('{"duration_s": NaN}', "duration_s: not a finite number"),
        ('{"duration_s": "43"}', 'duration_s: not a number: "43"'),
        ('{"duration_s": true}', "duration_s: not a number: true"),
        ('{"outcome_match": 1}', "outcome_match: neither true nor false: 1"),
        ('{"task": ["t"]}', 'task: not a string: ["t"]'),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_bad_line_is_reported_with_its_place_and_the_others_count(line: str, reason: str) -> None:
    found = read(("rows.jsonl", f'{{"tool_calls": 1}}\n\n{line}\n{{"tool_calls": null}}\n'))
    assert len(arms_of(found)[0].trials) == 2
    (problem,) = found.problems
    assert problem.startswith(f"rows.jsonl:3: {reason}")


def test_the_report_of_metrics_is_read_like_its_lines() -> None:
    rows = [{"session_id": "a", "tool_calls": 1}, {"session_id": "b", "tool_calls": 3}]
    for text in (json.dumps({"rows": rows}, indent=2), json.dumps(rows), lines(*rows)):
        (only,) = arms_of(read(("rows.json", text)))
        assert [each.numbers["tool_calls"] for each in only.trials] == [1, 3]


def test_a_recorded_verdict_counts_where_no_task_file_judged() -> None:
    rows: list[dict[str, Any]] = [{"reward": 1.0}, {"reward": 0.5}, {"resolved": True, "reward": 0}]
    rows += [{"outcome_match": False, "resolved": True}, {}]
    (only,) = arms_of(read(("rows.jsonl", lines(*rows))))
    assert [each.outcome for each in only.trials] == [True, False, True, False, None]


def test_families_come_from_the_task_file_where_a_row_has_none() -> None:
    (only,) = with_families([Arm("a", (trial(1.0), trial(1.0, family="own")))], {"t1": "archive"})
    assert [each.family for each in only.trials] == ["archive", "own"]


def test_hostile_names_stay_cells_of_the_table() -> None:
    name = "a | b\n# <img src=x> `\x1b[31m"
    text = to_markdown(compare([arm(name, [1.0]), arm("b", [2.0], task="x|y\n\n# z")]))
    assert "\x1b" not in text
    assert "<img" not in text
    assert not [line for line in text.splitlines() if line.startswith("# ") and "compared with" not in line]
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith(" |") for line in table)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.17029, "usd", "$0.170"),
        (12.5, "usd", "$12.50"),
        (43.28, "seconds", "43.3 s"),
        (0.9583, "share", "95.8 %"),
        (21855.5, "count", "21,856"),
        (4.0, "count", "4"),
        (6.5, "count", "6.5"),
    ],
)
def test_figures_are_shown_as_people_read_them(value: float, unit: Any, shown: str) -> None:
    assert quantity(value, unit) == shown


@pytest.fixture
def published() -> Path:
    """The folder of published rows, which is not part of this repository."""
    if not METRICS.is_dir():
        pytest.skip(f"no published rows: {METRICS.name} is not beside the repository")
    return METRICS


def test_the_published_arms_give_the_published_medians(published: Path) -> None:
    names = ("twobatch.metrics.jsonl", "twobatch-skills.metrics.jsonl")
    found = read(*((name, (published / name).read_text(encoding="utf-8")) for name in names))
    compared = compare(arms_of(found, "batch"), resamples=200)
    assert (compared.arms, compared.trials) == (("batch 1", "batch 2", "batch 3"), (47, 48, 48))
    figures = compared.aggregate.figures
    empty, guidelines, skills = ([figures[name][arm].value for name in figures] for arm in range(3))
    measures = list(figures)
    shown = [
        (measures.index(name), digits) for name, digits in (("total_cost_usd", 2), ("duration_s", 0), ("tool_calls", 0))
    ]
    assert [round(empty[at] or 0, digits) for at, digits in shown] == [0.21, 43, 7]
    assert [round(guidelines[at] or 0, digits) for at, digits in shown] == [0.17, 27, 4]
    assert round(skills[shown[0][0]] or 0, 3) == 0.146
    cheaper = figures["total_cost_usd"][1].difference
    assert cheaper is not None
    assert cheaper.is_significant
    assert round(cheaper.percent or 0) == -20
    more_often_right = figures["accuracy"][2].difference
    assert more_often_right is not None
    assert not more_often_right.is_significant
