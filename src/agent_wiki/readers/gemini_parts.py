"""The parts of a message in Gemini's API as text, calls and results: shared by the programs that record them.

A part has one of `text` (with `thought` where it is thinking), `functionCall`, `functionResponse` or a file. Whoever
records a message may also write its content as a plain string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.builder import Call
from agent_wiki.readers.recorded import count, flat_text, mapping, objects, recorded_call
from agent_wiki.trajectory import MessageMark, Usage

SHELL = "run_shell_command"
"""The tool that runs commands."""

_HOOK_BEGINS, _HOOK_ENDS = "<hook_context>", "</hook_context>"
_CANCELLED, _REFUSED = "[Operation Cancelled]", re.compile(r"did not allow|User denied")
_REFERENCED = "\n--- Content from referenced files ---"


def said_text(content: Any) -> str:
    """What a message says, without its thinking."""
    parts = content if isinstance(content, list) else [content]
    return flat_text([part for part in parts if not mapping(part).get("thought")])


def prompt_pieces(text: str, typed: str | None) -> Iterator[tuple[str, MessageMark | None]]:
    """What the user typed of a prompt, and marked what the program put around it, such as content of files it names.

    `typed` is the prompt as the program showed it, where it recorded that.
    """
    if not typed or typed not in text:
        typed = text.partition(_REFERENCED)[0]
    before, _, after = text.partition(typed) if typed else ("", "", text)
    pieces: list[tuple[str, MessageMark | None]] = [(before, "injected"), (typed, None), (after, "injected")]
    yield from ((piece.strip("\n"), mark) for piece, mark in pieces if piece.strip())


def thought_text(content: Any) -> str | None:
    """The thinking among a message's parts; None where there is none."""
    return "\n\n".join(filter(None, (flat_text(part) for part in objects(content) if part.get("thought")))) or None


def calls_in(content: Any) -> list[Call]:
    """The calls among a message's parts."""
    found = [part["functionCall"] for part in objects(content) if isinstance(part.get("functionCall"), dict)]
    return [recorded_call(call, "id", "name", "args") for call in found]


def responses_in(content: Any) -> list[dict[str, Any]]:
    """The results of tools among a message's parts."""
    parts = objects(content if isinstance(content, list) else [content])
    return [part["functionResponse"] for part in parts if isinstance(part.get("functionResponse"), dict)]


def response_text(response: Any) -> tuple[str, bool | None]:
    """The text of a tool's response, and whether it is an error; None where it does not say."""
    if not isinstance(response, dict):
        return flat_text(response), None
    for name, is_error in (("error", True), ("output", None)):
        if name in response:
            value = response[name]
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), is_error
    return json.dumps(response, ensure_ascii=False), None


def hook_context(text: str) -> tuple[str, str]:
    """What hooks put before a user's words, with its tags (empty for nothing), and the words themselves.

    The program escapes angle brackets in what a hook says, so the first closing tag ends it.
    """
    if not text.startswith(_HOOK_BEGINS) or _HOOK_ENDS not in text:
        return "", text
    said, _, asked = text.partition(_HOOK_ENDS)
    return said + _HOOK_ENDS, asked.lstrip("\n")


def cancelled_mark(text: str) -> MessageMark | None:
    """The mark of a result that the program wrote because the user refused the call, or stopped the agent."""
    if _CANCELLED not in text[:200]:
        return None
    return "rejected" if _REFUSED.search(text) else "interrupt"


def result_text(result: Any) -> tuple[str, bool | None]:
    """The text of a result's parts, with placeholders for its files, and whether one of them is an error."""
    texts: list[str] = []
    verdict: bool | None = None
    for part in result if isinstance(result, list) else [result]:
        response = mapping(part).get("functionResponse")
        if isinstance(response, dict):
            text, is_error = response_text(response.get("response"))
            texts += filter(None, (text, flat_text(response.get("parts"))))
            verdict = verdict or is_error
        elif text := flat_text(part):
            texts.append(text)
    return "\n".join(texts), verdict


def reply_tokens(prompt: Any, cached: Any, total: Any, written: tuple[Any, ...], tools: Any = None) -> Usage | None:
    """One reply's usage; None where its prompt was not counted.

    Cached tokens are counted as part of the prompt. What was written is all that is neither prompt nor results of the
    API's own tools: whether thinking is part of the candidates or beside them differs between services.
    """
    if (read := count(prompt)) is None:
        return None
    from_cache, of_tools = count(cached) or 0, count(tools) or 0
    output = (count(total) or 0) - read - of_tools
    if output <= 0:
        output = sum(count(each) or 0 for each in written)
    return Usage(max(0, read + of_tools - from_cache), None, from_cache, output)
