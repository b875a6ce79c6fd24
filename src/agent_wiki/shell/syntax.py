"""A shell command line as steps and words with their places: the one module that knows this syntax.

Not a shell: nothing is expanded or run. It distinguishes what POSIX (2.2, 2.3, 2.7, 2.9) does: quoted words,
operators, redirections, here-documents, comments, substitutions and subshells. One pass, so that hostile text costs
linear time; text that is broken or cut off still gives steps, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter

from agent_wiki.trajectory.lazily import dataclass, regex

MOST_CHARACTERS = 40_000  # a longer line is a file in disguise: callers say what they do with it
_SHORT = 2_000  # characters
PIPES = ("|", "|&")
DECLARES = frozenset({"export", "local", "declare", "readonly", "typeset"})
"""What stands before an assignment."""
_OPERATOR = regex(r"&&|\|\||;;|\|&|&(?!>)|[;|\n)]")
_HERE = regex(r"\d?<<(?!<)-?[ \t]*(?:'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"|(\\?)([A-Za-z_][\w.-]{0,79}))")
_REDIRECTION = regex(r"(?:\d|&)?(?:>>|>\||<<<|<>|[<>](?!\())&?")
_PLAIN = regex(r"[^\s'\"\\`$()<>&;|]+")
_ANSI_QUOTED = regex(r"\$'((?:[^'\\]|\\.)*+)('?)", re.DOTALL)  # in which `\'` closes nothing
_ANSI_ESCAPE = regex(r"\\(.)", re.DOTALL)
_ANSI_SIGNS = {"n": "\n", "t": "\t"}
# Nobody escapes so many letters and dots: `..\.venv\Scripts\python.exe`, `C:\tools\make.exe`.
_PATH_OF_WINDOWS = regex(r"(?:[A-Za-z]:|\.{1,2}|[\w.-]{1,80})(?:\\[\w.@-]{1,80}){1,40}(?=[\s;&|)]|\Z)")
_PLAIN_WORD = regex(r"[^\s'\"\\`$()<>&;|]++(?=[\s);&|]|\Z)")  # as most are
# PowerShell's here-string, which ends where its mark begins a line: in between, quotes mean nothing.
_HERE_STRING = regex(r"@(['\"])\r?\n(?:[^\n]*+\n){0,300}?\1@", needs=("\n'@", '\n"@'))
_BLANK = regex(r"(?:[ \t\r\f\v]|\\\n)+")
_BEGIN_BLANKS, _BEGIN_OPERATORS = frozenset(" \t\r\f\v\\"), frozenset("&|;\n)")
_FED_SUBSTITUTION = regex(r"(\$\([^()\n\"'<]{0,200}?) ?<<[^<].*", re.DOTALL)
_NESTED = {"(": regex(r"['\"\\()\n]|\d?<<"), '"': regex(r"[\"\\]|\$\(")}


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its value without quotes, and its place in the text.

    `redirection` is the operator that it starts with (`>>` of `>>file`, `2>&` of `2>&1`); empty for other words.
    `is_subshell`: its value is `(…)` as written.
    """

    value: str
    start: int
    end: int
    redirection: str = ""
    is_subshell: bool = False


