"""The part of a reply in JSON that is meant for a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.trajectory.json_text import value_of
from agent_wiki.trajectory.lazily import regex

_NAMED = regex(r"explanation|message|summary|answer|analysis|text|content|response", re.IGNORECASE)
_DEEPEST = 6


def prose_in_json(text: str) -> str:
    """The first field with prose under a name that says so, else the longest text; empty where it is no JSON."""
    try:
        value = value_of(text.strip().removeprefix("```json").removesuffix("```"))
    except (ValueError, RecursionError):
        return ""
    fields = list(_fields(value, 0))
    named = [text for name, text in fields if _NAMED.search(name) and " " in text]
    return named[0] if named else max((text for _, text in fields), key=len, default="")


def _fields(value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Each text in a value, at most `_DEEPEST` levels down, with the name or the position that it stands under."""
    if isinstance(value, list) and depth < _DEEPEST:
        value = {str(position): each for position, each in enumerate(value)}
    if isinstance(value, dict) and depth < _DEEPEST:
        for name, each in value.items():
            if isinstance(each, str):
                yield str(name), each
            else:
                yield from _fields(each, depth + 1)
