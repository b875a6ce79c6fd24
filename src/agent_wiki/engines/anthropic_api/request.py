"""One question as the body of a request, and an answer's text as an answer. Pure: nothing here is sent.

Structure is asked for in one of three ways, for servers that speak the Messages API differ: `native` (the schema as
`output_config`), `tool` (a tool that must be called), `prompt` (the schema behind the question). Whatever a server
promises, the answer is validated.

The service keeps a prompt's prefix by all that comes before its mark, the schema included. So the three questions on a
trajectory, together or one by one, are sent with one schema that holds the answers to each. A mark behind the system
prompt keeps that and the schema for all trajectories, one behind the trajectory keeps it for the other questions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from agent_wiki.asking.prompts import Prompt
from agent_wiki.engine import Answer, AnswerType
from agent_wiki.stages.extract_guidelines import GuidelinesAnswer
from agent_wiki.stages.summarize import SummaryAnswer
from agent_wiki.stages.synthesize_skill import SkillsAnswer
from agent_wiki.trajectory.lazily import dataclass

Structure = Literal["native", "tool", "prompt"]
Lifetime = Literal["5m", "1h"]
STRUCTURES: tuple[Structure, ...] = ("native", "tool", "prompt")

TOOL = "answer"
_OVERHEAD_TOKENS = 2_000  # what a service puts around a prompt: roles, the words that explain a schema or a tool
_RULE_ID = "rule_id"
_MOST_ERRORS = 12
_MOST_OBJECTS = 50
_OBJECT_BEGINS = re.compile(r"^[ \t]{0,8}\{", re.MULTILINE)
_ON_TRAJECTORY: tuple[type[Answer], ...] = (SummaryAnswer, GuidelinesAnswer, SkillsAnswer)


class InvalidAnswer(Exception):
    """A text is not an answer of the wanted type; `str()` names fields and reasons, for the model to read."""


@dataclass(frozen=True, slots=True)
class Round:
    """An invalid answer, and what was wrong with it."""

    answer: str
    complaint: str


@dataclass(frozen=True, slots=True)
class Asking:
    """All that decides a request but for how structure is asked for and how long marks live.

    `is_cached` puts a mark behind the prefix. `about` names what the question is about, and decides nothing.
    """

    prompt: Prompt
    answer_type: type[BaseModel]
    model: str
    is_cached: bool
    rounds: tuple[Round, ...] = ()
    about: tuple[str, ...] = ()


def request_body(asking: Asking, structure: Structure, lifetime: Lifetime = "5m") -> dict[str, Any]:
    """The body of the request: system, trajectory, question, then the rounds so far."""
    prompt = asking.prompt
    messages: list[dict[str, Any]] = [{"role": "user", "content": _content(asking, structure, lifetime)}]
    for each in asking.rounds:
        messages.append({"role": "assistant", "content": each.answer.strip() or "(nothing)"})
        messages.append({"role": "user", "content": each.complaint})
    body: dict[str, Any] = {
        "model": asking.model,
        "max_tokens": prompt.max_tokens,
        "system": _system(asking, lifetime),
        "messages": messages,
    }
    if structure == "native":
        body["output_config"] = {"format": {"type": "json_schema", "schema": _sent_schema(_form(asking))}}
    elif structure == "tool":
        tool = {"name": TOOL, "description": "Give the answer.", "input_schema": _sent_schema(_form(asking))}
        body["tools"] = [tool]
        body["tool_choice"] = {"type": "tool", "name": TOOL}
    return body


def _system(asking: Asking, lifetime: Lifetime) -> str | list[dict[str, Any]]:
    """The system prompt, marked where the next trajectory's questions share it."""
    if not _is_on_trajectory(asking):
        return asking.prompt.system
    return [{"type": "text", "text": asking.prompt.system, "cache_control": _mark(lifetime)}]


def _mark(lifetime: Lifetime) -> dict[str, str]:
    return {"type": "ephemeral"} if lifetime == "5m" else {"type": "ephemeral", "ttl": lifetime}


def _content(asking: Asking, structure: Structure, lifetime: Lifetime) -> list[dict[str, Any]]:
    question = asking.prompt.question
    if structure == "prompt":
        schema = json.dumps(asking.prompt.schema, ensure_ascii=False)
        question += f"\nThe JSON schema of your answer:\n\n```json\n{schema}\n```\n"
    elif _is_on_trajectory(asking) and asking.answer_type is not form_on_trajectory():
        question += f"\nGive the answer as `{asking.answer_type.__name__}`; the other fields of the schema are null.\n"
    asked = {"type": "text", "text": question}
    if not asking.prompt.prefix:
        return [asked]
    prefix: dict[str, Any] = {"type": "text", "text": asking.prompt.prefix}
    if asking.is_cached:
        prefix["cache_control"] = _mark(lifetime)
    return [prefix, asked]


def _is_on_trajectory(asking: Asking) -> bool:
    return asking.answer_type in (*_ON_TRAJECTORY, form_on_trajectory())


def _form(asking: Asking) -> type[BaseModel]:
    return form_on_trajectory() if _is_on_trajectory(asking) else asking.answer_type


