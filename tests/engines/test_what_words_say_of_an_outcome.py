"""What stops, the user's words and the agent's last ones say of an outcome, and what they do not."""

from __future__ import annotations

import pytest

from agent_wiki.shell.result_lines import shows_success
from tests.engines.sessions import Session
from tests.engines.summaries import COMMITTED, capped, summary

UNCHECKED = "nothing was run to check the last change (T2)"


def test_a_request_that_was_stopped_before_it_was_begun_was_stopped() -> None:
    session = capped().says("The totals are capped at ten now.").user("Now also cap the discounts in src/discount.py.")
    stopped = summary(session.user("[Request interrupted by user]", "interrupt"))
    assert "The user stops the agent" in [note.text for note in stopped.key_turns]


def test_a_stop_of_what_the_agent_said_is_told() -> None:
    session = capped().says("The totals are capped at ten now.").user("Now also cap the discounts.")
    session.says("I will drop the table of discounts first.").user("[Request interrupted by user]", "interrupt")
    stopped = summary(session.user("Cap the discounts in src/discount.py.").edit("src/discount.py").says("Done."))
    assert "The user stops the agent" in [note.text for note in stopped.key_turns]


def test_a_request_that_was_only_typed_again_was_not_stopped() -> None:
    session = capped().says("The totals are capped at ten now.").user("Now also cap the discounts.")
    session.user("[Request interrupted by user]", "interrupt").user("Now also cap the discounts in src/discount.py.")
    stopped = summary(session.edit("src/discount.py").says("The discounts are capped."))
    assert not any("stops" in note.text for note in stopped.key_turns)


def test_where_documents_were_changed_after_the_code_more_than_looks_followed() -> None:
    session = capped().run("rg capped docs", "docs/a.md: capped").write("docs/caps.md").says("All of them say so.")
    reason = summary(session).outcome_reason
    assert reason == "nothing was run to check the last change of code (T2)"


@pytest.mark.parametrize("words", ["The page is blank again. Could you look at it?", "It is blank again!"])
def test_that_something_is_so_again_is_a_complaint(words: str) -> None:
    session = capped().run("pytest -q", "2 passed").says("The totals are capped.").user(words)
    assert summary(session.says("It is from the cache.")).outcome == "partial"


def test_a_word_that_is_an_error_is_quoted() -> None:
    failed = capped().run("npm run build", "Exit code 137\nKilled", failed=True)
    assert "failed (T5): “Killed”" in summary(failed.says("It was stopped.")).narrative


@pytest.mark.parametrize(
    "line", ["Not all required status checks pass", "Please make sure all the tests pass before it"]
)
def test_a_wish_is_no_pass(line: str) -> None:
    assert not shows_success(line)


def test_code_on_a_command_line_that_shows_something_is_no_success_of_an_edit() -> None:
    sized = capped().run("python3 - <<'E'\nprint(len('x'))\nE", "576").says("The size is 576 bytes.")
    assert summary(sized).outcome == "partial"


def test_a_failure_that_the_user_reports_last_is_what_unchecked_work_rests_on() -> None:
    session = (
        capped().says("The queue takes the totals now. Try it.").user("now it says Processed 0. Failed: 1., fix it?")
    )
    arc = summary(session.says("Which error does the queue show?"))
    assert (arc.outcome, arc.outcome_reason) == ("partial", "the user did not accept it")
    assert "Failed: 1" in str(arc.outcome_quote)


@pytest.mark.parametrize(
    "said", ["it no longer fails", "the error is gone", "all 3 failing tests are fixed", "no errors"]
)
def test_that_a_failure_is_gone_is_no_report_of_it(said: str) -> None:
    session = capped().says("The totals are capped. Try it.").user(said)
    assert summary(session.says("Good.")).outcome_reason != "the user did not accept it"


@pytest.mark.parametrize("words", ["perfekt", "merci", "ya funciona, gracias", "спасибо, работает", "成功了。"])
def test_praise_in_another_language_accepts_the_work(words: str) -> None:
    found = summary(capped().says("The totals are capped.").user(words))
    assert (found.outcome, found.outcome_reason) == ("success", "the user accepted it")


