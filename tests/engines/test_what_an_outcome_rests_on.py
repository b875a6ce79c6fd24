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
        (capped().run("pytest -q", "1 failed", failed=True), "the last run of `pytest -q` failed"),
        (capped().run("git commit -m cap", COMMITTED), "`git commit` went through"),
        (capped().says("The totals are capped at ten now."), "no test, build or lint of the last change was found"),
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


def test_a_change_after_a_subagent_s_work_is_the_last_one() -> None:
    task = {"description": "Write the caps", "prompt": "Implement the caps.", "subagent_type": "coder"}
    session = capped().call("Task", task, "Implemented.").run("pytest -q", "2 passed")
    assert summary(session).outcome == "success"
    assert summary(session.edit("src/cap.py").edit("src/cart.py").says("Capped.")).outcome == "partial"


@pytest.mark.parametrize("notice", ["Session limit reached ∙ resets 11pm", "You're out of extra usage · resets 6am"])
def test_a_notice_of_the_client_is_no_answer(notice: str) -> None:
    arc = summary(capped().says("The totals are capped at ten now.").user("And how do the caps work?").says(notice))
    assert (arc.outcome, arc.outcome_reason) == ("partial", "the run did not come to an end")
    assert "In its own words" not in arc.narrative


def test_a_menu_s_command_that_is_not_carried_out_leaves_no_answer() -> None:
    menu = "Hello! Ready to help, pick what is needed of the list and it will be written down clearly. " * 4
    session = Session().user("Act as the writer of the shop, and explain its documents.").read("a.md").read("b.md")
    arc = summary(session.says(menu).user("*audit-docs").says("It is not there yet."))
    assert arc.outcome != "success"
    assert "The user then ran `*audit-docs` (T7)" in arc.narrative


def test_a_push_is_forced_where_it_was_and_one_of_nothing_is_none() -> None:
    session = capped().run("git push --force", "+ 1a2b3c4...5d6e7f8 cap -> cap (forced update)").edit("src/cap.py")
    session.run("git push", "5d6e7f8..9a0b1c2 cap -> cap")
    assert "force-pushed (T5) and pushed (T9)" in summary(session).narrative
    idle = capped().run("git push", "Everything up-to-date").says("It is pushed.")
    assert "pushed (T" not in summary(idle).narrative


def test_to_ask_an_interpreter_for_its_version_is_no_script() -> None:
    arc = summary(capped().run("zsh -lc 'command -v node && node -v'", "/opt/node\nv20.11.1").says("Node is there."))
    assert arc.outcome == "partial"


def test_a_status_file_is_no_code_and_a_question_with_again_no_complaint() -> None:
    session = capped().run("npm test", "Tests  4 passed (4)").edit("/srv/_bmad-output/sprint-status.yaml")
    session.says("The totals are capped at ten.").user("and then i can do git add . again?").says("Yes, you can.")
    assert summary(session).outcome_reason == "`npm test` passed after the last change"


def test_a_file_that_was_changed_before_another_step_failed_was_changed() -> None:
    session = Session().user("Mend `shop/cap.py`, where the total is too high.").read("shop/cap.py")
    failed = (
        "Traceback (most recent call last):\n  File \"<stdin>\", line 1\nModuleNotFoundError: No module named 'erfa'"
    )
    session.run("sed -i 's/11/10/' shop/cap.py && python3 -c 'import shop'", failed, failed=True)
    arc = summary(session.says("I updated shop/cap.py so that the total is capped at ten, for all of its callers."))
    assert "It changed `shop/cap.py`" in arc.narrative
    assert arc.outcome != "success"
