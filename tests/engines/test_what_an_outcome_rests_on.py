"""The clause with which the embedded engine says what an outcome rests on: it claims no more than was seen."""

from __future__ import annotations

from typing import get_args

import pytest

from agent_wiki.engines.offline.shown import Basis, Shown
from tests.engines.sessions import Session
from tests.engines.summaries import COMMITTED, capped, summary


@pytest.mark.parametrize(
    ("session", "reason"),
    [
        (capped().run("pytest -q", "2 passed"), "`pytest -q` passed after the last change"),
        (capped().run("pytest -q", "1 failed", failed=True), "`pytest -q` failed at the end"),
        (capped().run("git commit -m cap", COMMITTED), "`git commit` went through"),
        (capped().says("The totals are capped at ten now."), "no check of the work as it was left is recorded"),
        (capped().says("They are capped.").user("Thanks, it works now."), "the user accepted it"),
        (
            Session().user("Hello there, can you see this?"),
            "no check, answer or word of the user was found that settles it",
        ),
    ],
)
def test_an_outcome_says_what_it_rests_on(session: Session, reason: str) -> None:
    assert summary(session).outcome_reason == reason


def test_each_basis_but_a_recorded_verdict_has_its_words() -> None:
    bases = [each for each in get_args(Basis) if each != "recorded"]
    assert all(Shown("partial", basis).reason(has_changed=True) for basis in bases)
    assert Shown("success", "recorded").reason(has_changed=True) == ""


def test_a_pass_is_quoted_only_by_a_line_that_says_so() -> None:
    silent = summary(capped().run("pytest -q", "audited in the end: 5\nProcess exited with code 0"))
    assert (silent.outcome, silent.outcome_quote) == ("success", None)
    assert "audited" not in silent.narrative
    spoken = summary(capped().run("pytest -q", "2 passed in 0.1s"))
    assert spoken.outcome_quote == "2 passed in 0.1s"


@pytest.mark.parametrize("line", ["undefined", "…/sidepanel/App.tsx:386:15", '"error": {', "000"])
def test_a_word_or_a_place_is_no_reason_of_a_failure(line: str) -> None:
    failed = capped().run("npm run check", line, failed=True)
    assert line not in summary(failed.says("The totals are capped at ten, and the check fails.")).narrative


def test_what_is_said_beside_the_submission_is_the_report_of_a_harness_that_wants_a_call_in_each_turn() -> None:
    fixed = Session().user("The script `lamp.py` stops with a SyntaxError, mend it.").edit("lamp.py")
    ran = fixed.run("python lamp.py", "8.2")
    handed = ran.run("submit", "", text="The script prints 8.2 now. I will now submit the change.\n```\nsubmit\n```")
    arc = summary(handed)
    assert (arc.outcome, arc.outcome_reason) == ("success", "`python lamp.py` went through")
    assert "“The script prints 8.2 now”" in arc.narrative
