"""Look-ups and failures of a session, in a line each."""

from __future__ import annotations

from agent_wiki.pages.compare.courses import MOST_FAILURES, MOST_LOOK_UPS, failures, look_ups
from agent_wiki.trajectory.calls import paired_calls
from tests.engines.sessions import Session

_BOOKING = {"cabin": "economy", "payment": 100}


def test_look_ups_are_calls_of_reading_tools_with_their_arguments_each_once() -> None:
    session = (
        Session()
        .user("Book.")
        .call("get_user", {"user_id": "ann_7"}, "Ann")
        .call("get_user", {"user_id": "ann_7"}, "Ann")
    )
    session.call("get_fares", {"day": 3}, "Error: no such day", failed=True).call("book", _BOOKING, "booked")
    session.run("cat fares.txt", "1").call("think", {}, "").read("/home/dev/shop/a.py")
    assert look_ups(paired_calls(session.done()), "/home/dev/shop") == (
        "get_user(user_id=ann_7)",
        "Read(file_path=a.py)",
    )


def test_failures_have_the_call_the_line_and_how_often() -> None:
    session = Session().user("Book.").call("book", _BOOKING, "Error: amounts differ", failed=True)
    session.call("book", _BOOKING, "Error: amounts differ", failed=True).call("book", {"cabin": "economy"}, "booked")
    session.call("cancel", {"id": 4}, "The user doesn't want to proceed", failed=True, mark="rejected")
    session.run("cd /home/dev/shop/src && make test", "make: *** [test] Error 1", failed=True)
    assert failures(paired_calls(session.done()), "/home/dev/shop") == (
        "book(cabin=economy; payment=100) -> Error: amounts differ (2 times)",
        "cancel(id=4) -> The user doesn't want to proceed",
        "shell: make test -> make: * [test] Error 1",
    )


def test_both_are_bounded() -> None:
    session = Session().user("Book.")
    for number in range(60):
        session.call("get_fare", {"day": "x" * 900, "number": number}, "1")
        session.call("book", {"number": number, "text": "y" * 900}, f"Error: no {number} " + "z" * 900, failed=True)
    calls = paired_calls(session.done())
    assert len(failures(calls)) == MOST_FAILURES
    assert len(look_ups(calls)) <= MOST_LOOK_UPS
    assert max(map(len, (*failures(calls), *look_ups(calls)))) <= 400
