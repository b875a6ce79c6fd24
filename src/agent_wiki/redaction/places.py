"""Where the secrets of a file's lines stand, for those who have to take them out or to replace the keys.

The strings of JSON are judged decoded, each with the name it is given to, as redaction judges them; their places are
those in the line as the file has it. Any other lines are judged together, for a key may go over several.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from agent_wiki.redaction.finding import Span, signs_of_secrets, united
from agent_wiki.redaction.json_strings import is_json, json_strings, unescaped
from agent_wiki.redaction.numbers import mark_of
from agent_wiki.redaction.redact import is_for_cookies, kind_given_to, text_spans
from agent_wiki.redaction.views import View, view_of
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.lazily import dataclass, regex

_BEGINS_JSON = tuple('{}[]",')
_BEGINS_A_STRING = regex(r"\"(?:[\w-]{1,16}[ /=]|-p)?\Z")
_ENDS_A_STRING = regex(r"\\{0,7}\"")
_BLOCK_CHARACTERS = 1 << 22


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """A secret of a text: the line and the column where it begins, both from 1, its characters there, and its kind.

    `digest` is that of the secret as the text has it. It is compared and never shown: who guesses a secret could tell
    by it that the guess is right.
    """

    line: int
    column: int
    length: int
    kind: str
    digest: str


def value_digest(value: str) -> str:
    """By what an owner's exception knows a value that only looks like a secret: 16 hex of its SHA-256."""
    return sha256_of(value)[:16]


def secret_places(lines: Iterable[str], *, is_json: bool) -> Iterator[SecretPlace]:
    """The secrets of a file's lines, in order. With `is_json` lines that begin like JSON are judged as such."""
    block: list[str] = []
    size = first = 0
    for number, line in enumerate(lines, start=1):
        if is_json and line.lstrip()[:1] in _BEGINS_JSON:
            yield from _places_in_block(block, first)
            block, size = [], 0
            yield from (
                SecretPlace(number, start + 1, end - start, kind, value_digest(line[start:end]))
                for start, end, kind in json_spans(line)
            )
            continue
        first = first if block else number
        block.append(line)
        size += len(line)
        if size > _BLOCK_CHARACTERS:
            yield from _places_in_block(block, first)
            block, size = [], 0
    yield from _places_in_block(block, first)


def _places_in_block(block: list[str], first: int) -> Iterator[SecretPlace]:
    begins = [0, *accumulate(len(line) + 1 for line in block)]
    text = "\n".join(block)
    for start, end, kind in text_spans(text):
        index = bisect_right(begins, start) - 1
        digest = value_digest(text[start:end])
        yield SecretPlace(first + index, start - begins[index] + 1, end - start, kind, digest)


def json_spans(text: str) -> list[Span]:
    """The secrets in the strings of JSON text, in order, and those that only several of its strings give away.

    What follows a string that does not end is judged as text. JSON in a string is judged as JSON.
    """
    signs = signs_of_secrets(text)
    if signs is not None and not signs:
        return []
    found: list[Span] = []
    position = 0
    for start, position, name, value, may_hold in json_strings(text, signs):
        spans = _value_spans(name, value) if may_hold else []
        found += _moved(unescaped(text[start + 1 : position - 1]), spans, start + 1) if spans else []
    rest = [(start + position, end + position, kind) for start, end, kind in text_spans(text[position:])]
    return united([*found, *rest, *_of_several(text, [*found, *rest])])


def _of_several(text: str, found: list[Span]) -> Iterator[Span]:
    """What redaction takes from JSON whose strings are redacted already: the next of an array is an option's value.

    It is a whole string, perhaps but for an option or a scheme before it: a recording's line is more than one call's
    arguments, and what one turn of it says is not about the next.
    """
    view = view_of(text, [(start, end, mark_of(kind)) for start, end, kind in found])
    for start, end, kind in text_spans(view.text):
        is_whole = _ENDS_A_STRING.match(view.text, end) and _BEGINS_A_STRING.search(
            view.text[max(0, start - 24) : start]
        )
        if is_whole and '"' not in view.text[start:end]:
            yield (*view.place(start, end), kind)


def _moved(value: View, spans: Iterable[Span], by: int) -> Iterator[Span]:
    for start, end, kind in spans:
        begin, until = value.place(start, end)
        yield begin + by, until + by, kind


def _value_spans(name: str, value: str) -> list[Span]:
    kind = kind_given_to(name, value)
    if kind is None and is_for_cookies(name):
        before = len(name) + 2
        spans = text_spans(f"{name}: {value}")
        return [(start - before, end - before, kind) for start, end, kind in spans if start >= before]
    if kind is None and value[:1] in ("{", "[") and is_json(value):
        return json_spans(value)
    return [(0, len(value), kind)] if kind else text_spans(value)
