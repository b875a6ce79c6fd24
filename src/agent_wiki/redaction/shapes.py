"""What a shape of secrets is: a pattern, and literals of which every such secret contains one.

Quantifiers are bounded, so that hostile text costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent_wiki.redaction.looks import looks_like_a_stand_in
from agent_wiki.trajectory.lazily import dataclass, regex


def begins(word: str = "") -> str:
    """Asserts that a key begins here, or with the `word` that was just read; an escape may be in front of it."""
    before = (r"\\[bfnrtv0]", r"\\u[0-9a-fA-F]{4}", r"\\x[0-9a-fA-F]{2}", r"%[0-9a-fA-F]{2}")  # \n, \u2028, \x1f, %3D
    return "|".join([rf"(?:(?<![A-Za-z0-9_]{word})", *(rf"(?<={each}{word})" for each in before)]) + ")"


START = begins()
ESCAPE = r"(?:[bfnrtv0]|u[0-9a-f]{4}|x?[0-9a-f]{2})?"  # what is left of one in folded text
UUID = r"[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"
SHORTEST_RUN = 16  # each key of PREFIXED has at least so many characters of [A-Za-z0-9_.-]


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret: the group `secret` of `pattern` if it has one, else the whole match. `is_one` checks it."""

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    is_one: Callable[[str], bool] = bool


def prefixed(kind: str, prefixes: str, pattern: str) -> Shape:
    """A shape of keys that each begin with one of these prefixes, which blanks keep apart."""
    literals = tuple(prefixes.split())
    first = "".join(dict.fromkeys(literal[0] for literal in literals))  # looked at first: most places have another
    return Shape(kind, literals, regex(f"(?=[{first}]){START}(?:{pattern})(?![A-Za-z0-9_])"))


def containing(
    kind: str,
    literals: tuple[str, ...],
    pattern: str,
    is_one: Callable[[str], bool] = bool,
    needs: tuple[str, ...] = (),
) -> Shape:
    """A shape of secrets in a text that has one of these literals; of `needs` every match has one besides."""
    return Shape(kind, literals, regex(pattern, needs=needs), is_one)


def is_a_key(value: str) -> bool:
    """Whether what has the form of a vendor's key is one: it has a digit, and is none of documentation."""
    return any(map(str.isdigit, value)) and not looks_like_a_stand_in(value)
