"""Whose words a summary quotes, and how much of them: the whole of a short request, and of a change what it was for."""

from __future__ import annotations

import pytest

from tests.engines.sessions import Session
from tests.engines.summaries import summary


def change_note(words: str) -> str:
    """The key turn of one edit, beside which the agent said `words`."""
    session = Session().user("Cap the totals of the shop at ten, for members and for guests.")
    session.call("Edit", {"file_path": "cap.py", "old_string": "limit", "new_string": "cap_of"}, "updated", text=words)
    (note,) = (each for each in summary(session).key_turns if "changes `cap.py`" in each.text)
    return note.text


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        ("I have what I need from it. I'll replace the limit by one cap.", "I'll replace the limit by one cap"),
        (
            "Now the change of the limits here. I'm adding `cap_of` for the guests.",
            "I'm adding `cap_of` for the guests",
        ),
        ("The guests' total is wrong: nothing caps it yet.", "The guests' total is wrong: nothing caps it yet"),
        ("I made a mistake in my previous response. I'll add the cap for both now.", "I'll add the cap for both now"),
    ],
)
def test_beside_a_change_the_sentence_is_quoted_that_says_what_it_was_for(words: str, quoted: str) -> None:
    assert change_note(words) == f"The agent changes `cap.py` and says: “{quoted}”"


@pytest.mark.parametrize(
    "words", ["The script for reproduction confirms it all.", "My apologies, I changed that in my previous response."]
)
def test_words_that_are_about_something_else_are_not_quoted_beside_a_change(words: str) -> None:
    assert change_note(words) == "The agent changes `cap.py`"


def test_a_request_of_a_few_sentences_is_quoted_whole() -> None:
    asked = "The totals of the shop run over. Cap them at ten, please. Members should still see what they saved."
    session = Session().user(asked).edit("cap.py").says("They are capped at ten now.")
    later = "The cap holds. But guests see it too. Can you show it to members only?"
    session.user(later).edit("page.py").says("Only members see it now.")
    narrative = summary(session).narrative
    assert f"The user asked: “{asked.rstrip('.')}” (T1)." in narrative
    assert f"Then the user asked: “{later}” (T5)." in narrative


def test_a_request_with_pasted_output_is_not_quoted_whole() -> None:
    asked = "Error: no such column total\n    at cap.py:3\n    at shop.py:9\n\nplease mend that in the shop"
    assert "at shop.py:9" not in summary(Session().user(asked).edit("cap.py").says("It is mended.")).narrative


def test_what_changed_something_is_named_before_what_only_fetched_a_page() -> None:
    session = Session().user("The shop's workload is stuck, find out why and mend it.")
    for page in "abcd":
        session.run(f"curl -s http://shop.test/{page}", f"page {page}\nends\nhere")
    session.run("kubectl scale deployment shop --replicas 2", "deployment.apps/shop scaled")
    session.run("curl -X POST http://shop.test/answer -d '{}'", "received").says("The workload runs again.")
    narrative = summary(session).narrative
    assert "`kubectl scale deployment shop --replicas 2` (T11" in narrative
    assert "`curl -X POST http://shop.test/answer -d {}` (T13: “received”)" in narrative


def test_what_is_said_to_a_customer_is_no_report_even_where_the_agent_looked_something_up() -> None:
    session = Session().user("I want to cancel the order of last week, it came too late for me.")
    session.call("get_order", {"order_id": "17"}, '{"state": "sent"}')
    session.says("I found your order. It was sent last week and it came on Monday. It cannot be cancelled. " * 3)
    assert summary(session).reported == []
    session = Session().user("Which of the three libraries is the smallest one today?")
    session.call("web_search", {"query": "sizes"}, "three libraries and their sizes")
    more = "\n".join(f"- The part of it with the number {at} has documents of its own, and a test." for at in range(9))
    session.says(f"The second library is the smallest one: it has nine modules, the others have more.\n\n{more}")
    assert summary(session).reported


def test_why_the_agent_declines_is_quoted_with_the_first_reason_of_its_list() -> None:
    session = Session().user("Please cancel my order of last week.").call("get_order", {"order_id": "17"}, "sent")
    session.says(
        "Unfortunately, I cannot cancel this order because:\n\n1. It was sent more than a week ago\n2. It is used"
    )
    assert "cancel this order because: It was sent more than a week ago" in summary(session).narrative


def test_an_answer_that_is_quoted_for_what_it_declines_is_not_quoted_twice() -> None:
    session = Session().user("Please cancel my order of last week.").call("get_order", {"order_id": "17"}, "sent")
    session.says("I understand that you want to cancel it. However, I cannot cancel an order that was sent.")
    session.user("Then please send me a second lamp of the same kind to the same place.")
    narrative = summary(session.call("place_order", {"item": "lamp"}, "ok").says("It is on its way.")).narrative
    assert narrative.count("cannot cancel an order that was sent") == 1


def test_a_condition_on_what_the_agent_can_do_is_quoted() -> None:
    session = Session().user("Please cancel my order of last week.").call("get_order", {"order_id": "17"}, "sent")
    session.says("As it was sent, I can only cancel the order if it was damaged on its way.")
    assert "I can only cancel the order if it was damaged on its way" in summary(session).narrative
