"""The fast lane of `yaml_syntax`: the YAML that this tool writes, one entry a line, read and written by lines.

A wiki of ten thousand sessions has fifty thousand pages, and a general parser takes half a millisecond for each.
What is read here is a subset of YAML: block mappings and lists, and on one line a plain or quoted scalar, a list
of scalars or a mapping of scalars. Anything else, damage included, is `NotPlain`: the general parser then reads it.
What is written here are exactly the bytes that the general emitter would write, or nothing.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from sys import intern
from typing import Any

import yaml

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?\Z")
_CONSTANTS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_MOST_DIGITS = 4_000  # Python refuses to turn longer ones into a number
LOOKS_NUMERIC = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_,.:]*)(?:[eE][-+]?[0-9]+)?\Z|0[xob][0-9a-fA-F_]+\Z")

# No tabs, breaks, controls or byte order marks, and nothing beyond 16 bits: every parser reads the rest alike.
_ODD_CHARACTER = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_NO_PLAIN = r"""\A[#,\[\]{}&*!|>'"%@` ]|\A[-?:](?: |\Z)|\A---|\A\.\.\.| #| \Z"""
_NO_BLOCK_PLAIN = re.compile(rf"{_NO_PLAIN}|:(?: |\Z)")
_NO_FLOW_PLAIN = re.compile(rf"{_NO_PLAIN}|[,?\[\]{{}}:]")
_RESOLVERS: dict[str, list[tuple[str, re.Pattern[str]]]] = yaml.CSafeDumper.yaml_implicit_resolvers

# Parts of patterns, without groups: a group within (?>…) trips Python's engine.
_SINGLE = r"[^']*(?:''[^']*)*"  # between single quotes
_DOUBLE = r'''"(?:[^"\\]|\\["\\nrtbf])*"'''
_PLAIN_IN_FLOW = r"""[^-?:,\[\]{}#&*!|>'"%@` ](?:[^,\[\]{}:#?]*[^,\[\]{}:#? ])?"""
_IN_FLOW = rf"(?:'{_SINGLE}'|{_DOUBLE}|{_PLAIN_IN_FLOW})"
_GROUPED_IN_FLOW = rf"(?:'({_SINGLE})'|({_DOUBLE})|({_PLAIN_IN_FLOW}))"
_NAME = r"[A-Za-z_][A-Za-z0-9_.-]{0,99}"
_KEY = r"(?:([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})|'([A-Za-z0-9_.-]{1,100})')"

_LINE = re.compile(rf"^(?:( *){_KEY}:(?: (.+))?|( *)- (.+)| *(?:#.*)?)$", re.MULTILINE)
_QUOTED = re.compile(rf"'({_SINGLE})'|({_DOUBLE})")
_LIST = re.compile(rf"\[(?>(?:{_IN_FLOW}(?:, (?!\])|(?=\])))*)\]")
_LIST_ITEM = re.compile(rf"{_GROUPED_IN_FLOW}(?:, |\])")
_MAPPING = re.compile(rf"\{{(?>(?:{_NAME}: {_IN_FLOW}(?:, (?!\}})|(?=\}})))*)\}}")
_MAPPING_PAIR = re.compile(rf"({_NAME}): {_GROUPED_IN_FLOW}(?:, |\}})")

_MOST_DEPTH = 20
_LONGEST_KEY = 40  # the emitter writes long keys in another form
_LONGEST_SHARED = 60  # characters; sentences hardly occur twice
_LARGEST_NUMBER = 10**15


class NotPlain(Exception):
    """The text or value is outside the subset."""


def plain_value(text: str) -> Any:
    """What a scalar without quotes means: a constant, a plain decimal number, else its text."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] in "-+0123456789":
        if _INTEGER.match(text):
            return int(text) if len(text) <= _MOST_DIGITS else text
        if _DECIMAL.match(text):
            return float(text)
    return text


def read(text: str) -> dict[str, Any]:
    """The mapping that `text` holds, as `yaml_syntax.load_yaml` reads it. Raises `NotPlain`."""
    if _ODD_CHARACTER.search(text):
        raise NotPlain
    lines = _LINE.findall(text)
    if len(lines) != text.count("\n") + 1:
        raise NotPlain
    mapping = _Mapping()
    for indent, key, quoted_key, value, indent_of_item, item in lines:
        if item:
            mapping.add_item(len(indent_of_item), item)
        elif key or quoted_key:
            mapping.add(len(indent), intern(key or quoted_key), value)
    return mapping.root


class _Mapping:
    """A block mapping as far as it is read. `_waiting`: mapping, key and indent of an entry without a value."""

    def __init__(self) -> None:
        self.root: dict[str, Any] = {}
        self._open: list[tuple[int, dict[str, Any]]] = [(0, self.root)]
        self._waiting: tuple[dict[str, Any], str, int] | None = None
        self._items: list[Any] | None = None
        self._indent_of_items = 0

    def add(self, indent: int, key: str, value: str) -> None:
        """Take in `key: value`, or `key:` when the value is empty."""
        mapping = self._open[-1][1] if indent == self._open[-1][0] else self._mapping_at(indent)
        mapping[key] = _value(value) if value else None
        self._waiting = None if value else (mapping, key, indent)
        self._items = None

    def add_item(self, indent: int, value: str) -> None:
        """Take in `- value`."""
        if self._waiting is None or indent < self._waiting[2]:
            raise NotPlain
        if self._items is None:
            self._items = self._waiting[0][self._waiting[1]] = []
            self._indent_of_items = indent
        if indent != self._indent_of_items:
            raise NotPlain
        self._items.append(_value(value))

    def _mapping_at(self, indent: int) -> dict[str, Any]:
        if indent > self._open[-1][0]:
            if self._waiting is None or self._items is not None or len(self._open) >= _MOST_DEPTH:
                raise NotPlain
            made: dict[str, Any] = {}
            self._waiting[0][self._waiting[1]] = made
            self._open.append((indent, made))
        while self._open[-1][0] > indent:
            self._open.pop()
        if self._open[-1][0] != indent:
            raise NotPlain
        return self._open[-1][1]


def _value(text: str) -> Any:
    """A value written on one line."""
    first = text[0]
    if first == "[":
        return _flow_list(text)
    if first == "{":
        return _flow_mapping(text)
    if first in "'\"":
        quoted = _QUOTED.fullmatch(text)
        if quoted is None:
            raise NotPlain
        return _unquoted(quoted[1] or "", quoted[2] or "")
    if first in "-?:" or _NO_BLOCK_PLAIN.search(text):
        raise NotPlain
    return _shared(text) if len(text) <= _LONGEST_SHARED else plain_value(text)


def _flow_list(text: str) -> list[Any]:
    if not _LIST.fullmatch(text):
        raise NotPlain
    found = _LIST_ITEM.findall(text, 1)
    return [_shared(plain) if plain else _unquoted(single, double) for single, double, plain in found]


def _flow_mapping(text: str) -> dict[str, Any]:
    if not _MAPPING.fullmatch(text):
        raise NotPlain
    return {
        intern(key): _shared(plain) if plain else _unquoted(single, double)
        for key, single, double, plain in _MAPPING_PAIR.findall(text, 1)
    }


def _unquoted(single: str, double: str) -> Any:
    return json.loads(double) if double else single.replace("''", "'")


@lru_cache(maxsize=1 << 14)
def _shared(text: str) -> Any:
    """The value of a plain scalar; ids, names and outcomes recur, so equal texts share one object."""
    return plain_value(text)


def write(key: Any, value: Any) -> str:
    """One entry of a block mapping, with its line ends. Raises `NotPlain`."""
    if isinstance(value, list | tuple) and any(isinstance(item, list | tuple | dict) for item in value):
        return "".join([f"{_written_key(key, _NO_BLOCK_PLAIN)}:\n", *(f"- {_written(item)}\n" for item in value)])
    return f"{_written_key(key, _NO_BLOCK_PLAIN)}: {_written(value)}\n"


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join([_written_scalar(item, _NO_FLOW_PLAIN) for item in value])}]"
    if isinstance(value, dict):
        keys = [_written_key(key, _NO_FLOW_PLAIN) for key in value]
        values = [_written_scalar(each, _NO_FLOW_PLAIN) for each in value.values()]
        return f"{{{', '.join(map(': '.join, zip(keys, values, strict=True)))}}}"
    return _written_scalar(value, _NO_BLOCK_PLAIN)


@lru_cache(maxsize=1 << 12)
def _written_key(key: Any, no_plain: re.Pattern[str]) -> str:
    if type(key) is not str or not 0 < len(key) <= _LONGEST_KEY:
        raise NotPlain
    return _written_text(key, no_plain)


def _written_scalar(value: Any, no_plain: re.Pattern[str]) -> str:
    if type(value) is str:
        return (_shared_text if len(value) <= _LONGEST_SHARED else _written_text)(value, no_plain)
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int and -_LARGEST_NUMBER < value < _LARGEST_NUMBER:
        return str(value)
    if value is None:
        return "null"
    raise NotPlain


def _written_text(text: str, no_plain: re.Pattern[str]) -> str:
    """Plain where every parser reads it as this text, else in single quotes."""
    if "\n" in text or _ODD_CHARACTER.search(text):
        raise NotPlain
    is_quoted = not text or no_plain.search(text) or LOOKS_NUMERIC.match(text)
    if is_quoted or any(pattern.match(text) for _, pattern in _RESOLVERS.get(text[0], ())):
        return "'" + text.replace("'", "''") + "'"
    return text


_shared_text = lru_cache(maxsize=1 << 14)(_written_text)
