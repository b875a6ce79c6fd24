"""Evidence: a verbatim quote of a turn, checked before it is returned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.stages.extract_guidelines import CitedQuote
from agent_wiki.trajectory.calls import Call

MOST_CHARACTERS = 200


def citation(call: Call, text: str) -> CitedQuote | None:
    """The first informative line of `text` quoted from the arguments of `call`; None where they do not hold it."""
    lines = (line.strip() for line in text.splitlines())
    quote = next((line for line in lines if line), "")[:MOST_CHARACTERS].strip()
    if not quote or not any(quote in each for each in [call.raw_arguments, *_strings(call.arguments)]):
        return None
    return CitedQuote(turn=call.turn, quote=quote)


def _strings(value: Any) -> Iterator[str]:
    """Every string inside decoded arguments, without recursion: hostile arguments are nested deeply."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def raw_citation(call: Call) -> CitedQuote | None:
    """The beginning of the arguments as recorded."""
    quote = call.raw_arguments[:MOST_CHARACTERS].strip()
    return CitedQuote(turn=call.turn, quote=quote) if quote else None
