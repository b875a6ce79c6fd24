"""The clause with which the embedded engine says what an outcome rests on: it claims no more than was seen."""

from __future__ import annotations

from typing import get_args

import pytest

from agent_wiki.engines.offline.shown import Basis, Shown
from tests.engines.sessions import Session
from tests.engines.summaries import COMMITTED, capped, summary
from tests.hangs import no_hang

UNCHECKED = "nothing was run to check the last change (T2)"


@pytest.mark.parametrize(
    ("session", "reason"),
    [
        (capped().run("pytest -q", "2 passed"), "`pytest -q` passed after the last change of code"),
        (capped().run("pytest -q", "1 failed", failed=True), "the last run of `pytest -q` failed"),
        (capped().run("git commit -m cap", COMMITTED), "`git commit` went through"),
        (
            capped().says("The totals are capped at ten now."),
            UNCHECKED,
        ),
        (capped().says("They are capped.").user("Thanks, it works now."), "the user accepted it"),
        (
            Session().user("Hello there, can you see this?"),
            "neither a check nor the user says how it ended",
        ),
    ],
)
def test_an_outcome_says_what_it_rests_on(session: Session, reason: str) -> None:
    assert summary(session).outcome_reason == reason


def test_each_basis_but_a_recorded_verdict_has_its_words() -> None:
    bases = [each for each in get_args(Basis) if each != "recorded"]
    assert all(Shown("partial", basis).reason({"cap.py": 2}, []) for basis in bases)
    assert Shown("success", "recorded").reason({"cap.py": 2}, []) == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cap.py": 4, "README.md": 2}, "nothing was run to check the last change (T4)"),
        ({"cap.py": 4, "README.md": 6}, "nothing was run to check the last change of code (T4)"),
        ({"README.md": 4, "caps.json": 2}, "no check of what was last written (T4) was found"),
        ({}, "something was done or answered, and nothing was found that shows whether it holds"),
    ],
)
def test_of_documents_and_data_no_test_is_missed(changed: dict[str, int], said: str) -> None:
    assert Shown("partial", "unchecked").reason(changed, []) == said


def test_what_ran_after_the_last_change_is_named_and_not_denied() -> None:
    session = capped().run("git checkout -b cap", "Switched").call("run_experiment", {"seed": 3}, '{"reward": 14.2}')
    ran = "after the last change (T2) `run_experiment` ran (T7), and this engine cannot tell what that shows"
    printed = ran.replace("(T7)", '(T7) and printed “{"reward": 14.2}”')
    assert summary(session).outcome_reason == printed
    compiled = (
        "only `python -m py_compile cart.py` passed (T9) after the last change (T2), which says little of the request"
    )
    assert summary(session.run("python -m py_compile cart.py")).outcome_reason == compiled


def test_what_was_refused_did_not_run_and_what_failed_is_said_to() -> None:
    refused = capped().call("Bash", {"command": "shopctl sync"}, "The user doesn't want to.", mark="rejected")
    assert "ran" not in (summary(refused.says("It is capped.")).outcome_reason or "")
    failed = capped().run("shopctl sync", "shopctl: no such shop", failed=True).says("It is capped.")
    assert (
        summary(failed).outcome_reason
        == "after the last change (T2) `shopctl sync` failed (T5) and printed “shopctl: no such shop”"
    )


@pytest.mark.parametrize("command", ["./deploy.sh TRANSFER", "python RANSAC.py", "shopctl LAST"])
def test_the_words_of_a_command_stay_as_they_are(command: str) -> None:
    reason = summary(capped().run(command, "done").says("It is capped.")).outcome_reason
    assert reason is not None
    assert f"`{command}` ran (T5)" in reason


@pytest.mark.parametrize("tool", ["run_experiment", "Bash"])
def test_what_it_printed_last_is_quoted_since_a_reader_may_tell_more_from_it(tool: str) -> None:
    command = "shopctl verify" if tool == "Bash" else ""
    session = capped().call(tool, {"command": command}, "checking\nSTATUS: the cart is capped at ten")
    told = summary(session).outcome_reason
    assert told is not None
    assert "(T5) and printed “STATUS: the cart is capped at ten”, and this engine cannot tell" in told
    failed = capped().run("shopctl sync", "Traceback:\nKeyError: the lamp is not in the shop", failed=True)
    told = summary(failed.says("It is capped.")).outcome_reason
    assert told is not None
    assert told.endswith("`shopctl sync` failed (T5) and printed “KeyError: the lamp is not in the shop”")


