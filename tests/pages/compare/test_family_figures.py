"""A family in figures: counts over all sessions, rows for some."""

from __future__ import annotations

from typing import Any

from agent_wiki.pages.compare.family_figures import MOST_ROWS, ChangeCounts, family_figures
from agent_wiki.pages.compare.views import SessionView


def _sessions(number: int, outcome: str | None, **fields: Any) -> list[SessionView]:
    return [SessionView(f"{outcome}-{at:04}", outcome=outcome, **fields) for at in range(number)]


def test_what_only_one_side_changed_comes_first_and_what_both_did_alike_is_left_out() -> None:
    won = _sessions(3, "success", writes=("shell: git add", "refund(id=7)"))
    lost = [*_sessions(2, "failure", writes=("shell: git add",)), *_sessions(1, "partial", writes=("close(id=7)",))]
    found = family_figures([*won, *lost]).changes
    assert found[:2] == (ChangeCounts("refund", 3, 0), ChangeCounts("refund(id=7)", 3, 0))
    assert ChangeCounts("shell: git add", 3, 2) in found
    assert not [change for change in found if change.text.startswith("close")], "one session alone says nothing"
    alike = family_figures([*won, *_sessions(1, "failure", writes=("refund(id=7)",))]).changes
    assert "refund" not in [change.text for change in alike]


def test_without_two_sides_nothing_is_compared() -> None:
    assert family_figures(_sessions(4, "success", writes=("refund(id=7)",))).changes == ()
    assert family_figures(()).rows == ()


def test_a_measure_that_nobody_recorded_is_absent_and_not_zero() -> None:
    sessions = [*_sessions(2, "success", tool_calls=4), *_sessions(1, "success"), *_sessions(1, None)]
    groups = {group.label: group for group in family_figures(sessions).groups}
    assert groups["outcome success"].medians == {"tool calls": ("4", 2)}
    assert groups["outcome unknown"].medians == {}


def test_a_condition_counts_its_successes_among_known_outcomes() -> None:
    sessions = [
        *_sessions(1, "success", condition="wiki", wiki_consulted=True),
        *_sessions(2, "partial", condition="wiki", wiki_consulted=False),
        *_sessions(1, "unknown", condition="wiki"),
    ]
    groups = {group.label: group for group in family_figures(sessions).groups}
    assert (groups["condition wiki"].succeeded, groups["condition wiki"].known) == (1, 3)
    assert (groups["wiki consulted"].sessions, groups["wiki not consulted"].sessions) == (1, 2)


def test_rows_are_bounded_and_show_every_outcome() -> None:
    sessions = [*_sessions(500, "failure"), *_sessions(3, "success")]
    rows = family_figures(sessions).rows
    assert len(rows) == MOST_ROWS
    assert [row.outcome for row in rows].count("success") == 3
    assert list(rows) == [session for session in sessions if session in rows], "in the order of the family"
