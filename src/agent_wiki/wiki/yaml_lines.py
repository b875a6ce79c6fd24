"""The fast lane of `yaml_syntax`: what pages say, written one entry a line.

A wiki of ten thousand sessions has fifty thousand pages, and a general emitter takes half a millisecond for each. What
is written here are the very bytes that the general emitter would write, or nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
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

_LONGEST_KEY = 40  # the emitter writes long keys in another form
_LONGEST_SHARED = 60  # characters; sentences hardly occur twice
_LARGEST_NUMBER = 10**15


class NotPlain(Exception):
    """The value is one for the general emitter."""


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
