"""What a summary says of failures and checks, and of what made them pass: false of recorded sessions once, true now."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.acts import acts_of
from agent_wiki.engines.offline.wording import error_words
from tests.engines.summaries import asked, summary
from tests.hangs import no_hang

WEB = "src/cart.ts(3,1): error TS2345: no such member"


def test_a_check_in_another_folder_settles_nothing() -> None:
    session = asked().run("cd server && npx tsc --noEmit", WEB, failed=True).edit("web/lamp.ts")
    elsewhere = session.run("cd ../web && npx tsc --noEmit", "").says("The totals are right now, as far as I see.")
    story = summary(elsewhere).narrative
    assert f"`tsc --noEmit` failed (T3): “{WEB}”" in story
    assert "it passed" not in story


def test_of_several_failures_the_last_is_quoted_before_what_made_it_pass_and_another_one_as_the_first() -> None:
    session = asked().run("npm run check", "sh: 1: lampc: command not found", failed=True)
    session.run("npm run check", "Found 2 errors.", failed=True).edit("src/cap.ts")
    story = summary(session.run("npm run check", "Checked 4 files. No errors.").says("Done with it.")).narrative
    first = "`npm run check` failed repeatedly (T3 to T5), first with “sh: 1: lampc: command not found”"
    assert f"{first}, the last time with “Found 2 errors”; it passed after changes to `src/cap.ts`" in story


def test_of_several_failures_alike_only_the_last_one_is_quoted() -> None:
    session = asked().run("npm run check", "error: 4 totals of the cart are wrong", failed=True)
    session.run("npm run check", "error: 1 total of the cart is wrong", failed=True).says("Not there yet.")
    assert "failed repeatedly (T3 to T5), the last time with “error: 1 total of the cart" in summary(session).narrative


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        ("AssertionError: 3 != 4", True),
        ("error: unexpected argument '-x'", False),
        ("make: command not found", False),
        ("error: connection refused", False),
    ],
)
def test_no_edit_made_a_check_pass_that_had_not_come_to_what_it_checks(line: str, *, is_named: bool) -> None:
    session = asked().run("make test", line, failed=True).edit("src/cap.py").run("make test", "4 passed")
    assert ("after changes to" in summary(session).narrative) is is_named


def test_what_only_ran_in_between_is_no_remedy_of_a_commit() -> None:
    session = asked().edit("cap.py").run("git commit -qm x", "fatal: could not write index", failed=True)
    session.run("git stash list", "").run("git commit -qm x", "[main 1a2b3c4] Cap them\n 1 file changed")
    story = summary(session).narrative
    assert "stash" not in story.partition("failed")[2].partition(".")[0]
    assert "it worked unchanged on a later try (T9)" in story


def test_a_tool_of_a_service_that_worked_later_is_not_said_to_have_worked_by_its_other_arguments() -> None:
    session = asked("put the files up").call("push_files", {"repo": "shop", "message": "all"}, "409 empty", failed=True)
    session.call("make_file", {"repo": "shop", "path": "README.md"}, "{}")
    story = summary(session.call("push_files", {"repo": "shop", "message": "all of it"}, "{}")).narrative
    assert "with other" not in story


def test_a_file_that_could_not_be_read_and_an_edit_that_was_made_in_the_end_are_no_troubles() -> None:
    session = asked().call("Read", {"file_path": "cap.py"}, "File content (9 MB) is too much", failed=True)
    session.call("Edit", {"file_path": "ci.yml", "old_string": "a"}, "hook: be careful", failed=True)
    story = summary(session.edit("ci.yml").says("It is mended.")).narrative
    assert "failed" not in story


def test_a_check_where_nothing_was_changed_did_not_pass_after_the_last_change() -> None:
    story = summary(asked("are the tests green?").run("pytest", "4 passed in 1s").says("All four pass.")).narrative
    assert "(T1). `pytest` passed (T3)" in story


def test_a_poll_that_was_blocked_ends_no_command() -> None:
    session = asked("run the jobs").run(
        "act -j lint", "Command running in background with ID: b43. Output in /t/b43.output"
    )
    session.run(
        "sleep 60 && tail /t/tasks/b43.output", "<tool_use_error>Blocked: sleep 60</tool_use_error>", failed=True
    )
    assert not any(act.has_worked for act in acts_of(session.done())[1:])


def test_what_a_policy_refused_the_user_did_not() -> None:
    arc = summary(asked().run("npm test", "rejected: blocked by policy", failed=True).edit("cap.py").says("Mended."))
    assert "refused" not in arc.narrative
    assert arc.dead_ends == []


def test_a_call_that_was_stopped_while_it_ran_was_not_refused() -> None:
    session = asked().call("Bash", {"command": "npm test"}, "aborted by user after 7s", failed=True, mark="rejected")
    assert "refused" not in summary(session.says("It was stopped.")).narrative


def test_what_a_tested_program_warns_of_fails_no_test() -> None:
    log = 'time=2026-04-08T17:29:44 level=WARN msg="order rejected" error="not enough lamps"\nok  \tshop/lamps\t3.1s'
    session = asked().edit("lamps.go").run("go test ./... 2>&1 | tail -80", log).says("All of it passes.")
    assert "`go test ./...` failed" not in summary(session).narrative


def test_a_call_that_was_cancelled_because_a_parallel_one_failed_is_no_failure() -> None:
    session = asked().run("npx tsc --noEmit", "Cancelled: parallel tool call Bash(cd server && …) errored", failed=True)
    assert "failed" not in summary(session.run("npx tsc --noEmit", "").says("It compiles.")).narrative


def test_what_was_tried_again_is_no_remedy_of_itself() -> None:
    session = asked().run("pytest tests -x", "E   NameError: name 'lamp' is not defined\n1 failed", failed=True)
    session.run("pip install lamps", "Successfully installed lamps")
    story = summary(session.run("pytest tests -x", "3 passed").says("The totals are right.")).narrative
    assert "it passed after `pip install lamps`" in story
    assert "and `pytest" not in story


def test_a_difference_is_not_named_where_the_machine_was_set_up_in_between() -> None:
    session = asked().run("dpkg -l lamps caps", "dpkg-query: no packages found matching lamps", failed=True)
    session.run("apt-get install -y lamps", "Setting up lamps")
    story = summary(session.run("dpkg -l lamps", "ii  lamps  1.0").says("They are there now.")).narrative
    assert "without `caps`" not in story


def test_a_module_of_python_is_called_by_its_name() -> None:
    session = asked("set the shop up").run("python3 -m venv env", "Error: ensurepip is not available", failed=True)
    story = summary(session.says("It could not be set up.")).narrative
    assert "inline" not in story
    assert "`python3 -m venv env` failed" in story


def test_a_command_is_named_with_the_sudo_that_its_failure_is_about() -> None:
    arc = summary(asked().run("sudo lampctl hang shop", "sudo: command not found", failed=True).says("No sudo."))
    assert "`sudo lampctl hang shop` failed" in arc.narrative


def test_a_check_before_a_change_of_prose_is_of_the_last_change_of_code() -> None:
    session = asked().edit("cap.py").edit("sum.py").run("pytest -q", "4 passed").edit("README.md", "a", "b")
    assert "After the last change of code `pytest -q` passed" in summary(session.says("Done.")).narrative


def test_a_difference_in_quotation_marks_is_not_laid_to_the_option_beside_it() -> None:
    session = asked().run('shelf read "C:/lamp.md', "unterminated string", failed=True)
    arc = summary(session.run("shelf read -x 'C:/lamp.md'", "a lamp").says("Read."))
    assert "with `-x`" not in arc.narrative


def test_work_that_a_subagent_did_after_the_checks_is_not_covered_by_them() -> None:
    session = asked().edit("cap.py").run("pytest -q", "4 passed")
    sent = {"description": "Simplify the totals", "subagent_type": "simplifier", "prompt": "simplify"}
    assert summary(session.says("Capped.")).outcome == "success"
    session.user("simplify it with the agent for that").call("Task", sent, "Simplified cap.py.").says(
        "It is simpler now."
    )
    assert summary(session).outcome == "partial"


def test_a_later_run_whose_output_is_filtered_has_not_worked() -> None:
    session = asked().run("lampctl hang shop", "E: no hook", failed=True)
    arc = summary(session.run("lampctl hang shop 2>&1 | grep -v hook", "").says("It hangs."))
    assert "on a later try" not in arc.narrative


def test_the_agent_s_own_mark_in_an_output_is_no_error() -> None:
    command = 'lampctl hang; echo "=== error after hanging ==="'
    arc = summary(asked().run(command, "Exit code 1\n=== error after hanging ===", failed=True).says("It hangs not."))
    assert "error after hanging ===”" not in arc.narrative


def test_a_setting_in_between_may_be_why_the_same_command_worked() -> None:
    session = asked().edit("cap.py").run("git commit -qm x", "fatal: unable to auto-detect email", failed=True)
    session.run("git config user.email ann@shop.example", "").run("git commit -qm x", "[main 1a2b3c4] Cap them")
    assert "unchanged" not in summary(session.says("Done.")).narrative


def test_a_command_in_a_story_keeps_its_address() -> None:
    arc = summary(asked().run("lampctl pull https://shop.example/lamps", "E: no lamp", failed=True).says("None."))
    assert "`lampctl pull https://shop.example/lamps`" in arc.narrative


def test_a_limit_that_was_set_to_see_a_check_fail_is_what_was_different() -> None:
    session = asked().edit("cap.py")
    session.run("UNIT_THRESHOLD=99 ./run_tests.sh", "unit coverage 93% is below threshold 99%\nexit 2", failed=True)
    story = summary(session.edit("run.sh").run("./run_tests.sh", "12 passed in 3 s").says("It is capped.")).narrative
    assert "it passed without `UNIT_THRESHOLD=99` (T" in story
    assert "passed after changes" not in story


def test_a_browser_that_was_installed_in_between_is_what_got_over_the_failure() -> None:
    session = asked().edit("cap.ts").run("npx playwright test", "Error: no executable", failed=True)
    session.run("npx playwright install chromium", "downloaded").run("npx playwright test", "3 passed (2s)")
    assert "it passed after `playwright install chromium` (T" in summary(session.says("Done.")).narrative


def test_of_a_script_that_ran_through_it_is_not_said_that_it_passed() -> None:
    session = asked().edit("send.mjs").run("node send.mjs", "Error: missing field", failed=True)
    story = summary(session.edit("send.mjs").run("node send.mjs", "received 0 of 5").says("Nothing arrives."))
    assert "it went through after changes to `send.mjs`" in story.narrative
    assert "passed after" not in story.narrative


def test_what_made_ready_what_is_pushed_is_what_got_over_the_failure() -> None:
    session = asked().edit("cap.py").run("git push", "error: failed to push some refs to 'shop'", failed=True)
    session.run("git pull --rebase", "Successfully rebased").run("ls", "cap.py").run("git push", "main -> main")
    assert "it worked after `git pull --rebase` (T" in summary(session.says("It is pushed.")).narrative


def test_what_npm_says_last_of_any_failure_is_not_why_it_failed() -> None:
    said = "npm error audit request failed: getaddrinfo ENOTFOUND registry.example\n"
    said += "npm error You can rerun the command with `--loglevel=verbose` to see the logs in your terminal"
    story = summary(asked().edit("cap.py").run("npm audit", said, failed=True).says("It is capped.")).narrative
    assert "ENOTFOUND" in story
    assert "loglevel" not in story


def test_of_a_chain_the_step_that_signs_the_error_is_blamed() -> None:
    said = "error: Your local changes to the following files would be overwritten by checkout:\n\tcart.py\nAborting"
    line = "git checkout lamps && mv a.py web/ || true && mv web/b.py ."
    story = summary(asked().run(line, said, failed=True).says("It is capped.")).narrative
    assert "`git checkout lamps` failed" in story


def test_a_pull_request_is_edited_only_where_its_address_is_printed() -> None:
    line = "gh pr edit 5 --add-reviewer kim 2>&1 | head -3"
    for said, is_done in (("GraphQL: Could not resolve user", False), ("https://example.com/shop/pull/5", True)):
        session = asked().edit("cap.py")
        session.call("Bash", {"command": line}, None)
        session.builder.tool(f"c{session.calls}", said)
        assert ("edited the pull request" in summary(session.says("It is capped.")).narrative) is is_done


def test_a_sign_at_the_end_of_a_failure_may_belong_to_the_word_before_it() -> None:
    said = "(eval):1: no matches found: shop:*"
    assert "no matches found: shop:*" in summary(asked().run("look shop:*", said, failed=True).says("No.")).narrative


def test_a_stop_by_the_user_names_what_was_under_way() -> None:
    session = asked().edit("cap.py").user("[Request interrupted by user]", mark="interrupt").user("go on")
    turns = summary(session.edit("cart.py").says("It is capped.")).key_turns
    assert any(note.text.startswith("The user stops the agent after `Edit cap.py`") for note in turns), turns


def test_a_line_of_signs_takes_no_time() -> None:
    with no_hang():
        for line in ("= " * 30_000 + "x", "Error: a " + "=* " * 20_000 + "b", "-" * 60_000 + " x"):
            error_words(line)


def test_a_test_that_was_deleted_was_not_mended_by_the_edits_beside_it() -> None:
    session = asked().run("npx vitest run", "FAIL test/cap.test.ts > cap > is ten\n 1 failed | 3 passed", failed=True)
    session.run("rm test/cap.test.ts", "").edit("src/cap.ts").run("npx vitest run", " Tests  3 passed (3)")
    assert "it passed after `test/cap.test.ts` was deleted (T" in summary(session.says("All pass.")).narrative


def test_of_what_pnpm_says_the_error_of_the_task_is_quoted() -> None:
    said = (
        "$ tsc --noEmit\nerror TS2688: Cannot find type definition file for 'node'.\n"
        "[ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL] @till/cap@0.0.1 typecheck: `tsc --noEmit`\nExit status 2"
    )
    story = summary(asked().run("pnpm -r typecheck", said, failed=True).says("I stop here.")).narrative
    assert "“error TS2688: Cannot find type definition file for 'node'" in story


def test_a_merge_that_a_commit_concluded_is_settled() -> None:
    conflict = "CONFLICT (content): Merge conflict in cap.py\nAutomatic merge failed; fix conflicts and then commit"
    session = asked().run("git merge origin/main", conflict, failed=True).edit("cap.py")
    session.run("git commit -am merge", "[main 1a2b3c4] merge").run("git push", "1a2b3c4..2b3c4d5  main -> main")
    arc = summary(session.says("It is merged."))
    assert "it was settled after changes to `cap.py`" in arc.narrative
    assert any("`git merge origin/main` is settled after" in each.text for each in arc.key_turns)


def test_what_a_subagent_did_in_between_is_named_beside_the_edits() -> None:
    session = asked().run("make test", "AssertionError: 3 != 4", failed=True).edit("src/cap.py")
    session.call("Task", {"description": "Fix the lamps", "prompt": "Mend them."}, "The lamps are mended.")
    story = summary(session.run("make test", "4 passed")).narrative
    assert "it passed after changes to `src/cap.py` and the work of a subagent" in story


@pytest.mark.parametrize(
    ("sent", "result"),
    [
        ({"subagent_type": "Explore", "description": "Look for the lamps"}, "They are in a.py."),
        ({"description": "Fix the lamps"}, "API Error: 529 overloaded"),
    ],
)
def test_a_subagent_that_looked_or_broke_off_mended_nothing(sent: dict[str, str], result: str) -> None:
    session = asked().run("make test", "AssertionError: 3 != 4", failed=True).call("Task", sent, result)
    assert "the work of a subagent" not in summary(session.run("make test", "4 passed")).narrative


def test_what_was_installed_between_a_failure_and_a_pass_is_named_beside_the_tests_that_were_changed() -> None:
    session = asked().run("pytest tests", "E   AttributeError: module 'src' has no attribute 'mail'", failed=True)
    session.edit("tests/test_mail.py").run("pip install -q smtp && pytest tests/mail", "4 passed")
    story = summary(session.run("pytest tests", "9 passed").says("All pass.")).narrative
    assert "it passed after changes to `tests/test_mail.py` and `pip install -q smtp`" in story
    assert "the tests alone" not in story


def test_the_command_within_a_script_that_pnpm_says_has_failed_settles_it_when_it_passes_by_itself() -> None:
    said = (
        "[ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL] @shop/mail@1.0.0 format:check: `oxfmt --check ./src ./test`\nExit status 1"
    )
    session = asked().edit("src/cap.ts").run("pnpm lint && pnpm format:check", f"$ oxlint\n{said}", failed=True)
    session.run("oxfmt ./src/cap.ts", "Finished in 15ms on 1 files.")
    passes = session.run("pnpm exec oxfmt --check ./src ./test", "All matched files use the correct format.")
    assert summary(passes.says("All green.")).outcome == "success"
    session = asked().edit("src/cap.ts").run("pnpm format:check", said, failed=True)
    session.run("pnpm exec oxfmt --check ./docs", "All matched files use the correct format.")
    assert summary(session.says("All green.")).outcome != "success", "it is narrower"


def test_a_check_that_passed_in_a_line_that_failed_later_on_is_named_by_itself() -> None:
    session = asked().edit("src/cap.ts").run("npm test && ./notify.sh", "9 passed\n./notify.sh: not found", failed=True)
    assert "`./notify.sh` passed" not in summary(session.says("Done.")).narrative


def test_another_action_of_a_tool_is_no_later_try() -> None:
    session = asked("look at the page of the shop")
    for _ in range(2):
        session.call("computer", {"action": "screenshot", "tab": 3}, "Error: the pane does not answer", failed=True)
    session.call("computer", {"action": "left_click", "tab": 3}, "clicked")
    assert "it worked later" not in summary(session.says("Clicked.")).narrative


def test_a_command_that_the_harness_refused_again_and_again_is_a_dead_end() -> None:
    session = asked()
    for text in ("All of it is done.", "All done.", "Done"):
        session.run(f"tracker comments add 7 --content '{text}'", "This command requires approval", failed=True)
    (note,) = summary(session.says("It could not be noted.")).dead_ends
    assert note.text.startswith("The harness refused `tracker comments add 7 --content Done` 3 times from T3 on")


def test_what_waits_for_a_command_edits_no_file() -> None:
    session = asked("find out how the totals of the shop are made")
    session.call("exec_command", {"cmd": "cat > notes.md <<'E'\nx\nE\nsleep 9"}, "Process running with session ID 7")
    session.call("write_stdin", {"session_id": 7, "chars": ""}, "Process exited with code 0\nOutput:\nready")
    assert "files that its calls do not name" not in summary(session.says("They are made in cart.py.")).narrative
