"""Findings of a family: what the successful sessions did and the others did not."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.engines.offline.discover_tasks import answer, findings
from agent_wiki.pages.compare.families import Family
from agent_wiki.pages.compare.views import KeyTurn, SessionView
from agent_wiki.stages.discover_tasks import SubtaskQuestion, TaskQuestion


def _won(*writes: str, **fields: Any) -> SessionView:
    return SessionView("w", outcome="success", writes=writes, **fields)


def _lost(*writes: str, **fields: Any) -> SessionView:
    return SessionView("l", outcome="failure", writes=writes, **fields)


def test_a_write_that_only_the_successful_made_is_a_finding_with_its_counts() -> None:
    found = findings([_won("cancel(id=1)", "pay(x=1)"), _won("cancel(id=1)"), _lost("pay(x=1)"), _lost()])
    assert found[0] == "`cancel(id=1)`: done in 2 of the 2 that succeeded and 0 of the 2 that did not succeed."
    assert not any("pay" in finding for finding in found)


def test_a_write_that_only_the_others_made_is_reported_after_what_the_successful_did() -> None:
    found = findings([_won("cancel()"), _won("cancel()"), _lost("transfer()"), _lost("transfer()")])
    assert [finding.split(":")[0] for finding in found] == ["`cancel`", "`transfer`"]


def test_arguments_separate_where_the_tools_do_not() -> None:
    found = findings(
        [
            _won("book(seat=aisle; day=mon)"),
            _won("book(seat=aisle; day=tue)"),
            _lost("book(seat=window; day=mon)"),
            _lost("book(seat=window; day=tue)"),
        ]
    )
    assert found == [
        "`book` with `seat=aisle`: 2 of the 2 that succeeded and 0 of the 2 that did not succeed.",
        "`book` with `seat=window`: 0 of the 2 that succeeded and 2 of the 2 that did not succeed.",
    ]


def test_a_value_that_one_session_alone_has_explains_nothing() -> None:
    assert findings([_won("note(text=a)"), _lost("note(text=b)"), _lost("note(text=c)")]) == []


def test_counts_of_calls_and_errors_are_no_findings() -> None:
    won = [_won(*[f"cancel(id={first + at})" for at in range(3)], tool_calls=4, errors=0) for first in (10, 20)]
    assert findings([*won, *[_lost(f"cancel(id={at})", tool_calls=11, errors=9) for at in range(2)]]) == []


def test_what_is_equal_in_all_trials_is_no_finding() -> None:
    assert findings([_won("a(x=1)", tool_calls=5), _won("a(x=1)", tool_calls=5), _lost("a(x=1)", tool_calls=5)]) == []


@pytest.mark.parametrize("outcome", ["failure", "unknown", None])
def test_without_two_sides_there_is_nothing_to_compare(outcome: str | None) -> None:
    sessions = [SessionView(f"s{at}", outcome=outcome, writes=(f"a(x={at})",), tool_calls=at) for at in range(4)]
    assert findings(sessions) == []


def test_what_all_did_is_said_where_all_succeeded_and_what_one_of_them_changed_and_why() -> None:
    note = KeyTurn(7, "`kubectl patch deployment web` changes the cluster: “the port is taken”", "change")
    cause = KeyTurn(5, "A look at the nodes shows that `hostPort: 80` is taken on each.", "cause")
    won = [
        _won("shell: kubectl patch", "shell: python3", "shell: > a.txt", notes=notes)
        for notes in ((KeyTurn(4, "`kubectl patch deployment db` changes the cluster"),), (cause, note))
    ]
    assert findings(won) == [
        "`shell: kubectl patch`: done in all 2, and all succeeded.",
        "What one of them did (T7 in w): `kubectl patch deployment web` changes the cluster: “the port is taken”.",
        "What one of them found (T5 in w): A look at the nodes shows that `hostPort: 80` is taken on each.",
    ]
    assert findings(won[:1]) == []
    own = KeyTurn(9, "`hand_over` goes through: “so be it”", "change")  # only one of them did it
    assert findings([_won("pay(x=1)", "hand_over()", notes=(own,)), _won("pay(x=2)")]) == [
        "`pay`: done in all 2, and all succeeded."
    ]


def test_arguments_that_all_gave_stand_with_the_tool() -> None:
    writes = [("pay(order=7; by=card; note=a)",), ("pay(order=7; by=card; note=b)", "log(text=x)")]
    assert findings([_won(*each) for each in writes]) == ["`pay(order=7; by=card)`: done in all 2, and all succeeded."]
    assert findings([_lost(*each) for each in writes]) == [
        "`pay(order=7; by=card)`: done in all 2, and none succeeded."
    ]
    unknown = SessionView("u", outcome="unknown")
    assert "done in all 2 with a known outcome" in findings([*[_won(*each) for each in writes], unknown])[0]


def test_what_most_of_those_did_that_all_failed_is_said_with_what_was_the_same() -> None:
    writes = [("pay(order=7; note=a)",), ("pay(order=7; note=b)",), ("pay(order=7)", "log(text=x)"), ()]
    assert findings([_lost(*each) for each in writes]) == [
        "`pay(order=7)`: done in 3 of the 4, and none succeeded.",
    ]
    assert findings([_won(*each) for each in writes]) == []  # one did without


def test_that_most_of_those_that_failed_looked_nothing_up_is_a_finding() -> None:
    lost = [_lost(look_ups=looks, reward=0.0) for looks in (("get_order(id=7)",), (), ())]
    assert "2 of the 3 looked nothing up, and none succeeded." in findings(lost)
    assert not any("looked" in finding for finding in findings([_lost(reward=0.0), _lost(reward=0.0)]))


def test_the_value_of_the_only_success_stands_beside_that_of_the_others() -> None:
    found = findings([_won("book(seat=aisle)"), _lost("book(seat=window)"), _lost("book(seat=window)")])
    assert "".join(found) == (
        "`book` with `seat=window`: 0 of the 1 that succeeded and 2 of the 2 that did not succeed, "
        "where the one that succeeded had `seat=aisle`."
    )


def test_values_of_several_calls_are_given_only_where_it_shows_which_belong_together() -> None:
    pairs = ("cancel(order=7)", "cancel(order=8)")
    assert findings([_won(*pairs), _won(*pairs)]) == ["`cancel(order=7, 8)`: done in all 2, and all succeeded."]
    mixed = ("move(order=7; to=a)", "move(order=8; to=b)")
    assert findings([_won(*mixed), _won(*mixed)]) == ["`move`: done in all 2, and all succeeded."]


def test_that_nothing_was_to_be_changed_is_said_with_what_the_user_was_told() -> None:
    told = KeyTurn(5, "The agent answers: “Since the ticket is not insured, it cannot be refunded”", "refusal")
    asked = KeyTurn(3, "The agent answers: “Unfortunately, I need the order's number”")
    won = [
        _won("transfer_to_person(text=a)", notes=(asked,), reward=1.0),
        _won(notes=(asked, told), reward=1.0),
        _won(notes=(told,), reward=1.0),
    ]
    assert "".join(findings(won)) == (
        "None of the 3 changed anything, and all succeeded; 1 handed over to a person; 2 told the user what could not "
        "be done, one of them (T5 in w): “Since the ticket is not insured, it cannot be refunded”."
    )
    assert findings([_won(notes=(told,)), _won()]) == []  # a review changes nothing either
    assert findings([_lost(reward=0.0), _lost(reward=0.0)]) == ["None of the 2 changed anything, and none succeeded."]


def test_a_refusal_that_all_met_or_only_one_side_is_a_finding() -> None:
    refused = "book(day=mon; …) -> Error: the price is 30, but paid 25 (2 times)"
    lost = [_lost(failures=(refused, "find(x=1) -> none")), _lost(failures=(refused[:-10],))]
    line = "`book` failed with `Error: the price is 30, but paid 25`"
    assert findings(lost) == [f"{line}: in all 2, and none succeeded."]
    assert findings([_won(), *lost]) == [f"{line}: 0 of the 1 that succeeded and 2 of the 2 that did not succeed."]


def test_a_file_that_one_session_alone_wrote_and_a_bare_interpreter_explain_nothing() -> None:
    won = [_won("shell: > reports/a.txt", "shell: python3"), _won("shell: > reports/b.txt", "shell: python3")]
    assert findings([*won, _lost("shell: > reports/c.txt")]) == []


def test_a_list_of_writes_that_is_full_says_nothing_on_what_is_missing() -> None:
    full = tuple(f"edit(n={at})" for at in range(20))
    assert not any("pay" in finding for finding in findings([_won("pay()"), _won("pay()"), _lost(*full), _lost(*full)]))


def test_conditions_are_compared_by_how_many_succeeded() -> None:
    sessions = [_won(condition="wiki"), _won(condition="wiki"), _lost(condition="none"), _lost(condition="none")]
    assert findings(sessions) == ["By condition: `none`, 0 of 2 succeeded; `wiki`, 2 of 2 succeeded."]


def test_a_look_up_that_only_the_successful_made_is_a_finding() -> None:
    looks = ("get_user(id=7)", "think(thought=I should look it up)")
    found = findings([_won(look_ups=looks), _lost(), _lost()])
    assert found == ["`get_user(id=7)`: looked up in 1 of the 1 that succeeded and 0 of the 2 that did not succeed."]
    full = tuple(f"find(n={at})" for at in range(12))
    assert findings([_won(look_ups=looks), _lost(look_ups=full), _lost(look_ups=full)])[:1] != found


def test_the_page_says_how_the_family_was_found() -> None:
    sessions = tuple(SessionView(f"s{at}", goal="Order a lamp to Porto") for at in range(3))
    by_text = answer(TaskQuestion(Family(sessions, ("lamp", "porto", "order"))))
    assert by_text.title == "Order a lamp to Porto"
    assert by_text.intro.endswith("found by what their users asked.")
    assert by_text.tags == ["lamp", "order", "porto"]
    assert "task `7`" in answer(TaskQuestion(Family(sessions, ("lamp",), task_id="7"))).intro


@pytest.mark.parametrize(
    ("goal", "title"),
    [
        (
            "Write reports/totals.csv with one row a customer: the columns are customer,total,first,last,middle,most",
            "Write reports/totals.csv with one row a customer",
        ),
        (
            "Book a flight from Porto to Lagos on the first day of May. It has to leave in the morning, not too early.",
            "Book a flight from Porto to Lagos on the first day of May.",
        ),
    ],
)
def test_a_title_ends_where_the_goal_begins_to_list_details(goal: str, title: str) -> None:
    assert answer(TaskQuestion(Family((SessionView("a", goal=goal),), ("orders",)))).title == title


def test_rules_make_no_page_of_one_session() -> None:
    told = {"narrative": "The lamp came.", "notes": (KeyTurn(3, "ordered"),), "condition": "wiki"}
    session = SessionView("a", goal="Order a lamp", outcome="success", tool_calls=4, **told)  # type: ignore[arg-type]
    assert answer(SubtaskQuestion(session, "condition", (session,))).subtasks == []
