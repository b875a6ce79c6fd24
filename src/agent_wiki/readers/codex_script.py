"""The JavaScript of Codex's code mode, read without running any of it.

There every call is a script for one tool named `exec`, such as
`const r = await tools.exec_command({cmd: "ls"}); text(r.output);`. It is read only when each of its statements is
known: constants, one call whose arguments are literals, and `text(…)` of what it returned. Any other code leaves the
script as it is: conditions, loops, computed arguments, comments, and several calls, whose results are not kept apart.
"""

from __future__ import annotations

import json
import re
from dataclasses import field
from typing import Any, Literal

from agent_wiki.trajectory.lazily import dataclass, regex

Form = Literal["object", "output", "session"]

_DEEPEST = 20
_SPACES = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_QUOTED = {quote: regex(rf"{quote}([^{quote}\\]*(?:\\.[^{quote}\\]*)*){quote}", re.DOTALL) for quote in "\"'`"}
_RAW = regex(r"String\.raw\s*`([^`]*)`")
_ESCAPE = regex(r"\\.|[\"\n]", re.DOTALL)
_JSON_ESCAPES = {"\\'": "'", "\\`": "`", "\\$": "$", '"': '\\"', "\n": "\\n"}
_WORDS = {"true": True, "false": False, "null": None}
_DECLARATION = regex(r"(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*")
_CALL = regex(r"await\s+tools\.([A-Za-z_$][\w$]*)\s*\(\s*")
_TEXT = regex(r"text\s*\(\s*")
_SHOWN = regex(
    r"(?:JSON\.stringify\(\s*([A-Za-z_$][\w$]*)\s*(?:,\s*null\s*,\s*\d+\s*)?\)"
    r"|([A-Za-z_$][\w$]*)(\.output(?:\.trim\(\)|\.slice\([-\d, ]*\))?)?)\s*\)"
)
_SESSION = regex(
    r"if\s*\(\s*([A-Za-z_$][\w$]*)\.session_id\s*\)\s*text\(\s*`([^`\\$]{0,80})\$\{\s*\1\.session_id\s*\}([^`\\$]{0,80})`\s*\)"
)
_SETTINGS = regex(r"(?:\s*// ?@exec:[^\n]{0,200}\n)?\s*")  # how long Codex waits for the script
_END = regex(r"\s*;?\s*")


class _Unknown(Exception):
    """A piece of a script that is not one of the known statements."""


@dataclass(frozen=True, slots=True)
class ShownText:
    """What one `text(…)` of a script shows. A session's id, with words around it, is shown while a command runs."""

    form: Form
    around: tuple[str, str] = ("", "")


@dataclass(slots=True)
class CodexScript:
    """The one call of a script as its tool and its arguments, and what the script shows, in order."""

    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    shown: list[ShownText] = field(default_factory=list)


def script_of(source: str) -> CodexScript | None:
    """The call of a script; None unless every statement of it is known and it calls one tool."""
    reading = _Reading(source)
    try:
        while reading.position < len(source):
            reading.statement()
    except (_Unknown, ValueError, RecursionError):
        return None
    return reading.script if reading.script.tool else None


class _Reading:
    """Reads one script from left to right."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self._next(_SETTINGS)
        self.script = CodexScript()
        self.constants: dict[str, Any] = {}
        self.result: str | None = None  # the name that what the call returned has

    def statement(self) -> None:
        """One statement with what ends it. Raises `_Unknown`."""
        if declaration := self._next(_DECLARATION):
            name = declaration[1]
            if name in self.constants or name == self.result:
                raise _Unknown
            if call := self._next(_CALL):
                self._call(call[1])
                self.result = name
            else:
                self.constants[name] = self._value(0)
        elif call := self._next(_CALL):
            self._call(call[1])
        elif session := self._next(_SESSION):
            self._show(session[1], "session", (session[2], session[3]))
        elif self._next(_TEXT):
            self._text()
        else:
            raise _Unknown
        self._end()

    def _end(self) -> None:
        """What ends a statement: a semicolon, a line break or the end. Raises `_Unknown` for anything else."""
        start = self.position
        while self.source[start - 1].isspace():  # blanks are read together with the bracket before them
            start -= 1
        self._next(_END)
        if self.position < len(self.source) and not {";", "\n"} & set(self.source[start : self.position]):
            raise _Unknown

    def _text(self) -> None:
        if call := self._next(_CALL):
            self._call(call[1])
            self._expect(")")
            self.script.shown.append(ShownText("object"))
        elif shown := self._next(_SHOWN):
            self._show(shown[1] or shown[2], "output" if shown[3] else "object")
        else:
            raise _Unknown

    def _show(self, name: str, form: Form, around: tuple[str, str] = ("", "")) -> None:
        if name != self.result:
            raise _Unknown
        self.script.shown.append(ShownText(form, around))

    def _call(self, tool: str) -> None:
        """The arguments of the call up to its closing parenthesis."""
        argument = {} if self.source.startswith(")", self.position) else self._value(0)
        self._expect(")")
        if isinstance(argument, str):
            argument = {"input": argument}
        if self.script.tool or not isinstance(argument, dict):
            raise _Unknown
        self.script.tool, self.script.arguments = tool, argument

    def _value(self, depth: int) -> Any:
        """A literal, or a constant by its name."""
        character = self.source[self.position : self.position + 1]
        if character in _QUOTED:
            return self._string(character)
        if character in ("{", "[") and depth < _DEEPEST:
            self.position += 1
            return self._object(depth + 1) if character == "{" else self._list(depth + 1)
        if number := self._next(_NUMBER):
            return json.loads(number[0])
        if raw := self._next(_RAW):
            if "${" in raw[1]:
                raise _Unknown
            return raw[1]
        name = self._next(_NAME)
        if name and name[0] in _WORDS:
            return _WORDS[name[0]]
        if name and name[0] in self.constants:
            return self.constants[name[0]]
        raise _Unknown

    def _string(self, quote: str) -> str:
        """A string in any quotes. Raises `_Unknown` for a computed one and `ValueError` for escapes JSON has not."""
        found = self._next(_QUOTED[quote])
        if found is None or (quote == "`" and "${" in found[1].replace("\\$", "")):
            raise _Unknown
        if "\n" in found[1] and quote != "`":
            raise _Unknown
        body = _ESCAPE.sub(lambda escape: _JSON_ESCAPES.get(escape[0], escape[0]), found[1])
        return str(json.loads(f'"{body}"', strict=False))

    def _object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not self._closes("}"):
            character = self.source[self.position : self.position + 1]
            name = self._next(_NAME)
            key = self._string(character) if character in ('"', "'") else name[0] if name else None
            if key is None or key in members:
                raise _Unknown
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
            raise _Unknown
        self.position += 1
        self._spaces()

    def _spaces(self) -> None:
        self._next(_SPACES)

    def _next(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.source, self.position)
        if match:
            self.position = match.end()
        return match
