"""All that is wrong with an answer at once: by its schema, and, of what fits, by the recording and the stage. Pure.

Whoever answers learns everything in one go, for each further try costs the whole answer again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from agent_wiki.engine import Answer, AnswerType, Problem, Question
from agent_wiki.trajectory import Trajectory, without_surrogates
from agent_wiki.trajectory.evidence import is_verbatim, why_not_verbatim

_QUOTES = (("turn", "quote"), ("outcome_turn", "outcome_quote"), ("accepted_turn", "accepted_quote"))
_WHOLE = "the answer"
_MOST_PASSES = 6  # an item that is left out may leave a list too short, up to the answer itself
_DEEPEST = 12  # no schema is as deep
_LEFT_OUT = object()

_Error = Mapping[str, Any]


def text_of(value: Mapping[str, Any]) -> str:
    """An answer as the journal keeps it: the value as it was given, on one line."""
    return without_surrogates(json.dumps(value, ensure_ascii=False))


def faults_of(value: Mapping[str, Any], question: Question[Any]) -> list[Problem]:
    """What is wrong with an answer, field by field; empty when nothing is.

    By the schema; by the recording, as far as turns and quotes go; and whatever else the stage would reject or drop.
    Where the schema does not fit, the rest is looked for in what does.
    """
    answer_type: type[Answer] = question.answer_type
    try:
        answer = answer_type.model_validate(json.loads(text_of(value)))
    except ValidationError as error:
        return [*schema_problems(error), *faults_beside_schema(value, question)]
    return _unsupported(answer.model_dump(), answer, question)


def faults_beside_schema(value: Mapping[str, Any], question: Question[Any]) -> list[Problem]:
    """Of an answer that does not fit its schema, what is wrong with the rest."""
    return _unsupported(value, what_fits(value, question.answer_type), question)


def _unsupported(value: Mapping[str, Any], answer: Answer | None, question: Question[Any]) -> list[Problem]:
    """What recording and stage do not support; in: the answer as it was given, and what fits its schema."""
    found = question.problems(answer) if answer is not None else []
    trajectory = question.fields().get("trajectory")
    if not isinstance(trajectory, Trajectory):
        return found
    # A stage's problem about a citation names the page; here the field is named by its path.
    return [*_citation_problems("", value, trajectory), *(each for each in found if not each.is_on_citation)]


def schema_problems(error: ValidationError) -> list[Problem]:
    """What does not fit a schema, field by field."""
    return [
        Problem(
            ".".join(map(str, each["loc"])) or _WHOLE,
            "no such field" if each["type"] == "extra_forbidden" else each["msg"],
        )
        for each in error.errors()
    ]


def what_fits(value: Mapping[str, Any], answer_type: type[AnswerType]) -> AnswerType | None:
    """The answer without what does not fit its schema; None where nothing is left that does.

    Unknown fields are left out, what is too long is cut, and of a list the item goes in which something is wrong.
    """
    try:
        rest: Any = json.loads(text_of(value))
    except RecursionError:
        return None
    for _ in range(_MOST_PASSES):
        try:
            return answer_type.model_validate(rest)
        except ValidationError as error:
            if not all(_is_mended(rest, each) for each in error.errors()):
                return None
        rest = _without_left_out(rest)
    return None


def _is_mended(value: Any, error: _Error) -> bool:
    """Take out of the value what an error is about; False where that is the whole."""
    containers = [value]
    for name in error["loc"]:
        try:
            containers.append(containers[-1][name])
        except (KeyError, IndexError, TypeError):
            break
        if containers[-1] is _LEFT_OUT:
            return True
    places: Sequence[Any] = error["loc"][: len(containers) - 1]
    most = error.get("ctx", {}).get("max_length")
    if places and error["type"] == "extra_forbidden":
        containers[-2][places[-1]] = _LEFT_OUT
        return True
    if places and most is not None and isinstance(containers[-1], str | list):
        containers[-2][places[-1]] = containers[-1][:most]
        return True
    for container, place in reversed(list(zip(containers, places, strict=False))):
        if isinstance(container, list):
            container[place] = _LEFT_OUT
            return True
    return False


def _without_left_out(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_left_out(each) for name, each in value.items() if each is not _LEFT_OUT}
    return [_without_left_out(each) for each in value if each is not _LEFT_OUT] if isinstance(value, list) else value


def _citation_problems(place: str, value: Any, trajectory: Trajectory, depth: int = 0) -> Iterator[Problem]:
    """Turns that do not exist, and quotes that are not verbatim in their turn."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for position, each in enumerate(value):
            yield from _citation_problems(f"{place}{position}.", each, trajectory, depth + 1)
    elif isinstance(value, dict):
        yield from _problems_here(place, value, trajectory)
        for name, each in value.items():
            yield from _citation_problems(f"{place}{name}.", each, trajectory, depth + 1)


def _problems_here(place: str, value: Mapping[str, Any], trajectory: Trajectory) -> Iterator[Problem]:
    turns = len(trajectory.messages)
    for name, each in value.items():
        if str(name).endswith("turn") and isinstance(each, int) and each > turns:
            yield Problem(f"{place}{name}", f"turn {each} is not there; the last is {turns}")
    for turn_name, quote_name in _QUOTES:
        turn, quote = value.get(turn_name), value.get(quote_name)
        if quote is None and value.get("status", "ignored") != "ignored" and quote_name == "quote":
            yield Problem(f"{place}quote", "missing; every status but `ignored` needs one")
        if not isinstance(quote, str):
            continue
        if turn is None:
            yield Problem(f"{place}{turn_name}", "missing; a quote needs its turn")
        elif isinstance(turn, int) and turn <= turns and not is_verbatim(trajectory, turn, quote):
            yield Problem(f"{place}{quote_name}", why_not_verbatim(trajectory, turn, quote))