def test_a_subagent_that_was_sent_to_review_changes_nothing() -> None:
    for description, reason in (
        ("Review the changes of the totals", UNCHECKED),
        ("Fix what the review of the totals found", UNCHECKED.replace("T2", "T4")),
    ):
        sent = {"description": description, "prompt": "See src/cap.py."}
        session = capped().call("Task", sent, "All of it is sound now, and no total runs over.")
        assert summary(session.says("The totals are capped at ten now.")).outcome_reason == reason


def test_what_the_last_words_leave_open_is_quoted_as_a_sentence_and_is_no_result_of_the_check() -> None:
    session = (
        capped().run("pytest -q", "2 passed").says("The totals are capped. In the shop the build is still running.")
    )
    arc = summary(session)
    assert (arc.outcome, arc.outcome_quote) == ("partial", "In the shop the build is still running.")
    assert arc.key_turns[-1].text == "The agent says what is left open: “In the shop the build is still running”"


def test_a_file_that_was_deleted_after_the_last_change_is_no_look() -> None:
    session = Session().user("add a till to the shop").write("till.py").write("old.py").run("rm old.py", "")
    reason = summary(session.run("ls", "till.py").says("The till is there now.")).outcome_reason
    assert reason == "nothing was run to check the last change (T2)"


def test_what_a_line_with_two_checks_prints_is_not_said_of_the_first() -> None:
    arc = summary(capped().run("go build ./... && golangci-lint run ./...", "0 issues."))
    assert not any("go build" in each.text and "0 issues" in each.text for each in arc.key_turns)


def _retagged(reply: str, said: str = "fatal: tag '0.4.1' already exists") -> Session:
    session = (
        Session().user("Commit the totals and retag 0.4.1.").edit("src/cap.py").run("git commit -m cap", COMMITTED)
    )
    return session.run("git tag 0.4.1", said, failed=True).says(reply)


def test_a_commit_is_not_all_where_what_came_after_it_failed_and_the_agent_asks() -> None:
    assert summary(_retagged("The old tag is in the way. Shall I move it?")).outcome == "partial"
    assert summary(_retagged("Committed; the tag was there already.")).outcome == "success"
    of_pull = "a pull request for branch “cap” into branch “main” already exists"
    assert summary(_retagged("Anything else?", of_pull)).outcome == "success"
    other = Session().user("Commit the totals.").edit("src/cap.py").run("git commit -m cap", COMMITTED)
    other.run("pkill -f vite", "", failed=True).says("Committed. Anything else?")
    assert summary(other).outcome == "success"


def test_what_several_runs_of_a_line_printed_last_is_not_said_of_the_first() -> None:
    line = "node tests/a.test.js && node tests/b.test.js | grep Total"
    told = []
    for each in (line, line.partition(" &&")[0]):
        session = Session().user("Cap the totals.").write("tests/a.test.js").write("tests/b.test.js").edit("cart.js")
        arc = summary(session.run(each, "Total: 9 passed, 0 failed").says("They pass."))
        told += [note.text for note in arc.key_turns if note.turn == 9]
    assert told == ["`node tests/a.test.js` passes", "`node tests/a.test.js` passes: “Total: 9 passed, 0 failed”"]


def test_nobody_refuses_a_list_to_do() -> None:
    session = Session().user("Compress the two projects of this folder.")
    session.call("TodoWrite", {"todos": []}, "The user doesn't want this.", failed=True, mark="rejected")
    session.user("Each one on its own, please.").run("tar -czf a.tar.gz a", "").says("Both are compressed.")
    assert "TodoWrite" not in summary(session).narrative


@pytest.mark.parametrize(
    ("said", "outcome"), [("Don't change any other files.", "success"), ("They don't show.", "partial")]
)
def test_what_is_not_to_be_done_is_no_fault_and_what_does_not_happen_is(said: str, outcome: str) -> None:
    session = capped().run("pytest -q", "2 passed").says("Capped.")
    session.user(f"Could you also add the caps to the README? {said}").edit("README.md").says("Added.")
    assert summary(session).outcome == outcome
