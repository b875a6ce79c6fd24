"""The strings of a session that no other session of the wiki contains, and where any of them is still found.

A string is any 24 characters in a row of a text. A text is looked at in steps: each 24 characters hold 12 that begin at
a multiple of 13, so only those are looked up, and the windows around one only where it is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agent_wiki.wiki.layout import MACHINERY

LENGTH = 24
_GRAM = 12
_STEP = LENGTH - _GRAM + 1
_FIELDS_FILE = f"{MACHINERY}/pages.txt"


class OwnStrings:
    """All strings of some texts, less those that other texts contain too."""

    def __init__(self, texts: Iterable[str]) -> None:
        long = [text for text in texts if len(text) >= LENGTH]
        self._windows = {text[at : at + LENGTH] for text in long for at in range(len(text) - LENGTH + 1)}
        self._grams = {text[at : at + _GRAM] for text in long for at in range(len(text) - _GRAM + 1)}

    def __len__(self) -> int:
        return len(self._windows)

    def discard(self, text: str) -> None:
        """Take out every string that a text of others contains, also as a word after a space or before one."""
        self._windows.difference_update(list(self._in(f" {text} ")))

    def first_in(self, text: str) -> str | None:
        """A string that a text contains; None when it contains none."""
        return next(self._in(text), None)

    def _in(self, text: str) -> Iterator[str]:
        for at in range(0, len(text) - _GRAM + 1, _STEP):
            if text[at : at + _GRAM] in self._grams:
                for start in range(max(0, at - LENGTH + _GRAM), min(at, len(text) - LENGTH) + 1):
                    window = text[start : start + LENGTH]
                    if window in self._windows:
                        yield window


def texts_in(value: Any) -> Iterator[str]:
    """Every text within JSON values; a text that is JSON itself also gives the texts within it."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple):
            waiting += each
        elif isinstance(each, str):
            yield each
            if each[:1] in ("{", "["):
                waiting.append(_value_of(each))


def _value_of(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def found_in(root: Path, strings: OwnStrings, passed_over: Iterable[str] = ()) -> list[str]:
    """The files below a folder that contain any of the strings, or have one in their name, by path in it, sorted."""
    passed = set(passed_over)
    found = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        is_file = path.is_file() and not path.is_symlink()
        if is_file and name not in passed and not name.startswith(".git/") and _contains(path, name, strings):
            found.append(name)
    return found


def _contains(path: Path, name: str, strings: OwnStrings) -> bool:
    text = path.read_bytes().decode("utf-8", "replace")
    texts = _texts_in_fields(text) if name == _FIELDS_FILE else _texts_of(text, path.suffix)
    return any(strings.first_in(each) is not None for each in (name, *texts))


def _texts_in_fields(text: str) -> Iterator[str]:
    """What lines of fields say, some of which are JSON."""
    for field in text.replace("\t", "\n").split("\n"):
        value = _value_of(field)
        yield from texts_in(value) if value is not None else (field,)


def _texts_of(text: str, suffix: str) -> Iterator[str]:
    """What a file says, without the syntax around it: what is escaped is shown as it is."""
    values = [_value_of(text)] if suffix == ".json" else []
    if suffix in (".jsonl", ".log"):
        values = [_value_of(line) for line in text.split("\n") if line.strip()]
    if values and None not in values:
        yield from texts_in(values)
    else:
        yield text.replace("\r\n", "\n")
