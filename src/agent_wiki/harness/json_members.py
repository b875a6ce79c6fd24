"""Edits JSON text in place: adds or removes a member and leaves every other byte unchanged.

A settings file belongs to its owner: parsing and dumping it would change its line breaks, spaces and escapes. Adding
and removing a member restores the exact text. For this to hold for `{}` too, a container that was empty is marked, once
filled, by a space after its opening bracket.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from agent_wiki.trajectory.lazily import dataclass, regex

_DECODER = json.JSONDecoder()
_BLANK = regex(r"[ \t\r\n]*")
_FIRST_INDENT = regex(r"[{\[][ \t]*\r?\n([ \t]+)\S")
_DEFAULT_INDENT = "  "
_BYTE_ORDER_MARK = "\ufeff"

Path = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class Member:
    """A key with its value, or an element (with its position as `key`): the text is `[start, end)`."""

    key: str | int
    start: int
    value_start: int
    end: int


@dataclass(slots=True)
class Container:
    """An object or array: its brackets are at `opens` and `closes`."""

    opens: int
    closes: int = 0
    members: list[Member] = field(default_factory=list)

    def member(self, key: str | int) -> Member | None:
        """The member with that key; for a duplicate key the last one, which is the one that counts."""
        return next((each for each in reversed(self.members) if each.key == key), None)


def with_member(text: str, path: Path, key: str, value: Any) -> str:
    """`text` with `key: value` at the end of the object at `path`, or `value` at the end of the array there.

    `text` is valid JSON; raises `KeyError` if `path` does not exist, `ValueError` if it is not a container.
    """
    container = _container(text, _value_start(text, path))
    is_object = text[container.opens] == "{"
    line_break = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    if container.members:
        last = container.members[-1]
        before = _blank_before(text, last.start)
        indent = before.rpartition("\n")[2] if "\n" in before else None
        blank = " " if indent is None else line_break + indent
        member = "," + blank + _rendered(key if is_object else None, value, indent, unit, line_break)
        return text[: last.end] + member + text[last.end :]
    outer = _line_indent(text, container.opens)
    member = _rendered(key if is_object else None, value, outer + unit, unit, line_break)
    inner = text[container.opens + 1 : container.closes]
    mark = f" {inner}{line_break}{outer}{unit}"
    return text[: container.opens + 1] + mark + member + line_break + outer + text[container.closes :]


def without_member(text: str, path: Path) -> str | None:
    """`text` without the value at `path` and without containers that had nothing else; None if nothing is left.

    A container that existed empty before something was added to it is kept. Raises `KeyError`.
    """
    container = _container(text, _value_start(text, path[:-1]))
    member = container.member(path[-1])
    if member is None:
        raise KeyError(path[-1])
    position = container.members.index(member)
    if position > 0:
        return text[: container.members[position - 1].end] + text[member.end :]
    if len(container.members) > 1:
        return text[: member.start] + text[container.members[1].start :]
    before = text[container.opens + 1 : member.start]
    if before.startswith(" ") and "\n" in before:
        inner = before[1:].rpartition("\n")[0].removesuffix("\r")
        return text[: container.opens + 1] + inner + text[container.closes :]
    return without_member(text, path[:-1]) if len(path) > 1 else None


def with_value(text: str, path: Path, value: Any) -> str:
    """`text` with another scalar at `path`. Raises `KeyError`."""
    start = _value_start(text, path)
    return text[:start] + json.dumps(value, ensure_ascii=False) + text[_end_of_value(text, start) :]


def line_of(text: str, path: Path) -> int:
    """The line, counted from 1, on which the value at `path` begins. Raises `KeyError`."""
    return text.count("\n", 0, _value_start(text, path)) + 1


def _value_start(text: str, path: Path) -> int:
    start = _skip(text, len(text) - len(text.removeprefix(_BYTE_ORDER_MARK)))
    for key in path:
        member = _container(text, start).member(key)
        if member is None:
            raise KeyError(key)
        start = member.value_start
    return start


def _container(text: str, opens: int) -> Container:
    """The members of the object or array that opens at `opens`."""
    if text[opens] not in "{[":
        raise ValueError("neither an object nor an array")
    container = Container(opens)
    is_object = text[opens] == "{"
    position = _skip(text, opens + 1)
    while text[position] not in "}]":
        start, key = position, len(container.members)
        named: str | int = key
        if is_object:
            named, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        end = _end_of_value(text, position)
        container.members.append(Member(named, start, position, end))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    container.closes = position
    return container


def _end_of_value(text: str, start: int) -> int:
    return _DECODER.raw_decode(text, start)[1]


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _blank_before(text: str, position: int) -> str:
    start = position
    while start > 0 and text[start - 1] in " \t\r\n":
        start -= 1
    return text[start:position]


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """The indentation of one level in this text."""
    match = _FIRST_INDENT.search(text)
    return match[1] if match else _DEFAULT_INDENT


def _rendered(key: str | None, value: Any, indent: str | None, unit: str, line_break: str) -> str:
    """A member as text; on one line if its neighbours are."""
    head = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if indent is None:
        return head + json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return head + f"{line_break}{indent}".join(lines)
