"""The JavaScript of Codex's code mode, read without running any of it.

There every call is a script for one tool named `exec`, such as
`const r = await tools.exec_command({cmd: "ls"}); text(r.output);`. It is read only when each of its statements is
known: constants, calls whose arguments are literals, one after the other or in `Promise.all`, and `text(…)` of what
each returned. Any other code leaves the script as it is: conditions, computed arguments and lists of calls, comments.
"""

from __future__ import annotations

import json
import re
from dataclasses import field
from typing import Any, Literal

from agent_wiki.trajectory.lazily import dataclass, regex

Form = Literal["object", "output", "session", "words"]

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
_OF = r"([A-Za-z_$][\w$]*(?:\[\d{1,3}\])?)"  # what a call returned, by its name or its place in a list
_SHOWN = regex(
    rf"(?:JSON\.stringify\(\s*{_OF}\s*(?:,\s*null\s*,\s*\d+\s*)?\)"
    rf"|{_OF}(\.output(?:\.trim\(\)|\.slice\([-\d, ]*\))?)?)\s*\)"
)
_FIELD = regex(rf"{_OF}\.(output|exit_code|session_id|wall_time_seconds)\b")
_HOLE = regex(rf"\$\{{\s*{_OF}\.(output|exit_code|session_id|wall_time_seconds)\s*\}}")
_PARALLEL = regex(
    r"(?:const|let|var)\s+(?:\[([\w$,\s]{1,400})\]|([A-Za-z_$][\w$]*))\s*=\s*await\s+Promise\.all\(\s*\[\s*"
)
_INNER_CALL = regex(r"tools\.([A-Za-z_$][\w$]*)\s*\(\s*")
_EACH = regex(r"for\s*\(\s*(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s+of\s+([A-Za-z_$][\w$]*)\s*\)\s*")
_MOST_CALLS = 50
_SESSION = regex(
    r"if\s*\(\s*([A-Za-z_$][\w$]*)\.session_id\s*\)\s*text\(\s*`([^`\\$]{0,80})\$\{\s*\1\.session_id\s*\}([^`\\$]{0,80})`\s*\)"
)
_SETTINGS = regex(r"(?:\s*// ?@exec:[^\n]{0,200}\n)?\s*")  # how long Codex waits for the script
_END = regex(r"\s*;?\s*")


class _Unknown(Exception):
    """A piece of a script that is not one of the known statements."""


@dataclass(frozen=True, slots=True)
class ShownText:
    """What one `text(…)` of a script shows, of the call at a place among all; None for the script's own words.

    A session's id, with words around it, is shown while a command runs. Of the form "words" are `pieces`: words and the
    names of fields by turns, beginning and ending with words.
    """

    form: Form
    around: tuple[str, str] = ("", "")
    call: int | None = 0
    pieces: tuple[str, ...] = ()