def test_of_two_calls_of_one_turn_each_is_weighed_by_its_own_commands() -> None:
    session = capped()
    calls: list[tuple[str | None, str, object]] = [
        ("b1", "Bash", {"command": "python count.py"}),
        ("b2", "Bash", {"command": "ls -la"}),
    ]
    session.builder.assistant(None, calls=calls)
    session.builder.tool("b1", "34 lamps are capped", is_error=False)
    session.builder.tool("b2", "total 76", is_error=False)
    told = summary(session.says("It is capped.")).outcome_reason or ""
    assert "`python count.py` ran (T5) and printed “34 lamps are capped”" in told


@pytest.mark.parametrize("tool", ["ListAgents", "SendUserFile", "CronDelete"])
def test_a_tool_that_lists_or_sends_is_no_run_that_could_show_anything(tool: str) -> None:
    reason = summary(capped().call(tool, {"path": "cap.md"}, "done").says("It is capped.")).outcome_reason
    assert reason == "nothing was run to check the last change (T2)"


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("Results: 22 passed, 0 failed", "success"),
        ("All 12 tests passed", "success"),
        ("Results: 0 passed, 0 failed", "partial"),
        ("Results: 21 passed, 1 failed", "partial"),
    ],
)
def test_a_script_that_counts_its_tests_has_passed_when_none_of_them_failed(line: str, outcome: str) -> None:
    session = Session().user("Cap the totals.").write("script/test_cap.sh").edit("cart.py")
    session.run("bash script/test_cap.sh", f"ok 1\n{line}").says("It is capped.")
    assert summary(session).outcome == outcome


@pytest.mark.parametrize("command", ["pkill -f cap.py", "rm -rf build"])
def test_what_tidies_up_or_stops_something_is_no_run_that_could_show_anything(command: str) -> None:
    reason = summary(capped().run(command, "done").says("It is capped.")).outcome_reason
    assert reason == "nothing was run to check the last change (T2)"


@pytest.mark.parametrize("command", ["ln -s cap run; ./run", "git pull && ./run.sh", "open -a Simulator"])
def test_what_ran_beside_it_or_was_started_is_not_denied(command: str) -> None:
    reason = summary(capped().run(command, "done").says("It is capped.")).outcome_reason or ""
    assert "ran (T5)" in reason


def test_what_tidied_up_and_ran_something_in_one_line_is_not_denied() -> None:
    session = capped().run("rm -f totals.txt; bash status.sh; cat totals.txt", "2.12").says("It is capped.")
    reason = "no check is recognized in what was run after the last change (T2)"
    assert summary(session).outcome_reason == reason


def test_where_only_looks_followed_a_change_that_is_what_is_said() -> None:
    session = capped().run("rg capped docs", "docs/a.md: capped").says("All of the documents say so.")
    assert summary(session).outcome_reason == "only looks followed the last change (T2)"


def test_a_package_without_tests_has_passed_none() -> None:
    arc = summary(capped().run("go test ./...", "?   \tshop/cart\t[no test files]").says("It is capped."))
    assert arc.outcome == "partial"
    assert "passed" not in arc.narrative


def test_a_check_that_cannot_be_run_did_not_go_through() -> None:
    arc = summary(capped().run("pytest -q", "zsh:1: command not found: pytest", failed=True).says("It is capped."))
    assert "went through" not in str(arc.key_turns)
    assert "`pytest -q` cannot be run" in str(arc.key_turns)


def test_a_value_of_a_data_file_that_a_later_look_shows_was_set_as_asked() -> None:
    asked = Session().user("Update the model in .shop/config.json to the large one.")
    change = {"file_path": ".shop/config.json", "old_string": '"small"', "new_string": '"model": "large"'}
    asked.call("Edit", change, "ok")
    seen = summary(asked.run("cat .shop/config.json", '{\n  "model": "large"\n}').says("It is set."))
    assert (seen.outcome, seen.outcome_reason) == ("success", "what was written was read back")


def test_of_code_a_later_look_shows_no_effect() -> None:
    asked = Session().user("Update the model in shop.py to the large one.")
    asked.call("Edit", {"file_path": "shop.py", "old_string": "small", "new_string": "MODEL = 'large'"}, "ok")
    assert summary(asked.run("cat shop.py", "MODEL = 'large'").says("It is set.")).outcome == "partial"


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
    assert summary(session).outcome_reason == "`npm test` passed after the last change of code"


