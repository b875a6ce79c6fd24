"""Which of the words that signs wait for occur in a text.

A sign's expression is searched for only where its words occur. To look for each word in each text would cost more than
all the rest of judging it: texts are many and short and say the same words, so what is in a word of a text is kept, and
found by the beginnings of what is looked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_BEGINNING = 3  # characters; `_sought` takes as many
_LONG = 2_000  # characters of a text, from which on looking for each word is quicker
_MOST_KEPT = 1 << 13  # words of texts

_by_beginning: dict[str, list[tuple[str, str]]] = {}  # what a word begins with → its longest part, and the word
_beginnings: set[str] = set()
_short: list[tuple[str, str]] = []
_with_blanks: set[str] = set()
_all: set[str] = set()


def register(words: Iterable[str]) -> None:
    """From now on these words, in lower case, are looked for. One may have blanks."""
    for word in words:
        if word in _all:
            continue
        _all.add(word)
        longest = max(word.split(), key=len)
        if longest != word:
            _with_blanks.add(word)
        if len(longest) < _BEGINNING:
            _short.append((longest, word))
        else:
            _by_beginning.setdefault(longest[:_BEGINNING], []).append((longest, word))
            _beginnings.add(longest[:_BEGINNING])
    _kept.cache_clear()


def words_in(lower: str) -> frozenset[str]:
    """The registered words that occur in a text in lower case, also within other words."""
    if len(lower) > _LONG:
        return frozenset(word for word in _all if word in lower)
    found = _NONE.union(*map(_kept, lower.split()))
    return found.difference([word for word in found & _with_blanks if word not in lower])


def _sought(piece: str) -> frozenset[str]:
    """The registered words that occur in a text without blanks, or of which the longest part does."""
    begun = _beginnings.intersection(map("".join, zip(piece, piece[1:], piece[2:], strict=False)))
    found = [word for beginning in begun for part, word in _by_beginning[beginning] if part in piece]
    return _NONE.union(found, [word for part, word in _short if part in piece])


_NONE: frozenset[str] = frozenset()
_kept = lru_cache(maxsize=_MOST_KEPT)(_sought)
