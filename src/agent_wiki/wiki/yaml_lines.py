"""The fast lane of `yaml_syntax`: what pages say, written one entry a line.

A wiki of ten thousand sessions has fifty thousand pages, and a general emitter takes half a millisecond for each. What
is written here are the very bytes that the general emitter would write, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import yaml

from agent_wiki.trajectory.lazily import regex

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?\Z")
_CONSTANTS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_MOST_DIGITS = 4_000  # Python refuses to turn longer ones into a number
LOOKS_NUMERIC = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_,.:]*)(?:[eE][-+]?[0-9]+)?\Z|0[xob][0-9a-fA-F_]+\Z")

# No tabs, breaks, controls or byte order marks, and nothing beyond 16 bits: every parser reads the rest alike.
_LAST_ORDINARY = "\ufffd"  # of what is printable and none of these:
_ODD_CHARACTER = regex("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_NO_PLAIN_START = "#,[]{}&*!|>'\"%@` "
_NO_PLAIN = rf"""\A[{re.escape(_NO_PLAIN_START)}]|\A[-?:](?: |\Z)|\A---|\A\.\.\.| #| \Z"""
_NO_BLOCK_PLAIN = re.compile(rf"{_NO_PLAIN}|:(?: |\Z)")
_NO_FLOW_PLAIN = re.compile(rf"{_NO_PLAIN}|[,?\[\]{{}}:]")
_RESOLVERS: dict[str, list[tuple[str, re.Pattern[str]]]] = yaml.CSafeDumper.yaml_implicit_resolvers
# Most of what pages say: words and ids that no parser takes for a constant or a number, wherever they are written.
_SURELY_PLAIN = re.compile(
    r"(?:[A-EG-MP-SU-XZa-eg-mp-su-xz/(_]|(?!(?i:y|n|yes|no|on|off|true|false|null)\Z)[FfNnOoTtYy]"
    r"|(?!0[xob])[0-9][0-9be]*[acdf-z]|[0-9]{5,}-)"
    r"""[A-Za-z0-9 _./@%+=<>()!&*|;'"$^~\\`-]*(?<! )"""
).fullmatch

_LONGEST_KEY = 40  # the emitter writes long keys in another form
_LONGEST_ID = 40  # characters; the evidence of a page names its session again and again
_LARGEST_NUMBER = 10**15
_NESTED = frozenset((list, tuple, dict))


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
    kind = type(value)
    if kind is str:
        return f"{_block_key(key)}: {_block(value)}\n"
    if kind is int:
        return f"{_block_key(key)}: {_constant(value)}\n"
    if (kind is list or kind is tuple) and not _NESTED.isdisjoint(map(type, value)):
        return "".join([f"{_block_key(key)}:\n", *[f"- {_written(item)}\n" for item in value]])
    return f"{_block_key(key)}: {_written(value)}\n"


def _written(value: Any) -> str:
    kind = type(value)
    if kind is dict:
        return _flow_mapping(tuple(value)) % tuple(_all_in_flow(value.values()))
    if kind is list or kind is tuple:
        return f"[{', '.join(_all_in_flow(value))}]"
    return _block(value) if kind is str else _constant(value)


@lru_cache(maxsize=1 << 10)
def _flow_mapping(keys: tuple[Any, ...]) -> str:
    """A mapping on one line, with a `%s` in place of each value."""
    written = [_written_key(key, _NO_FLOW_PLAIN).replace("%", "%%") for key in keys]
    return f"{{{', '.join([f'{key}: %s' for key in written])}}}"


@lru_cache(maxsize=1 << 10)
def _block_key(key: Any) -> str:
    return _written_key(key, _NO_BLOCK_PLAIN)


def _written_key(key: Any, no_plain: re.Pattern[str]) -> str:
    if type(key) is not str or not 0 < len(key) <= _LONGEST_KEY:
        raise NotPlain
    return key if _SURELY_PLAIN(key) else _written_text(key, no_plain)


def _all_in_flow(values: Iterable[Any]) -> list[str]:
    return [
        (_shared_in_flow(each) if len(each) <= _LONGEST_ID else _text_in_flow(each))
        if type(each) is str
        else _constant(each)
        for each in values
    ]


def _text_in_flow(text: str) -> str:
    if _SURELY_PLAIN(text):
        return text
    return _quoted(text) if ":" in text and _is_ordinary(text) else _written_text(text, _NO_FLOW_PLAIN)


_shared_in_flow = lru_cache(maxsize=1 << 9)(_text_in_flow)


def _block(text: str) -> str:
    return text if _SURELY_PLAIN(text) else _written_text(text, _NO_BLOCK_PLAIN)


def _constant(value: Any) -> str:
    kind = type(value)
    if kind is int and -_LARGEST_NUMBER < value < _LARGEST_NUMBER:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is float and "." in (written := repr(value)) and "e" not in written:
        return written
    if value is None:
        return "null"
    raise NotPlain


def _written_text(text: str, no_plain: re.Pattern[str]) -> str:
    """Plain where every parser reads it as this text, else in single quotes."""
    if not _is_ordinary(text) and ("\n" in text or _ODD_CHARACTER.search(text)):
        raise NotPlain
    if text[:1] in _NO_PLAIN_START or LOOKS_NUMERIC.match(text) or no_plain.search(text):
        return _quoted(text)
    return _quoted(text) if any(pattern.match(text) for _, pattern in _RESOLVERS.get(text[0], ())) else text


def _is_ordinary(text: str) -> bool:
    return text.isprintable() and (text.isascii() or max(text) <= _LAST_ORDINARY)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
