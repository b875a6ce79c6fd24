"""How sure the cause in a lesson is that somebody says: the user's corrections, objections and words of acceptance."""

from __future__ import annotations

import pytest

from agent_wiki.stages.turnings import Grade
from tests.engines.scripted_session import Script
from tests.stages.grades import GREEN as _GREEN
from tests.stages.grades import RED as _RED
from tests.stages.grades import grade_of as _grade


def test_a_cause_that_somebody_says_is_stated() -> None:
    session = Script().runs("pytest tests", _RED, failed=True)
    session.call("Edit", {"file_path": "a.py"}, "updated", says="The total is wrong because tax is added twice.")
    session.edits("x", "y", "other.py").runs("pytest tests", _GREEN)
    found = _grade(session, (2, 4, 8), (4, "The total is wrong because tax is added twice."))
    assert (found.cause, found.reason.split("; ")[-1]) == ("stated", "the agent gives a reason in T4")


def test_an_objection_right_after_contradicts_it() -> None:
    session = Script().runs("pytest tests", _RED, failed=True).edits("3", "4").runs("pytest tests", _GREEN)
    session.says("Done.").user("No, revert that: the test was right.")
    assert _grade(session, (2, 4, 6)).contradiction == "the user objected in T9"


def test_the_users_words_are_stated_and_checked_once_accepted() -> None:
    session = Script().runs("npm install", "added 3 packages").says("Installed.").user("use pnpm, not npm")
    quote = (5, "use pnpm, not npm")
    assert _grade(session, (5, None, None), quote).cause == "stated"
    session.runs("pnpm install", "done")
    assert _grade(session, (5, 6, None), quote).cause == "stated"
    session.says("Done.").user("Great, now the tests.")
    assert _grade(session, (5, 6, None), quote) == Grade(
        "checked", "the user said so in T5; followed in T6, accepted in T9"
    )


def test_a_check_that_passes_is_no_acceptance_and_a_request_is_no_objection() -> None:
    session = Script().user("Install it with pnpm.").runs("npm install", "added 3 packages").says("Installed.")
    session.user("no, pnpm").runs("pnpm install", "done").runs("pnpm test", _GREEN)
    request = session.done().messages.index(
        next(each for each in session.done().messages if each.content == "no, pnpm")
    )
    turn = request + 1
    assert _grade(session, (turn, turn + 1, None), (turn, "no, pnpm")).cause == "stated"
    before = (2, "Install it with pnpm.")
    assert _grade(session, (turn, turn + 1, None), before).cause == "asserted"


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("Why isn't the list loading?", "asserted"),
        ("now it does not show at all", "asserted"),
        ("TypeError: cannot read property of undefined, missing module", "asserted"),
        ("it is not loading because you must await it", "stated"),
        ("why not use the existing helper?", "stated"),
        ("don't show the list twice", "stated"),
    ],
)
def test_a_symptom_that_the_user_reports_is_no_cause(said: str, cause: str) -> None:
    session = Script().runs("npm install", "added 3 packages").says("Done.").user(said)
    assert _grade(session, (5, None, None), (5, said)).cause == cause


def test_words_of_the_user_that_answer_an_act_are_an_objection_to_it() -> None:
    session = Script().runs("npm install", "added 3 packages").says("Installed.").user("use pnpm, not npm")
    quote = (5, "use pnpm, not npm")
    assert _grade(session, (2, None, None), quote) == Grade("stated", "the user said so in T5")
    session.runs("pnpm install", "done").user("use pnpm, not npm")
    assert _grade(session, (2, 6, None), (8, "use pnpm, not npm")).cause == "asserted"


def test_an_objection_that_is_raised_again_is_not_accepted() -> None:
    session = Script().says("Done.").user("the total is wrong, use Decimal").edits("float", "Decimal")
    session.says("Done.").user("still wrong")
    assert _grade(session, (3, 4, None), (3, "wrong, use Decimal")).cause == "stated"


def test_a_refusal_without_words_says_nothing() -> None:
    session = Script().call("Bash", {"command": "rm -rf __pycache__"}, "rejected by the user", mark="rejected")
    assert _grade(session, (2, None, None), (2, "rm -rf __pycache__")).cause == "asserted"


@pytest.mark.parametrize(
    ("said", "cause"),
    [("great, push it", "checked"), ("where is the changelog kept?", "stated"), ("no, that is not it", "stated")],
)
def test_only_words_of_acceptance_accept(said: str, cause: str) -> None:
    session = Script().edits("a", "b").says("Done.").user("no, use an array").edits("b", "[]").user(said)
    assert _grade(session, (5, 6, None), (5, "no, use an array")).cause == cause


