"""The outcome comes from what the recording shows, never from the agent's claim."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.acts import acts_of
from agent_wiki.engines.offline.outcome import shown_outcome
from agent_wiki.engines.offline.requests import requests_of
from agent_wiki.engines.offline.shown import Shown
from agent_wiki.engines.offline.stretch import stretch_of
from agent_wiki.shell.result_lines import error_line
from tests.engines.sessions import Session


def shown(session: Session) -> Shown:
    trajectory = session.done()
    acts, requests = acts_of(trajectory), requests_of(trajectory)
    return shown_outcome(stretch_of(trajectory, acts, requests, 1, len(trajectory.messages)))


def test_a_recorded_verdict_comes_first() -> None:
    assert shown(Session(resolved=False).user("fix it").edit("a.py").run("pytest", "3 passed")).outcome == "failure"
    assert shown(Session(reward=1.0).user("fix it")).outcome == "success"
    assert shown(Session(reward=0.5).user("fix it")).outcome == "partial"
    assert shown(Session(reward=0.0).user("fix it")).basis == "recorded"


def test_the_last_check_after_the_last_edit_decides() -> None:
    session = (
        Session().user("fix it").run("pytest -q", "1 failed", failed=True).edit("a.py").run("pytest -q", "4 passed")
    )
    result = shown(session)
    assert (result.outcome, result.turn, result.quote) == ("success", 7, "4 passed")


def test_a_check_before_the_last_edit_shows_nothing() -> None:
    assert shown(Session().user("fix it").edit("a.py").run("pytest", "4 passed").edit("b.py")).outcome == "unknown"


def test_an_edit_of_prose_does_not_undo_a_check_of_code() -> None:
    session = Session().user("fix it").edit("a.py").edit("b.py").run("pytest", "4 passed").edit("README.md")
    assert shown(session).outcome == "success"


def test_the_agents_claim_is_no_evidence() -> None:
    session = Session().user("fix it").edit("a.py").says("Perfect! All tests pass and everything works.")
    assert shown(session).outcome == "unknown"


def test_one_check_passes_and_another_fails_is_partial() -> None:
    session = (
        Session().user("fix it").edit("a.py").run("pytest", "4 passed").run("ruff check .", "2 errors", failed=True)
    )
    result = shown(session)
    assert (result.outcome, result.quote) == ("partial", "2 errors")


def test_a_check_that_only_failed_is_a_failure() -> None:
    session = Session().user("fix it").edit("a.go").run("go test ./...", "--- FAIL: TestX (0.00s)\nFAIL", failed=True)
    assert shown(session).outcome == "failure"


def test_a_masked_failure_is_seen_in_the_text() -> None:
    session = Session().user("fix it").edit("a.py").run("pytest | tail -3", "1 failed, 2 passed in 0.1s")
    assert shown(session).outcome == "failure"


def test_a_runner_that_is_not_there_says_nothing_about_the_work() -> None:
    session = Session().user("fix it").edit("a.py").run("pytest", "bash: pytest: command not found", failed=True)
    assert shown(session).outcome == "unknown"


def test_a_reproduction_that_failed_and_then_ran_through_is_success() -> None:
    session = Session().user("fix the crash").write("repro.py").run("python repro.py", "ValueError: x", failed=True)
    session.edit("lib.py").run("python repro.py", "ok 3")
    assert shown(session).outcome == "success"


def test_a_script_that_never_failed_proves_nothing() -> None:
    session = Session().user("fix the crash").write("repro.py").edit("lib.py").run("python repro.py", "3")
    assert shown(session).outcome == "unknown"


def test_a_review_is_not_judged_by_the_checks_it_ran() -> None:
    session = Session().user("review the branch").read("a.go").run("go test ./...", "FAIL", failed=True)
    assert shown(session).outcome == "unknown"


def test_the_users_word_counts_when_nothing_came_after_it() -> None:
    accepted = Session().user("fix it").edit("a.py").says("Done.").user("works now, thanks!")
    assert (shown(accepted).outcome, shown(accepted).quote) == ("success", "works now, thanks!")
    refused = Session().user("fix it").edit("a.py").says("Done.").user("no, it is still broken")
    assert shown(refused).outcome == "failure"


def test_a_customers_thanks_show_nothing() -> None:
    session = (
        Session().user("book a flight").call("book_flight", {"to": "Oslo"}, "{}").says("Booked!").user("Thank you!")
    )
    assert shown(session).outcome == "unknown"


def test_a_push_that_was_asked_for_and_went_through_is_success() -> None:
    session = Session().user("bump the version").edit("package.json").says("Done.").user("commit and push")
    session.run("git commit -am bump && git push", "[main 0a1b2c3] bump\n 1 file changed")
    result = shown(session)
    assert (result.outcome, result.basis, result.quote) == ("success", "shipped", "[main 0a1b2c3] bump")


def test_a_commit_of_the_agents_own_accord_shows_nothing() -> None:
    session = Session().user("tidy the docs").edit("a.py").run("git commit -am tidy", "[main 0a1b2c3] tidy")
    assert shown(session).outcome == "unknown"


def test_a_file_that_was_asked_for_and_reads_back_is_success() -> None:
    session = Session().user("create notes.txt with a greeting").write("notes.txt", "hello there")
    assert shown(session.read("notes.txt", "1\thello there")).outcome == "success"


def test_a_run_that_was_cut_off_is_a_failure() -> None:
    assert shown(Session(exit_status="error_max_turns").user("fix it").read("a.py")).outcome == "failure"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Exit code 1\n<tool_use_error>Error: no such tool</tool_use_error>", "Error: no such tool"),
        ("Traceback (most recent call last):\n  File 'a'\n    x()\nKeyError: 'a'\n", "KeyError: 'a'"),
        ("[lint] ERROR task failed\n\na/b.go:3:1: x returns interface", "a/b.go:3:1: x returns interface"),
        ("building\nfatal: not a git repository", "fatal: not a git repository"),
        ("", ""),
    ],
)
def test_the_line_that_says_most_is_quoted(text: str, line: str) -> None:
    assert error_line(text) == line


def test_one_test_that_passes_does_not_answer_a_suite_that_failed() -> None:
    session = Session().user("fix it").edit("a.py").run("pytest", "1 failed", failed=True)
    assert shown(session.run("pytest tests/test_a.py -k total", "1 passed")).outcome == "partial"
    whole = Session().user("fix it").edit("a.py").run("pytest tests/test_a.py", "1 failed", failed=True)
    assert shown(whole.run("pytest -q", "9 passed")).outcome == "success"


@pytest.mark.parametrize("text", ["tidy the docs. do not commit.", "explain the push queue " * 30])
def test_a_word_about_commits_does_not_ask_for_one(text: str) -> None:
    session = Session().user(text).edit("a.py").run("git commit -am tidy", "[main 0a1b2c3] tidy")
    assert shown(session).outcome == "unknown"


@pytest.mark.parametrize("stash", ["git stash && pytest; git stash pop", "git stash; make test; git stash pop"])
def test_a_look_at_the_base_is_no_check_of_the_work(stash: str) -> None:
    session = Session().user("fix it").edit("a.py").run("pytest", "4 passed").run(stash, "2 failed", failed=True)
    assert shown(session).outcome == "success"


HIDDEN_TESTS = "<pr_description>The total is wrong.</pr_description> Fix it and submit."


def test_the_last_check_decides_also_where_a_grader_judges_elsewhere_and_nothing_else_does() -> None:
    result = shown(Session(exit_status="Submitted").user(HIDDEN_TESTS).edit("lib.py").run("pytest", "4 passed"))
    assert (result.outcome, result.basis) == ("success", "check")
    handed_over = shown(Session(exit_status="Submitted").user(HIDDEN_TESTS).edit("lib.py"))
    assert (handed_over.outcome, handed_over.basis) == ("unknown", "graded")


def test_a_failing_suite_is_a_failure_also_where_a_grader_decides() -> None:
    session = Session(exit_status="Submitted").user(HIDDEN_TESTS).edit("lib.py").run("pytest", "1 failed", failed=True)
    assert shown(session).outcome == "failure"


STUCK = "NAME   READY   STATUS   RESTARTS   AGE\nweb-6f7d9c5b4-x2x4z   0/1     Pending   0          9m"
HEALTHY = (
    "NAME                  READY   STATUS    RESTARTS   AGE\nweb-7d9fc6b5d8-abcde   1/1     Running   0          9s"
)
PATCH = "kubectl patch deployment web --type=json -p '[]'"


def cluster(before: str, after: str, change: str = PATCH) -> Shown:
    session = Session().user("web does not start, mend it").run("kubectl get pods", before)
    return shown(session.run(change, "deployment.apps/web patched").run("kubectl get pods", after))


def test_a_workload_that_was_stuck_and_runs_after_the_change_is_success() -> None:
    result = cluster(STUCK, HEALTHY)
    assert (result.outcome, result.basis, result.turn) == ("success", "cluster", 7)
    assert "web-7d9fc6b5d8-abcde" in (result.quote or "")
    assert cluster(STUCK, 'deployment "web" successfully rolled out').outcome == "success"


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (STUCK, STUCK, PATCH),  # still stuck
        (HEALTHY, HEALTHY, PATCH),  # nothing was wrong to see
        (STUCK, HEALTHY, PATCH + " --dry-run=client"),  # nothing was changed
        (STUCK, HEALTHY + "\ndb-0   0/1   CrashLoopBackOff   7   9m", PATCH),  # something else is
        (STUCK.replace("Pending", "ContainerCreating"), HEALTHY, PATCH),  # it was only starting
        (STUCK, HEALTHY.replace("web-", "shop-"), PATCH),  # another workload
    ],
)
def test_a_cluster_that_shows_no_change_for_the_better_shows_nothing(before: str, after: str, change: str) -> None:
    assert cluster(before, after, change).outcome == "unknown"


def test_a_clean_bill_of_the_language_server_is_a_check() -> None:
    tool = "mcp__ide__getDiagnostics"
    clean = Session().user("set it up").edit("a.yaml").call(tool, {"uri": "a.yaml"}, '[{"diagnostics": []}]')
    assert (shown(clean).outcome, shown(clean).quote) == ("success", '"diagnostics": []')
    bad = '[{"diagnostics": [{"severity": "Error", "message": "unknown key"}]}]'
    assert shown(Session().user("set it up").edit("a.yaml").call(tool, {"uri": "a.yaml"}, bad)).outcome == "failure"
    hint = bad.replace("Error", "Hint")
    assert shown(Session().user("set it up").edit("a.yaml").call(tool, {"uri": "a.yaml"}, hint)).outcome == "unknown"


def test_a_check_that_runs_on_in_the_background_has_no_verdict() -> None:
    text = "Command running in background with ID: b1"
    assert shown(Session().user("fix it").edit("a.py").run("pytest", text)).outcome == "unknown"


def test_an_exit_code_that_the_command_prints_is_seen_behind_a_pipe() -> None:
    piped = "make build 2>&1 | tail -2; echo exit=${PIPESTATUS[0]}"
    assert shown(Session().user("fix it").edit("a.c").run(piped, "linking\nexit=2")).outcome == "failure"
    assert shown(Session().user("fix it").edit("a.c").run(piped, "linking\nexit=0")).outcome == "success"
    assert shown(Session().user("fix it").edit("a.c").run("make build", "linking\nexit=2")).outcome == "success"


def test_what_is_pushed_on_request_after_a_failing_check_is_accepted() -> None:
    session = Session().user("fix it").edit("a.py").run("ruff check", "2 errors", failed=True).says("Two left.")
    pushed = session.user("push it anyway").run("git push", "   0a1b2c3..4d5e6f7  main -> main")
    assert (shown(pushed).outcome, shown(pushed).basis) == ("success", "shipped")
    asked_before = Session().user("fix it and push").edit("a.py").run("ruff check", "2 errors", failed=True)
    assert shown(asked_before.run("git push", "   0a1b2c3..4d5e6f7  main -> main")).outcome == "failure"


def test_ship_it_is_shown_by_what_went_out() -> None:
    session = Session().user("write the notes").edit("NOTES.md").says("Done.").user("ship it")
    result = shown(session.run("git commit -am notes && git push", "[main 0a1b2c3] notes\n 1 file changed"))
    assert (result.basis, result.quote) == ("shipped", "[main 0a1b2c3] notes")


def test_an_error_in_place_of_an_answer_is_a_failure() -> None:
    cut_off = Session().user("fix it").read("a.py").says("API Error: 529 overloaded_error")
    assert (shown(cut_off).outcome, shown(cut_off).quote) == ("failure", "API Error: 529 overloaded_error")
    told = Session().user("what was it?").read("a.log").says("The log ends with an API Error of the gateway.")
    assert shown(told).outcome == "unknown"


def test_a_file_that_the_request_describes_may_be_written_by_a_shell() -> None:
    session = Session().user("make a colour file in the docs").run("printf 'Warm red\\n' > docs/colour.md")
    assert shown(session.run("cat docs/colour.md", "Warm red")).outcome == "success"
    other = Session().user("make a colour file in the docs").run("printf 'Warm red\\n' > notes/todo.md")
    assert shown(other.run("cat notes/todo.md", "Warm red")).outcome == "unknown"
    asked_why = Session().user("why does colour in docs fail?").run("printf 'Warm red\\n' > docs/colour.md")
    assert shown(asked_why.run("cat docs/colour.md", "Warm red")).outcome == "unknown"


INLINE = """node - <<'EOF'
const text = require('fs').readFileSync('guide.md', 'utf8')
if (!text.includes('charts')) throw new Error('no charts')
console.log('guide ok')
{}EOF"""


def test_inline_code_that_failed_and_passes_with_a_line_more_is_the_same_check() -> None:
    session = Session().user("describe the charts").run(INLINE.format(""), "Error: no charts", failed=True)
    session.edit("guide.md")
    longer = INLINE.format("console.log('length', text.length)\n")
    assert shown(session.run(longer, "guide ok\nlength 9")).outcome == "success"
    other = Session().user("describe the charts").run(INLINE.format(""), "Error: no charts", failed=True)
    assert shown(other.edit("guide.md").run("node -e 'console.log(1 + 1)'", "2")).outcome == "unknown"


def test_a_separate_request_after_a_report_takes_the_work_as_it_is() -> None:
    trajectory = Session().user("rewrite the intro").edit("README.md").says("Done.").user("who owns CI?").done()
    acts, requests = acts_of(trajectory), requests_of(trajectory)
    result = shown_outcome(stretch_of(trajectory, acts, requests, 1, 4))
    assert (result.outcome, result.basis, result.turn) == ("success", "moved-on", 4)
    objected = Session().user("rewrite the intro").edit("README.md").says("Done.").user("no, that is wrong").done()
    acts, requests = acts_of(objected), requests_of(objected)
    assert shown_outcome(stretch_of(objected, acts, requests, 1, 4)).outcome == "unknown"


REVIEW = "The parser is sound. " + "Two branches of it never run, and one of them hides an error of the reader. " * 4


def looked(request: str = "review the parser") -> Session:
    return Session().user(request).read("parser.py").read("reader.py")


def test_a_review_that_rests_on_looks_is_success_by_its_delivery() -> None:
    result = shown(looked().says(REVIEW))
    assert (result.outcome, result.basis, result.turn) == ("success", "delivered", 6)
    assert result.quote
    assert REVIEW.startswith(result.quote)


@pytest.mark.parametrize(
    "session",
    [
        Session().user("why is the parser slow?").says(REVIEW),
        looked("speed up the parser").says(REVIEW),
        looked().says("It is fine."),
        looked().says(REVIEW).read("tests.py"),
        looked().says(REVIEW).user("no, I meant the other parser").read("other.py").says(REVIEW),
    ],
)
def test_words_are_no_delivery_from_memory_for_work_in_short_or_with_the_end_missing(session: Session) -> None:
    assert shown(session).outcome == "unknown"


def test_an_answer_that_rests_on_logs_which_were_fetched_into_a_temporary_folder_is_delivered() -> None:
    result = shown(looked().run("gh run view --log > /tmp/ci/run.log", "").says(REVIEW))
    assert (result.outcome, result.basis) == ("success", "delivered")


def test_a_document_that_was_written_is_delivered_and_code_is_not() -> None:
    assert shown(Session().user("write the plan").write("plan.md").says(REVIEW)).outcome == "success"
    assert shown(Session().user("write the plan").write("plan.py").says(REVIEW)).outcome == "unknown"


def test_a_document_needs_no_long_report() -> None:
    written = Session().user("review the branch").write("findings.md")
    assert shown(written.says("The six findings are in findings.md.")).outcome == "success"
    assert shown(Session().user("review the branch").write("findings.md").says("Done.")).outcome == "unknown"


def test_an_edit_in_a_temporary_folder_does_not_undo_a_check() -> None:
    tried = "cd /tmp && mkdir -p shop && cd shop && echo 1 > current && cart show"
    session = Session().user("fix it").edit("a.py").run("pytest", "4 passed")
    assert shown(session.run(tried, "1")).outcome == "success"
    session = Session().user("fix it").edit("a.py").run("pytest", "4 passed")
    assert shown(session.run(tried.replace("/tmp", "src"), "1")).outcome == "unknown"
    work = Session().user("fix it").edit("a.py").run("pytest", "4 passed").run("cd /tmp/shop && sed -i s/a/b/ cart.py")
    assert shown(work).outcome == "unknown"  # the shop itself lies there


def test_an_open_question_and_a_consent_are_no_objection() -> None:
    session = looked("find out why the build stopped").says(REVIEW)
    asked = shown(session.user("is there a reason for two files instead of one").says("No strong one."))
    assert asked.outcome == "success"
    session = looked().says(REVIEW)
    assert shown(session.user("actually i can live with that").says("Good.")).outcome == "success"


def test_a_push_that_was_refused_at_the_end_is_a_failure() -> None:
    refused = " ! [remote rejected] main -> main (rule violations)"
    session = Session().user("change the author of the last commits and push them")
    session.run("git rebase --exec 'git commit --amend' HEAD~2", "done").run("git push --force", refused, failed=True)
    result = shown(session.says("The server forbids it."))
    assert (result.outcome, result.basis, result.quote) == ("failure", "refused", refused.strip())
    session.run("git push origin author-fix", "* [new branch] author-fix -> author-fix")
    assert shown(session).basis == "shipped"


def stopped(session: Session) -> Shown:
    session.call("Bash", {"command": "search it"}, "The user doesn't want to proceed", failed=True, mark="rejected")
    return shown(session.user("[Request interrupted by user for tool use]", "interrupt"))


def test_a_stop_by_the_user_leaves_what_was_done_as_partial() -> None:
    assert stopped(Session().user("write the plan").write("plan.md")).outcome == "partial"
    assert stopped(looked().says(REVIEW).user("and what is this session's id?")).outcome == "partial"
    assert stopped(Session().user("find it").run("search it", "no remote", failed=True)).outcome == "failure"
    assert stopped(Session().user("find it").run("search --version", "2.1")).outcome == "unknown"


def test_a_last_change_that_was_refused_and_only_talked_about_leaves_the_work_partial() -> None:
    refused = "The user doesn't want to proceed with this tool use. The user said: why two locks?"
    session = Session().user("fix the race").edit("a.py")
    session.call("Edit", {"file_path": "b.py"}, refused, failed=True, mark="rejected").says("One for each reader.")
    assert (shown(session).outcome, shown(session).basis) == ("partial", "stopped")
    assert shown(session.edit("b.py")).outcome == "unknown"
    nothing = Session().user("why does it race?").read("a.py")
    nothing.call("Edit", {"file_path": "b.py"}, refused, failed=True, mark="rejected").says("One for each reader.")
    assert shown(nothing).outcome == "unknown"


def test_tests_that_ran_after_they_were_written_need_not_run_again_for_a_build_to_count() -> None:
    written = Session().user("fix it").edit("tests/test_a.py")
    assert shown(written.run("pytest", "4 passed").edit("a.go").run("go build ./...", "")).outcome == "success"
    unrun = Session().user("fix it").edit("tests/test_a.py").edit("a.go").run("go build ./...", "")
    assert shown(unrun).outcome == "unknown"


def test_a_stop_at_something_more_leaves_a_check_that_passed() -> None:
    assert stopped(Session().user("fix it").edit("a.py").run("pytest", "4 passed")).outcome == "success"


def test_of_a_chain_each_check_has_its_own_verdict_and_a_fixing_form_answers_it() -> None:
    session = Session().user("fix it").edit("a.ts")
    session.run("bun run test && bun run lint", "12 pass\n0 fail\nerror: script lint exited with code 1", failed=True)
    assert shown(session).outcome == "partial"
    assert shown(session.run("bun run lint:fix", "Checked 9 files. Fixed 1 file.")).outcome == "success"


def test_the_count_of_a_test_runner_outranks_what_was_logged_before_it() -> None:
    log = "[Limiter] Task 2 failed: 84\n" + "ok line\n" * 8 + " 12 pass\n 0 fail\nRan 12 tests."
    session = Session().user("fix it").edit("a.ts").run("bun run test", log)
    assert shown(session).outcome == "success"


@pytest.mark.parametrize(
    "check", ["cargo fmt --all --check", "dart analyze lib", "prettier --check src", "npm.cmd run -w api test"]
)
def test_what_compares_analyzes_or_runs_a_script_of_tests_is_a_check(check: str) -> None:
    session = Session().user("fix it").edit("a.rs").run(check, "Diff in a.rs:5:", failed=True).edit("a.rs")
    assert shown(session.run(check)).outcome == "success"


def test_what_is_pushed_after_the_last_change_is_shown_by_that() -> None:
    pushed = Session().user("document the flag in the repository").edit("main.py").run("git push", "a1b2..c3d4 main")
    assert (shown(pushed).outcome, shown(pushed).basis) == ("success", "shipped")
    assert shown(pushed.edit("main.py")).outcome == "unknown"
    committed = Session().user("document the flag in the repository").edit("main.py").run("git commit -m x")
    assert shown(committed).outcome == "unknown"
    left = Session().user("document the flag").edit("main.py").run("git push").user("and now rename the flag")
    assert shown(left).outcome == "unknown"


def undone(words: str) -> Session:
    session = Session().user("make the first level a game").edit("level.ts").run("npm test", "4 passed").says("Done.")
    return session.user(words).run("git checkout -- .").run("npm test", "4 passed")


@pytest.mark.parametrize(("changes", "outcome"), [(1, "failure"), (2, "partial")])
def test_what_the_user_took_back_without_a_word_is_no_success(changes: int, outcome: str) -> None:
    session = Session().user("make the buttons black")
    for change in range(changes):
        session.edit(f"cart{change}.py")
    session.says("Done.").user("/undo", mark="injected").user("Removed: 761ec31 fix: black buttons", mark="injected")
    assert (shown(session).outcome, shown(session).basis, shown(session).quote) == (outcome, "reverted", "/undo")


def test_what_the_user_had_reverted_is_no_success() -> None:
    result = shown(undone("uh, revert any changes you have"))
    assert (result.outcome, result.basis, result.turn) == ("partial", "reverted", 7)
    assert shown(undone("don't revert all changes, only show them")).outcome == "success"
    again = undone("revert all changes").user("now build it with doors").edit("b.ts").run("npm test", "4 passed")
    assert shown(again).outcome == "success"


def test_one_file_read_back_says_nothing_of_the_others() -> None:
    session = (
        Session().user("create the file main.php of a shop").write("main.php", "<?php\n").write("cart.php", "<?php\n")
    )
    assert shown(session.read("main.php", "1 <?php")).outcome == "unknown"


def test_a_document_is_shown_by_the_answer_after_its_last_form() -> None:
    session = looked("summarize what is there").says(f"All is read. {REVIEW}").user("now write the report as report.md")
    result = shown(session.write("report.md").says(f"Written. {REVIEW}"[:400]))
    assert (result.basis, result.turn) == ("delivered", len(session.done().messages))


@pytest.mark.parametrize(
    "check",
    [
        "docker exec shop bash run_tests.sh 2>&1 | tail -40",
        "docker compose -f ci.yml exec -T -e MODE=test web npx vitest run | tail -8",
        'docker compose exec web sh -c "cd /srv/web && npx vitest run 2>&1" | tail -8',
        "cd web && npx hardhat test 2>&1",
        "docker run --rm --network shop-net shop-tests | tail -8",
    ],
)
def test_a_check_in_a_container_is_a_check(check: str) -> None:
    session = Session().user("mend the cart").edit("cart.ts").run(check, "Tests  74 passed (74)")
    assert (shown(session).outcome, shown(session).basis) == ("success", "check")
    coloured = "\x1b[2m Tests \x1b[22m \x1b[1m\x1b[31m56 failed\x1b[39m | \x1b[32m18 passed\x1b[39m (74)"
    assert shown(Session().user("mend the cart").edit("cart.ts").run(check, coloured)).outcome == "failure"


def test_a_command_in_a_container_that_is_no_check_shows_nothing() -> None:
    for command in (
        "docker compose run --rm e2e",
        "docker exec db psql -c 'select 1'",
        "docker run --network shop-tests db",
    ):
        assert shown(Session().user("mend it").edit("cart.ts").run(command, "1 row")).outcome == "unknown"


def test_the_name_of_a_test_that_passed_or_was_skipped_shows_no_failure() -> None:
    listed = "  ✓  75 [web] › lockout.spec.ts › 5 failures lock the account (1.0s)\n"
    listed += "  -  76 [web] › lockout.spec.ts › 5 failures show a countdown\n  1 skipped\n  80 passed (1.1m)"
    session = Session().user("mend it").edit("login.ts").run("bash run_tests.sh 2>&1 | tail -50", listed)
    assert shown(session).outcome == "success"


@pytest.mark.parametrize("mark", ["x ", "✘"])
def test_a_list_that_was_searched_for_failed_tests_shows_them(mark: str) -> None:
    listed = f"  ok  1 [web] › login.spec.ts › opens (450ms)\n  {mark}  7 [web] › login.spec.ts › says no (361ms)"
    session = Session().user("mend it").edit("login.ts")
    searched = session.run('npx playwright test 2>&1 | grep -E "(ok|x )" | head -60', listed)
    assert shown(searched).outcome != "success"


@pytest.mark.parametrize(
    "following",
    [
        "now run the tests with docker",
        "Recheck results of your changes: High: the token is stored in the clear",
        "is the storage implemented completely?",
    ],
)
def test_a_next_request_that_is_about_what_was_done_does_not_accept_it(following: str) -> None:
    trajectory = Session().user("store the token").edit("token.ts").says("Done.").user(following).done()
    acts, requests = acts_of(trajectory), requests_of(trajectory)
    assert shown_outcome(stretch_of(trajectory, acts, requests, 1, 4)).outcome == "unknown"


def test_an_error_in_place_of_an_answer_leaves_a_check_that_passed_as_partial() -> None:
    session = Session().user("write and deploy it").edit("a.ts").run("npm test", "4 passed").edit("b.ts")
    limit = "You've hit your limit · resets 1am"
    assert shown(session.user("now deploy it").says(limit)).outcome == "partial"


def test_a_push_counts_also_where_a_look_at_the_server_follows() -> None:
    pushed = Session().user("research it").edit("index.html").run("git push", "   29d68a4..6a29cd9  main -> main")
    look = pushed.run("gh api repos/o/r/pages/builds -X POST 2>&1 | cat", "queued")
    assert (shown(look).outcome, shown(look).basis) == ("success", "shipped")
    assert shown(look.run("git commit -m more", "[main 6a29cda] more")).basis != "shipped"


def test_where_the_tests_are_what_was_asked_for_they_decide_without_a_change() -> None:
    asked = "make sure that all tests are green in the container"
    passed = Session().user(asked).run("docker compose exec -T api npx vitest run", "Tests  56 passed (56)")
    assert (shown(passed).outcome, shown(passed).basis) == ("success", "check")
    review = Session().user("what is wrong with the cart?").run("npx vitest run", "Tests  56 passed (56)")
    assert shown(review).outcome == "unknown"


def test_that_it_compiles_shows_nothing_where_tests_were_written_and_not_run() -> None:
    def built(path: str, check: str) -> str:
        return shown(Session().user("fix it and add a test").edit("a.go").edit(path).run(check, "ok")).outcome

    assert built("a_test.go", "go vet ./...") == built("src/__tests__/a.ts", "npx tsc --noEmit") == "unknown"
    assert built("b.go", "go vet ./...") == built("a_test.go", "go test ./...") == "success"


def test_the_answer_of_a_run_whose_prompt_is_not_recorded_is_delivered_where_nothing_was_changed() -> None:
    def review(status: str, *, edited: bool = False) -> Shown:
        session = Session(exit_status=status).run("git log -3", "a").run("git show a", "b")
        return shown((session.edit("a.py") if edited else session).says(REVIEW))

    assert (review("turn.completed").outcome, review("turn.completed").basis) == ("success", "delivered")
    assert review("").outcome == review("turn.completed", edited=True).outcome == "unknown"


def test_edits_that_wait_for_a_permission_that_never_comes_are_a_failure() -> None:
    refusal = "Claude requested permissions to edit src/cart.py, but you haven't granted it yet."
    edit = {"file_path": "src/cart.py", "old_string": "a", "new_string": "b"}
    session = Session().user("go ahead with the change").read("src/cart.py").call("Edit", edit, refusal, failed=True)
    outcome = shown(session.says("I need your permission to edit the file."))
    assert (outcome.outcome, outcome.basis, outcome.quote) == ("failure", "not-allowed", refusal[7:-1])


def test_an_entry_for_git_to_ignore_does_not_undo_a_check() -> None:
    session = Session().user("fix the total").edit("src/cart.py").edit("src/a.py").run("pytest tests", "3 passed in 1s")
    assert shown(session.edit(".gitignore").says("Done.")).outcome == "success"


@pytest.mark.parametrize(("beside", "outcome"), [("docs/status.yaml", "success"), ("deploy/app.yaml", "unknown")])
def test_a_document_is_delivered_with_a_list_that_lies_beside_it(beside: str, outcome: str) -> None:
    session = Session().user("write the story of the cart").write("docs/cart.md", "# Cart").edit(beside)
    said = "The story of the cart is written: it has five chapters and names what is to be done next. " * 3
    assert shown(session.says(said)).outcome == outcome


TASK = "Put the query into total.sql."


def test_a_file_is_read_back_that_a_task_names_which_was_handed_over_as_a_file() -> None:
    session = Session(exit_status="Submitted").user("Solve the issue in /shop/TASK.md: make what it asks for.")
    session.run("cat /shop/TASK.md", TASK).write("total.sql", "select sum(price) from carts")
    result = shown(session.run("cat total.sql", "select sum(price) from carts"))
    assert (result.outcome, result.basis) == ("success", "read-back")
    other = Session().user("Solve the issue in /shop/TASK.md: make what it asks for.").run("cat notes.md", TASK)
    other.write("total.sql", "select sum(price) from carts")
    assert shown(other.run("cat total.sql", "select sum(price) from carts")).outcome == "unknown"


def test_a_push_that_the_recording_ends_with_leaves_the_work_partial() -> None:
    session = Session().user("build the shop").edit("shop.py").call("Bash", {"command": "git push --force"}, None)
    asked = Session().user("push").call("Bash", {"command": "git push --force"}, None)
    assert (shown(session).outcome, shown(asked).outcome) == ("partial", "unknown")


def test_files_that_a_tool_pushes_are_shipped() -> None:
    session = Session().user("build the shop").edit("shop.py").call("mcp__github__push_files", {"files": []}, "{}")
    assert (shown(session).outcome, shown(session).basis) == ("success", "shipped")


@pytest.mark.parametrize(("code", "outcome"), [("0", "success"), ("1", "failure")])
def test_a_harness_that_writes_the_exit_code_as_rc_is_understood(code: str, outcome: str) -> None:
    session = Session().user("fix it").edit("pom.xml").call("execute_bash", {"command": "mvn -q test"}, None)
    session.builder.tool(f"c{session.calls}", f"rc={code}\n")
    assert shown(session).outcome == outcome


def test_a_commit_through_a_program_that_shortens_what_is_printed_is_one() -> None:
    session = Session().user("fix it").edit("a.py").run("rtk pytest", "1 failed", failed=True).user("commit")
    assert shown(session.run("rtk git commit -m x", "ok")).outcome == "success"


def served(order: str = "W21", *, failed: bool = False) -> Session:
    session = Session().user("The customer wants order W21-66 sent to 5 Maple Drive and has agreed to it.")
    session.call("get_order", {"id": "W21-66"}, "{}")
    return session.call("change_address", {"order": "W21-66"}, f"{{'order': '{order}-66'}}", failed=failed)


def test_what_a_service_took_of_one_whole_request_is_success() -> None:
    result = shown(served().says("Order W21-66 goes to 5 Maple Drive."))
    assert (result.outcome, result.basis, result.turn) == ("success", "served", 5)


@pytest.mark.parametrize(
    "session",
    [
        served(),  # nothing was reported
        served(order="X").says("Order W21-66 goes to 5 Maple Drive."),  # the answer is about something else
        served(failed=True).says("It cannot be sent there."),
        served().says("Done.").user("And the other one?").says("Which one?"),  # a conversation
        served().edit("a.py").says("Order W21-66 goes to 5 Maple Drive."),  # more than the service can show
    ],
)
def test_a_service_shows_nothing_of_a_conversation_a_refusal_or_other_work(session: Session) -> None:
    assert shown(session).outcome == "unknown"


@pytest.mark.parametrize(
    "said", ["All done. Test it now: open the page.", "The filter is in; I couldn't run the tests."]
)
def test_what_the_agent_itself_leaves_open_makes_unchecked_work_partial(said: str) -> None:
    result = shown(Session().user("add the filter").edit("shop.js").says(said))
    assert (result.outcome, result.basis) == ("partial", "left-open")
    assert (
        shown(Session().user("add the filter").edit("shop.js").run("npm test", "4 passed").says(said)).outcome
        == "success"
    )
    assert shown(Session().user("add the filter").edit("shop.js").says("The filter is in.")).outcome == "unknown"
    assert shown(Session().user("add the filter").read("shop.js").says(said)).outcome == "unknown"
