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


OPEN = "Command still running (session neat-mist, pid 8836). Use process (list/poll/log/write/kill) for follow-up."


def polled(action: str, result: str) -> Session:
    session = Session().user("push it").call("exec", {"command": "git push"}, OPEN)
    return session.call("process", {"action": action, "sessionId": "neat-mist"}, result)


@pytest.mark.parametrize(
    ("action", "result", "state"),
    [
        ("poll", "Everything up-to-date\n\nProcess exited with code 0.", "passed"),
        ("poll", "fatal: could not read Username\n\nProcess exited with code 1.", "failed"),
        ("poll", "(no new output)\n\nProcess still running.", "running"),
    ],
)
def test_a_poll_says_how_a_command_of_openclaw_ended(action: str, result: str, state: str) -> None:
    call, poll = paired_calls(polled(action, result).done())
    assert verdict_of(call).state == "running"
    assert (poll.continues, call.ended_by) == (call, poll)
    assert verdict_of(poll).state == state


def test_what_ends_a_command_is_no_poll_and_an_event_says_how_it_ended() -> None:
    call, kill = paired_calls(polled("kill", "Termination requested for session neat-mist.").done())
    assert (kill.continues, call.ended_by) == (None, None)
    event = "System: [2026-03-02 23:21:17 GMT+8] Exec failed (neat-mis, code 1) :: fatal: User cancelled\n\nAnd now?"
    call, _ = paired_calls(polled("kill", "Termination requested.").user(event).done())
    assert (call.result, call.is_error, call.result_turn) == (event.partition("] ")[2].partition("\n")[0], True, 6)
    assert verdict_of(call).state == "failed"
