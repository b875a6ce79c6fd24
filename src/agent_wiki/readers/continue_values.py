"""The values in a session of Continue: calls with their states, what the user typed, tokens, folders."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

from agent_wiki.readers.builder import Call
from agent_wiki.readers.chat_values import reply_usage
from agent_wiki.readers.recorded import count, flat_text, mapping, objects, text_or_none
from agent_wiki.trajectory import MessageMark, Usage
from agent_wiki.trajectory.lazily import dataclass

_OLD_PREFIX = "builtin_"  # of the names of tools, until July 2025
_DRIVE = re.compile(r"/[A-Za-z]:")
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,20})?")
_FAILED = re.compile(r"\s*(?:Background command|Command) (?:failed|timed out)")
_ENDED = re.compile(r"\s*(?:Background command|Command) completed")
_SHELLS = frozenset({"run_terminal_command", "Bash"})
_REFUSED_ITEM = "Tool Call Rejected"  # the name of what stands for the output of a call that the user refused
_REFUSED = "Permission denied by user"
_BLOCKED = "Command blocked by security policy"
_CANCELED, _ERRORED = "[canceled]", "[errored]"


@dataclass(frozen=True, slots=True)
class Called:
    """A call with its state. `output`: what it returned, as a message repeats it; `shown`: with a command's status."""

    call: Call
    status: str | None = None
    output: str = ""
    shown: str = ""
    last_status: str = ""
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class CallResult:
    """What becomes of a call in a trajectory."""

    text: str
    is_error: bool | None = None
    mark: MessageMark | None = None


def calls_of(item: dict[str, Any], message: dict[str, Any]) -> list[Called]:
    """The calls of an item of the history: those with a state, then any that its message has beside them."""
    states = objects(item.get("toolCallStates")) or [mapping(item.get("toolCallState"))]
    calls = [_called(state) for state in states if state]
    known = {call.call[0] for call in calls}
    plain = ({"toolCall": call} for call in objects(message.get("toolCalls")) if call.get("id") not in known)
    return [*calls, *map(_called, plain)]


def _called(state: dict[str, Any]) -> Called:
    call = mapping(state.get("toolCall"))
    function = mapping(call.get("function"))
    name = str(function.get("name") or "").removeprefix(_OLD_PREFIX)
    arguments = text_or_none(function.get("arguments")) or state.get("parsedArgs")
    call_id = text_or_none(call.get("id")) or text_or_none(state.get("toolCallId"))
    output = objects(state.get("output"))
    contents = [flat_text(each.get("content")) for each in output]
    statuses = [text_or_none(each.get("status")) or "" for each in output]
    return Called(
        (call_id, name, arguments),
        text_or_none(state.get("status")),
        "\n\n".join(contents),
        "\n\n".join(map(_with_status, contents, statuses)),
        statuses[-1] if statuses else "",
        any(each.get("name") == _REFUSED_ITEM for each in output),
    )


def _with_status(content: str, status: str) -> str:
    """An output as the model is shown that of a command."""
    return f"{content}\n[Status: {status.strip()}]" if status else content


def result_of(call: Called, in_message: str) -> CallResult | None:
    """The result of a call; None where none is recorded yet. `in_message`: what a message of its own says of it."""
    text = call.shown or in_message
    if call.status == "canceled":
        return _stopped(call, text)
    if call.status == "errored":
        return CallResult(text or _ERRORED, is_error=True)
    if call.status == "done":
        return CallResult(text, is_error=_has_failed(call))
    return CallResult(text) if text else None


def _stopped(call: Called, text: str) -> CallResult:
    """A call that the user refused, or stopped while it ran, or that the program's own rules forbade."""
    if text.startswith(_BLOCKED):
        return CallResult(text, is_error=True)
    is_refused = not text or call.is_refused or text.startswith(_REFUSED)
    return CallResult(text or _CANCELED, mark="rejected" if is_refused else "interrupt")


