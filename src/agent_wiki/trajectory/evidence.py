"""Evidence: a cited turn with a verbatim quote, checked by code, and how far its source can be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal

from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.json_text import value_of
from agent_wiki.trajectory.lazily import regex

Trust = Literal["user", "assistant", "tool", "external"]

_MOST_SHOWN = 60  # characters of a quote in a message
_MOST_TURNS = 2
_MARK = "[REDACTED:"
_NUMBER = regex(r"(?<=[\w-]):\d{1,9}(?=\])")  # in `[REDACTED:github-token:1]`
_TRUST_ORDER: tuple[Trust, ...] = ("user", "assistant", "tool", "external")
# How Claude Code writes a refusal, up to the user's own words; what it adds below them; and a form in their place.
_REFUSAL = regex(
    r"\s*(?:<tool_use_error>)?The user doesn't want to (?:proceed with this tool use|take this action right now)\."
    r"[^\n]*?"
    r"(?:the user said:|reason for the rejection:)"
)
_AFTER_REASON = regex(r"\n\s*Note: ")
_SHORTEST_QUOTE = 12  # characters
_FORM = "The user wants to clarify these questions."
# Tools whose results strangers wrote: the web and other people's servers.
_EXTERNAL_TOOLS = ("webfetch", "websearch", "web_search", "web_fetch", "web__", "google_web_search", "fetch", "browser")


def is_verbatim(trajectory: Trajectory, turn: int, quote: str) -> bool:
    """True when `quote` is a verbatim part of that turn's content, thinking or call arguments.

    Arguments count as the JSON string that is recorded and as the text values inside it. A quote of an earlier version,
    which gave redacted secrets no numbers, is compared without them.
    """
    if not quote or not 1 <= turn <= len(trajectory.messages):
        return False
    message = trajectory.messages[turn - 1]
    if _is_in(quote, message):
        return True
    has_former_marks = _MARK in quote and not _NUMBER.search(quote)
    return has_former_marks and any(quote in _NUMBER.sub("", text) for text in _texts_of(message) if _MARK in text)


def _is_in(quote: str, message: Message) -> bool:
    if quote in (message.content or "") or quote in (message.thinking or ""):
        return True
    return any(quote in text for text in _argument_texts(message))


def _texts_of(message: Message) -> Iterator[str]:
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
        yield call.arguments
        try:
            yield from texts_in(value_of(call.arguments))
        except (ValueError, RecursionError):
            continue


def texts_in(value: Any) -> Iterator[str]:
    """Every text among JSON values, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)


def trust_of(trajectory: Trajectory, turn: int, quote: str = "") -> Trust:
    """Whose words a turn has, or a quote from it. Text that a harness put into a user's turn is not the user's.

    The reason that a user gave for refusing a call stands in the call's result: it is the user's where the reader
    marked the call as refused, and never where strangers may have written the result, whatever it says of itself.
    A quote of a few letters bears no rule: it gives the user's trust only if it is all that was said.
    """
    message = trajectory.messages[turn - 1]
    if message.role == "user" and message.mark in (None, "interrupt"):
        return "user" if _bears_a_rule(quote, message.content or "") else "tool"
    if message.role == "assistant":
        return "assistant"
    if message.role == "tool" and _is_external(trajectory, message):
        return "external"
    reason = refusal_reason(message)
    return "user" if quote and quote in reason and _bears_a_rule(quote, reason) else "tool"


def _bears_a_rule(quote: str, said: str) -> bool:
    return not quote or len(quote.strip()) >= _SHORTEST_QUOTE or quote.strip() == said.strip()


def refusal_reason(result: Message) -> str:
    """What the user said in refusing a call, verbatim, from its result; empty where nothing is said or not refused."""
    match = _REFUSAL.match(result.content or "") if result.role == "tool" and result.mark == "rejected" else None
    reason = _AFTER_REASON.split((result.content or "")[match.end() :])[0] if match else ""
    return "" if reason.lstrip().startswith(_FORM) else reason.strip()


def _is_external(trajectory: Trajectory, result: Message) -> bool:
    name = result.name or next(
        (call.name for message in trajectory.messages for call in message.tool_calls if call.id == result.tool_call_id),
        "",
    )
    return name.lower().startswith(("mcp__", *_EXTERNAL_TOOLS))


def least_trusted(trusts: list[Trust]) -> Trust:
    """The least trusted of several sources that are needed together."""
    return max(trusts, key=_TRUST_ORDER.index, default="external")


def most_trusted(trusts: list[Trust]) -> Trust:
    """The most trusted of several sources of which each suffices by itself."""
    return min(trusts, key=_TRUST_ORDER.index, default="external")


def as_trust(value: Any) -> Trust:
    """A stored trust value; an unknown one counts as the least trusted."""
    return value if value in _TRUST_ORDER else "external"
