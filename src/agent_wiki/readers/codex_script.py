"""The JavaScript of Codex's code mode, read without running any of it.

There every call is a script for one tool named `exec`, such as
`const r = await tools.exec_command({cmd: "ls"}); text(r.output);`. It is read only when each of its statements is
known: constants, calls whose arguments are literals, one after the other or in `Promise.all`, and `text(…)` of what
each returned. Any other code leaves the script as it is: conditions, computed arguments and lists of calls, comments.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from agent_wiki.readers.codex_literals import QUOTED, ScriptText, UnknownCode, unescaped
from agent_wiki.trajectory.lazily import dataclass, regex

Form = Literal["object", "output", "session", "words"]

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
    except (UnknownCode, ValueError, RecursionError):
        return None
    return reading.script if reading.script.calls else None


class _Reading(ScriptText):
    """Reads the statements of one script."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._next(_SETTINGS)
        self.script = CodexScript()
        self.results: dict[str, int] = {}  # the names that what calls returned have
        self.lists: dict[str, list[int]] = {}

    def statement(self) -> None:
        """One statement with what ends it. Raises `UnknownCode`."""
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
            raise UnknownCode

    def _parallel(self, names: str | None, whole: str | None) -> None:
        """`const [a, b] = await Promise.all([…])`, or one name for the list, up to the last bracket."""
        made: list[int] = []
        while not self._closes("]"):
            call = self._next(_INNER_CALL)
            if call is None:
                raise UnknownCode
            made.append(self._call(call[1]))
            self._separated("]")
        self._expect(")")
        if whole is not None:
            self._expect_new(whole)
            self.lists[whole] = made
            return
        given = [name.strip() for name in (names or "").split(",")]
        if len(given) != len(made):
            raise UnknownCode
        for name, call_made in zip(given, made, strict=True):
            self._name(name, call_made)

    def _for_each(self, name: str, listed: str) -> None:
        """A loop over what calls returned that only shows: its body is read once for each of them."""
        start, calls = self.position, self.lists.get(listed)
        if not calls:
            raise UnknownCode
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
            raise UnknownCode

    def _end(self) -> None:
        """What ends a statement: a semicolon, a line break or the end. Raises `UnknownCode` for anything else."""
        start = self.position
        while self.source[start - 1].isspace():  # blanks are read together with the bracket before them
            start -= 1
        self._next(_END)
        if self.position < len(self.source) and not {";", "\n"} & set(self.source[start : self.position]):
            raise UnknownCode

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
            raise UnknownCode
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
                raise UnknownCode
            self._spaces()
            if self._closes(")"):
                break
            self._expect("+")
        if len(calls) > 1 or pieces.count("output") > 1:
            raise UnknownCode
        self.script.shown.append(ShownText("words", call=min(calls, default=None), pieces=tuple(pieces)))

    def _template(self, pieces: list[str], calls: set[int]) -> None:
        found = self._next(QUOTED["`"])
        if found is None:
            raise UnknownCode
        words = _HOLE.split(found[1])
        for position in range(0, len(words), 3):
            if "${" in words[position]:
                raise UnknownCode
            pieces[-1] += unescaped(words[position])
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
            raise UnknownCode
        self.script.calls.append((tool, argument))
        return len(self.script.calls) - 1
