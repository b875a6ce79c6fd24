"""The strings of JSON text where they stand, each with the name it is given to, for those who look for secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from agent_wiki.redaction.finding import has_one
from agent_wiki.redaction.views import View, view_of
from agent_wiki.trajectory.lazily import regex

_STRING = regex(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_ESCAPED = regex(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
json_value = json.JSONDecoder(strict=False).decode
"""The value of JSON text, whose strings may have control characters in them."""


def is_json(text: str) -> bool:
    """Whether a text is JSON, and nested no deeper than can be read."""
    try:
        json_value(text)
    except (ValueError, RecursionError):
        return False
    return True


class JsonString(NamedTuple):
    """A string of JSON text from `start` to `end`, quotation marks included. `name` is the string before its colon."""

    start: int
    end: int
    name: str
    value: str
    may_hold: bool


def json_strings(text: str, signs: Collection[str] | None) -> Iterator[JsonString]:
    """Every string that ends, in order, names included. `signs` are those of secrets that the whole text has.

    With None for them any string may hold a secret.
    """
    position = 0
    name = spelt = ""
    for match in _STRING.finditer(text):
        start, end = match.span()
        written = text[start:end]
        value = decoded(written) if "\\" in written else written[1:-1]
        if text[position:start].strip() != ":":
            name = spelt = ""
        both = f"{spelt}\n{written}"
        # What has an escape may have other signs than as it is written.
        yield JsonString(start, end, name, value, signs is None or "\\" in both or has_one(signs, both))
        position, name, spelt = end, value, written


def decoded(written: str) -> str:
    """What a string of JSON says; what is no escape of JSON, as in a damaged recording, is taken as written."""
    try:
        return str(json_value(written))
    except ValueError:
        return unescaped(written[1:-1]).text


def unescaped(body: str) -> View:
    """The inside of a string as it is read, which knows the place of each character in it as it is written."""
    if "\\" not in body:
        return view_of(body, [])
    return view_of(body, [(*match.span(), _letter(match.group())) for match in _ESCAPED.finditer(body)])


def _letter(escape: str) -> str:
    try:
        return str(json_value(f'"{escape}"'))
    except ValueError:
        return escape[1:]
