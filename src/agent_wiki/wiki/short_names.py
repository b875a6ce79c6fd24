"""The beginning of an id in the place of the whole: how much of one is enough, and what is said of less."""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.wiki.text import counted, some_of

LEAST_PREFIX = 4
"""Characters of an id by which a page or a session may be named."""

_MOST_NAMED = 3


def too_short(begun: Sequence[str], what: str) -> str:
    """What is said where too little of an id was given: how many are called so, and which. `what`: one of them."""
    have = "begins" if len(begun) == 1 else "begin"
    named = some_of(begun, _MOST_NAMED)
    return f"{counted(len(begun), what)} {have} so; give at least {LEAST_PREFIX} characters of an id: {named}"
