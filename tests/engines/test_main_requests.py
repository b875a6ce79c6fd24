"""Which request a session is about: no errand on the way, no question in passing."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline import summarize
from agent_wiki.engines.offline.goal import request_line
from agent_wiki.engines.offline.requests import requests_of
from agent_wiki.engines.offline.title import title_of
from agent_wiki.engines.offline.wording import heading
from agent_wiki.stages.summarize import SummarizeQuestion
from tests.engines.sessions import Session


def goal_of_session(session: Session) -> str:
    return summarize.answer(SummarizeQuestion(session.done())).arcs[0].goal


QUESTION = "is there an easy fix for the release job that never starts its checks?"


@pytest.mark.parametrize("errand", ["ok lets get back to main", "switch to main and pull in the latest"])
def test_an_errand_before_the_work_is_no_goal(errand: str) -> None:
    session = Session().user(errand).run("git checkout main").user("please add a lamp to the page of the shop")
    assert goal_of_session(session.edit("shop.html")) == "Please add a lamp to the page of the shop"


def test_an_errand_on_the_way_is_not_named_after_the_question_that_became_the_work() -> None:
    session = Session().user(QUESTION).read("release.yml").says("A token of its own.").user("do i add it to secrets?")
    session.says("Yes.").user("before you go doing that, we need to get back to main, and pull in latest.")
    for name in ("release.yml", "ci.yml"):
        session.edit(name)
    assert goal_of_session(session) == "Is there an easy fix for the release job that never starts its checks?"


def test_a_request_in_another_language_is_given_with_the_sentence_after_its_first() -> None:
    asked = "Лампа у нас одна и старая.\n\nДобавь вторую лампу на страницу магазина"
    assert request_line(asked) == "Лампа у нас одна и старая. Добавь вторую лампу на страницу магазина"


def test_a_task_under_a_heading_with_a_note_is_the_request_and_not_the_role_above_it() -> None:
    asked = "You are **ann**, a teammate in an experiment.\n\n## Your Task (Round 1 of 2)\n\nList the makers of lamps."
    assert request_line(asked) == "List the makers of lamps."


def test_a_request_in_another_language_counts_as_work_and_a_greeting_in_one_does_not() -> None:
    session = Session().user("привет").says("Чем помочь?").user("Добавь вторую лампу на страницу магазина")
    assert goal_of_session(session.edit("shop.html").says("Готово.")) == "Добавь вторую лампу на страницу магазина"
    session = Session().user("какая модель сейчас в работе?").says("Не знаю.").user("Добавь лампу на страницу магазина")
    session.edit("shop.html").edit("lamp.css").edit("lamp.html").says("Готово.")
    assert goal_of_session(session).endswith("then: Добавь лампу на страницу магазина")


def test_a_mode_of_aider_is_no_part_of_what_is_asked() -> None:
    session = Session().user("/ask how would you split the cart?").says("Into two files.").user("/code do that, please")
    found = requests_of(session.user("/code").done())
    assert [(each.text, each.kind) for each in found] == [
        ("how would you split the cart?", "request"),
        ("do that, please", "request"),
        ("/code", "command"),
    ]


def test_modes_before_a_prompt_praise_and_a_pasted_command_are_no_request() -> None:
    prompt = "/branch /save /message\n\nPlease move the lamps of the shop up.\n\n" + "They hang low. " * 40
    assert goal_of_session(Session().user(prompt).edit("lamp.py")).startswith("Please move the lamps of the shop up")
    assert goal_of_session(Session().user('claude "mend the lamp of the shop"').edit("lamp.py")) == (
        "Mend the lamp of the shop"
    )
    praised = Session().user("Fantastic. Now add a slider to the page of the lamps").edit("lamp.html")
    assert goal_of_session(praised) == "Now add a slider to the page of the lamps"


@pytest.mark.parametrize(
    ("goal", "title"),
    [
        (
            "Add all lamps of the maker to the front page, then: Add a filter by maker above the list",
            "Add all lamps of the maker to the front page",
        ),
        (
            "/init, then: Add a filter by maker above the list of the lamps",
            "Add a filter by maker above the list of the lamps",
        ),
        (
            "Add a split of the cart into modules, then: Lets start implementing step one of it",
            "Add a split of the cart into modules",
        ),
        ("Add all lamps of the maker to the front page", ""),
    ],
)
def test_a_heading_names_one_request_and_none_that_only_carries_on(goal: str, title: str) -> None:
    assert title_of(goal, None) == title


def test_a_question_after_the_user_stopped_the_agent_does_not_take_the_place_of_the_request() -> None:
    asked = "I am curious why the clipboard of the till has no history. Maybe I am wrong here."
    session = Session().user(asked).run("pgrep clip", "").call("Bash", {"command": "clip -listen &"}, None)
    session.user("[Request interrupted by user for tool use]", "interrupt")
    session.user("Do I need to execute this in the settings with exec-once?").says("No, it is there already.")
    assert goal_of_session(session).startswith("I am curious why the clipboard of the till has no history")


LONG = "Please read the whole of the design document of the shop and tell me where the cart rounds prices differently."


def _worked(session: Session, asked: str, edits: int) -> Session:
    session.user(asked).read("design.md")
    for number in range(edits):
        session.edit(f"part{number}.ts")
    return session.says("It is done.")


@pytest.mark.parametrize(
    ("requests", "goal"),
    [
        (
            [(LONG, 1), ("Add a lamp to the page of the shop", 1)],
            f"{LONG[:-1]}, then: Add a lamp to the page of the shop",
        ),
        (
            [(LONG, 1), ("Add a lamp to the page of the shop", 9), ("Write a test of the lamp as well", 2)],
            f"{LONG[:-1]}, then: Add a lamp to the page of the shop",
        ),
        ([(LONG, 2), ("Add a lamp to the page of the shop", 2), ("Write a test of the lamp as well", 2)], LONG),
        ([(LONG, 8), ("Add a lamp to the page of the shop", 1)], LONG),
        ([(LONG, 1), (LONG.replace("differently", "up or down"), 4)], LONG),
        ([(LONG, 1), ("Please continue with the next step of the plan you made", 3)], LONG),
        ([(LONG, 1), ("Danke, das sieht schon sehr gut aus, damit bin ich zufrieden", 3)], LONG),
        ([(LONG, 1), ("almost there, the lamp should be somewhat brighter than the shop", 3)], LONG),
        ([(LONG, 1), ("no, that is wrong, you should add the lamp to the page of the shop", 3)], LONG),
    ],
    ids=[
        "two",
        "the main one",
        "three alike",
        "the opening one",
        "the same",
        "a nudge",
        "thanks",
        "a remark",
        "an objection",
    ],
)
def test_a_goal_names_another_request_that_much_was_done_for(requests: list[tuple[str, int]], goal: str) -> None:
    session = Session()
    for asked, edits in requests:
        _worked(session, asked, edits)
    assert goal_of_session(session) == goal


def test_the_title_of_a_plan_is_what_it_plans_and_the_goal_says_that_it_is_one() -> None:
    asked = "Implement the following plan:\n\n# Round prices in the cart\n\n## Steps\n\n1. Change cart.ts\n2. Test it"
    session = Session().user(asked).edit("cart.ts").says("Done.").user("Add a lamp to the page of the shop, please")
    session.edit("shop.html").says("Done.").user("what is the lamp made of?")
    (arc,) = summarize.answer(SummarizeQuestion(session.says("Of brass.").done())).arcs
    assert arc.goal.startswith("Implement the following plan: Round prices in the cart")
    assert arc.title == "Round prices in the cart (and two more requests)"
    session = Session().user(asked).edit("cart.ts").says("Done.")
    session.user(asked.replace("Round prices in the cart", "Draw lamps with brass switches")).edit("shop.html")
    (arc,) = summarize.answer(SummarizeQuestion(session.says("Done.").done())).arcs
    assert arc.title == "Round prices in the cart; draw lamps with brass switches"
    session = Session().user(asked).edit("cart.ts").says("Done.").user(f"{asked}\n3. Ship it").edit("shop.html")
    (arc,) = summarize.answer(SummarizeQuestion(session.says("Done.").done())).arcs
    assert arc.title == "Round prices in the cart (and one more request)"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            "Can you check this repo and see if there are any bugs? and then mend them",
            "Check this repo and see if there are any bugs. and then mend them",
        ),
        ("Please add a lamp to the page of the shop", "Add a lamp to the page of the shop"),
        ("I'd like to replace the lamp", "Replace the lamp"),
        ("Ok, could you please read /home/kim/shop/docs/plan.md", "Read plan.md"),
        (r"Look into C:\Users\kim\shop\till.py", "Look into till.py"),
        ("Compare docs/plan.md with https://example.org/a/b/c", "Compare docs/plan.md with https://example.org/a/b/c"),
        ("Can you?", "Can you?"),
        ("Fix the issues in /home/kim/shop/tests/.", "Fix the issues in tests/."),
        ("Find the code of the Till at /home/kim/apps/Till", "Find the code of the Till at apps/Till"),
        ("Pleased customers come back", "Pleased customers come back"),
    ],
)
def test_a_heading_does_not_ask_politely_and_names_no_folders_of_a_machine(line: str, shown: str) -> None:
    assert heading(line) == shown


def test_below_a_heading_that_says_nothing_stands_what_is_wanted() -> None:
    brief = "Shop Developer (Python) — Home Assignment\nOverview\nBuild a page that shows the cart.\nTime\nFour hours."
    assert request_line(brief) == "Shop Developer (Python) — Home Assignment: Build a page that shows the cart."
    plan = "## Research Plan\n**Question**: when does a shop need a database?\n\n**Phase 1**: Search."
    assert request_line(plan).startswith("When does a shop need a database?")
    assert request_line(
        "Session: till\nTopic: Deploy the shop to a server of its own\nIMPORTANT: You are NOT alone."
    ) == ("Deploy the shop to a server of its own")


def test_what_a_terminal_showed_is_named_neither_in_the_title_nor_as_the_goal() -> None:
    pasted = "PS C:\\shop\\backend>  npm run dev\n\n> shop@1.0.0 dev\n> nodemon\n\n[nodemon] starting\nserver on 8080"
    session = Session().user("Make the upload of receipts work again in the backend").edit("upload.py").says("Done.")
    session.user(pasted)
    for name in ("env.py", "index.py", "till.py"):
        session.edit(name)
    arc = summarize.answer(SummarizeQuestion(session.done())).arcs[0]
    assert arc.goal == "Make the upload of receipts work again in the backend"
    assert "PS C" not in arc.title
    assert "nodemon" not in arc.title
