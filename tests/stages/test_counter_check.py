"""A lesson and the summary of its session: who is right about what ended a failure."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.engine import Problem
from agent_wiki.engines.scripted import ScriptedEngine
from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.stages.extract_guidelines import extract_guidelines
from agent_wiki.stages.summarize import SummaryAnswer, check
from agent_wiki.trajectory import Trajectory
from tests.engines.scripted_session import Script
from tests.wikis import arc, rule

_RED = "FAILED tests/test_cart.py::test_total - assert 3 == 4\n1 failed"
_BY_EDIT = {"event_turn": 2, "remedy_turn": 4, "confirming_turn": 8, "text": "The total left out the last row."}


def _session(between: str = "ls", says: str | None = None) -> Trajectory:
    """A check fails in T2, an edit in T4, another command in T6, and the check passes in T8."""
    session = Script().runs("pytest tests", _RED, failed=True).edits("3", "4").runs(between, "done", says=says)
    return session.runs("pytest tests", "3 passed").done()


def _lessons(
    trajectory: Trajectory, repairs: list[dict[str, Any]], **turns: Any
) -> tuple[tuple[GuidelineEntry, ...], list[Problem]]:
    told = rule("List the folder before the tests.", evidence=[{"turn": 3, "quote": "1 failed"}])
    lesson = {**told, "event_turn": 2, "remedy_turn": 6, "confirming_turn": 8, **turns}
    summary = SummaryAnswer.model_validate({"arcs": [arc(repairs=repairs)]})
    return extract_guidelines(
        trajectory, summary, ScriptedEngine({"extract-guidelines": {"": {"guidelines": [lesson]}}})
    )


def test_a_lesson_is_dropped_where_the_summary_names_another_remedy_and_the_recording_bears_it_out() -> None:
    found, dropped = _lessons(_session(), [_BY_EDIT])
    assert found == ()
    assert [each.reason for each in dropped] == [
        "the summary of the session names another cause: T4 ended it: The total left out the last row."
    ]


@pytest.mark.parametrize("named", [{"event_turn": 3}, {"remedy_turn": 5}])
def test_a_call_and_its_result_are_one_turn(named: dict[str, int]) -> None:
    assert _lessons(_session(), [{**_BY_EDIT, **named}])[0] == ()


@pytest.mark.parametrize(
    ("trajectory", "repairs", "turns"),
    [
        pytest.param(_session(), [], {}, id="a summary that names nothing"),
        pytest.param(_session(), [{**_BY_EDIT, "event_turn": 1}], {}, id="another event"),
        pytest.param(_session(), [_BY_EDIT, {**_BY_EDIT, "remedy_turn": 7}], {}, id="one of several remedies"),
        pytest.param(_session("pip install lark"), [_BY_EDIT], {}, id="what the recording does not bear out"),
        pytest.param(_session(), [_BY_EDIT], {"remedy_turn": None}, id="a lesson that names no remedy"),
    ],
)
def test_else_the_lesson_stays(trajectory: Trajectory, repairs: list[dict[str, Any]], turns: dict[str, Any]) -> None:
    found, dropped = _lessons(trajectory, repairs, **turns)
    assert (len(found), dropped) == (1, [])


def test_a_checked_lesson_stays_whatever_the_summary_says() -> None:
    found, _ = _lessons(_session(), [{**_BY_EDIT, "remedy_turn": 6}], remedy_turn=4)
    assert [each.cause for each in found] == ["checked"]


@pytest.mark.parametrize(
    "turns",
    [{"remedy_turn": 2}, {"remedy_turn": 90}, {"confirming_turn": 3}, {"confirming_turn": 90}, {"event_turn": 9}],
)
def test_a_repair_whose_turns_do_not_follow_each_other_is_dropped_and_reported(turns: dict[str, int]) -> None:
    summary = SummaryAnswer.model_validate({"arcs": [arc(repairs=[_BY_EDIT, {**_BY_EDIT, **turns}])]})
    checked, dropped = check(summary, _session())
    assert [each.remedy_turn for each in checked.arcs[0].repairs] == [4]
    assert [each.place for each in dropped] == ["repairs"]
