"""What is wrong with an answer that an agent wrote, field by field. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from agent_wiki.engine import Answer, Problem, Question
from agent_wiki.engines.prompting import SegmentQuestion
from agent_wiki.stages.order import SESSION_STAGES, SUMMARIZE, stage_named
from agent_wiki.stages.summarize import SummaryAnswer
from agent_wiki.trajectory import Trajectory, without_surrogates
from agent_wiki.trajectory.evidence import is_verbatim, why_not_verbatim

_QUOTES = (("turn", "quote"), ("outcome_turn", "outcome_quote"), ("accepted_turn", "accepted_quote"))
_WHOLE = "the answer"


def value_in(text: str) -> tuple[dict[str, Any], list[Problem]]:
    """The JSON object in a text, or why it is not one."""
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        return {}, [Problem(place, f"{error.msg}; an answer is one JSON object, nothing else")]
    except (RecursionError, ValueError) as error:
        return {}, [Problem(_WHOLE, f"cannot be read as JSON ({type(error).__name__})")]
    if not isinstance(value, dict):
        return {}, [Problem(_WHOLE, "not a JSON object")]
    return value, []


def text_of(value: Mapping[str, Any]) -> str:
    """An answer as the journal keeps it: the value as it was given, on one line."""
    return without_surrogates(json.dumps(value, ensure_ascii=False))


def problems_of(value: Mapping[str, Any], question: Question[Any]) -> list[Problem]:
    """What is wrong with an answer, field by field; empty when nothing is.

    First by the schema; then turns and quotes by the recording, and all else that the stage would reject or drop.
    """
    answer_type: type[Answer] = question.answer_type
    try:
        answer = answer_type.model_validate(json.loads(text_of(value)))
    except ValidationError as error:
        return [_schema_problem(each) for each in error.errors()]
    problems = question.problems(answer)
    trajectory = question.fields().get("trajectory")
    if not isinstance(trajectory, Trajectory):
        return problems
    # A stage's problem about a citation names the page; here the field is named by its path.
    return [
        *_citation_problems("", answer.model_dump(), trajectory),
        *(each for each in problems if not each.is_on_citation),
    ]


def problems_of_several(value: Mapping[str, Any], summarizing: Question[Any]) -> list[Problem]:
    """What is wrong with an answer to all questions on a trajectory, of which `summarizing` is the first.

    The others are checked once the summary is right, for they are held against it.
    """
    own = {answer_type.__name__: stage for stage in SESSION_STAGES for answer_type in _types(stage)}
    found = [Problem(name, "no such field") for name in value if name not in own]
    for name, stage in own.items():
        part = value.get(name)
        if not isinstance(part, dict):
            may_be_null = part is None and stage == SESSION_STAGES[-1]
            found += [] if may_be_null else [Problem(name, "missing, or not an object")]
            continue
        asked = summarizing if stage == SUMMARIZE else _beside(summarizing, stage, value)
        found += [Problem(f"{name}.{each.place}".rstrip("."), each.reason) for each in problems_of(part, asked)]
        if found and stage == SUMMARIZE:
            break
    return found


def _types(stage: str) -> Iterator[type[Answer]]:
    yield from stage_named(stage).questions.values()


def _beside(summarizing: Question[Any], stage: str, value: Mapping[str, Any]) -> Question[Any]:
    """The question of another stage on what was summarized, with the summary in the answer."""
    summary = SummaryAnswer.model_validate(json.loads(text_of(value[SummaryAnswer.__name__])))
    question = stage_named(stage).question(summarizing.fields()["trajectory"], summary)
    return SegmentQuestion(question, summarizing.segment) if isinstance(summarizing, SegmentQuestion) else question


def _schema_problem(error: Mapping[str, Any]) -> Problem:
    reason = "no such field" if error["type"] == "extra_forbidden" else error["msg"]
    return Problem(".".join(map(str, error["loc"])) or _WHOLE, reason)


def _citation_problems(place: str, value: Any, trajectory: Trajectory) -> Iterator[Problem]:
    """Turns that do not exist, and quotes that are not verbatim in their turn."""
    if isinstance(value, list):
        for position, each in enumerate(value):
            yield from _citation_problems(f"{place}{position}.", each, trajectory)
    elif isinstance(value, dict):
        yield from _problems_here(place, value, trajectory)
        for name, each in value.items():
            yield from _citation_problems(f"{place}{name}.", each, trajectory)


def _problems_here(place: str, value: Mapping[str, Any], trajectory: Trajectory) -> Iterator[Problem]:
    turns = len(trajectory.messages)
    for name, each in value.items():
        if name.endswith("turn") and isinstance(each, int) and each > turns:
            yield Problem(f"{place}{name}", f"turn {each} is not there; the last is {turns}")
    for turn_name, quote_name in _QUOTES:
        turn, quote = value.get(turn_name), value.get(quote_name)
        if quote is None or (isinstance(turn, int) and turn > turns):
            if quote is None and value.get("status", "ignored") != "ignored" and quote_name == "quote":
                yield Problem(f"{place}quote", "missing; every status but `ignored` needs one")
            continue
        if turn is None:
            yield Problem(f"{place}{turn_name}", "missing; a quote needs its turn")
        elif not is_verbatim(trajectory, turn, quote):
            yield Problem(f"{place}{quote_name}", why_not_verbatim(trajectory, turn, quote))
