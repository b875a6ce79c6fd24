"""Chat messages in the shapes of OpenAI, Anthropic and similar APIs, turned into a builder's turns.

The formats that record such messages (OpenAI envelopes, tau-bench, tau2-bench, SWE-agent, Inspect) differ only in
details: arguments as a string or an object, the function nested or flat, content as text or as parts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from agent_wiki.readers.builder import Call as Call
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.recorded import identifier, objects, text_or_none
from agent_wiki.trajectory import MessageMark
from agent_wiki.trajectory.lazily import dataclass

CHAT_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})

_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})
_THINKING_PARTS = frozenset({"thinking", "reasoning"})
_CALL_PARTS = frozenset({"tool_use", "tool_call", "tool-call", "function_call"})
_RESULT_PARTS = frozenset(
    {"tool_result", "tool-result", "tool_call_response", "function_response", "function_call_output"}
)
_CALL_IDS = ("id", "call_id", "tool_call_id", "toolCallId")
_ANSWERED = ("tool_use_id", "tool_call_id", "toolCallId", "call_id")  # of a result
_ARGUMENTS = ("arguments", "input", "kwargs", "args")
_BLOCKS = _TEXT_PARTS | _THINKING_PARTS | _CALL_PARTS | _RESULT_PARTS
_KINDS_IN_TEXT = {"assistant": _CALL_PARTS, "user": _RESULT_PARTS}
# Some exports keep a turn's blocks as JSON in its text.
_ENCODED = re.compile(r'^[ \t]*(?=(?:\[\s*)?\{\s*"(?:type|id|tool_use_id|call_id|name)"\s*:)', re.MULTILINE)
_MOST_UNREADABLE = 20
_DECODER = json.JSONDecoder()
_PLACEHOLDERS = {
    "image": "[image]",
    "image_url": "[image]",
    "input_image": "[image]",
    "audio": "[audio]",
    "input_audio": "[audio]",
    "video": "[video]",
    "document": "[file]",
    "file": "[file]",
    "input_file": "[file]",
}


@dataclass(slots=True)
class ResultPart:
    """A tool result that is a part of a message's content."""

    call_id: str | None
    content: str
    is_error: bool | None


@dataclass(slots=True)
class Parts:
    """A message's content by kind, each list in recorded order."""

    texts: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[ResultPart] = field(default_factory=list)

    def text(self) -> str | None:
        """All texts joined by line breaks; None when there is none."""
        return "\n".join(self.texts) if self.texts else None


def parts_of(content: Any) -> Parts:
    """Sort a message's `content` by kind: a string, null, an object, or a list of parts."""
    parts = Parts()
    if isinstance(content, dict):
        content = _as_json(content)
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            parts.texts.append(part)
        elif isinstance(part, dict):
            _sort_in(parts, part)
        elif part is not None:
            parts.texts.append(_as_json(part))
    return parts


def parts_of_message(message: dict[str, Any]) -> Parts:
    """The content of a chat message by kind, with the calls and results that stand as JSON in its text.

    A user's turn can hold results alone, and only a reply calls: what imitates the other kind stays text.
    """
    content = message.get("content")
    kinds = _KINDS_IN_TEXT.get(str(message.get("role")))
    if kinds is None or not isinstance(content, (str, list)):
        return parts_of(content)
    parts = [piece for part in ([content] if isinstance(content, str) else content) for piece in _decoded(part, kinds)]
    return parts_of(parts)


def _decoded(part: Any, kinds: frozenset[str]) -> list[Any]:
    """A part of a message, or where its text holds blocks of some kinds, what it says between them and these."""
    is_text = isinstance(part, dict) and text_or_none(part.get("type")) in _TEXT_PARTS
    text = part.get("text") if is_text else part
    if not isinstance(text, str) or '"type"' not in text:
        return [part]
    pieces = list(_pieces(text, kinds))
    return pieces if any(isinstance(each, dict) for each in pieces) else [part]


def _pieces(text: str, kinds: frozenset[str]) -> Iterator[str | dict[str, Any]]:
    """A text as what it is between blocks in JSON that stand at the start of a line, and these blocks."""
    said, position, failed = 0, 0, 0
    while failed < _MOST_UNREADABLE and (match := _ENCODED.search(text, position)):
        try:
            value, position = _DECODER.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            position, failed = match.end() + 1, failed + 1
            continue
        blocks = value if isinstance(value, list) else [value]
        if any(_is_block(each, kinds) for each in blocks) and all(_is_block(each, _BLOCKS) for each in blocks):
            yield from filter(None, [text[said : match.start()].strip()])
            yield from blocks
            said = position
    yield from filter(None, [text[said:].strip()])


def _is_block(value: Any, kinds: frozenset[str]) -> bool:
    """Whether a decoded value is a block of a message, of one of some kinds."""
    if not isinstance(value, dict) or text_or_none(value.get("type")) not in kinds:
        return False
    return value["type"] not in _CALL_PARTS or not value.keys().isdisjoint({"name", "function"})


