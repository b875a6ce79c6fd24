"""Which of the words that signs wait for occur in a text: looked up by their beginnings, for texts are many and short.

A sign's expression is searched for only where its words occur. To look for each word in each text would cost more than
all the rest of judging it.
"""

from __future__ import annotations

from collections.abc import Iterable

_BEGINNING = 3  # characters; `words_in` takes as many
_LONG = 2_000  # characters of a text, from which on looking for each word is quicker

_by_beginning: dict[str, list[str]] = {}
_beginnings: set[str] = set()
_short: list[str] = []
_all: set[str] = set()


def register(words: Iterable[str]) -> None:
    """From now on these words, in lower case, are looked for."""
    for word in words:
        if word in _all:
            continue
        _all.add(word)
        if len(word) < _BEGINNING:
            _short.append(word)
        else:
            _by_beginning.setdefault(word[:_BEGINNING], []).append(word)
            _beginnings.add(word[:_BEGINNING])


def words_in(lower: str) -> frozenset[str]:
    """The registered words that occur in a text in lower case, also within other words."""
    if len(lower) > _LONG:
        return frozenset(word for word in _all if word in lower)
    begun = _beginnings.intersection(map("".join, zip(lower, lower[1:], lower[2:], strict=False)))
    found = {word for beginning in begun for word in _by_beginning[beginning] if word in lower}
    found.update([word for word in _short if word in lower])
    return frozenset(found)
