"""Names and prose: one name for one thing, in plain English."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "agent_wiki"

# Word → what to write instead. Whole words, whatever their case.
BANNED_WORDS = {
    "told": "reported, given, said, known",
    "outdone": "superseded",
    "desk": "context, queue",
    "unfit": "invalid answer",
    "lest": "so that … not",
    "whosoever": "anyone who",
    "thereof": "of it",
    "whereof": "of which",
    "anew": "again",
    "nought": "nothing",
}
BANNED_PHRASES = {
    "found by content": "detected",
    "put in place": "replaced, published",
    "is to be": "must be, will be",
    "are to be": "must be, will be",
    "goes on": "continues",
    "stands on": "is based on",
    "stands there": "is there",
    "let go of": "release, drop",
    "put right": "corrected",
    "taken back": "reverted, restored",
    "bear out": "support",
    "bears out": "supports",
    "borne out": "supported",
}


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _place(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _prose(source: str) -> Iterator[tuple[int, str]]:
    """`(line, text)` of every docstring, comment and name; strings that are data are not prose.

    The docstring of an engine's answer is data: it is part of the request, whose bytes are the key of the answer.
    """
    docstrings = {
        node.body[0].lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
        and not (isinstance(node, ast.ClassDef) and "Answer" in map(ast.unparse, node.bases))
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.start[0] in docstrings):
            yield token.start[0], " ".join(token.string.split())
        elif token.type == tokenize.NAME:
            yield token.start[0], token.string.replace("_", " ")


def _pattern() -> re.Pattern[str]:
    words = "|".join(re.escape(each) for each in (*BANNED_WORDS, *BANNED_PHRASES))
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path in _modules():
        for name in re.findall(r"^ *class ([A-Za-z]\w*)[:(]", path.read_text(encoding="utf-8"), re.MULTILINE):
            places[name].append(_place(path))
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert shared == {}
    assert len(places) > 300


def _banned(source: str) -> list[str]:
    """Each banned word of the prose with its line and what to write instead."""
    pattern, instead = _pattern(), BANNED_WORDS | BANNED_PHRASES
    if not pattern.search(" ".join(source.replace("_", " ").split())):
        return []  # as in most modules, of which the tokens need not be looked at
    return [
        f"{line}: {match.group()!r}, write {instead[match.group().lower()]}"
        for line, text in _prose(source)
        for match in pattern.finditer(text)
    ]


def test_prose_is_plain_english() -> None:
    found = {_place(path): _banned(path.read_text(encoding="utf-8")) for path in _modules()}
    assert {path: words for path, words in found.items() if words} == {}


@pytest.mark.parametrize(
    "source",
    [
        "# What it was told.",
        '"""A page\n\n    goes\n    on."""',
        "told_pages = 1",
        "def f():\n    'Goes  on.'\n    '_told_'",
    ],
)
def test_banned_words_are_found_in_prose(source: str) -> None:
    (found,) = _banned(source)
    assert found.startswith(("1: 'told', write reported", "1: 'goes on', write continues", "2: 'Goes on', write"))


def test_what_is_data_is_no_prose() -> None:
    assert _banned("WORDS = ['told', 'goes on']") == []
