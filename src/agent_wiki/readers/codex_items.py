"""The items of a Codex rollout: calls and results, in the forms of all its versions."""

from __future__ import annotations

import json
import re
from typing import Any

from agent_wiki.readers.builder import Call
from agent_wiki.readers.recorded import flat_text, objects, text_or_none
from agent_wiki.trajectory.json_text import value_of

_REFUSED = re.compile(r"(?:exec command |patch )?(?:rejected|aborted) by user\b", re.IGNORECASE)
# The head of a shell result, as Codex writes it above the output.
_EXIT_CODE = re.compile(
    r"(?:Chunk ID: [^\n]{0,80}\n)?(?:Wall time: [^\n]{0,80}\n)?(?:Process exited with code|Exit code:) (-?\d{1,10})"
)
_HARNESS_FAILURES = (
    "exec_command failed",
    "write_stdin failed",
    "apply_patch verification failed",
    "collab spawn failed",
    "execution error: ",
    "failed in sandbox",
)
_ECHO, _FRAME = "Command: ", "\nChunk ID: "
RUN_BY_THE_SERVICE = frozenset({"web_search_call", "image_generation_call"})  # within the reply; no output is recorded


def call_of(kind: str, payload: dict[str, Any]) -> Call:
    """Id, name and arguments of any kind of call; the free text of a custom tool becomes `{"input": …}`."""
    name = text_or_none(payload.get("name")) or kind.removesuffix("_call")
    call_id = text_or_none(payload.get("call_id")) or text_or_none(payload.get("id"))
    if kind == "function_call":
        return call_id, name, payload.get("arguments")
    if "input" in payload:
        return call_id, name, {"input": payload["input"]}
    return call_id, name, payload.get("arguments") or payload.get("action")


def result_of(payload: dict[str, Any]) -> tuple[str, bool | None]:
    """The text of a result, and whether it failed where Codex's own frame around the output says so."""
    output = payload.get("output", payload.get("tools"))
    if isinstance(output, dict) and isinstance(success := output.get("success"), bool):
        return flat_text(output.get("content")), not success
    text = flat_text(output)
    if not text and output:
        return json.dumps(output, ensure_ascii=False), None
    return framed(text)


def framed(text: str) -> tuple[str, bool | None]:
    """A result's text, without a frame of JSON or the command repeated above it, and whether it failed where the
    head says so."""
    if text.startswith(_ECHO) and (end := text.find(_FRAME)) >= 0:
        text = text[end + 1 :]
    if text.startswith('{"output":'):
        try:
            frame = value_of(text)
            return str(frame["output"]), int(frame["metadata"]["exit_code"]) != 0
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return text, None
    if text.startswith(_HARNESS_FAILURES):
        return text, True
    if match := _EXIT_CODE.match(text):
        return text, match.group(1) != "0"
    return text, None


def is_refusal(text: str) -> bool:
    """Whether a result says that the user refused or stopped the call. Only Codex's own wording at the start counts."""
    return bool(_REFUSED.match(text)) or (text.startswith(_HARNESS_FAILURES) and "rejected by user" in text[-200:])


def part_texts(parts: Any) -> list[str]:
    """The texts among content or summary parts; empty when there are no parts."""
    return [part["text"] for part in objects(parts) if isinstance(part.get("text"), str)]