_PNPM = "no, use pnpm"


def _corrected(*later: str) -> Script:
    """The user objects in turn 5, the agent follows in turn 6, and the user goes on in turns 9, 11, …"""
    session = Script().runs("npm install", "added 3 packages").says("Installed.").user(_PNPM)
    session.runs("pnpm install", "done")
    for said in later:
        session.says("Done.").user(said)
    return session


def test_a_user_who_goes_on_has_not_accepted_and_that_is_said() -> None:
    session = _corrected("Now add a script that starts the shop.")
    assert _grade(session, (5, 6, 9), (5, _PNPM)) == Grade(
        "stated", "the user said so in T5; followed in T6, not objected to in T9"
    )


@pytest.mark.parametrize(
    ("later", "named", "cause"),
    [
        (("which version is it?", "perfect, thanks"), 11, "checked"),
        (("which version is it?", "perfect, thanks"), None, "stated"),
        (("which version is it?", "and the tests?", "perfect, thanks"), 13, "checked"),
        (("which one?", "and the tests?", "and the docs?", "perfect, thanks"), 15, "stated"),
        (("it does not start any more", "perfect, thanks"), 11, "stated"),
        (("no, I said pnpm", "perfect, thanks"), 11, "stated"),
    ],
)
def test_an_acceptance_that_comes_later_counts_where_it_is_named_and_nothing_speaks_against_it(
    later: tuple[str, ...], named: int | None, cause: str
) -> None:
    assert _grade(_corrected(*later), (5, 6, named), (5, _PNPM)).cause == cause


def test_an_answer_that_the_user_corrects_is_followed_by_one_that_the_user_accepts() -> None:
    said = "no, I asked for the totals, not the taxes"
    session = Script().says("The taxes are 3.").user(said).says("The totals are 7.").user("great, thanks")
    assert _grade(session, (3, 4, 5), (3, said)).cause == "checked"
    assert _grade(session, (3, None, 5), (3, said)).cause == "stated"


def test_a_plan_that_the_harness_says_is_approved_is_accepted() -> None:
    said = "Use the existing table of taxes."
    refused = f"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{said}"
    session = Script().call("ExitPlanMode", {"plan": "A new table."}, refused, mark="rejected")
    approved = "User has approved your plan. You can now start coding."
    session.call("ExitPlanMode", {"plan": "The existing table."}, approved)
    assert _grade(session, (2, 4, 5), (3, said)) == Grade(
        "checked", "the user said so in T3; followed in T4, accepted in T5"
    )


@pytest.mark.parametrize(
    ("reply", "said", "is_against"),
    [
        ("It is pushed. Would you like me to unstage the other files?", "no, push everything", False),
        ("It is pushed. Would you like me to unstage the other files?", "no, it still does not work", True),
        ("It is pushed.", "no, push everything", True),
    ],
)
def test_a_no_to_an_offer_is_no_objection(reply: str, said: str, *, is_against: bool) -> None:
    session = Script().runs("make test", "1 failed", failed=True).edits("3", "4").runs("make test", "ok")
    assert bool(_grade(session.says(reply).user(said), (2, 4, 6)).contradiction) is is_against


def test_words_long_after_a_refusal_are_not_its_reason() -> None:
    session = Script().call("Bash", {"command": "git add -A"}, "rejected by the user", mark="rejected")
    session.user("the icon is too small").edits("16", "32", "icon.svg").says("It is larger.")
    session.user("Release version 2").runs("git add -A")
    assert _grade(session, (2, 9, None), (8, "Release version 2")).cause == "asserted"
    assert _grade(session, (2, 5, None), (4, "the icon is too small")).reason.startswith("the user said so in T4")


def test_what_was_believed_before_the_event_is_not_why() -> None:
    session = Script().says("The list is empty because the module is missing.").user("it still does not load")
    session.edits("a", "b").says("Done.")
    assert _grade(session, (3, 4, None), (2, "The list is empty because the module is missing.")).cause == "asserted"


def test_a_reason_that_the_user_gives_is_told_once() -> None:
    session = Script().says("It is drawn.").user("could you draw them fairly? plain modulo prefers low numbers because")
    said = "plain modulo prefers low numbers because"
    assert _grade(session, (3, None, None), (3, said)).reason == "the user gives a reason in T3"
