"""Requests that say no more than which program is to do common work, such as `npm run build`.

Nearly every page on a program shares its name and one of these words. So of such a request a page has to share more,
or be about just that: half of its title, or of its trigger, is in the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from agent_wiki.pages.compare.similarity import stem
from agent_wiki.retrieval import lexical

_WORDS_OF_WORK = """
build compile dev exec execute format install launch lint make prod production rebuild rerun run
script serve start suite test unit watch
"""
_OF_WORK = frozenset(map(stem, _WORDS_OF_WORK.split()))
_MOST_OTHERS = 2  # with more the request says what it is about
_FEWEST_SHARED = 2  # of these, one outside the page's text
_LEAST_OF_TEXT = 0.5


def named_by(asked: Set[str]) -> frozenset[str] | None:
    """What a request (as stems) names besides common work; None for a request that says more, or names no such work."""
    others = frozenset(asked - _OF_WORK)
    return others if len(others) < len(asked) and len(others) <= _MOST_OTHERS else None


def is_about(row: Mapping[str, Any], words: Mapping[str, str], asked: Set[str]) -> bool:
    """Whether a row says more on a request than the program and the work. In: `words`: stem → the best field.

    True for any other request.
    """
    named = named_by(asked)
    if named is None:
        return True
    shared = {term: field for term, field in words.items() if term in named}
    says_more = len(shared) >= _FEWEST_SHARED and set(shared.values()) != {"body"}
    return says_more or any(_is_in(row.get(name), asked) for name in ("title", "trigger"))


def _is_in(text: object, asked: Set[str]) -> bool:
    """Whether half of the words of a text are in the request."""
    own = set(lexical.terms(text)) if isinstance(text, str) else set()
    return bool(own) and len(own & asked) >= _LEAST_OF_TEXT * len(own)
