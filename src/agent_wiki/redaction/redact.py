"""Replaces the secrets of a text or a trajectory, before anything else sees it.

Stand-ins for a secret (a variable, a placeholder, a call, a type) are kept, and so is text that merely looks random:
digests, ids, base64. Redacting twice changes nothing.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from agent_wiki.redaction.finding import Span, may_hold_secrets, secret_spans
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import regex

MOST_PASSES = 4
_LONGEST_VALUE = 512
_REMEMBERED, _LONGEST_REMEMBERED = 4096, 1_000  # a recording says many short texts again and again
JSON_STRING = regex(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_decoded = json.JSONDecoder(strict=False).decode


def redact_trajectory(trajectory: Trajectory) -> None:
    """Redact a trajectory in place and count redactions in `source.hygiene["redactions"]`.

    Covers content, thinking, call arguments (which stay valid JSON) and the texts of `source`.
    """
    total = 0
    for message in trajectory.messages:
        for field in ("content", "thinking"):
            text = getattr(message, field)
            if text:
                text, count = redact_text(text)
                if count:
                    setattr(message, field, text)
                    total += count
        for call in message.tool_calls:
            call.arguments, count = redact_json(call.arguments)
            total += count
    for field in ("title", "cwd", "git_branch", "exit_status"):
        text = getattr(trajectory.source, field)
        if text:
            text, count = redact_text(text)
            setattr(trajectory.source, field, text)
            total += count
    if total:
        hygiene = trajectory.source.hygiene
        hygiene["redactions"] = hygiene.get("redactions", 0) + total
        trajectory.source.hygiene = dict(sorted(hygiene.items()))


def redact_text(text: str) -> tuple[str, int]:
    """The text with each secret replaced by `[REDACTED:<kind>]`, and how many there were; the same object if none.

    Raises nothing. Idempotent.
    """
    redacted, count = (_redacted_once if len(text) <= _LONGEST_REMEMBERED else _redacted)(text)
    return (redacted if count else text), count


@lru_cache(maxsize=_REMEMBERED)
def _redacted_once(text: str) -> tuple[str, int]:
    return _redacted(text)


def _redacted(text: str) -> tuple[str, int]:
    total = 0
    for _ in range(MOST_PASSES):  # a secret may be found only after the one beside it is gone
        spans = secret_spans(text)
        if not spans:
            break
        text, total = _without(text, spans), total + len(spans)
    return text, total


def redact_json(arguments: str) -> tuple[str, int]:
    """The same for a JSON text: its strings are redacted one by one, all other bytes are unchanged.

    A string under a name that suggests a secret is judged with its name. Other text is treated as plain.
    """
    if not may_hold_secrets(arguments):
        return arguments, 0
    try:
        _decoded(arguments)
    except (ValueError, RecursionError):
        return redact_text(arguments)
    pieces: list[str] = []
    position = total = 0
    name = ""
    for match in JSON_STRING.finditer(arguments):
        between = arguments[position : match.start()]
        value = _decoded(match.group())
        redacted, count = redact_named(name if between.strip() == ":" else "", value)
        pieces += [between, json.dumps(redacted, ensure_ascii=match.group().isascii()) if count else match.group()]
        position, total, name = match.end(), total + count, value
    return "".join([*pieces, arguments[position:]]) if total else arguments, total


def redact_named(name: str, value: str) -> tuple[str, int]:
    """A text redacted and how many secrets it had, judged with the name it is given to; "" where it has none."""
    return _value_of_name(name[-80:], value) if name and len(value) <= _LONGEST_VALUE else redact_text(value)


@lru_cache(maxsize=_REMEMBERED)
def _value_of_name(name: str, value: str) -> tuple[str, int]:
    kind = kind_given_to(name, value)
    return (f"[REDACTED:{kind}]", 1) if kind else redact_text(value)


def kind_given_to(name: str, value: str) -> str | None:
    """The kind of secret that a value is for being given to this name; None where the name does not make it one."""
    if len(value) > _LONGEST_VALUE:
        return None
    probe = f'{name[-80:].replace(chr(34), "")}="{value}"'
    begin = probe.index('"') + 1
    spans = secret_spans(probe) if may_hold_secrets(probe) else []
    return next((kind for start, _, kind in spans if start == begin), None)


def _without(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, kind in spans:
        pieces += [text[position:start], f"[REDACTED:{kind}]"]
        position = end
    return "".join([*pieces, text[position:]])
