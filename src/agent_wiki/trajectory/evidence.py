"""Evidence: a cited turn with a verbatim quote, checked by code, and how far its source can be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal

from agent_wiki.trajectory import Message, ToolCall, Trajectory
from agent_wiki.trajectory.json_text import value_of
from agent_wiki.trajectory.lazily import regex

Trust = Literal["user", "assistant", "tool", "external"]

_MOST_SHOWN = 60  # characters of a quote in a message
_MOST_TURNS = 2
_MARK = "[REDACTED:"
_NUMBER = regex(r"(?<=[\w-]):\d{1,9}(?=\])")  # in `[REDACTED:github-token:1]`
_TRUST_ORDER: tuple[Trust, ...] = ("user", "assistant", "tool", "external")


def is_verbatim(trajectory: Trajectory, turn: int, quote: str) -> bool:
    """True when `quote` is a verbatim part of that turn's content, thinking or call arguments.

    Arguments count as the JSON string that is recorded and as the text values inside it. A quote of an earlier version,
    which gave redacted secrets no numbers, is compared without them.
    """
    if not quote or not 1 <= turn <= len(trajectory.messages):
        return False
    message = trajectory.messages[turn - 1]
    if any(quote in text for text in texts_of(message)):
        return True
    has_former_marks = _MARK in quote and not _NUMBER.search(quote)
    return has_former_marks and any(quote in _NUMBER.sub("", text) for text in texts_of(message) if _MARK in text)


def texts_of(message: Message) -> Iterator[str]:
    """The texts of a turn that evidence may quote."""
    yield from (message.content or "", message.thinking or "")
    yield from _argument_texts(message)


def why_not_verbatim(trajectory: Trajectory, turn: int, quote: str) -> str:
    """What is wrong with a quote that is not verbatim in its turn, and the nearest turns that have it, if any does."""
    reason = f"not verbatim in turn {turn}: {quote[:_MOST_SHOWN]!r}"
    turns = sorted(range(1, len(trajectory.messages) + 1), key=lambda each: abs(each - turn))
    others = islice((each for each in turns if is_verbatim(trajectory, each, quote)), _MOST_TURNS)
    named = " and ".join(map(str, sorted(others)))
    return f"{reason}, which stands in turn {named}" if named else reason


def _argument_texts(message: Message) -> Iterator[str]:
    for call in message.tool_calls:
        yield from argument_texts(call)


def argument_texts(call: ToolCall) -> Iterator[str]:
    """A call's arguments as the JSON string that is recorded, and the text values inside it."""
    yield call.arguments
    try:
        yield from texts_in(value_of(call.arguments))
    except (ValueError, RecursionError):
        return


def texts_in(value: Any) -> Iterator[str]:
    """Every text among JSON values, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)


def least_trusted(trusts: list[Trust]) -> Trust:
    """The least trusted of several sources that are needed together."""
    return max(trusts, key=_TRUST_ORDER.index, default="external")


def most_trusted(trusts: list[Trust]) -> Trust:
    """The most trusted of several sources of which each suffices by itself."""
    return min(trusts, key=_TRUST_ORDER.index, default="external")


def as_trust(value: Any) -> Trust:
    """A stored trust value; an unknown one counts as the least trusted."""
    return value if value in _TRUST_ORDER else "external"
