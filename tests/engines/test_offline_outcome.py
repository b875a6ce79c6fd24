"""The outcome comes from what the recording shows, never from the agent's claim."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.acts import acts_of
from agent_wiki.engines.offline.outcome import shown_outcome
from agent_wiki.engines.offline.requests import requests_of
from agent_wiki.engines.offline.shown import Shown
from agent_wiki.engines.offline.stretch import stretch_of
from tests.engines.outcomes import REVIEW, looked, shown
from tests.engines.sessions import Session


def test_a_recorded_verdict_comes_first() -> None:
    assert shown(Session(resolved=False).user("fix it").edit("a.py").run("pytest", "3 passed")).outcome == "failure"
    assert shown(Session(reward=1.0).user("fix it")).outcome == "success"
    assert shown(Session(reward=0.5).user("fix it")).outcome == "partial"
    assert shown(Session(reward=0.0).user("fix it")).basis == "recorded"


def test_the_agents_claim_is_no_evidence() -> None:
    session = Session().user("fix it").edit("a.py").says("Perfect! All tests pass and everything works.")
    assert shown(session).basis == "unchecked"


def test_the_users_word_counts_when_nothing_came_after_it() -> None:
    accepted = Session().user("fix it").edit("a.py").says("Done.").user("works now, thanks!")
    assert (shown(accepted).outcome, shown(accepted).quote) == ("success", "works now, thanks!")
    refused = Session().user("fix it").edit("a.py").says("Done.").user("no, it is still broken")
    assert shown(refused).outcome == "failure"


def test_a_customers_thanks_show_nothing() -> None:
    session = (
        Session().user("book a flight").call("book_flight", {"to": "Oslo"}, "{}").says("Booked!").user("Thank you!")
    )
    assert shown(session).outcome == "unknown"


def test_a_run_that_was_cut_off_is_a_failure() -> None:
    assert shown(Session(exit_status="error_max_turns").user("fix it").read("a.py")).outcome == "failure"


STUCK = "NAME   READY   STATUS   RESTARTS   AGE\nweb-6f7d9c5b4-x2x4z   0/1     Pending   0          9m"
HEALTHY = (
    "NAME                  READY   STATUS    RESTARTS   AGE\nweb-7d9fc6b5d8-abcde   1/1     Running   0          9s"
)
PATCH = "kubectl patch deployment web --type=json -p '[]'"


def cluster(before: str, after: str, change: str = PATCH) -> Shown:
    session = Session().user("web does not start, mend it").run("kubectl get pods", before)
    return shown(session.run(change, "deployment.apps/web patched").run("kubectl get pods", after))


def test_a_workload_that_was_stuck_and_runs_after_the_change_is_success() -> None:
    result = cluster(STUCK, HEALTHY)
    assert (result.outcome, result.basis, result.turn) == ("success", "cluster", 7)
    assert "web-7d9fc6b5d8-abcde" in (result.quote or "")
    assert cluster(STUCK, 'deployment "web" successfully rolled out').outcome == "success"


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (STUCK, STUCK, PATCH),  # still stuck
        (HEALTHY, HEALTHY, PATCH),  # nothing was wrong to see
        (STUCK, HEALTHY, PATCH + " --dry-run=client"),  # nothing was changed
        (STUCK, HEALTHY + "\ndb-0   0/1   CrashLoopBackOff   7   9m", PATCH),  # something else is
        (STUCK.replace("Pending", "ContainerCreating"), HEALTHY, PATCH),  # it was only starting
        (STUCK, HEALTHY.replace("web-", "shop-"), PATCH),  # another workload
    ],
)
def test_a_cluster_that_shows_no_change_for_the_better_shows_nothing(before: str, after: str, change: str) -> None:
    assert cluster(before, after, change).outcome == "unknown"


def test_an_error_in_place_of_an_answer_is_a_failure() -> None:
    cut_off = Session().user("fix it").read("a.py").says("API Error: 529 overloaded_error")
    assert (shown(cut_off).outcome, shown(cut_off).quote) == ("failure", "API Error: 529 overloaded_error")
    told = Session().user("what was it?").read("a.log").says("The log ends with an API Error of the gateway.")
    assert shown(told).outcome == "unknown"


def test_a_separate_request_after_a_report_says_nothing_of_the_work() -> None:
    trajectory = Session().user("rewrite the intro").edit("README.md").says("Done.").user("who owns CI?").done()
    acts, requests = acts_of(trajectory), requests_of(trajectory)
    result = shown_outcome(stretch_of(trajectory, acts, requests, 1, 4))
    assert (result.outcome, result.basis, result.turn) == ("partial", "unchecked", None)


def test_a_request_after_a_stop_takes_nothing_as_it_is() -> None:
    session = Session().user("rewrite the intro").edit("README.md").says("Now handing the examples to the tester.")
    session = session.user("[Request interrupted by user]", "interrupt").user("who owns CI?")
    trajectory = session.done()
    acts, requests = acts_of(trajectory), requests_of(trajectory)
    assert shown_outcome(stretch_of(trajectory, acts, requests, 1, 5)).outcome == "partial"


def test_work_that_the_user_contradicts_is_partial() -> None:
    objected = Session().user("rewrite the intro").edit("README.md").says("Done.").user("no, that is wrong").done()
    acts, requests = acts_of(objected), requests_of(objected)
    assert shown_outcome(stretch_of(objected, acts, requests, 1, 4)).outcome == "partial"


def test_an_open_question_and_a_consent_are_no_objection() -> None:
    session = looked("find out why the build stopped").says(REVIEW)
    asked = shown(session.user("is there a reason for two files instead of one").says("No strong one."))
    assert asked.outcome == "success"
    session = looked().says(REVIEW)
    assert shown(session.user("actually i can live with that").says("Good.")).outcome == "success"


def stopped(session: Session) -> Shown:
    session.call("Bash", {"command": "search it"}, "The user doesn't want to proceed", failed=True, mark="rejected")
    return shown(session.user("[Request interrupted by user for tool use]", "interrupt"))


def test_a_stop_by_the_user_leaves_what_was_done_as_partial() -> None:
    assert stopped(Session().user("write the plan").write("plan.md")).outcome == "partial"
    assert stopped(looked().says(REVIEW).user("and what is this session's id?")).outcome == "partial"
    assert stopped(Session().user("find it").run("search it", "no remote", failed=True)).outcome == "failure"
    assert stopped(Session().user("find it").run("search --version", "2.1")).outcome == "unknown"


def test_a_last_change_that_was_refused_and_only_talked_about_leaves_the_work_partial() -> None:
    refused = "The user doesn't want to proceed with this tool use. The user said: why two locks?"
    session = Session().user("fix the race").edit("a.py")
    session.call("Edit", {"file_path": "b.py"}, refused, failed=True, mark="rejected").says("One for each reader.")
    assert (shown(session).outcome, shown(session).basis) == ("partial", "declined")
    assert shown(session.edit("b.py")).basis == "unchecked"
    nothing = Session().user("why does it race?").read("a.py")
    nothing.call("Edit", {"file_path": "b.py"}, refused, failed=True, mark="rejected").says("One for each reader.")
    assert shown(nothing).outcome == "unknown"


def test_a_stop_at_something_more_leaves_a_check_that_passed() -> None:
    assert stopped(Session().user("fix it").edit("a.py").run("pytest", "4 passed")).outcome == "success"


def undone(words: str) -> Session:
    session = Session().user("make the first level a game").edit("level.ts").run("npm test", "4 passed").says("Done.")
    return session.user(words).run("git checkout -- .").run("npm test", "4 passed")


@pytest.mark.parametrize(("changes", "outcome"), [(1, "failure"), (2, "partial")])
def test_what_the_user_took_back_without_a_word_is_no_success(changes: int, outcome: str) -> None:
    session = Session().user("make the buttons black")
    for change in range(changes):
        session.edit(f"cart{change}.py")
    session.says("Done.").user("/undo", mark="injected").user("Removed: 761ec31 fix: black buttons", mark="injected")
    assert (shown(session).outcome, shown(session).basis, shown(session).quote) == (outcome, "reverted", "/undo")


def test_what_the_user_had_reverted_is_no_success() -> None:
    result = shown(undone("uh, revert any changes you have"))
    assert (result.outcome, result.basis, result.turn) == ("partial", "reverted", 7)
    assert shown(undone("don't revert all changes, only show them")).outcome == "success"
    again = undone("revert all changes").user("now build it with doors").edit("b.ts").run("npm test", "4 passed")
    assert shown(again).outcome == "success"


@pytest.mark.parametrize(
    "following",
    [
        "now run the tests with docker",
        "Recheck results of your changes: High: the token is stored in the clear",
        "is the storage implemented completely?",
        "are you sure",
        "hm, but does it keep the old ones?",
        "and will that work on Windows?",
    ],
)
def test_a_next_request_that_is_about_what_was_done_does_not_accept_it(following: str) -> None:
    trajectory = Session().user("store the token").edit("token.ts").says("Done.").user(following).done()
    acts, requests = acts_of(trajectory), requests_of(trajectory)
    assert shown_outcome(stretch_of(trajectory, acts, requests, 1, 4)).outcome == "partial"


def test_edits_that_wait_for_a_permission_that_never_comes_are_a_failure() -> None:
    refusal = "Claude requested permissions to edit src/cart.py, but you haven't granted it yet."
    edit = {"file_path": "src/cart.py", "old_string": "a", "new_string": "b"}
    session = Session().user("go ahead with the change").read("src/cart.py").call("Edit", edit, refusal, failed=True)
    outcome = shown(session.says("I need your permission to edit the file."))
    assert (outcome.outcome, outcome.basis, outcome.quote) == ("failure", "not-allowed", refusal[7:-1])


@pytest.mark.parametrize(
    "said", ["All done. Test it now: open the page.", "The filter is in; I couldn't run the tests."]
)
def test_what_the_agent_itself_leaves_open_makes_unchecked_work_partial(said: str) -> None:
    result = shown(Session().user("add the filter").edit("shop.js").says(said))
    assert (result.outcome, result.basis) == ("partial", "left-open")
    assert (
        shown(Session().user("add the filter").edit("shop.js").run("npm test", "4 passed").says(said)).outcome
        == "success"
    )
    assert shown(Session().user("add the filter").edit("shop.js").says("The filter is in.")).basis == "unchecked"
    assert shown(Session().user("add the filter").read("shop.js").says(said)).outcome == "unknown"


def test_what_was_made_and_nothing_shows_is_partial_and_where_nothing_was_made_the_outcome_is_unknown() -> None:
    made = shown(Session().user("add the filter").edit("shop.js").says("The filter is in."))
    assert (made.outcome, made.basis, made.turn) == ("partial", "unchecked", None)
    tried = Session().user("why is it slow?").write("/tmp/probe.py", "measure()").run("python3 /tmp/probe.py", "0.1")
    assert shown(tried).outcome == "unknown"
    assert shown(Session().user("add the filter").read("shop.js", "1 cart")).outcome == "unknown"
