"""What the blocks of a message of Goose say: words, thoughts, calls and results.

A call is `toolCall: {status, value: {name, arguments}}`; a result `toolResult: {status, value}`, where the value is a
list of contents in early versions and later an object with `content`, `isError` and, of a shell, `exit_code`. What is
annotated as the user's alone was not given to the model. What the user answered to the program is in blocks
`actionRequired`: `elicitationResponse` with the fields of a form, `toolConfirmationResponse` with the leave for a call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from agent_wiki.readers.builder import arguments_json
from agent_wiki.readers.chat_messages import Call
from agent_wiki.readers.recorded import flat_text, identifier, mapping, number, objects, text_or_none
from agent_wiki.trajectory import MessageMark
from agent_wiki.trajectory.lazily import dataclass, regex

CALLS = frozenset({"toolRequest", "frontendToolRequest"})
RESULT = "toolResponse"

_REFUSALS = frozenset({"deny_once", "always_deny", "cancel"})
_OWN = "developer__"  # before the names of Goose's own tools, in some versions
_STOPPED = regex(r"(?:-?\d{1,6}: )?Interrupted by the user to make a correction\.?")
_DECLINED = "The user has declined to run this tool."


@dataclass(frozen=True, slots=True)
class GooseResult:
    """The result of one call. `is_error` is None where the text must decide."""

    call_id: str | None
    text: str
    is_error: bool | None
    mark: MessageMark | None


@dataclass(slots=True)
class GooseParts:
    """A message's blocks by kind, each list in recorded order. What the program only showed to the user is left out."""

    texts: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[GooseResult] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)  # that the user gave the program
    refused: list[str] = field(default_factory=list)  # ids of calls

    def text(self) -> str | None:
        """All texts joined by line breaks; None when there is none."""
        return "\n".join(self.texts) or None


def parts_of_goose(message: dict[str, Any]) -> GooseParts:
    """The blocks of a message, sorted by kind."""
    parts = GooseParts()
    for block in _for_model(message.get("content")):
        kind = block.get("type")
        if kind in ("thinking", "reasoning"):
            thought = text_or_none(block.get("thinking")) or text_or_none(block.get("text"))
            parts.thinking += [thought] if thought else []
        elif kind == RESULT:
            parts.results.append(_result(block))
        elif kind in ("text", "image", "document"):
            parts.texts.append(_text(block))
        elif kind == "actionRequired":
            _add_action(parts, mapping(block.get("data")))
        elif isinstance(kind, str) and kind in CALLS:
            parts.calls.append(_call(block))
    return parts


def _add_action(parts: GooseParts, action: dict[str, Any]) -> None:
    """Add what the user answered to the program. What the program asked is left out."""
    kind, call_id = action.get("actionType"), identifier(action.get("id"))
    if kind == "elicitationResponse" and (said := _filled_in(action.get("user_data"))):
        parts.answers.append(said)
    elif kind == "toolConfirmationResponse" and call_id and str(action.get("permission")) in _REFUSALS:
        parts.refused.append(call_id)


def _filled_in(answer: Any) -> str:
    """What the user filled into a form, a field a line; or the words alone, where there are no fields."""
    if isinstance(answer, dict):
        return "\n".join(f"{name}: {arguments_json(value)}" for name, value in answer.items() if value is not None)
    return answer if isinstance(answer, str) else ""


def _for_model(content: Any) -> Iterator[dict[str, Any]]:
    """The contents that the model was given: some are annotated as the user's alone."""
    for each in objects(content):
        audience = mapping(each.get("annotations")).get("audience", each.get("audience"))
        if not isinstance(audience, list) or "assistant" in audience:
            yield each


def _text(content: dict[str, Any]) -> str:
    if content.get("type") == "document":
        return "[file]"
    return flat_text([content]) or flat_text(mapping(content.get("resource")))


def _call(block: dict[str, Any]) -> Call:
    """A call; one that the model wrote wrongly has no name, and its result says why."""
    called = mapping(block.get("toolCall"))
    value = mapping(called.get("value", called))
    name = (text_or_none(value.get("name")) or "unknown").removeprefix(_OWN)
    return identifier(block.get("id")), name, value.get("arguments")


def _result(block: dict[str, Any]) -> GooseResult:
    returned = mapping(block.get("toolResult"))
    value = returned.get("value")
    text = _result_text(returned, value)
    has_error = returned.get("status") == "error"
    if has_error and _STOPPED.fullmatch(text.strip()):
        return GooseResult(identifier(block.get("id")), text, None, "interrupt")
    has_run = "exit_code" in mapping(mapping(value).get("structuredContent"))
    if text.startswith(_DECLINED) and not has_run:  # no field tells it from what another tool returned
        return GooseResult(identifier(block.get("id")), text, None, "denied")
    return GooseResult(identifier(block.get("id")), text, True if has_error else _flag(mapping(value)), None)


def _result_text(returned: dict[str, Any], value: Any) -> str:
    contents = value.get("content") if isinstance(value, dict) else value
    text = contents if isinstance(contents, str) else "\n".join(filter(None, map(_text, _for_model(contents))))
    if text:
        return text
    error = returned.get("error")
    if said := text_or_none(error) or text_or_none(mapping(error).get("message")):
        return said
    printed = mapping(mapping(value).get("structuredContent"))
    return "\n".join(filter(None, (text_or_none(printed.get(name)) for name in ("stdout", "stderr"))))


def _flag(value: dict[str, Any]) -> bool | None:
    """What a result itself says of a failure: a shell its exit code, another tool a flag."""
    code = number(mapping(value.get("structuredContent")).get("exit_code"))
    if code is not None:
        return code != 0
    flag = value.get("isError")
    return flag if isinstance(flag, bool) else None
