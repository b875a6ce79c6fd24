"""The text of an answer as an answer, and what is said of one that does not fit. Pure: nothing here asks anybody."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from agent_wiki.engine import Answer, AnswerType, Question
from agent_wiki.engines.answer_faults import faults_beside_schema, schema_problems
from agent_wiki.stages.extract_guidelines import GuidelinesAnswer
from agent_wiki.stages.summarize import SummaryAnswer
from agent_wiki.stages.synthesize_skill import SkillsAnswer

ON_TRAJECTORY: tuple[type[Answer], ...] = (SummaryAnswer, GuidelinesAnswer, SkillsAnswer)
"""The answers to the questions on a trajectory."""

_RULE_ID = "rule_id"
_MOST_ERRORS = 60  # more than a careful answer can have: all are named at once, for each further try costs the whole
_MOST_OBJECTS = 50
_OBJECT_BEGINS = re.compile(r"^[ \t]{0,8}\{", re.MULTILINE)


class InvalidAnswer(Exception):
    """A text is not an answer of the wanted type; `str()` names fields and reasons, for the model to read."""


@lru_cache(maxsize=1)
def form_on_trajectory() -> type[BaseModel]:
    """One form for the answers to all three questions on a trajectory, of which one is given."""
    fields: dict[str, Any] = {
        each.__name__: (each | None, Field(description=(each.__doc__ or "").strip())) for each in ON_TRAJECTORY
    }
    made: type[BaseModel] = create_model("AnswerOnTrajectory", __config__=ConfigDict(extra="forbid"), **fields)
    return made


@lru_cache(maxsize=1)
def parts_on_trajectory() -> type[Answer]:
    """What an answer to several questions must at least be: the first part, and objects for the others.

    Whether a part fits is found out when its own question is answered with it.
    """
    first, *others = (each.__name__ for each in ON_TRAJECTORY)
    fields: dict[str, Any] = {first: (dict[str, Any], ...)} | dict.fromkeys(others, (dict[str, Any] | None, None))
    made: type[Answer] = create_model("PartsOnTrajectory", __base__=Answer, **fields)
    return made


def part_in(text: str, answer_type: type[Answer]) -> str | None:
    """Of an answer to several questions the part for one, as JSON text; None where it has none."""
    try:
        part = object_in(text).get(answer_type.__name__)
    except InvalidAnswer:
        return None
    return None if part is None else json.dumps(part, ensure_ascii=False)


def answer_in(text: str, answer_type: type[AnswerType]) -> AnswerType:
    """The answer that a text holds, also inside a fence or behind prose. Raises `InvalidAnswer`."""
    try:
        return answer_type.model_validate(value_in(text, answer_type))
    except ValidationError as error:
        raise InvalidAnswer("; ".join(map(str, schema_problems(error)[:_MOST_ERRORS]))) from error


def value_in(text: str, answer_type: type[Answer]) -> Any:
    """What a text gives as the answer of a type, before it is validated. Raises `InvalidAnswer` where it gives none."""
    value = object_in(text)
    name = answer_type.__name__
    if name in value and set(value) <= {each.__name__ for each in ON_TRAJECTORY}:
        value = value[name]
    return _without_rule_ids(value)


def _without_rule_ids(value: Any) -> Any:
    """A model follows no rules of an engine: what it says of one is nothing."""
    if isinstance(value, dict):
        return {name: _without_rule_ids(each) for name, each in value.items() if name != _RULE_ID}
    return [_without_rule_ids(each) for each in value] if isinstance(value, list) else value


def object_in(text: str) -> dict[str, Any]:
    """The longest JSON object that begins the text or a line of it: prose may speak of smaller ones.

    Raises `InvalidAnswer` where there is none.
    """
    decoder = json.JSONDecoder(strict=False)
    longest, found = 0, None
    for start in (match.end() - 1 for match in islice(_OBJECT_BEGINS.finditer(text), _MOST_OBJECTS)):
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if end - start > longest:
            longest, found = end - start, value
    if found is None:
        raise InvalidAnswer("it is not one JSON object, or one that does not end")
    return dict(found)


def besides_schema(text: str, question: Question[Any]) -> list[str]:
    """What is wrong with an answer besides that it does not fit the schema, as far as it can be read."""
    try:
        value = value_in(text, question.answer_type)
    except InvalidAnswer:
        return []
    if not isinstance(value, dict):
        return []
    return list(map(str, faults_beside_schema(value, question)))


def schema_complaint(reason: str, problems: Sequence[str] = ()) -> str:
    """What a model is sent about an answer that does not fit the schema. `problems`: what else is wrong with it."""
    besides = f" And what fits has faults, too:\n\n{_listed(problems)}\n\n" if problems else " "
    return f"That answer does not fit: {reason}.{besides}Give the whole answer again, corrected."


def problems_complaint(problems: Sequence[str]) -> str:
    """What a model is sent about an answer that the recording does not support."""
    return (
        "A program held that answer against the recording and found that this does not stand:\n\n"
        f"{_listed(problems)}\n\nGive the whole answer again. Correct what is named from the recording or leave it "
        "out, and keep the rest."
    )


def _listed(problems: Sequence[str]) -> str:
    more = len(problems) - _MOST_ERRORS
    lines = [*problems[:_MOST_ERRORS], *([f"and {more} more"] if more > 0 else [])]
    return "\n".join(f"- {each}" for each in lines)
