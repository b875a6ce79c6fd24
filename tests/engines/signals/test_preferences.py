"""What the user wants done from now on, or instead of what the agent did."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals import corrections, preferences
from tests.engines.scripted_session import Script

REFUSED = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"


def _lessons(script: Script) -> list[Lesson]:
    return preferences.lessons(MinedSession.of(script.done()))


def _rules(script: Script) -> list[str]:
    return [lesson.guideline.rule for lesson in _lessons(script)]


def _working() -> Script:
    return Script().edits("a", "b").says("Done, I updated the cart.")


def test_the_reason_of_a_refusal_is_a_rule_and_is_quoted() -> None:
    script = Script().call(
        "Bash", {"command": "git commit -am x"}, REFUSED + "don't commit unless I ask", failed=True, mark="rejected"
    )
    (lesson,) = _lessons(script)
    assert lesson.guideline.rule == "Keep to what the user said: “don't commit unless I ask”."
    assert lesson.guideline.trigger == "About to commit."
    assert [(each.turn, each.quote) for each in lesson.guideline.evidence] == [(3, "don't commit unless I ask")]


def test_what_is_to_come_first_is_tied_to_the_refused_command() -> None:
    script = Script().call(
        "Bash", {"command": "git push origin b"}, REFUSED + "run the tests first", failed=True, mark="rejected"
    )
    assert _rules(script) == ["Run the tests before `git push`."]


def test_a_standing_wish_needs_no_refusal() -> None:
    assert _rules(_working().user("Always run the formatter before the linter.")) == [
        "Always run the formatter before the linter."
    ]


def test_what_a_prompt_shouts_and_a_wish_to_be_asked_are_no_rules() -> None:
    assert not _rules(_working().user("DO NOT DELETE SHOP ARTIFACTS."))
    assert not _rules(_working().user("Always ask my approval."))
    assert _rules(_working().user("Always ask my approval before a release of the shop."))


def test_the_rationale_holds_what_else_the_user_said_at_that_moment() -> None:
    said = "Two names hold commas, so awk cuts them apart.\nAlways parse CSV with the csv module."
    (lesson,) = _lessons(_working().user(said))
    assert lesson.guideline.rationale == f'The user said so: "{" ".join(said.split()).rstrip(".")}".'


def test_a_plain_order_after_a_report_is_the_next_task() -> None:
    assert not _rules(_working().user("add a test for empty carts"))
    assert not _rules(_working().user("don't forget the readme"))


def test_the_same_wish_in_two_sessions_is_the_same_text() -> None:
    one = _rules(_working().user("please never use mocks in tests!"))
    two = _rules(_working().user("No. Never use mocks in tests."))
    assert one == two == ["Never use mocks in tests."]


def test_values_of_one_session_are_no_rule() -> None:
    assert not _rules(_working().user("always open /home/kim/shop/cart.py before committing"))
    assert not _rules(_working().user("always deploy to https://shop.example before lunch"))


def test_the_first_request_and_injected_text_are_no_wishes() -> None:
    assert not _rules(Script("Always run the linter before committing.").edits("a", "b"))
    assert not _rules(_working().user("Always run the linter before committing.", mark="injected"))


def test_a_subagents_user_is_another_agent() -> None:
    script = Script(parent_session_id="p").edits("a", "b").says("Done, I updated it.")
    assert not _rules(script.user("Always run the linter before committing."))


def test_a_customers_wish_is_no_rule() -> None:
    script = Script("I want to change my flight.").call("get_user", {"id": "a"}, "{}").says("Done, updated.")
    assert not _rules(script.user("Always book window seats before paying."))


def test_a_wish_about_a_name_of_the_code_at_hand_is_no_rule() -> None:
    assert not _rules(_working().user("no, don't expose oidc-audience as an option"))
    assert _rules(_working().user("no, don't expose secrets as an option"))


def test_what_this_report_left_out_is_no_rule_for_every_report() -> None:
    assert _rules(_working().user("hmm need to bump all versions no?")) == []


def test_what_the_user_quotes_or_a_harness_prints_as_the_user_is_no_wish() -> None:
    wish = "Always run the formatter before the linter."
    for said in (f"> {wish}", f"Observation: {wish}", f"Somebody sent me this.\nFrom: Kim\nSubject: Hi\n{wish}"):
        assert not _rules(_working().user(said)), said
    assert _rules(_working().user(f"> as they say\n{wish}")) == [wish]


def test_what_is_being_tried_and_what_is_to_be_built_are_no_rules() -> None:
    assert not _rules(_working().user("Stop trying to mount a disk."))
    assert not _rules(_working().user("Please implement the following requirements:\n\nNever expose raw stack traces."))
    assert _rules(_working().user("Never expose raw stack traces.")) == ["Never expose raw stack traces."]


def test_a_curse_at_the_end_is_no_part_of_the_rule() -> None:
    why = REFUSED + "never make manual changes to generated files fffs"
    script = Script().call("Edit", {"file_path": "a.go"}, why, failed=True, mark="rejected")
    assert _rules(script) == ["Never make manual changes to generated files."]


@pytest.mark.parametrize(
    "sentence",
    [
        "squash merge always happens in any case",
        "make sure a team is always using the same color",
        "modify the agent to prevent the same issue in the future",
        "there was no issue with this module ever before",
        "no i want to set up my account so that I can push code from here to my github",
        "no error was ever shown",
        "from now on the button shows the sum",
        "I think we should bump the version each time we make changes from now on",
        "in the health endpoint, do NOT return the address ever",
        "should we always bump it each time we make changes?",
        "While that's going, set the screen of the till to its own resolution from now on.",
        "no, don't add emojis to commit messages. Just mend this one",
    ],
)
def test_what_a_program_does_is_no_wish_for_all_work(sentence: str) -> None:
    assert not _lessons(_working().user(sentence))


def test_how_one_piece_is_to_be_written_again_is_no_rule() -> None:
    script = Script().call(
        "Bash", {"command": "ls x"}, REFUSED + "Rewrite a simpler command. Do not use complex logic.", failed=True,
        mark="rejected",
    )  # fmt: skip
    assert not _rules(script)


@pytest.mark.parametrize(
    "said",
    [
        "Do not add the full names",
        "Do not add the full name of the agent as well",
        "They should have borders around them. Make them look distinct and use the tool icon instead of full word",
    ],
)
def test_what_the_product_is_to_look_like_is_no_rule(said: str) -> None:
    session = MinedSession.of(_working().user(said).edits("b", "tool icon", "panel.ts").done())
    assert not [*preferences.lessons(session), *corrections.lessons(session)]


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("No, don't add comments to tests. The login page returns 500 now.", "Don't add comments to tests."),
        ("No, don't add labels to issues", "Don't add labels to issues."),
        (
            "Always run the linter as well as the tests before committing.",
            "Always run the linter as well as the tests before committing.",
        ),
        ("No, don't run the whole suite before committing", "Don't run the whole suite before committing."),
    ],
)
def test_a_rule_stands_beside_words_of_the_product(said: str, rule: str) -> None:
    assert _rules(_working().user(said)) == [rule]


def test_nobody_else_knows_which_is_the_old_one() -> None:
    assert not _rules(_working().user("Don't use the old API"))


def test_a_rule_that_stands_behind_a_dash_holds_only_under_what_stands_before_it() -> None:
    said = "never touch till.sh in here - always create issues in the till repository"
    assert _rules(_working().user("always create issues in the till repository"))
    assert not _rules(_working().user(said))
