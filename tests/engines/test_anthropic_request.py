"""A question as a request, and a text as an answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import create_model

from agent_wiki.asking.prompts import read_prompts, render_prompt
from agent_wiki.engine import Answer, Question
from agent_wiki.engines.answer_text import InvalidAnswer, answer_in
from agent_wiki.engines.anthropic_api.request import request_body, request_of
from agent_wiki.engines.requests import STRUCTURES, Asking, Round
from agent_wiki.pages.compare.views import GuidelineView
from agent_wiki.stages.consolidate_clusters import ClusterQuestion
from agent_wiki.stages.extract_guidelines import CitedQuote, GuidelineAnswer, GuidelinesAnswer, GuidelinesQuestion
from agent_wiki.stages.summarize import SummarizeQuestion, SummaryAnswer
from agent_wiki.stages.synthesize_skill import SkillQuestion
from agent_wiki_testing.checks import check_message_request
from agent_wiki_testing.endpoint import Endpoint
from agent_wiki_testing.schemas import check_native_schema
from agent_wiki_testing.tokens import prompt_blocks
from tests.wikis import arc, worked_session

_SUMMARY = SummaryAnswer.model_validate({"arcs": [arc()]})
_PROMPTS = read_prompts()
_ON_TRAJECTORY: list[Question[Any]] = [
    SummarizeQuestion(worked_session()),
    GuidelinesQuestion(worked_session(), _SUMMARY),
    SkillQuestion(worked_session(), _SUMMARY),
]


def _asking(question: Question[Any], *rounds: Round) -> Asking:
    return Asking(render_prompt(question, _PROMPTS), question.answer_type, "m", is_cached=True, rounds=rounds)


def _clusters() -> Question[Any]:
    views = [GuidelineView(name, "Run the check first", "Run make check.", sessions=(name,)) for name in "ab"]
    return ClusterQuestion(tuple(views))


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("question", [*_ON_TRAJECTORY, _clusters()], ids=lambda question: question.stage)
def test_every_request_is_one_that_the_service_takes(question: Question[Any], structure: Any) -> None:
    check_message_request(request_body(_asking(question), structure), Endpoint(forced_tools="honoured"))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_the_questions_on_a_trajectory_begin_with_the_same_bytes(structure: Any) -> None:
    bodies = [request_body(_asking(question), structure) for question in _ON_TRAJECTORY]
    assert len({json.dumps([body.get("output_config"), body.get("tools"), body["system"]]) for body in bodies}) == 1
    assert len({json.dumps(body["messages"][0]["content"][0]) for body in bodies}) == 1
    assert bodies[0]["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert len({body["messages"][0]["content"][1]["text"] for body in bodies}) == 3


def test_a_form_with_more_values_that_may_be_null_than_a_service_takes_leaves_the_last_out_instead() -> None:
    fields: dict[str, Any] = {f"field_{number:02}": (str | None, None) for number in range(17)}
    fields["field_17"] = (list[int | None], [])
    form = create_model("WideAnswer", __base__=Answer, **fields)
    body = request_body(replace(_asking(_clusters()), answer_type=form), "native")
    schema = body["output_config"]["format"]["schema"]
    check_native_schema(schema)
    assert "anyOf" in schema["properties"]["field_14"]
    last = schema["properties"]["field_15"]
    assert (last["type"], last["description"].endswith("Leave it out instead of null.")) == ("string", True)
    assert schema["required"] == ["field_17"]


def test_a_round_is_put_behind_what_was_sent_before() -> None:
    asking = _asking(_ON_TRAJECTORY[0])
    first = request_body(asking, "native")
    again = replace(asking, rounds=(Round("", "Again."),))
    second = request_body(again, "native")
    assert second["messages"][:1] == first["messages"]
    assert second["messages"][1:] == [
        {"role": "assistant", "content": "(nothing)"},
        {"role": "user", "content": "Again."},
    ]
    assert request_of(asking, "native").digest != request_of(again, "native").digest


def test_a_prompt_never_has_more_tokens_than_its_bound() -> None:
    for question in _ON_TRAJECTORY:
        for structure in STRUCTURES:
            request = request_of(_asking(question), structure)
            body = dict(request.body)
            schema = body.get("output_config", {}).get("format", {}).get("schema")
            assert sum(block.tokens for block in prompt_blocks(body, schema)) < request.most_prompt_tokens


@pytest.mark.parametrize(
    "text",
    [
        '{"guidelines": []}',
        'Some {words} first.\n\n```json\n{"guidelines": []}\n```\nAnd behind.',
        '{}\nno, rather:\n{"guidelines": []}',
        '{"SummaryAnswer": null, "GuidelinesAnswer": {"guidelines": []}, "SkillsAnswer": null}',
        '{"GuidelinesAnswer": {"guidelines": []}}',
    ],
)
def test_an_answer_is_found_in_what_is_around_it(text: str) -> None:
    assert answer_in(text, GuidelinesAnswer) == GuidelinesAnswer()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not one JSON object"),
        ("none", "not one JSON object"),
        ('{"guidelines": [', "does not end"),
        ("[1]", "not one JSON object"),
        ("{" * 100_000, "not one JSON object"),
        ('{"guideline": []}', "guideline: no such field"),
        ('{"guidelines": [{"title": 1}]}', r"guidelines\.0\.title: Input should be a valid string"),
        ('{"SummaryAnswer": {}, "GuidelinesAnswer": null, "SkillsAnswer": null}', "the answer: "),
    ],
)
def test_an_invalid_answer_is_reported_with_its_field(text: str, reason: str) -> None:
    with pytest.raises(InvalidAnswer, match=reason):
        answer_in(text, GuidelinesAnswer)


def test_what_a_model_says_of_a_rule_of_an_engine_is_nothing() -> None:
    lesson = GuidelineAnswer(
        title="Run the checks first",
        rule="Run the checks.",
        rationale="They failed.",
        trigger="A change.",
        tags=["checks"],
        evidence=[CitedQuote(turn=1, quote="x")],
    )
    answer = GuidelinesAnswer(guidelines=[lesson.model_copy(update={"rule_id": "recoveries/renamed"})])
    assert answer_in(answer.model_dump_json(), GuidelinesAnswer) == GuidelinesAnswer(guidelines=[lesson])
