"""The short texts beside a trajectory's messages: ids, names, titles. They can be hostile too.

A label is one line of bounded length without control characters or secrets. An id uses only characters that
have no meaning in a page, a table or a link; a changed id gets a hash, so that two ids never become one. Where a secret
is in it, that is not a hash of the secret, but of how the session began.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from functools import lru_cache
from typing import Any

from agent_wiki.readers.recorded import iso_utc, short_digest
from agent_wiki.redaction.numbers import Numbers
from agent_wiki.redaction.redact import redact_text
from agent_wiki.trajectory import Source, Trajectory, without_surrogates
from agent_wiki.trajectory.hidden_characters import HIDING, SEPARATORS

_MOST_CHARACTERS = 300
_MOST_ID_CHARACTERS = 200
_IDS = ("format", "parent_session_id", "forked_from")
_LABELS = tuple(
    each.name for each in fields(Source) if str(each.type) in ("str", "str | None") and each.name not in _IDS
)
# Control characters, line ends of all kinds, and characters that hide or reorder text: bidi, zero-width and tag marks.
_NO_LABEL = re.compile(f"[\x00-\x1f\x7f-\x9f{HIDING}{SEPARATORS}]+")
_NO_ID = re.compile(r"[^\w.:@/+=~ ,#()-]+")


def tidy_labels(trajectory: Trajectory, numbers: Numbers | None = None) -> None:
    """Make every label of a trajectory safe, in place, and count redactions in `hygiene`.

    `numbers`: those of the session's other secrets.
    """
    numbers = numbers or Numbers()
    source = trajectory.source
    trajectory.timestamp = trajectory.timestamp if iso_utc(trajectory.timestamp) else None
    source.ended_at = source.ended_at if iso_utc(source.ended_at) else None
    trajectory.session_id = safe_id(trajectory.session_id, _beginning(trajectory))
    for name in _IDS:
        if value := getattr(source, name):
            setattr(source, name, safe_id(value))
    redacted = _tidied(trajectory, ("agent", "model"), numbers) + _tidied(source, _LABELS, numbers)
    for message in trajectory.messages:
        redacted += _tidied(message, ("name",), numbers)
        if message.tool_call_id:
            message.tool_call_id = _call_id(message.tool_call_id, numbers)
        for call in message.tool_calls:
            call.id = _call_id(call.id, numbers)
            redacted += _tidied(call, ("name",), numbers)
    if redacted:
        counted = {**source.hygiene, "redactions": source.hygiene.get("redactions", 0) + redacted}
        source.hygiene = dict(sorted(counted.items()))


def _beginning(trajectory: Trajectory) -> str:
    """What two sessions do not share, and one keeps as it grows."""
    first = next((message.content for message in trajectory.messages if message.content), "")
    return f"{trajectory.timestamp}\n{first}"


def _tidied(owner: Any, names: Iterable[str], numbers: Numbers) -> int:
    """Clean the named fields of `owner`; returns how many secrets were redacted."""
    redacted = 0
    for name in names:
        if value := getattr(owner, name):
            text, count = _label(value)
            if count:
                text, count = _label_of(value, numbers)
            setattr(owner, name, text)
            redacted += count
    return redacted


def safe_id(text: str, beginning: str = "") -> str:
    """An id unchanged, or cleaned with a hash of the original if it has unsafe characters. Idempotent.

    If it has a secret, the hash is one of what is left of it and of the `beginning` of its session.
    """
    redacted, count = _redacted(without_surrogates(text[: 4 * _MOST_ID_CHARACTERS]))
    shown = _NO_ID.sub("-", redacted)[:_MOST_ID_CHARACTERS].strip()
    if shown and shown == text:
        return text
    kept = shown[: _MOST_ID_CHARACTERS - 11].strip(" -") or "session"
    return f"{kept}-{short_digest([redacted, beginning] if count else [text], 10)}"


@lru_cache(maxsize=4096)
def _label(text: str) -> tuple[str, int]:
    return _label_of(text)


def _label_of(text: str, numbers: Numbers | None = None) -> tuple[str, int]:
    shown, count = _redacted(_NO_LABEL.sub(" ", without_surrogates(text[: 4 * _MOST_CHARACTERS])).strip(), numbers)
    return (shown if len(shown) <= _MOST_CHARACTERS else shown[: _MOST_CHARACTERS - 1] + "…"), count


def _redacted(text: str, numbers: Numbers | None = None) -> tuple[str, int]:
    """The text without secrets, and how many there were; within a name, one may also follow an underscore."""
    redacted, count = redact_text(text, numbers)
    for place in re.finditer(r"_(?=[A-Za-z0-9_-]{16})", redacted[:_MOST_CHARACTERS]):
        tail, found = redact_text(redacted[place.end() :], numbers)
        if found:
            return redacted[: place.end()] + tail, count + found
    return redacted, count


def _call_id(text: str, numbers: Numbers) -> str:
    """A call's id is never on a page, so it changes only if it contains a secret, whose number keeps it apart."""
    redacted, count = _plain_call_id(text)
    return _redacted(redacted, numbers)[0] if count else redacted


@lru_cache(maxsize=4096)
def _plain_call_id(text: str) -> tuple[str, int]:
    text = without_surrogates(text)
    return text, _redacted(text)[1]
