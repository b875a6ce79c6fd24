"""What the search of the example's site answers to questions that people ask: its own script, run by node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

_ASK = Path(__file__).with_name("ask.js")
_MAKE_TEST = "Run the tests with make test"

FIRST = {
    "How do I run the tests?": "Always run the tests with `make test`",
    "make test": _MAKE_TEST,
    "pytest: command not found": _MAKE_TEST,
    "which module should I use to parse a csv file": "Always parse CSV with the csv module",
    "jsonl to csv": "Convert JSONL to CSV",
    "total of a column by another": "Sum CSV column",
    "slugify accented": "Slugify drops accented letters",
    "sum invoices per supplier": "How much do we still owe each supplier? (and one more request)",
}
"""A question, and the title that comes first."""


@pytest.fixture(scope="module")
def answers(example_site: Path) -> dict[str, list[tuple[str, str]]]:
    """Question → kind and title of each hit, the best first."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node is on the path")
    done = subprocess.run(
        [node, str(_ASK), str(example_site), *FIRST, "the"], capture_output=True, text=True, timeout=60, check=True
    )
    found = json.loads(done.stdout)
    return dict(zip((*FIRST, "the"), found, strict=True))


@pytest.mark.parametrize("question", FIRST)
def test_what_answers_a_question_comes_first(answers: dict[str, list[tuple[str, str]]], question: str) -> None:
    assert answers[question][0][1] == FIRST[question]


def test_no_session_comes_before_a_lesson_with_the_same_words(answers: dict[str, list[tuple[str, str]]]) -> None:
    kinds = [[kind == "session" for kind, _ in found] for question, found in answers.items() if question != "the"]
    assert any(True in each and False in each for each in kinds)
    assert all(each == sorted(each) for each in kinds)


def test_words_that_say_nothing_leave_all_pages(answers: dict[str, list[tuple[str, str]]]) -> None:
    assert len(answers["the"]) > 20
