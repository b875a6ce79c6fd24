"""Requests that share no more with a page than that something failed, such as `KeyError: 'x' in my Python script`.

Nearly every page on a failure has `Error`, `file` or `not found`. An exception's name says more, but not what it was
about: where nothing else is shared, the page has to be near in meaning too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent_wiki.pages.compare.similarity import stem
from agent_wiki.retrieval.lexical import EXCEPTIONS, GENERIC

_WHERE = GENERIC.union(map(stem, ("script", "program")))
_WRITTEN_IN = re.compile(
    r"\b(bash|java|javascript|node|perl|php|python|ruby|rust|shell|typescript) (?:script|program|code|file)\b",
    re.IGNORECASE,
)
_LEAST_MEANING = 0.65  # chosen with `benchmarks/questions.py`: what fits has 0.75 and more, what does not about 0.6


def says_what_failed(task: str, words: Mapping[str, str], meaning: float) -> bool:
    """Whether a row shares more with a task than that something failed somewhere.

    In: `words`: stem → the best field of the row that has it; how close the row's meaning is. True for a row that
    shares no word: its meaning found it.
    """
    languages = {stem(name.lower()) for name in _WRITTEN_IN.findall(task)}
    if not words or not words.keys() <= _WHERE | languages:
        return True
    return not EXCEPTIONS.isdisjoint(words) and meaning >= _LEAST_MEANING
