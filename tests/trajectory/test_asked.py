"""What a user answered when an agent asked with a tool, as today's agents record it."""

from __future__ import annotations

import json

import pytest

from agent_wiki.trajectory.asked import decisions
from agent_wiki.trajectory.calls import Call

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


def test_of_an_answer_that_is_written_with_escapes_the_first_line_is_told() -> None:
    result = json.dumps({"answers": {"0": "Cap it.\n\nAt 100."}})
    assert _told(result, questions=[ROLE]) == [("Cap", "Cap it.")]
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
