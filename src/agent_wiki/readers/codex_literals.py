"""The literals of JavaScript in Codex's code mode: strings, numbers, lists and objects, read and never run."""

from __future__ import annotations

import json
import re
from typing import Any

from agent_wiki.trajectory.lazily import regex

_DEEPEST = 20
_SPACES = regex(r"\s*")
_NAME = regex(r"[A-Za-z_$][\w$]*")
_NUMBER = regex(r"-?\d+(?:\.\d+)?")
QUOTED = {quote: regex(rf"{quote}([^{quote}\\]*(?:\\.[^{quote}\\]*)*){quote}", re.DOTALL) for quote in "\"'`"}
_RAW = regex(r"String\.raw\s*`([^`]*)`")
_ESCAPE = regex(r"\\.|[\"\n]", re.DOTALL)
_JSON_ESCAPES = {"\\'": "'", "\\`": "`", "\\$": "$", '"': '\\"', "\n": "\\n"}
_WORDS = {"true": True, "false": False, "null": None}


class UnknownCode(Exception):
    """A piece of a script that is none of what is read."""


class ScriptText:
    """The text of one script, read from left to right. `constants` are the values of its names so far."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self.constants: dict[str, Any] = {}

    def _value(self, depth: int) -> Any:
        """A literal, or a constant by its name."""
        character = self.source[self.position : self.position + 1]
        if character in QUOTED:
            return self._string(character)
        if character in ("{", "[") and depth < _DEEPEST:
            self.position += 1
            return self._object(depth + 1) if character == "{" else self._list(depth + 1)
        if number := self._next(_NUMBER):
            return json.loads(number[0])
        if raw := self._next(_RAW):
            if "${" in raw[1]:
                raise UnknownCode
            return raw[1]
        name = self._next(_NAME)
        if name and name[0] in _WORDS:
            return _WORDS[name[0]]
        if name and name[0] in self.constants:
            return self.constants[name[0]]
        raise UnknownCode

    def _string(self, quote: str) -> str:
        """A string in any quotes. Raises `UnknownCode` for a computed one and `ValueError` for escapes JSON has not."""
        found = self._next(QUOTED[quote])
        if found is None or (quote == "`" and "${" in found[1].replace("\\$", "")):
            raise UnknownCode
        if "\n" in found[1] and quote != "`":
            raise UnknownCode
        return unescaped(found[1])

    def _object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not self._closes("}"):
            character = self.source[self.position : self.position + 1]
            name = self._next(_NAME)
            key = self._string(character) if character in ('"', "'") else name[0] if name else None
            if key is None or key in members:
                raise UnknownCode
            self._spaces()
            if name and name[0] in self.constants and self.source[self.position : self.position + 1] in (",", "}"):
                members[key] = self.constants[key]  # {cmd} is short for {cmd: cmd}
            else:
                self._expect(":")
                members[key] = self._value(depth)
            self._separated("}")
        return members

    def _list(self, depth: int) -> list[Any]:
        elements: list[Any] = []
        while not self._closes("]"):
            elements.append(self._value(depth))
            self._separated("]")
        return elements

    def _closes(self, bracket: str) -> bool:
        self._spaces()
        if not self.source.startswith(bracket, self.position):
            return False
        self.position += 1
        return True

    def _separated(self, bracket: str) -> None:
        self._spaces()
        if not self.source.startswith(bracket, self.position):
            self._expect(",")

    def _expect(self, character: str) -> None:
        self._spaces()
        if not self.source.startswith(character, self.position):
            raise UnknownCode
        self.position += 1
        self._spaces()

    def _spaces(self) -> None:
        self._next(_SPACES)

    def _next(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.source, self.position)
        if match:
            self.position = match.end()
        return match


def unescaped(body: str) -> str:
    """What stands between quotes, without its escapes. Raises `ValueError` for those that JSON has not."""
    spelt = _ESCAPE.sub(lambda escape: _JSON_ESCAPES.get(escape[0], escape[0]), body)
    return str(json.loads(f'"{spelt}"', strict=False))
