"""The goal of a long prompt: the list, the heading or the question that says what is to be done."""

from __future__ import annotations

from tests.engines.test_offline_goal import LONG, goal


def test_a_prompt_that_lists_what_is_to_be_done_is_named_with_the_list() -> None:
    text = (
        "We are addressing all remaining issues of the last review.\n\nRules:\n1. Be short\n2. Be exact\n\n"
        f"------------------\n1. FIX: THE job_queue (HIGH)\n------------------\n{LONG}\n"
        "- Replace the hard stop\n\n2. Tests of the queue\n\n3. The start of the server\n\n"
        "Return:\n1. the files\n2. the tests"
    )
    assert goal(text) == (
        "We are addressing all remaining issues of the last review: THE job_queue (HIGH); Tests of the queue; "
        "The start of the server"
    )


def test_a_list_below_a_request_of_its_own_is_left_out() -> None:
    text = f"Review the plan for pictures in the index.\n\n1. The class has a text\n2. It has no picture\n\n{LONG}"
    assert goal(text) == "Review the plan for pictures in the index."


def test_a_list_that_is_led_in_by_the_request_says_what_the_story_before_it_does_not() -> None:
    tasks = "Implement the following:\n\n1. Store\n- shelves\n2. Orders\n"
    text = f"The shop has a real database by now.\n\n{LONG}\n\n{tasks}"
    assert goal(text) == "Implement the following: Store; Orders"


def test_the_goal_below_a_heading_of_its_own_is_the_goal() -> None:
    assert goal(f"We are nearly there with the shop.\n\nGOAL\n----\n\nSplit the large pages.\n\n{LONG}") == (
        "Split the large pages."
    )
    assert goal("# Shop, phase 6: close the gaps\n\n## Goal\nRemove the old bot.").startswith("Shop, phase 6")
    assert goal("Repair the pictures.\n\nTASK:\n\n1. Replace the tag\n").startswith("Repair the pictures.")


def test_the_request_after_a_long_story_or_a_long_paste_is_found() -> None:
    story = f"The repo has a real foundation. There is also structure for users, check-ins and reports.\n\n{LONG * 3}"
    assert goal(f"{story}\n\nplease go ahead and build the store now.").endswith("build the store now.")
    assert goal(f"{'A review says: all is well. ' * 300}\nmake sure the shop passes all of this").endswith(
        "all of this"
    )


def test_what_is_wanted_after_the_task_is_not_the_task() -> None:
    after = (
        "IMPORTANT: After completing the task below, you MUST output JSON in a ```json code fence. Do not forget it."
    )
    assert goal(f"{after}\n\nMend the totals of the cart.\n\nThey are wrong.") == "Mend the totals of the cart."
