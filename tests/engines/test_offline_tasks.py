"""Findings of a family: what the successful sessions did and the others did not."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.compare.families import Family
from agent_wiki.compare.views import SessionView
from agent_wiki.engines.offline.discover_tasks import answer, findings
from agent_wiki.stages.discover_tasks import SubtaskQuestion, TaskQuestion


def _won(*writes: str, **fields: Any) -> SessionView:
    return SessionView("w", outcome="success", writes=writes, **fields)


def _lost(*writes: str, **fields: Any) -> SessionView:
    return SessionView("l", outcome="failure", writes=writes, **fields)


def test_a_write_that_only_the_successful_made_is_a_finding_with_its_counts() -> None:
    found = findings([_won("cancel(id=1)", "pay(x=1)"), _won("cancel(id=1)"), _lost("pay(x=1)"), _lost()])
    assert found[0] == "`cancel`: done in 2 of the 2 that succeeded and 0 of the 2 that did not succeed."
    assert not any("pay" in finding for finding in found)


def test_a_write_that_only_the_others_made_is_reported_after_what_the_successful_did() -> None:
    found = findings([_won("cancel()"), _won("cancel()"), _lost("transfer()"), _lost("transfer()")])
    assert [finding.split(":")[0] for finding in found] == ["`cancel`", "`transfer`"]


def test_arguments_separate_where_the_tools_do_not() -> None:
    found = findings(
        [
            _won("book(seat=aisle; day=mon)"),
            _won("book(seat=aisle; day=tue)"),
            _lost("book(seat=window; day=mon)"),
            _lost("book(seat=window; day=tue)"),
        ]
    )
    assert found == [
        "`book` with `seat=aisle`: 2 of the 2 that succeeded and 0 of the 2 that did not succeed.",
        "`book` with `seat=window`: 0 of the 2 that succeeded and 2 of the 2 that did not succeed.",
    ]


def test_a_value_that_one_session_alone_has_explains_nothing() -> None:
    assert findings([_won("note(text=a)"), _lost("note(text=b)"), _lost("note(text=c)")]) == []


def test_how_often_a_write_was_made_can_separate() -> None:
    won = [_won(*[f"cancel(id={at})" for at in range(3)]) for _ in range(2)]
    lost = [_lost("cancel(id=7)"), _lost("cancel(id=8)")]
    assert "`cancel` succeeded 3 times (median of the 2 that succeeded) against 1 times" in findings([*won, *lost])[0]


def test_what_is_equal_in_all_trials_is_no_finding() -> None:
    assert findings([_won("a(x=1)", tool_calls=5), _won("a(x=1)", tool_calls=5), _lost("a(x=1)", tool_calls=5)]) == []


@pytest.mark.parametrize("outcome", ["failure", "unknown", None])
def test_without_two_sides_there_is_nothing_to_compare(outcome: str | None) -> None:
    sessions = [SessionView(f"s{at}", outcome=outcome, writes=(f"a(x={at})",), tool_calls=at) for at in range(4)]
    assert findings(sessions) == []


def test_what_all_did_is_said_where_all_succeeded_and_what_one_of_them_changed() -> None:
    note = (7, "`kubectl patch deployment web` changes the cluster")
    won = [_won("shell: kubectl patch", "shell: python3", "shell: > a.txt", key_turns=(note,)) for _ in range(2)]
    assert findings(won) == [
        "`shell: kubectl patch`: done in all 2, and all succeeded.",
        "What one of them did (T7 of w): `kubectl patch deployment web` changes the cluster.",
    ]
    assert findings(won[:1]) == []
    own = (9, "`hand_over` goes through")  # only one of them did it
    assert findings([_won("pay(x=1)", "hand_over()", key_turns=(own,)), _won("pay(x=2)")]) == [
        "`pay`: done in all 2, and all succeeded."
    ]


def test_a_file_that_one_session_alone_wrote_and_a_bare_interpreter_explain_nothing() -> None:
    won = [_won("shell: > reports/a.txt", "shell: python3"), _won("shell: > reports/b.txt", "shell: python3")]
    assert findings([*won, _lost("shell: > reports/c.txt")]) == []


def test_a_list_of_writes_that_is_full_says_nothing_on_what_is_missing() -> None:
    full = tuple(f"edit(n={at})" for at in range(20))
    assert not any("pay" in finding for finding in findings([_won("pay()"), _won("pay()"), _lost(*full), _lost(*full)]))


def test_measures_are_reported_only_where_their_ranges_do_not_touch() -> None:
    apart = findings([_won(tool_calls=4), _won(tool_calls=6), _lost(tool_calls=11), _lost(tool_calls=9)])
    assert apart == [
        "Median tool calls: 5 (4 to 6, 2 sessions) where succeeded, 10 (9 to 11, 2 sessions) where did not succeed."
    ]
    assert findings([_won(tool_calls=4), _won(tool_calls=9), _lost(tool_calls=11), _lost(tool_calls=9)]) == []


def test_an_unknown_measure_is_not_zero() -> None:
    assert findings([_won(cost_usd=None), _won(cost_usd=None), _lost(cost_usd=2.0), _lost(cost_usd=3.0)]) == []


def test_conditions_are_compared_by_how_many_succeeded() -> None:
    sessions = [_won(condition="wiki"), _won(condition="wiki"), _lost(condition="none"), _lost(condition="none")]
    assert findings(sessions) == ["By condition: `none`, 0 of 2 succeeded; `wiki`, 2 of 2 succeeded."]


def test_a_look_up_that_only_the_successful_made_is_a_finding() -> None:
    found = findings([_won(tools={"get_user": 1}, tool_calls=1), _lost(tool_calls=0), _lost(tool_calls=0)])
    assert found == ["`get_user`: called in 1 of the 1 that succeeded and 0 of the 2 that did not succeed."]


def test_the_page_says_how_the_family_was_found() -> None:
    sessions = tuple(SessionView(f"s{at}", goal="Order a lamp to Porto") for at in range(3))
    by_text = answer(TaskQuestion(Family(sessions, ("lamp", "porto", "order"))))
    assert by_text.title == "Order a lamp to Porto"
    assert by_text.intro.endswith("found by what their users asked.")
    assert by_text.tags == ["lamp", "order", "porto"]
    assert "task `7`" in answer(TaskQuestion(Family(sessions, ("lamp",), task_id="7"))).intro


@pytest.mark.parametrize(
    ("goal", "title"),
    [
        (
            "Write reports/totals.csv with one row a customer: the columns are customer,total,first,last,middle,most",
            "Write reports/totals.csv with one row a customer",
        ),
        (
            "Book a flight from Porto to Lagos on the first day of May. It has to leave in the morning, not too early.",
            "Book a flight from Porto to Lagos on the first day of May.",
        ),
    ],
)
def test_a_title_ends_where_the_goal_begins_to_list_details(goal: str, title: str) -> None:
    assert answer(TaskQuestion(Family((SessionView("a", goal=goal),), ("orders",)))).title == title


def test_rules_make_no_page_of_one_session() -> None:
    told = {"narrative": "The lamp came.", "key_turns": ((3, "ordered"),), "condition": "wiki"}
    session = SessionView("a", goal="Order a lamp", outcome="success", tool_calls=4, **told)  # type: ignore[arg-type]
    assert answer(SubtaskQuestion(session, "condition", (session,))).subtasks == []
