"""What the window of a VS Code chat showed: words, tools with how they ended, and results that are trees of text."""

from __future__ import annotations

from typing import Any

from agent_wiki.readers.recorded import identifier, mapping, objects, text_or_none
from agent_wiki.trajectory import MessageMark
from agent_wiki.trajectory.lazily import dataclass

_DENIED, _SKIPPED = 0, 5  # of what the user was asked to confirm
_FAILED = ("ERROR while calling tool: ", "Error calling tool ")
_CANCELLED = "The user cancelled the tool call"
_MOST_DEEP = 100  # levels of a tree: those seen have less than twenty


@dataclass(frozen=True, slots=True)
class ShownTool:
    """A tool as the window showed it. `output` is None without one; `is_error` where that is not said."""

    tool: str
    arguments: dict[str, Any]
    output: str | None = None
    is_error: bool | None = None
    mark: MessageMark | None = None


def shown_calls(parts: list[dict[str, Any]]) -> dict[str, ShownTool]:
    """The tools of a response by the id of their call."""
    return {call_id: _shown(part) for part in parts if (call_id := call_id_of(part)) is not None}


def call_id_of(part: dict[str, Any]) -> str | None:
    """The id of the call that a part shows; None for words and the like."""
    return identifier(part.get("toolCallId")) if part.get("kind") == "toolInvocationSerialized" else None


def _shown(part: dict[str, Any]) -> ShownTool:
    data, details = mapping(part.get("toolSpecificData")), mapping(part.get("resultDetails"))
    line = mapping(data.get("commandLine"))
    command = next(
        (text for key in ("userEdited", "toolEdited", "original") if (text := text_or_none(line.get(key)))), ""
    )
    output = text_or_none(mapping(data.get("terminalCommandOutput")).get("text"))
    if output is None and details:
        output = text_or_none(details.get("output")) or text_of_results({"content": details.get("output")}) or None
    exit_code = mapping(data.get("terminalCommandState")).get("exitCode")
    is_error = exit_code != 0 if isinstance(exit_code, int) else details.get("isError")
    words = words_of(part.get("invocationMessage"))
    confirmed = part.get("isConfirmed")
    is_refused = confirmed is False or mapping(confirmed).get("type") in (_DENIED, _SKIPPED)
    return ShownTool(
        text_or_none(part.get("toolId")) or "unknown",
        {"command": command} if command else _input_of(details) or ({"description": words} if words else {}),
        output,
        is_error if isinstance(is_error, bool) else None,
        "rejected" if is_refused else None,
    )


def how_it_went(text: str, seen: ShownTool | None) -> tuple[bool | None, MessageMark | None]:
    """Whether a tool failed, and that the user did not allow it, by the window and by what the model was given."""
    if (seen is not None and seen.mark) or text.startswith(_CANCELLED):
        return True, "rejected"
    return True if text.startswith(_FAILED) else seen.is_error if seen else None, None


def _input_of(details: dict[str, Any]) -> dict[str, Any]:
    given = details.get("input")
    return {"input": given} if isinstance(given, str) and given else mapping(given)


def words_of(value: Any) -> str:
    """The words of a message or of a part: `text`, or `value`, or the name of what it points to."""
    if isinstance(value, str):
        return value
    part = mapping(value)
    if part.get("kind") == "inlineReference":
        return text_or_none(part.get("name")) or _name_of(mapping(part.get("inlineReference")))
    if part.get("kind") in (None, "markdownContent", "thinking"):
        for key in ("text", "value", "content"):
            if isinstance(part.get(key), (str, dict, list)):
                return text_of(part[key]) or ""
    return ""


def _name_of(reference: dict[str, Any]) -> str:
    path = text_or_none(reference.get("path")) or text_or_none(mapping(reference.get("uri")).get("path")) or ""
    return path.rpartition("/")[2]


def text_of(value: Any) -> str | None:
    """A text, the lines of a list of texts, or a Markdown string's value; None where it says nothing."""
    if isinstance(value, dict):
        value = value.get("value")
    text = "\n".join(each for each in value if isinstance(each, str)) if isinstance(value, list) else value
    return text if isinstance(text, str) and text.strip() else None


def text_of_results(result: Any) -> str:
    """A tool's result, whose parts are texts or trees of text."""
    parts = objects(mapping(result).get("content"))
    return "\n".join(filter(None, (_text_of_part(part) for part in parts)))


def _text_of_part(part: dict[str, Any]) -> str:
    value = part.get("value")
    if isinstance(value, str):
        return value
    pieces: list[str] = []
    _collect(mapping(mapping(value).get("node")), pieces, 0)
    return "".join(pieces)


def _collect(node: dict[str, Any], pieces: list[str], depth: int) -> None:
    """The texts of a tree in their order, each on a line of its own where it says so."""
    if node.get("lineBreakBefore") is True and pieces and not pieces[-1].endswith("\n"):
        pieces.append("\n")
    text = node.get("text")
    pieces += [text] if isinstance(text, str) else []
    for child in objects(node.get("children")) if depth < _MOST_DEEP else []:
        _collect(child, pieces, depth + 1)
