"""Where the secrets of a file's lines stand, for those who have to take them out or to replace the keys.

The strings of JSON are judged decoded, each with the name it is given to, as redaction judges them; their places are
those in the line as the file has it. Any other lines are judged together, for a key may go over several.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from agent_wiki.redaction.finding import Span, signs_of_secrets
from agent_wiki.redaction.json_strings import json_strings, unescaped
from agent_wiki.redaction.redact import kind_given_to, text_spans
from agent_wiki.redaction.views import View
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.lazily import dataclass

_BEGINS_JSON = tuple('{}[]",')
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
    """The secrets in the strings of JSON text, in order; what follows a string that does not end is judged as text."""
    signs = signs_of_secrets(text)
    if signs is not None and not signs:
        return []
    found: list[Span] = []
    position = 0
    for start, position, name, value, may_hold in json_strings(text, signs):
        spans = _value_spans(name, value) if may_hold else []
        found += _moved(unescaped(text[start + 1 : position - 1]), spans, start + 1) if spans else []
    rest = text[position:]
    return [*found, *((start + position, end + position, kind) for start, end, kind in text_spans(rest))]


def _moved(value: View, spans: Iterable[Span], by: int) -> Iterator[Span]:
    for start, end, kind in spans:
        begin, until = value.place(start, end)
        yield begin + by, until + by, kind


def _value_spans(name: str, value: str) -> list[Span]:
    kind = kind_given_to(name, value)
    return [(0, len(value), kind)] if kind else text_spans(value)
