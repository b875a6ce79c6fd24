"""Everything that is wrong with an answer is named at once, so that one more try is enough."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.engines.answer_faults import faults_of, what_fits
from agent_wiki.engines.answer_text import besides_schema, problems_complaint, schema_complaint
from agent_wiki.stages.extract_guidelines import GuidelinesAnswer, GuidelinesQuestion
from agent_wiki.stages.summarize import SummarizeQuestion, SummaryAnswer
from tests.wikis import arc, rule, worked_session

SESSION = worked_session()
LESSONS = GuidelinesQuestion(SESSION, SummaryAnswer.model_validate({"arcs": [arc()]}))
LONG_TITLE = "Run the check first of all before anything else"


def places(value: dict[str, Any], question: Any = LESSONS) -> list[str]:
    return [str(each) for each in faults_of(value, question)]


def test_each_lesson_is_named_with_all_its_faults() -> None:
    told = {
        "guidelines": [
            rule("x" * 601, title=LONG_TITLE, trigger="", evidence=[{"turn": 2, "quote": "no such"}]),
            rule("Check it.", title="Check"),
        ]
    }
    assert places(told) == [
        "guidelines.0.evidence.0.quote: not verbatim in turn 2: 'no such'",
        f"{LONG_TITLE}: title has 9 words, not 3 to 7",
        f"{LONG_TITLE}: rule has 601 characters, more than 600",
        f"{LONG_TITLE}: trigger is empty",
        f"{LONG_TITLE}: no valid evidence",
        "Check: title has 1 words, not 3 to 7",
    ]


def test_what_does_not_fit_the_schema_hides_nothing_of_the_rest() -> None:
    told = {
        "guidelines": [
            rule("Check it.", title="Check", kind="x"),
            rule("Check that.", scope="everywhere", evidence=[{"turn": 2, "quote": "no such"}]),
            rule("Look at it.", title=LONG_TITLE, evidence=[{"turn": 2, "quote": "y" * 201}]),
            rule("Look at that.", title="Look"),
        ]
    }
    found = places(told)
    assert found[0] == "guidelines.0.kind: no such field"
    assert [each.partition(": ")[0] for each in found] == [
        "guidelines.0.kind", "guidelines.1.scope", "guidelines.2.evidence.0.quote",  # by the schema
        "guidelines.1.evidence.0.quote", "guidelines.2.evidence.0.quote",  # by the recording
        "Check", LONG_TITLE, LONG_TITLE, "Look",
    ]  # fmt: skip


def test_a_summary_is_named_with_all_its_faults() -> None:
    twice = [
        arc(title="a b c d e f g h i j k", narrative="word " * 251),
        arc(repairs=[{"event_turn": 3, "remedy_turn": 2, "text": "x"}]),
    ]
    assert places({"arcs": twice}, SummarizeQuestion(SESSION)) == [
        "arcs: two begin at turn 1", "repairs: the turns 3 and 2 do not follow each other",
        "arcs.0.narrative: has 251 words, more than 250", "arcs.0.title: has 11 words, more than 10",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"guidelines": [rule("a"), rule("b", scope="?"), rule("c")]}, ["a", "c"]),
        ({"guidelines": [rule("a", evidence=[{"turn": 0, "quote": "x"}])]}, []),
        ({"guidelines": [rule(each) for each in "abcdefghi"]}, list("abcdefg")),
        ({"guidelines": [{}, 3, rule("d")], "more": 1}, ["d"]),
        ({"guidelines": 3}, None),
        ({}, []),
    ],
)
def test_of_an_answer_that_does_not_fit_the_rest_is_kept_in_its_order(value: Any, kept: list[str] | None) -> None:
    found = what_fits(value, GuidelinesAnswer)
    assert (None if found is None else [each.rule for each in found.guidelines]) == kept


def test_an_answer_nested_too_deeply_has_nothing_that_fits() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    assert what_fits({"guidelines": value}, GuidelinesAnswer) is None


def test_a_model_is_sent_everything_in_one_complaint() -> None:
    text = '{"guidelines": [{"title": "Check", "evidence": [{"turn": 2, "quote": "no such"}]}]}'
    besides = besides_schema(text, LESSONS)
    assert besides == ["guidelines.0.evidence.0.quote: not verbatim in turn 2: 'no such'"]
    assert schema_complaint("x: y", besides) == (
        "That answer does not fit: x: y. And what fits has faults, too:\n\n"
        f"- {besides[0]}\n\nGive the whole answer again, corrected."
    )
    assert besides_schema("no JSON", LESSONS) == []


def test_no_fault_goes_unmentioned_in_a_complaint() -> None:
    complaint = problems_complaint([f"fault {number}" for number in range(70)])
    assert "- fault 40\n" in complaint
    assert "- and 10 more\n" in complaint