@dataclass(frozen=True, slots=True)
class HereDocument:
    """The text fed to a command, with its line ends. `is_literal`: the shell changes nothing in it."""

    text: str
    is_literal: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One command between two operators: its words, redirections among them in their places.

    `text` is its source without the marks of its here-documents; `after` the operator that ends it (`&&`, `|`, `;`,
    a line end …), empty where the line ends.
    """

    words: tuple[Word, ...]
    text: str
    after: str = ""
    here_documents: tuple[HereDocument, ...] = ()


@dataclass(frozen=True, slots=True)
class ShellLine:
    """The steps of a command line in order. `is_whole`: every quote, bracket and here-document is closed."""

    steps: tuple[Step, ...]
    is_whole: bool = True


def shell_line(text: str) -> ShellLine:
    """A command line, which may be many lines long → its steps. What is not closed goes to the end of the text."""
    remembered = _read_short if len(text) <= _SHORT else _read_long if len(text) <= MOST_CHARACTERS else _read
    return remembered(text)


def _read(text: str) -> ShellLine:
    scanner = _Scanner(_HERE_STRING.sub(_emptied, text) if len(text) <= MOST_CHARACTERS else text)
    scanner.scan()
    return ShellLine(tuple(scanner.steps), scanner.is_whole)


def _emptied(here_string: re.Match[str]) -> str:
    """An empty word in its place, as long as before: the places of the other words stay the same."""
    return (here_string[1] * 2).ljust(len(here_string[0]))


# Several modules look at the same line in turn. A session has few long ones, which take longest to read.
_read_short, _read_long = lru_cache(maxsize=2048)(_read), lru_cache(maxsize=32)(_read)


def plain_words(words: Sequence[Word]) -> list[Word]:
    """The words that are neither redirections nor their targets."""
    if not _has_redirections(words):
        return list(words)
    return [word for word, operator in _with_operators(words) if not operator]


def without_fed_text(value: str) -> str:
    """`$(cat <<'EOF' …)` → `$(cat)`: what a here-document feeds to a substitution is text, not a word."""
    return _FED_SUBSTITUTION.sub(r"\1)", value) if "<<" in value else value


def redirections(words: Sequence[Word]) -> list[tuple[str, str]]:
    """`(operator, target)` of each redirection in order; a descriptor's number is part of the operator."""
    if not _has_redirections(words):
        return []
    return [
        (operator, word.value.removeprefix(word.redirection))
        for word, operator in _with_operators(words)
        if operator and word.value != word.redirection
    ]


_redirection_of = attrgetter("redirection")


def _has_redirections(words: Sequence[Word]) -> bool:
    return any(map(_redirection_of, words))  # most steps have none


def _with_operators(words: Sequence[Word]) -> Iterator[tuple[Word, str]]:
    """Each word with the redirection it belongs to; a target's operator may be the word before."""
    waiting = ""
    for word in words:
        yield word, word.redirection or waiting
        waiting = word.redirection if word.value == word.redirection else ""


