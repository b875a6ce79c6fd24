"""What a user answered when an agent asked with a tool, as today's agents record it."""

from __future__ import annotations

import json

import pytest

from agent_wiki.trajectory.asked import choices, decisions, offers_options
from agent_wiki.trajectory.calls import Call
from tests.engines.scripted_session import Script
from tests.hangs import no_hang

ROLE = {"question": "Which cap applies?", "header": "Cap", "id": "cap", "options": [{"label": "100 (Recommended)"}]}
PLACE = {"question": "Where does it stand?", "header": "Place", "id": "place"}


def _told(result: str, *, failed: bool = False, **arguments: object) -> list[tuple[str, str]]:
    return decisions(Call(3, "ask", dict(arguments), "", 4, result, is_error=failed))


CAP, AT = '"Which cap applies?"=', '"Where does it stand?"='
ON = "You can now continue with the user's answers in mind."


@pytest.mark.parametrize(
    "result",
    [
        f'User has answered your questions: {CAP}"100 (Recommended)", {AT}"in cap.py". {ON}',
        f'User has answered your questions: {CAP}"100 (Recommended)". {AT}"in cap.py". {ON}',
        f'The user answered: {CAP}"100" selected preview: x, {AT}(no option selected) notes: in cap.py',
        '{"answers":{"place":{"answers":["in cap.py"]},"cap":{"answers":["100 (Recommended)"]}}}',
        '{"answers":{"0":"100","1":"in cap.py"}}',
        "User responses:\n1. 100 (Recommended)\n2. in cap.py",
    ],
    ids=["claude-code", "pi", "notes", "codex", "gemini-cli", "conductor"],
)
def test_each_answer_is_told_with_the_heading_of_its_question(result: str) -> None:
    assert _told(result, questions=[ROLE, PLACE]) == [("Cap", "100"), ("Place", "in cap.py")]


@pytest.mark.parametrize("word", ["selected", "wrote", "responded"])
def test_one_question_is_told_itself(word: str) -> None:
    assert _told(f"User {word}: Commit on main", question="Where to?") == [("Where to?", "Commit on main")]


def test_an_answer_with_quotation_marks_ends_where_the_next_question_starts() -> None:
    result = 'User has answered your questions: "Which cap applies?"="the "old" one", "Where does it stand?"="b"'
    assert _told(result, questions=[ROLE, PLACE])[0] == ("Cap", 'the "old" one')


def test_of_an_answer_that_is_written_with_escapes_the_first_sentence_is_told() -> None:
    result = json.dumps({"answers": {"0": "Cap it.\n\nAt 100."}})
    assert _told(result, questions=[ROLE]) == [("Cap", "Cap it.")]
    assert _told(json.dumps({"answers": {"0": "Yes, but only if:\n- it is cheap"}}), questions=[ROLE]) == []
    assert _told(json.dumps({"answers": {"0": 'the "old" one'}}), questions=[ROLE]) == []


@pytest.mark.parametrize(
    "result",
    [
        "",
        "User cancelled the selection",
        "User responded: The user is not available to respond and will review your work later.",
        '{"answers": []}',
        '{"answers": {"cap": {"answers": [17]}}}',
        "[1",
        "{1",
        'User has answered your questions: "Another?"="Yes"',
    ],
)
def test_where_nobody_answered_nothing_is_told(result: str) -> None:
    assert _told(result, questions=[ROLE]) == []
    assert _told(result, question=17) == []


def test_an_error_and_a_question_to_another_program_tell_nothing() -> None:
    assert _told("User selected: Yes", failed=True, question="Sure?") == []
    assert _told("User selected: Yes", repoName="shop/cart", question="Sure?") == []


def test_several_answers_and_what_is_noted_beside_one_are_all_told() -> None:
    codex = {"answers": {"cap": {"answers": ["100", "50"]}}}
    assert _told(json.dumps(codex), questions=[ROLE]) == [("Cap", "100"), ("Cap", "50")]
    codex["answers"]["cap"]["answers"] = ["None of the above", "user_note: 50 for guests"]
    assert _told(json.dumps(codex), questions=[ROLE]) == [("Cap", "50 for guests")]
    noted = f'The user answered: {CAP}"100" user notes: no wait, make it "50", {AT}"in cap.py". {ON}'
    assert _told(noted, questions=[ROLE, PLACE]) == [
        ("Cap", "100"), ("Cap", 'no wait, make it "50"'), ("Place", "in cap.py")]  # fmt: skip
    last = f"The user answered: {AT}(no option selected) notes: ask Kim. {ON}"
    assert _told(last, questions=[PLACE]) == [("Place", "ask Kim")]


