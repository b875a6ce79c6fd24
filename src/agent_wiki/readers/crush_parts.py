"""The parts of a message of Crush and of the first OpenCode: `{"type": …, "data": {…}}` each."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from agent_wiki.readers.recorded import flat_text, mapping, text_or_none
from agent_wiki.trajectory import MessageMark

_RESUMED = "The previous session was interrupted because it got too long, the initial user request was:"
_REFUSED = re.compile(r"Permission denied\s*\Z|User denied permission\b")
_CANCELLED = re.compile(r"Tool execution cancell?ed by user\b|Error: user cancell?ed assistant tool calling\b")
_IN_BACKGROUND = ("Background shell started", "Command is taking longer than expected and has been moved to background")
_FOLDER, _ABORTED = "\n<cwd>", "Command was aborted before completion"
_EXIT_CODE = re.compile(r"Exit code (-?\d{1,10})")


def data_of(parts: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The contents of the parts of one type."""
    return [mapping(part.get("data")) for part in parts if part.get("type") == kind]


def typed_text(parts: list[dict[str, Any]]) -> str:
    """What a user typed, with placeholders such as `[image]` for what was attached."""
    return "\n".join(filter(None, map(_typed, parts)))


def _typed(part: dict[str, Any]) -> str:
    kind, data = part.get("type"), mapping(part.get("data"))
    if kind == "text":
        return "" if data.get("hidden") is True else text_or_none(data.get("text")) or ""
    if kind == "image_url":
        return "[image]"
    return _placeholder(data.get("MIMEType")) if kind == "binary" and _attached_text(data) is None else ""


def added_texts(parts: list[dict[str, Any]]) -> list[str]:
    """What the program adds to what a user typed: continuations of its own, text files, commands that the user ran."""
    return list(filter(None, map(_added, parts)))


def _added(part: dict[str, Any]) -> str | None:
    kind, data = part.get("type"), mapping(part.get("data"))
    if kind == "text":
        return text_or_none(data.get("text")) if data.get("hidden") is True else None
    if kind == "shell_command":
        return f"$ {data.get('command', '')}\n{flat_text(data.get('output'))}\n(exit code {data.get('exit_code')})"
    return _attached_text(data) if kind == "binary" else None


def _attached_text(data: dict[str, Any]) -> str | None:
    """A text file below its path; None for any other attachment, and for one that is damaged."""
    if not str(data.get("MIMEType")).startswith("text/"):
        return None
    try:
        content = base64.b64decode(str(data.get("Data")), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None
    return "\n".join(filter(None, (text_or_none(data.get("Path")), content)))


def _placeholder(media_type: Any) -> str:
    return flat_text({"type": str(media_type)}) or "[file]"


def is_resumption(text: str) -> bool:
    """Whether a user's message is Crush's own, with which it continues after a summary."""
    return text.startswith(_RESUMED)


def ending(parts: list[dict[str, Any]]) -> tuple[str, MessageMark] | None:
    """What is said of a reply that did not end by itself, and its mark; a refusal is said by the call's result."""
    for finish in data_of(parts, "finish"):
        said = ": ".join(filter(None, (text_or_none(finish.get(name)) for name in ("message", "details"))))
        reason = finish.get("reason")
        if reason == "canceled":
            return said or "[canceled]", "interrupt"
        if said and reason != "permission_denied":
            return said, "injected"
    return None


def shown_text(result: dict[str, Any]) -> str:
    """What a call returned, with a placeholder for an image."""
    media = _placeholder(result.get("mime_type")) if text_or_none(result.get("data")) else None
    return "\n".join(filter(None, (flat_text(result.get("content")), media)))


def stop_mark(text: str, *, is_after_refusal: bool) -> MessageMark | None:
    """The mark of a result that is recorded as an error and is none of the tool."""
    if _REFUSED.match(text):
        return "rejected"
    if not _CANCELLED.match(text):
        return None
    return "cancelled" if is_after_refusal else "interrupt"


def has_failed(tool: str, text: str) -> bool | None:
    """Whether a result that is not recorded as an error is one; None where its text decides.

    A shell command's exit code stands below its output, unless it is 0. A server's tools, whose names begin with the
    server's, are never recorded as failures.
    """
    if tool != "bash":
        return None if "_" in tool else False
    output = text.rstrip()
    if output.endswith("</cwd>") and _FOLDER in output:
        output = output[: output.rfind(_FOLDER)].rstrip()
    last_line = output.rpartition("\n")[2]
    if last_line == _ABORTED or text.startswith(_IN_BACKGROUND):
        return None
    code = _EXIT_CODE.fullmatch(last_line)
    return code is not None and code[1] != "0"