def _sort_in(parts: Parts, part: dict[str, Any]) -> None:
    kind = text_or_none(part.get("type"))
    if kind in _THINKING_PARTS:
        keys = ("thinking", "reasoning", "content", "text")
        thinking = next((text for key in keys if (text := text_or_none(part.get(key)))), None)
        parts.thinking += [thinking] if thinking else []
    elif kind in _CALL_PARTS:
        parts.calls.append(call_of(part))
    elif kind in _RESULT_PARTS:
        parts.results.append(_result_of(part))
    elif kind in _PLACEHOLDERS:
        parts.texts.append(_PLACEHOLDERS[kind])
    elif kind in _TEXT_PARTS or kind is None:
        text = next((part[key] for key in ("text", "refusal", "content") if isinstance(part.get(key), str)), None)
        parts.texts.append(_as_json(part) if text is None else text)
    else:
        text = part.get("text")
        parts.texts.append(text if isinstance(text, str) else content_text(text) if text else f"[{kind}]")


def _result_of(part: dict[str, Any]) -> ResultPart:
    call_id = _answered(part) or identifier(part.get("id"))
    flag = part.get("is_error")
    content = next((part[key] for key in ("content", "output", "response", "result") if key in part), None)
    return ResultPart(call_id, content_text(content), flag if isinstance(flag, bool) else None)


def _answered(result: dict[str, Any]) -> str | None:
    """The id of the call that a result names."""
    return next((found for key in _ANSWERED if (found := identifier(result.get(key)))), None)


def content_text(content: Any) -> str:
    """A tool result's content as text; an object is shown as JSON."""
    return parts_of(content).text() or ""


def message_text(message: dict[str, Any]) -> str:
    """What a message says, as text; empty where it says nothing."""
    return content_text(message.get("content"))


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def call_of(record: dict[str, Any]) -> Call:
    """One recorded call as `(id or None, name, arguments)`. The function may be nested, flat or just a name."""
    function = record.get("function", record.get("custom"))
    body = function if isinstance(function, dict) else record
    name = function if isinstance(function, str) else body.get("name", body.get("toolName"))
    arguments = next((body[key] for key in _ARGUMENTS if body.get(key) is not None), None)
    call_id = next((found for key in _CALL_IDS if (found := identifier(record.get(key)))), None)
    return call_id, text_or_none(name) or "unknown", arguments


def calls_of(message: dict[str, Any]) -> list[Call]:
    """The calls of an assistant message, outside its content: `tool_calls` or the older `function_call`."""
    calls = [call_of(each) for each in objects(message.get("tool_calls"))]
    legacy = message.get("function_call")
    if isinstance(legacy, dict) and not calls:
        calls.append((None, text_or_none(legacy.get("name")) or "unknown", legacy.get("arguments")))
    return calls


def all_calls(message: dict[str, Any], parts: Parts) -> list[Call]:
    """The calls inside and beside the content, each once: some proxies record a call in both places."""
    known = {call_id for call_id, _, _ in parts.calls if call_id}
    return parts.calls + [call for call in calls_of(message) if call[0] not in known]


def thinking_of(message: dict[str, Any], parts: Parts) -> str | None:
    """The model's thinking, from the first of the places where providers put it that has any."""
    for key in ("thinking", "reasoning_content", "reasoning"):
        if thinking := text_or_none(message.get(key)):
            return thinking
    texts = [text_or_none(block.get("thinking")) for block in objects(message.get("thinking_blocks"))]
    return "\n".join([*parts.thinking, *(text for text in texts if text)]) or None


def add_message(
    builder: TrajectoryBuilder,
    message: dict[str, Any],
    *,
    mark: MessageMark | None = None,
    is_error: bool | None = None,
) -> bool:
    """Add one chat message to the builder; False when its role is not one of `CHAT_ROLES`.

    `mark` applies to a user's text, `is_error` to a tool's result in formats with a flag of their own.
    """
    role = message.get("role")
    parts = parts_of_message(message)
    if role in ("system", "developer"):
        builder.system(parts.text() or "")
    elif role == "user":
        _add_user(builder, parts, mark)
    elif role == "assistant":
        text = parts.text() or text_or_none(message.get("refusal"))
        builder.assistant(text, thinking=thinking_of(message, parts), calls=all_calls(message, parts))
    elif role in ("tool", "function"):
        _add_result(builder, message, parts, is_error)
    else:
        return False
    return True


def _add_user(builder: TrajectoryBuilder, parts: Parts, mark: MessageMark | None) -> None:
    for result in parts.results:
        builder.tool(result.call_id, result.content, is_error=result.is_error)
    if parts.texts or not parts.results:
        builder.user(parts.text() or "", mark)


def _add_result(builder: TrajectoryBuilder, message: dict[str, Any], parts: Parts, is_error: bool | None) -> None:
    flag = message.get("is_error")
    if is_error is None and isinstance(flag, bool):
        is_error = flag
    call_id, name = _answered(message), text_or_none(message.get("name")) or text_or_none(message.get("tool_name"))
    for result in parts.results:  # Anthropic's shape inside a message of role tool
        builder.tool(result.call_id or call_id, result.content, is_error=result.is_error)
    if parts.texts or not parts.results:
        builder.tool(call_id, parts.text() or "", is_error=is_error, name=name)