@lru_cache(maxsize=1)
def form_on_trajectory() -> type[BaseModel]:
    """One form for the answers to all three questions on a trajectory, of which one is given."""
    fields: dict[str, Any] = {
        each.__name__: (each | None, Field(description=(each.__doc__ or "").strip())) for each in _ON_TRAJECTORY
    }
    made: type[BaseModel] = create_model("AnswerOnTrajectory", __config__=ConfigDict(extra="forbid"), **fields)
    return made


@lru_cache(maxsize=1)
def parts_on_trajectory() -> type[Answer]:
    """What an answer to several questions must at least be: the first part, and objects for the others.

    Whether a part fits is found out when its own question is answered with it.
    """
    first, *others = (each.__name__ for each in _ON_TRAJECTORY)
    fields: dict[str, Any] = {first: (dict[str, Any], ...)} | dict.fromkeys(others, (dict[str, Any] | None, None))
    made: type[Answer] = create_model("PartsOnTrajectory", __base__=Answer, **fields)
    return made


def part_in(text: str, answer_type: type[Answer]) -> str | None:
    """Of an answer to several questions the part for one, as JSON text; None where it has none."""
    try:
        part = _object_in(text).get(answer_type.__name__)
    except InvalidAnswer:
        return None
    return None if part is None else json.dumps(part, ensure_ascii=False)


def prepare_schemas() -> None:
    """Make the schema of the questions on a trajectory, and import what makes it."""
    _sent_schema(form_on_trajectory())


@lru_cache(maxsize=16)
def _sent_schema(form: type[BaseModel]) -> dict[str, Any]:
    """The schema as the service takes it: bounds and patterns become prose, and few fields are optional.

    A service compiles schemas with at most 24 optional fields and 16 unions. So what has a default and may not be null
    is asked for always.
    """
    from anthropic import transform_schema

    schema = transform_schema(form)
    for each in (schema, *schema.get("$defs", {}).values()):
        fields = each.get("properties", {})
        required = [name for name, field in fields.items() if name in each.get("required", ()) or "anyOf" not in field]
        each.update({"required": required} if fields else {})
    return schema


@dataclass(frozen=True, slots=True)
class MessageRequest:
    """A body with what its bytes tell: `digest` is `sha256:…` over all of them but the marks, which change no answer.

    `most_prompt_tokens` is more than the prompt can have, for a token is at least one byte.
    """

    body: Mapping[str, Any]
    digest: str
    most_prompt_tokens: int


def request_of(asking: Asking, structure: Structure, lifetime: Lifetime = "5m") -> MessageRequest:
    """The request that asks for structure in this way. Marks live as long as `lifetime` says."""
    body = request_body(asking, structure, lifetime)
    text = json.dumps(unmarked(body), sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")
    return MessageRequest(body, f"sha256:{hashlib.sha256(text).hexdigest()}", len(text) + _OVERHEAD_TOKENS)


def unmarked(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body without its cache marks: what decides the answer."""
    system, (first, *rounds) = body["system"], body["messages"]
    content = [{name: value for name, value in block.items() if name != "cache_control"} for block in first["content"]]
    text = system if isinstance(system, str) else system[0]["text"]
    return {**body, "system": text, "messages": [{**first, "content": content}, *rounds]}


def answer_in(text: str, answer_type: type[AnswerType]) -> AnswerType:
    """The answer that a text holds, also inside a fence or behind prose. Raises `InvalidAnswer`."""
    value = _object_in(text)
    name = answer_type.__name__
    if name in value and set(value) <= {each.__name__ for each in _ON_TRAJECTORY}:
        value = value[name]
    try:
        return answer_type.model_validate(_without_rule_ids(value))
    except ValidationError as error:
        raise InvalidAnswer(_reason(error)) from error


def _without_rule_ids(value: Any) -> Any:
    """A model follows no rules of an engine: what it says of one is nothing."""
    if isinstance(value, dict):
        return {name: _without_rule_ids(each) for name, each in value.items() if name != _RULE_ID}
    return [_without_rule_ids(each) for each in value] if isinstance(value, list) else value


def _object_in(text: str) -> dict[str, Any]:
    """The longest JSON object that begins the text or a line of it: prose may speak of smaller ones."""
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


def _reason(error: ValidationError) -> str:
    lines = []
    for each in error.errors()[:_MOST_ERRORS]:
        place = ".".join(map(str, each["loc"])) or "the answer"
        lines.append(f"{place}: {'no such field' if each['type'] == 'extra_forbidden' else each['msg']}")
    return "; ".join(lines)


def schema_complaint(reason: str) -> str:
    """What a model is sent about an answer that does not fit the schema."""
    return f"That answer does not fit: {reason}. Give the whole answer again, corrected."


def problems_complaint(problems: Sequence[str]) -> str:
    """What a model is sent about an answer that the recording does not support."""
    listed = "\n".join(f"- {each}" for each in problems[:_MOST_ERRORS])
    return (
        "A program held that answer against the recording and found that this does not stand:\n\n"
        f"{listed}\n\nGive the whole answer again. Correct what is named from the recording or leave it out, and "
        "keep the rest."
    )
