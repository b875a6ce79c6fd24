"""The words that a text must have for a regular expression to match in it: to look for them is quicker by far."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SHORTEST = 4  # characters: shorter words are in most texts
_IS_OTHERWISE = re.compile(r"\(\?[aLmsux]*[ix][a-zA-Z]*\)")  # case or blanks do not count in all of it
_FLAGS = re.compile(r"(?:\(\?[aLmsu]+\))*")
_SET = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
_REPEATS = re.compile(r"(?:[*?]|\{0?,|\{0\})")
_COUNT = re.compile(r"(?:[*+?]|\{\d{0,6}(?:,\d{0,6})?\})[?+]?")


def needed_words(source: str) -> tuple[str, ...]:
    """Words of which every match of an expression has at least one, verbatim; empty where none is sure.

    In: the expression as it is written, of which only what stands outside of groups and sets is read.
    """
    if _IS_OTHERWISE.search(source):
        return ()
    branches = [max(runs, key=len, default="") for runs in _branches(source)]
    return tuple(dict.fromkeys(branches)) if all(len(word) >= _SHORTEST for word in branches) else ()


def _branches(source: str) -> Iterator[list[str]]:
    """The runs of plain characters in each alternative."""
    start = _FLAGS.match(source)
    at, run, runs = start.end() if start else 0, "", list[str]()
    while at < len(source):
        end, piece = _piece(source, at)
        count = _COUNT.match(source, end)
        if source[at] == "|":
            yield [*runs, run]
            run, runs = "", []
        elif piece and count is None:
            run += piece
        else:
            may_lack = count is not None and _REPEATS.match(count[0]) is not None
            runs.append(run if may_lack else run + piece)
            run = ""
        at = count.end() if count else end
    yield [*runs, run]


def _piece(source: str, at: int) -> tuple[int, str]:
    """Where the piece of an expression that begins at a place ends, and the one character that it stands for, if so."""
    sign = source[at]
    if sign == "\\":
        escaped = source[at + 1 : at + 2]
        return at + 2, "" if escaped.isalnum() else escaped
    if sign == "(":
        return _group_end(source, at), ""
    if sign == "[" and (found := _SET.match(source, at)):
        return found.end(), ""
    return at + 1, "" if sign in ".^$|" else sign


def _group_end(source: str, at: int) -> int:
    """The place behind a group."""
    depth = 0
    while at < len(source):
        if source[at] == "\\":
            at += 1
        elif source[at] == "[" and (found := _SET.match(source, at)):
            at = found.end() - 1
        elif source[at] in "()":
            depth += 1 if source[at] == "(" else -1
            if depth == 0:
                return at + 1
        at += 1
    return at
