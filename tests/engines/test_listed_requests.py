"""The list of what the user asked for: complete, in order, each with the person's own words."""

from __future__ import annotations

from agent_wiki.stages.summarize import MOST_REQUESTS
from tests.engines.sessions import Session
from tests.engines.summaries import ASKED, summary


def _listed(session: Session) -> dict[int, str]:
    return {note.turn: note.text for note in summary(session.says("It is done.")).requests}


def test_one_request_alone_is_no_list() -> None:
    session = Session().user(ASKED).edit("cap.py").says("It is capped.").user("thanks")
    assert _listed(session) == {}


def test_each_request_objection_and_command_is_listed_and_no_assent() -> None:
    session = Session().user(ASKED).edit("cap.py").says("It is capped.").user("yes")
    session.edit("cap.py").says("Done.").user("No, that is wrong: the cap belongs into the cart.").edit("cart.py")
    session.says("Moved.").user("/review the cart").read("cart.py")
    listed = _listed(session)
    assert [*listed.values()] == [
        f"“{ASKED.rstrip('.')}”",
        "“No, that is wrong: the cap belongs into the cart”",
        "`/review`: “the cart”",
    ]
    assert not any(note.text.startswith("The request") for note in summary(session).key_turns), "it is listed"
    assert any("objects" in note.text for note in summary(session).key_turns), "it changed the course"


def test_words_that_a_client_puts_around_each_request_are_left_out() -> None:
    session = Session()
    for wish in ("Build a page of all orders", "Show a label at each bubble", "The label does not appear"):
        session.user(f"Working within the project 7 of the shop: {wish}\n\nFollow the guidelines of the prompt above.")
        session.edit("page.ts").says("Done.")
    assert [*_listed(session).values()] == [
        "“Build a page of all orders”",
        "“Show a label at each bubble”",
        "“The label does not appear”",
    ]


def test_what_two_requests_alone_have_alike_is_not_taken_for_a_template() -> None:
    session = Session().user("In the module of the shop: cap the cart").edit("cart.py").says("Done.")
    session.user("In the module of the shop: cap the orders").edit("orders.py")
    assert "In the module of the shop: cap the cart" in _listed(session)[1]


def test_of_very_many_requests_those_stay_that_most_was_done_for_and_the_others_are_counted() -> None:
    session = Session()
    for at in range(MOST_REQUESTS + 5):
        session.user(f"Now cap the number {at} in its own file, as the others are.").edit(f"cap{at}.py")
        for _ in range(3 if at % 2 else 0):
            session.read("cap.py")
        session.says(f"Number {at} is capped.")
    listed = summary(session).requests
    assert len(listed) == MOST_REQUESTS
    assert [note.turn for note in listed] == sorted(note.turn for note in listed)
    others = [note.text for note in listed if "not listed" in note.text]
    assert len(others) == 1
    assert others[0].startswith("six other requests from here to T")


def test_where_requests_are_listed_key_turns_say_what_was_done_for_each_and_why() -> None:
    session = Session().user(ASKED).run("cat nothing.py", "cat: nothing.py: No such file or directory", failed=True)
    for name in ("cap", "cart", "order"):
        change = {"file_path": f"{name}.py", "old_string": "a", "new_string": "b"}
        session.call("Edit", change, "updated", text=f"The total of `{name}` has to be capped, so I change it there.")
        session.says("It is capped.").user(f"Now the same for the next page after {name}, with its own limit.")
    turns = summary(session.edit("last.py").says("It is done.")).key_turns
    assert sum("because" in note.text or "has to be capped" in note.text for note in turns) == 3
    assert not any("nothing.py" in note.text for note in turns), "a look that failed decides nothing"


def test_a_few_letters_in_another_language_are_no_request() -> None:
    session = Session().user("Crée le panier avec la somme de tous les articles.").edit("cart.py").says("C'est fait.")
    session.user("je valide").edit("cart.py").says("C'est fait.")
    session.user("Ajoute maintenant la somme des remises dans le panier.").edit("rebate.py")
    assert [*_listed(session).values()] == [
        "“Crée le panier avec la somme de tous les articles”",
        "“Ajoute maintenant la somme des remises dans le panier”",
    ]


def test_an_answer_that_work_was_done_for_is_listed_and_a_slip_of_the_terminal_is_not() -> None:
    session = Session().user(ASKED).edit("cap.py").says("Shall I write tests, routes or pages next?").user("1, 2 and 3")
    session.edit("test.py").edit("routes.py").says("Both are there.").user("cls").says("What is it?")
    assert [*_listed(session).values()] == [f"“{ASKED.rstrip('.')}”", "“1, 2 and 3”"]


def test_a_turn_that_is_recorded_twice_and_a_greeting_of_two_words_are_listed_once_and_not() -> None:
    session = (
        Session().user("yo wassup").says("Hello.").user("cap the totals of the shop").edit("cap.py").says("Capped.")
    )
    session.user("now light the lamps of the shop").edit("lamp.py").says("Lit.")
    listed = summary(session.user("now light the lamps of the shop").edit("lamp.py").says("Lit again.")).requests
    assert [each.turn for each in listed] == [3, 7]
