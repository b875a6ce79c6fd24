"""Redacts values of any depth, such as an answer, a record or a patch, and says where secrets stood in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from agent_wiki.redaction.finding import may_hold_secrets
from agent_wiki.redaction.numbers import MARK
from agent_wiki.redaction.redact import redact_named, redact_text
from agent_wiki.trajectory.lazily import dataclass


@dataclass(frozen=True, slots=True)
class Redacted:
    """A secret that was replaced: its kind and where it stood, as in `field.0.field`. `str()` is one line."""

    kind: str
    place: str

    def __str__(self) -> str:
        return (
            f"{self.place}: a secret ({self.kind}) was redacted"
            if self.place
            else f"a secret ({self.kind}) was redacted"
        )


def redact_value(value: Any) -> tuple[Any, list[Redacted]]:
    """A value of mappings, lists, tuples and texts with each secret replaced; the same object where there is none.

    Names of mappings are redacted too, and a text below a name for secrets is judged with its name. Raises
    `RecursionError` for a value that is nested hundreds of levels deep.
    """
    if not may_hold_secrets("\n".join(_texts(value))):
        return value, []
    found: list[Redacted] = []
    redacted = _redacted(value, "", "", found)
    return (redacted if found else value), found


def redact_whole(text: str, place: str = "") -> tuple[str, list[Redacted]]:
    """The same for one text, such as a page's body or a script."""
    redacted, count = redact_text(text)
    return redacted, [Redacted(kind, place) for kind in _kinds(text, redacted)] if count else []


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _redacted(value: Any, name: str, place: str, found: list[Redacted]) -> Any:
    if isinstance(value, str):
        redacted, count = redact_named(name, value)
        found += [Redacted(kind, place) for kind in _kinds(value, redacted)] if count else []
        return redacted
    if isinstance(value, Mapping):
        names = {each: _redacted(each, "", place, found) for each in value}
        return {
            names[each]: _redacted(inner, str(each), _below(place, names[each]), found) for each, inner in value.items()
        }
    if isinstance(value, list | tuple):
        items = [_redacted(each, name, _below(place, position), found) for position, each in enumerate(value)]
        return tuple(items) if isinstance(value, tuple) else items
    return value


def _below(place: str, name: object) -> str:
    return f"{place}.{name}" if place else str(name)


def _kinds(before: str, after: str) -> list[str]:
    """The kinds of what was replaced, those of earlier redactions left out."""
    return sorted((_marked(after) - _marked(before)).elements())


def _marked(text: str) -> Counter[str]:
    return Counter(match.group("kind") for match in MARK.finditer(text))