@dataclass(slots=True)
class CodexScript:
    """The calls of a script as tools and arguments, and what the script shows, in order."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    shown: list[ShownText] = field(default_factory=list)


def script_of(source: str) -> CodexScript | None:
    """The calls of a script; None unless every statement of it is known and it calls a tool."""
    reading = _Reading(source)
    try:
        while reading.position < len(source):
            reading.statement()
    except (_Unknown, ValueError, RecursionError):
        return None
    return reading.script if reading.script.calls else None


class _Reading:
    """Reads one script from left to right."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self._next(_SETTINGS)
        self.script = CodexScript()
        self.constants: dict[str, Any] = {}
        self.results: dict[str, int] = {}  # the names that what calls returned have
        self.lists: dict[str, list[int]] = {}

    def statement(self) -> None:
        """One statement with what ends it. Raises `_Unknown`."""
        if parallel := self._next(_PARALLEL):
            self._parallel(parallel[1], parallel[2])
        elif declaration := self._next(_DECLARATION):
            self._declare(declaration[1])
        elif call := self._next(_CALL):
            self._call(call[1])
        elif each := self._next(_EACH):
            self._for_each(each[1], each[2])
            return
        else:
            self._shows()
        self._end()

    def _declare(self, name: str) -> None:
        if call := self._next(_CALL):
            self._name(name, self._call(call[1]))
        else:
            self._expect_new(name)
            self.constants[name] = self._value(0)

    def _name(self, name: str, call: int) -> None:
        self._expect_new(name)
        self.results[name] = call

    def _expect_new(self, name: str) -> None:
        if name in self.constants or name in self.results or name in self.lists:
            raise _Unknown

    def _parallel(self, names: str | None, whole: str | None) -> None:
        """`const [a, b] = await Promise.all([…])`, or one name for the list, up to the last bracket."""
        made: list[int] = []
        while not self._closes("]"):
            call = self._next(_INNER_CALL)
            if call is None:
                raise _Unknown
            made.append(self._call(call[1]))
            self._separated("]")
        self._expect(")")
        if whole is not None:
            self._expect_new(whole)
            self.lists[whole] = made
            return
        given = [name.strip() for name in (names or "").split(",")]
        if len(given) != len(made):
            raise _Unknown
        for name, call_made in zip(given, made, strict=True):
            self._name(name, call_made)

    def _for_each(self, name: str, listed: str) -> None:
        """A loop over what calls returned that only shows: its body is read once for each of them."""
        start, calls = self.position, self.lists.get(listed)
        if not calls:
            raise _Unknown
        self._expect_new(name)
        for call in calls:
            self.position, self.results[name] = start, call
            if self.source.startswith("{", self.position):
                self.position += 1
                while not self._closes("}"):
                    self._shows()
                    self._closes(";")
            else:
                self._shows()
        del self.results[name]
        self._next(_END)

    def _shows(self) -> None:
        """`text(…)`, or the condition with which a script shows the session of a running command."""
        if session := self._next(_SESSION):
            self._show(session[1], "session", (session[2], session[3]))
        elif self._next(_TEXT):
            self._text()
        else:
            raise _Unknown

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
            made = self._call(call[1])
            self._expect(")")
            self.script.shown.append(ShownText("object", call=made))
        elif shown := self._next(_SHOWN):
            self._show(shown[1] or shown[2], "output" if shown[3] else "object")
        else:
            self._words()

    def _show(self, name: str, form: Form, around: tuple[str, str] = ("", "")) -> None:
        self.script.shown.append(ShownText(form, around, self._returned(name)))

    def _returned(self, name: str) -> int:
        """The call that returned what a name, or a place in a list, stands for."""
        listed, _, place = name.removesuffix("]").partition("[")
        calls = self.lists.get(listed, []) if place else [self.results[name]] if name in self.results else []
        number = int(place) if place else 0
        if number >= len(calls):
            raise _Unknown
        return calls[number]

    def _words(self) -> None:
        """Words, with fields of what one call returned, put together with `+` or in a template."""
        pieces: list[str] = [""]
        calls: set[int] = set()
        while True:
            if named := self._next(_FIELD):
                self._put(pieces, calls, named[1], named[2])
            elif self.source.startswith("`", self.position):
                self._template(pieces, calls)
            elif self.source[self.position : self.position + 1] in ("'", '"'):
                pieces[-1] += self._string(self.source[self.position])
            else:
                raise _Unknown
            self._spaces()
            if self._closes(")"):
                break
            self._expect("+")
        if len(calls) > 1 or pieces.count("output") > 1:
            raise _Unknown
        self.script.shown.append(ShownText("words", call=min(calls, default=None), pieces=tuple(pieces)))

    def _template(self, pieces: list[str], calls: set[int]) -> None:
        found = self._next(_QUOTED["`"])
        if found is None:
            raise _Unknown
        words = _HOLE.split(found[1])
        for position in range(0, len(words), 3):
            if "${" in words[position]:
                raise _Unknown
            pieces[-1] += _unescaped(words[position])
            if position + 2 < len(words):
                self._put(pieces, calls, words[position + 1], words[position + 2])

    def _put(self, pieces: list[str], calls: set[int], name: str, named_field: str) -> None:
        calls.add(self._returned(name))
        pieces += [named_field, ""]

    def _call(self, tool: str) -> int:
        """The arguments of a call up to its closing parenthesis. Returns its place among all."""
        argument = {} if self.source.startswith(")", self.position) else self._value(0)
        self._expect(")")
        if isinstance(argument, str):
            argument = {"input": argument}
        if len(self.script.calls) >= _MOST_CALLS or not isinstance(argument, dict):
            raise _Unknown
        self.script.calls.append((tool, argument))
        return len(self.script.calls) - 1

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
        return _unescaped(found[1])

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


def _unescaped(body: str) -> str:
    """What stands between quotes, without its escapes. Raises `ValueError` for those that JSON has not."""
    spelt = _ESCAPE.sub(lambda escape: _JSON_ESCAPES.get(escape[0], escape[0]), body)
    return str(json.loads(f'"{spelt}"', strict=False))
