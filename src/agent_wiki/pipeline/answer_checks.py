"""An answer that an agent wrote, held against its question: a line a problem, with its field. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from agent_wiki.engine import Answer, Question
from agent_wiki.errors import AnswerRejected
from agent_wiki.stages import consolidate_clusters, discover_tasks
from agent_wiki.trajectory import Trajectory, without_surrogates
from agent_wiki.trajectory.evidence import is_verbatim

_QUOTES = (("turn", "quote"), ("outcome_turn", "outcome_quote"))
# What stages say of turns and quotes without naming the very field, which is told here in their place.
_SAID_BY_FIELD = re.compile(r"not verbatim in turn|: turn \d+ is not there|: no verbatim quote$")
_MOST_QUOTED = 60


def value_in(text: str) -> tuple[dict[str, Any], list[str]]:
    """The JSON object that a text is, and why it is none: `({}, ["line 3, column 5: …"])`."""
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        return {}, [
            f"line {error.lineno}, column {error.colno}: {error.msg}; an answer is one JSON object, nothing else"
        ]
    except (RecursionError, ValueError) as error:
        return {}, [f"the answer: cannot be read as JSON ({type(error).__name__})"]
    if not isinstance(value, dict):
        return {}, ["the answer: not a JSON object"]
    return value, []


def text_of(value: Mapping[str, Any]) -> str:
    """An answer as the journal keeps it: the value as it was given, on one line."""
    return without_surrogates(json.dumps(value, ensure_ascii=False))


def problems_of(value: Mapping[str, Any], question: Question[Any]) -> list[str]:
    """What of an answer does not stand, field by field; empty when all does.

    Held against the schema first; then turns and quotes against the recording, and all else that the stage would
    reject or drop.
    """
    answer_type: type[Answer] = question.answer_type
    try:
        answer = answer_type.model_validate(json.loads(text_of(value)))
    except ValidationError as error:
        return [_told(each) for each in error.errors()]
    trajectory = question.fields().get("trajectory")
    if isinstance(trajectory, Trajectory):
        named = list(_unborne("", answer.model_dump(), trajectory))
        said = getattr(question, "problems", _no_problems)(answer)
        return named + [each for each in said if not _SAID_BY_FIELD.search(each)]
    return _corpus_problems(answer, question)


def _told(error: Mapping[str, Any]) -> str:
    place = ".".join(map(str, error["loc"])) or "the answer"
    return f"{place}: {'no such field' if error['type'] == 'extra_forbidden' else error['msg']}"


def _unborne(place: str, value: Any, trajectory: Trajectory) -> Iterator[str]:
    """Turns that are not there, and quotes that are not verbatim in their turn."""
    if isinstance(value, list):
        for position, each in enumerate(value):
            yield from _unborne(f"{place}{position}.", each, trajectory)
    elif isinstance(value, dict):
        yield from _unborne_here(place, value, trajectory)
        for name, each in value.items():
            yield from _unborne(f"{place}{name}.", each, trajectory)


def _unborne_here(place: str, value: Mapping[str, Any], trajectory: Trajectory) -> Iterator[str]:
    turns = len(trajectory.messages)
    for name, each in value.items():
        if name.endswith("turn") and isinstance(each, int) and each > turns:
            yield f"{place}{name}: turn {each} is not there; the last is {turns}"
    for turn_name, quote_name in _QUOTES:
        turn, quote = value.get(turn_name), value.get(quote_name)
        if quote is None or (isinstance(turn, int) and turn > turns):
            if quote is None and value.get("status", "ignored") != "ignored" and quote_name == "quote":
                yield f"{place}quote: missing; every status but `ignored` needs one"
            continue
        if turn is None:
            yield f"{place}{turn_name}: missing; a quote needs its turn"
        elif not is_verbatim(trajectory, turn, quote):
            yield f"{place}{quote_name}: not verbatim in turn {turn}: {quote[:_MOST_QUOTED]!r}"


def _no_problems(_answer: Any) -> list[str]:
    return []


def _corpus_problems(answer: Any, question: Question[Any]) -> list[str]:
    """What the check of a corpus stage rejects or drops."""
    if isinstance(question, consolidate_clusters.ClusterQuestion):
        return [f"clusters: {each}" for each in consolidate_clusters.check(answer, question)[1]]
    try:
        if isinstance(question, discover_tasks.TaskQuestion):
            kept = discover_tasks.check_task(answer, question.family).findings
            dropped = [number for number, each in enumerate(answer.findings) if each not in kept]
            return [f"findings.{number}: it has no number, so it measures nothing" for number in dropped]
        if isinstance(question, discover_tasks.SubtaskQuestion):
            for each in answer.subtasks:
                discover_tasks.check_subtask(each, question.session)
    except AnswerRejected as error:
        return [str(error)]
    return []