class _Scanner:
    """One pass over the text: `position` only grows."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.is_whole = True
        self.steps: list[Step] = []
        self.words: list[Word] = []
        self.marks: list[tuple[int, int]] = []  # of the here-documents of the step being read
        self.waiting: list[
            tuple[int, str, bool]
        ] = []  # (step, delimiter, is quoted): their texts begin on the next line

    def scan(self) -> None:
        """Fill `steps`."""
        while self.position < len(self.text):
            self._next()
        self.is_whole &= not self.waiting
        self._end_step("")

    def _next(self) -> None:
        first = self.text[self.position]  # which says what there is no use to look for
        if first in _BEGIN_BLANKS and (match := _BLANK.match(self.text, self.position)):
            self.position = match.end()
        elif first == "#":
            end = self.text.find("\n", self.position)
            self.position = len(self.text) if end < 0 else end
        elif (first == "<" or first.isdecimal()) and (match := _HERE.match(self.text, self.position)):
            self.waiting.append((len(self.steps), *_delimiter(match)))
            self.marks.append(match.span())
            self.position = match.end()
        elif first in _BEGIN_OPERATORS and (match := _OPERATOR.match(self.text, self.position)):
            self.position = match.end()
            self._end_step(match.group())
            if match.group() == "\n":
                self._read_here_documents()
        else:
            self._word()

    def _end_step(self, operator: str) -> None:
        """Add the step just read, unless it has neither words nor a here-document."""
        if self.words or any(step == len(self.steps) for step, _, _ in self.waiting):
            self.steps.append(Step(tuple(self.words), self._step_text(), operator))
        self.words, self.marks = [], []

    def _step_text(self) -> str:
        if not self.words:
            return ""
        position, end = self.words[0].start, self.words[-1].end
        kept: list[str] = []
        for mark_start, mark_end in self.marks:
            if position <= mark_start < end:
                kept.append(self.text[position:mark_start])
                position = mark_end
        return "".join([*kept, self.text[position:end]])

    def _word(self) -> None:
        start = self.position
        if plain := _PLAIN_WORD.match(self.text, start):
            self.position = plain.end()
            self.words.append(Word(plain.group(), start, self.position))
            return
        match = _REDIRECTION.match(self.text, start)
        parts = [match.group()] if match else []
        self.position = match.end() if match else start
        is_subshell = self.text.startswith("(", start)
        if path := _PATH_OF_WINDOWS.match(self.text, self.position):
            parts.append(path.group())
            self.position = path.end()
        while self.position < len(self.text) and (piece := self._piece()) is not None:
            parts.append(piece)
        if self.position == start:  # nothing was read: never loop forever
            self.position += 1
        redirection = match.group() if match else ""
        self.words.append(Word("".join(parts), start, self.position, redirection, is_subshell))

    def _piece(self) -> str | None:
        """The next part of a word, without quotes; None where the word ends."""
        if match := _PLAIN.match(self.text, self.position):
            self.position = match.end()
            return match.group()
        character = self.text[self.position]
        if character in "'`":
            taken = self._until(character)
            return taken if character == "'" else f"`{taken}`"
        if character == '"':
            return self._nested('"')[1:].removesuffix('"').replace('\\"', '"').replace("\\\\", "\\")
        if character == "\\":
            taken = self.text[self.position + 1 : self.position + 2]
            # Between letters it is no escape that anybody writes, but a path of Windows: `src\cart`.
            is_path = taken.isalnum() and self.text[self.position - 1 : self.position].isalnum()
            self.position = min(self.position + 2, len(self.text))
            return f"\\{taken}" if is_path else "" if taken == "\n" else taken
        if character == "(":
            return self._nested("(")
        if character == "$" and (quoted := _ANSI_QUOTED.match(self.text, self.position)):
            self.position = quoted.end() if quoted[2] else len(self.text)
            self.is_whole &= bool(quoted[2])
            return _ANSI_ESCAPE.sub(lambda escape: _ANSI_SIGNS.get(escape[1], escape[1]), quoted[1])
        if character == "$" or self.text.startswith(("<(", ">("), self.position):
            self.position += 1
            return character
        return None

    def _until(self, quote: str) -> str:
        start = self.position + 1
        end = self.text.find(quote, start)
        self.is_whole &= end >= 0
        self.position = len(self.text) if end < 0 else end + 1
        return self.text[start:] if end < 0 else self.text[start:end]

    def _nested(self, opening: str) -> str:
        """From a double quote or a bracket to the one that closes it, as written, whatever is between."""
        start = self.position
        self.position += 1
        open_ones = [opening]
        delimiters: list[str] = []
        while open_ones:
            match = _NESTED[open_ones[-1]].search(self.text, self.position)
            if match is None:
                self.is_whole, self.position = False, len(self.text)
                break
            self.position = match.end()
            self._step_into(match, open_ones, delimiters)
        return self.text[start : self.position]

    def _step_into(self, match: re.Match[str], open_ones: list[str], delimiters: list[str]) -> None:
        """What a mark inside quotes or brackets opens, closes or skips."""
        mark = match.group()
        if mark == "\\":
            self.position = min(self.position + 1, len(self.text))
        elif mark == "'":
            self.position -= 1
            self._until("'")
        elif mark == ")" or (mark == '"' and open_ones[-1] == '"'):
            open_ones.pop()
        elif mark in ('"', "(", "$("):
            open_ones.append(mark[-1])
        elif mark == "\n":
            for delimiter in delimiters:
                self._here_text(delimiter)
            delimiters.clear()
        elif here := _HERE.match(self.text, match.start()):
            delimiters.append(_delimiter(here)[0])
            self.position = here.end()

    def _read_here_documents(self) -> None:
        for index, delimiter, is_quoted in self.waiting:
            text = self._here_text(delimiter)
            document = HereDocument(text, is_quoted or not any(mark in text for mark in "$`\\"))
            step = self.steps[index]
            self.steps[index] = replace(step, here_documents=(*step.here_documents, document))
        self.waiting = []

    def _here_text(self, delimiter: str) -> str:
        """The lines up to the delimiter's; the position moves past that line."""
        start = self.position
        while self.position < len(self.text):
            line_start = self.position
            end = self.text.find("\n", line_start)
            self.position = len(self.text) if end < 0 else end + 1
            if self.text[line_start : self.position].strip() == delimiter:
                return self.text[start:line_start]
        self.is_whole = False
        return self.text[start:]


def _delimiter(match: re.Match[str]) -> tuple[str, bool]:
    """A here-document's delimiter, and whether it is quoted."""
    return match[1] or match[2] or match[4], not match[4] or bool(match[3])
