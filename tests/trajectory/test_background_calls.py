"""Calls that go on in the background: a notice in a later turn says what came of them."""

from __future__ import annotations

import pytest

from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call, paired_calls
from tests.engines.outcomes import shown
from tests.engines.sessions import Session

STARTED = "Command running in background with ID: b1ab. Output is being written to: /t/tasks/b1ab.output"


def notice(status: str, summary: str, result: str = "") -> str:
    more = f"<result>{result}</result>\n" if result else ""
    head = "<task-notification>\n<task-id>b1ab</task-id>\n<tool-use-id>c1</tool-use-id>\n"
    return f"{head}<status>{status}</status>\n<summary>{summary}</summary>\n{more}</task-notification>"


def ended(session: Session, text: str) -> Call:
    call, *_ = paired_calls(session.user(text, "injected").done())
    return call


@pytest.mark.parametrize(
    ("status", "summary", "state"),
    [
        ("completed", 'Background command "Run the tests" completed (exit code 0)', "passed"),
        ("failed", 'Background command "Run the tests" failed with exit code 1', "failed"),
        ("killed", 'Background command "Run the tests" was stopped', "running"),
    ],
)
def test_a_notice_gives_a_command_its_exit_code(status: str, summary: str, state: str) -> None:
    session = Session().user("fix it").run("pytest", STARTED).says("I wait.")
    call = ended(session, notice(status, summary))
    assert verdict_of(call).state == state
    assert (call.result_turn, call.result) == ((5, summary) if state != "running" else (3, STARTED))


def test_a_check_that_failed_in_the_background_decides_the_outcome() -> None:
    session = Session().user("fix it").edit("a.py").run("pytest", STARTED)
    failed = notice("failed", "Background command failed with exit code 1").replace("c1", "c2")
    assert shown(session).outcome != "failure"
    assert shown(session.user(failed, "injected")).outcome == "failure"


def test_an_agent_in_the_background_has_its_report_for_a_result() -> None:
    session = Session().user("look").call("Agent", {"prompt": "look"}, "Async agent launched successfully.")
    call = ended(session, notice("completed", 'Agent "look" finished', "Three files are wrong."))
    assert (call.result, call.result_turn) == ("Three files are wrong.", 4)


def test_what_a_person_says_or_the_agent_has_read_is_no_notice() -> None:
    text = notice("failed", "Background command failed with exit code 1")
    session = Session().user("fix it").run("pytest", STARTED)
    assert paired_calls(session.user(f"It said: {text}").done())[0].result == STARTED
    session = Session().user("fix it").run("pytest", STARTED).call("BashOutput", {"bash_id": "b1ab"}, "2 passed")
    assert ended(session, text).result == STARTED