def test_an_answer_of_several_numbered_lines_is_not_taken_apart() -> None:
    assert _told("User responses:\n1. Both:\n1. carts\n2. baskets\n2. in cap.py", questions=[ROLE, PLACE]) == []


@pytest.mark.parametrize("answer", ["Retry when the request timed out", "Show declined cards", 'Call them "a" and "b"'])
def test_an_answer_may_speak_of_anything(answer: str) -> None:
    assert _told(f'User has answered your questions: {CAP}"{answer}". {ON}', questions=[ROLE]) == [("Cap", answer)]


def test_a_question_that_was_left_open_has_no_answer() -> None:
    assert _told(f'User has answered your questions: {CAP}"Unanswered". {ON}', questions=[ROLE]) == []
    assert _told("User responded: User skipped question", question="Sure?") == []


@pytest.mark.parametrize("result", ['{"answers":' + "[" * 19_000, "User selected: a" + " " * 19_000 + "b"])
def test_hostile_results_are_read_at_once(result: str) -> None:
    with no_hang():
        _told(result, question="Sure?")


TABLE = """Which cap applies?

**Recommended:** Option B - the shop has few items.

| Option | Description |
|--------|-------------|
| A | 100 items |
| B | 50 items |
| Short | Another answer |"""
STEPS = "I can go on:\n\n1. **Round the prices** - at once\n2. Sort the fruit\n\nWhich one?"
NAMED = "### Option 1: Round\n1. Go to the shop\n### Option 2: Sort\n1. Go to the fruit"


@pytest.mark.parametrize(
    ("reply", "answer", "expected"),
    [
        (TABLE, "A", "100 items"),
        (TABLE, "b.", "50 items"),
        (TABLE, "yes", "50 items"),
        (TABLE, "recommended", "50 items"),
        (TABLE, "a, but only for fruit", ""),
        (TABLE, "C", ""),
        (STEPS, "2", "Sort the fruit"),
        (STEPS, "１", "Round the prices - at once"),
        (STEPS, "yes", ""),
        (NAMED, "Option 1", "Round"),
        ("- A: round\n- B: sort", "B", "sort"),
        ("1. Rounded", "1", ""),  # no list to choose from
        ("All done.", "A", ""),
        (STEPS.replace("Which one?", "How many lamps should it start with?"), "2", ""),
        (f"{STEPS}\n\nEffort:\n- 1 day for the first\n- 2-3 days for the second", "2", "Sort the fruit"),
        ("1. Should prices be rounded?\n2. Should the fruit be sorted?", "1", ""),  # which he did not answer
        ("A) Round\n  1. at once\n  2. later\nB) Sort\n  1. by name\n  2. by price", "B", "Sort"),
        ("| Grade | n |\n| A | 12 |\n| B | 3 |\nWhich one do you want to see?", "B", ""),
        (f"{TABLE}\n\n**Recommended:** Option A - it is calm\n\n| A | red |\n| B | blue |", "yes", "red"),
    ],
)
def test_a_letter_or_a_number_stands_for_the_option_that_the_reply_gives_it(
    reply: str, answer: str, expected: str
) -> None:
    script = Script()
    script.builder.assistant(reply)
    script.builder.user(answer)
    found = choices(script.done(), 1, 9)
    assert [option for _, option in found] == [expected] * bool(expected)


def test_lists_without_end_are_read_in_time() -> None:
    with no_hang():
        script = Script()
        script.builder.assistant("| A | " * 200_000)
        script.builder.user("A")
        assert not choices(script.done(), 1, 9)


LETTERED = """Good question. Let me ask it back to you.

**For the home page, what feels right?**

- **A)** One video at the top
- **B)** No video at all
"""


@pytest.mark.parametrize(
    ("reply", "is_offer"),
    [
        (LETTERED, True),
        ("A. Split by domain\nB. One file\n\nWhich one do you prefer?", True),
        (LETTERED.replace("?", "."), False),
        (LETTERED.replace("- **B)**", "- **C)**"), False),
        (f"I capped the totals in `cart.py`, for members and for guests. {'All tests pass. ' * 30}\n{LETTERED}", False),
        ("A) Is it safe?\n\nIt is: the wrapper returns nothing.\n\nB) Is it fast?\n\nIt is as well.", False),
        ("1. One video\n2. No video\n\nWhich one?", False),
        ("Both are done.\n\n**A.** The cap\n**B.** The shop\n\nAll 12 tests pass. Want me to push?", False),
        ("See https://x.y/?a=1\n\nA. The cap is applied twice\nB. The shop never closes\n\nShall I fix them?", False),
    ],
)
def test_a_reply_that_is_a_question_with_lettered_options_offers_them(reply: str, is_offer: bool) -> None:
    assert offers_options(reply) == is_offer