def _has_failed(call: Called) -> bool | None:
    """`done` says that a tool did its work; of a command its status says more, or else its text."""
    if _FAILED.match(call.last_status):
        return True
    if _ENDED.match(call.last_status):
        return False
    return None if call.call[1] in _SHELLS else False


def rules_of(item: dict[str, Any]) -> list[str]:
    """The texts of the rules that applied to a message; most versions keep their names alone."""
    return list(filter(None, (text_or_none(rule.get("rule")) for rule in objects(item.get("appliedRules")))))


def split_by_author(text: str, editor: Any) -> tuple[str, str]:
    """What was put before the words that a user typed (a command's prompt, code that was selected), and those words.

    All of it is the user's where that does not end with what the editor holds. A prompt that was sent alone is the
    program's, and its command the words.
    """
    typed, prompt = _typed(editor)
    if not typed:
        return (text, f"/{prompt}") if prompt else ("", text)
    position = len(text)
    for sign in reversed(typed):
        while position and _is_blank(text[position - 1]):
            position -= 1
        if not position or text[position - 1] != sign:
            return "", text
        position -= 1
    added = text[:position]
    return (added, text[position:]) if any(not _is_blank(sign) for sign in added) else ("", text)


def _is_blank(sign: str) -> bool:
    return sign.isspace() or sign == "\ufeff"


def _typed(editor: Any) -> tuple[str, str | None]:
    """What an editor holds, without blanks and selected code, and the prompt that was called by name."""
    pieces: list[str] = []
    prompt: str | None = None
    nodes: list[Any] = [editor] if isinstance(editor, dict) else []
    while nodes:
        node = mapping(nodes.pop())
        attributes = mapping(node.get("attrs"))
        if node.get("type") == "text":
            pieces.append(str(node.get("text") or ""))
        elif node.get("type") == "mention":
            inline = attributes.get("renderInlineAs")
            pieces.append(inline if isinstance(inline, str) else str(attributes.get("label") or ""))
        elif node.get("type") == "prompt-block":
            prompt = text_or_none(mapping(attributes.get("item")).get("name"))
        children = node.get("content")
        nodes += reversed(children) if isinstance(children, list) else []
    return "".join(sign for sign in "".join(pieces) if not _is_blank(sign)), prompt


def usage_of_reply(recorded: dict[str, Any]) -> Usage | None:
    """One reply's tokens. What a cache held is beside the prompt's under Anthropic's names, else part of them."""
    usage = reply_usage(recorded) or usage_of_session(recorded)
    details = mapping(recorded.get("prompt_tokens_details"))
    if usage is not None and "cache_read_tokens" in details:
        usage.cache_read_input_tokens = count(details["cache_read_tokens"])
        usage.cache_creation_input_tokens = count(details.get("cache_write_tokens"))
    return usage


def usage_of_session(recorded: dict[str, Any]) -> Usage | None:
    """A session's sums; None where they are zero, as they are where nothing was counted."""
    details = mapping(recorded.get("promptTokensDetails"))
    usage = Usage(
        input_tokens=count(recorded.get("promptTokens")),
        cache_creation_input_tokens=count(details.get("cacheWriteTokens")),
        cache_read_input_tokens=count(details.get("cachedTokens")),
        output_tokens=count(recorded.get("completionTokens")),
    )
    return usage if usage.input_tokens or usage.output_tokens else None


def folder_of(recorded: Any) -> str | None:
    """A workspace's folder, recorded as a path or as the address that the editor has for it."""
    folder = text_or_none(recorded)
    if folder is None or "://" not in folder:
        return folder
    try:
        path = unquote(urlsplit(folder).path)
    except ValueError:
        return None
    return (path[1:] if _DRIVE.match(path) else path) or None


def time_of(recorded: Any) -> Any:
    """A recorded time; milliseconds may be written as text."""
    is_number = isinstance(recorded, str) and _NUMBER.fullmatch(recorded)
    return float(recorded) if is_number else recorded