def test_a_file_that_was_changed_before_another_step_failed_was_changed() -> None:
    session = Session().user("Mend `shop/cap.py`, where the total is too high.").read("shop/cap.py")
    failed = (
        "Traceback (most recent call last):\n  File \"<stdin>\", line 1\nModuleNotFoundError: No module named 'erfa'"
    )
    session.run("sed -i 's/11/10/' shop/cap.py && python3 -c 'import shop'", failed, failed=True)
    arc = summary(session.says("I updated shop/cap.py so that the total is capped at ten, for all of its callers."))
    assert "The agent changed `shop/cap.py`" in arc.narrative
    assert arc.outcome != "success"


def test_a_deployment_that_is_reported_beside_its_only_call_is_read() -> None:
    words = "I have deployed the shop to production for you, it is live now."
    session = Session().user("Deploy the shop to production please")
    arc = summary(session.run("./deploy.sh && echo COMPLETE_TASK_AND_SUBMIT", "deployed", text=words))
    assert "“I have deployed the shop to production for you, it is live now”" in arc.narrative


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("I changed `forms.py` so that the submit button is disabled while saving.", "the submit button is disabled"),
        ("The submit button is disabled while the form is saved. I will now submit the change.", "form is saved”"),
    ],
)
def test_only_the_announcement_of_the_call_is_left_out(said: str, quoted: str) -> None:
    session = Session().user("Disable the button of `forms.py` while it saves.").edit("forms.py")
    assert quoted in summary(session.run("submit", "", text=said)).narrative


def test_long_words_beside_a_submission_are_read_in_linear_time() -> None:
    with no_hang():
        summary(capped().run("submit", "", text="submit " * 20_000 + "\n\n x"))


def test_a_package_without_tests_hides_no_failure() -> None:
    result = "ok  \tshop/a\t0.03s [no tests to run]\n--- FAIL: TestCap (0.00s)\n    b.go:9: got 1\nFAIL\tshop/b\t0.04s"
    failed = capped().run("go test -run TestCap ./...", result, failed=True)
    assert summary(failed.says("See above.")).outcome == "failure"


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q 2>&1 | grep error",
        "npx tsc --noEmit 2>&1 | grep error > errors.log",
        "npx tsc --noEmit 2>&1 | grep -c error",
        "npx tsc --noEmit 2>&1 | grep -v error",
        "cargo test 2>&1 | tail -3; ruff check . | grep error",
    ],
)
def test_silence_behind_a_search_says_nothing_of_what_was_not_searched_for(command: str) -> None:
    assert summary(capped().run(command, "(Bash completed with no output)").says("Capped.")).outcome == "partial"


def test_a_test_runner_that_serves_and_times_out_has_failed() -> None:
    result = (
        "Server listening on port 3000\nFAIL cart.test.ts\n    Error: timed out after 5000ms\nTests: 1 failed, 2 passed"
    )
    assert summary(capped().run("npm test", result, failed=True).says("See above.")).outcome == "failure"


def test_a_task_that_is_called_ci_is_one_that_fails() -> None:
    failed = "FAILED tests/test_cap.py::test_cap - assert 11 == 10"
    arc = summary(capped().run("make ci; npm run report", failed, failed=True).says("See above."))
    assert arc.outcome != "success"


def test_a_patch_that_failed_behind_a_change_of_the_folder_changed_nothing() -> None:
    patch = (
        "cd app && apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/cap.py\n@@\n-a\n+b\n*** End Patch\nEOF"
    )
    session = Session().user("Cap the totals.").run(patch, "Exit code 1\nerror: patch failed", failed=True)
    assert "changed `src/cap.py`" not in summary(session.says("It did not apply.")).narrative


def test_a_patch_that_only_deletes_is_a_change_after_which_nothing_was_checked() -> None:
    patch = {"input": "*** Begin Patch\n*** Delete File: src/old.py\n*** End Patch"}
    session = capped().run("pytest -q", "2 passed").call("apply_patch", patch, "Success. Updated the following files")
    assert summary(session.says("It is gone.")).outcome == "partial"
    alone = Session().user("Delete the old cap.").call("apply_patch", patch, "Success. Updated the following files")
    assert "deleted `src/old.py`" in summary(alone.says("It is gone.")).narrative
