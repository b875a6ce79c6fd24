"""What is wrong with an answer that an agent wrote, field by field. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agent_wiki.engine import Answer, Problem, Question
from agent_wiki.engines.answer_faults import faults_of, what_fits
from agent_wiki.engines.prompting import SegmentQuestion
from agent_wiki.stages.order import SESSION_STAGES, SUMMARIZE, stage_named
from agent_wiki.stages.summarize import NO_SUMMARY, SummaryAnswer

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


def problems_of_several(value: Mapping[str, Any], summarizing: Question[Any]) -> list[Problem]:
    """What is wrong with an answer to all questions on a trajectory, of which `summarizing` is the first.

    The others are held against what of the summary fits.
    """
    own = {answer_type.__name__: stage for stage in SESSION_STAGES for answer_type in _types(stage)}
    found = [Problem(name, "no such field") for name in value if name not in own]
    given = value.get(SummaryAnswer.__name__)
    summary = (what_fits(given, SummaryAnswer) if isinstance(given, dict) else None) or NO_SUMMARY
    for name, stage in own.items():
        part = value.get(name)
        if not isinstance(part, dict):
            may_be_null = part is None and stage == SESSION_STAGES[-1]
            found += [] if may_be_null else [Problem(name, "missing, or not an object")]
            continue
        asked = summarizing if stage == SUMMARIZE else _beside(summarizing, stage, summary)
        found += [Problem(f"{name}.{each.place}".rstrip("."), each.reason) for each in faults_of(part, asked)]
    return found


def _types(stage: str) -> Iterator[type[Answer]]:
    yield from stage_named(stage).questions.values()


def _beside(summarizing: Question[Any], stage: str, summary: SummaryAnswer) -> Question[Any]:
    """The question of another stage on what was summarized, with the summary in the answer."""
    question = stage_named(stage).question(summarizing.fields()["trajectory"], summary)
    return SegmentQuestion(question, summarizing.segment) if isinstance(summarizing, SegmentQuestion) else question
