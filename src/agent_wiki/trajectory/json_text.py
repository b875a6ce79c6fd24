"""JSON text → values, incrementally: a large document's text is never in memory together with its values.

`json` decodes at C speed but needs the whole string. Here it gets a window of the text. A value that does
not fit is decoded by elements or members, and text that has been decoded is dropped.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import IO, Any

from agent_wiki.trajectory import without_surrogates

BOM = b"\xef\xbb\xbf"
DEEPEST = 200  # levels of arrays and objects; recordings have less than twenty, Python code stops at a thousand

_DECODER = json.JSONDecoder(strict=False)  # real recordings hold raw control characters
_BLANKS = re.compile(r"[ \t\n\r]*")
_SPACES = re.compile(r"\s*")
_PIECE_BYTES = 1 << 20
_CUT_CHARACTERS = 16  # an error this near the end of the window may be caused by the cut: `-Infini`, `\ud83`
_LEVELS_TAKEN_APART = 5
_LONGEST_VALUE = 1 << 27  # characters of one value that cannot be taken apart
_MOST_SIGNS = 5_000_000  # commas and brackets of one value: of real recordings 170 MB have as many, text included


def decoded(raw: bytes) -> tuple[str, bool]:
    """UTF-8 bytes as text without a byte order mark, and whether invalid bytes were replaced."""
    raw = raw.removeprefix(BOM)
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True


def value_of(text: str) -> Any:
    """The value of JSON text inside a recording, such as arguments. Lone surrogates become U+FFFD.

    Raises ValueError, or RecursionError when it is nested deeper than `DEEPEST`.
    """
    value = _DECODER.decode(text)
    _check_depth(value, text.count("[") + text.count("{"))
    if "\\u" in text and (plain := without_surrogates(spelt := json.dumps(value, ensure_ascii=False))) is not spelt:
        return _DECODER.decode(plain)
    return value


def value_or(text: Any, otherwise: Any) -> Any:
    """The value of JSON text inside a recording; `otherwise` for text that has none, and for what is no text."""
    try:
        return value_of(text) if isinstance(text, str) else otherwise
    except (ValueError, RecursionError):
        return otherwise


def object_in(text: str | bytes) -> dict[str, Any] | None:
    """The object in JSON text that this program wrote itself; None for anything else, damaged text included."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def values_of(raw: bytes) -> tuple[list[Any], bool]:
    """The values on one line, and whether bytes were replaced. Raises ValueError or RecursionError."""
    text, has_bad_bytes = decoded(raw)
    if len(text) > _MOST_SIGNS:
        _check_signs(_signs(text, 0, len(text)))
    values: list[Any] = []
    position = _after(_SPACES, text, 0)
    while position < len(text):
        value, position = _DECODER.raw_decode(text, position)
        values.append(value)
        position = _after(_SPACES, text, position)
    _check_depth(values, text.count("[") + text.count("{"))
    return values, has_bad_bytes


def _after(blanks: re.Pattern[str], text: str, position: int) -> int:
    found = blanks.match(text, position)
    return found.end() if found else position


def _signs(text: str, start: int, end: int) -> int:
    """An upper bound of the values in JSON text: commas and brackets, those in strings included."""
    return sum(text.count(sign, start, end) for sign in ",[{")


def _check_signs(number: int) -> None:
    """Raise ValueError where a value of so many parts would take gigabytes, fifty times the size of its text."""
    if number > _MOST_SIGNS:
        raise ValueError(f"a value of more than {_MOST_SIGNS:,} parts, too many for a recording")


def _check_depth(value: Any, openings: int, above: int = 0) -> None:
    """Raise RecursionError when a value is nested too deeply. `openings` is an upper bound for the depth."""
    if openings + above <= DEEPEST:
        return
    level = [value] if isinstance(value, dict | list) else []
    depth = above
    while level:
        depth += 1
        if depth > DEEPEST:
            raise RecursionError(f"nested deeper than {DEEPEST} levels")
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]


class JsonText:
    """One JSON text, read from a stream of bytes.

    Methods raise `json.JSONDecodeError` (its `lineno` counted in the whole text), ValueError (also for a value of too
    many parts) and RecursionError.
    `on_bad_bytes` is called once, when the first invalid bytes are replaced; `bytes_read` is rounded up.
    """

    def __init__(
        self, stream: IO[bytes], piece_bytes: int = _PIECE_BYTES, on_bad_bytes: Callable[[], None] = lambda: None
    ) -> None:
        self._on_bad_bytes = on_bad_bytes
        self.bytes_read = 0
        self._stream = stream
        self._piece_bytes = piece_bytes
        self._bytes = codecs.getincrementaldecoder("utf-8")()
        self._window = ""
        self._position = 0
        self._lines_before = 0  # the window
        self._signs = 0  # of the value that is read
        self._is_whole = False  # nothing is left to read after the window

    def value(self, depth: int = 0) -> Any:
        """The next value, `depth` levels inside others. An array or object too large for the window is taken apart."""
        opening = self.next_sign()
        while True:
            try:
                return self._whole_value(depth)
            except json.JSONDecodeError as error:
                if self._is_whole or not self._is_cut_off(error):
                    raise self._placed(error) from error
            if depth >= _LEVELS_TAKEN_APART or opening not in "[{" or self._left() < self._piece_bytes // 2:
                self._read_on()
            elif opening == "[":
                return list(self._elements(depth))
            else:
                return dict(self._members(depth))

    def elements(self) -> Iterator[Any]:
        """Yield the elements of the array that comes next, one by one, each as large as a value may be."""
        for element in self._elements(0):
            yield element
            self._signs = 0

    def first_elements(self, most: int, most_bytes: int) -> tuple[list[Any], bool]:
        """The elements of the array that comes next, or only the first `most` of one that is longer or damaged.

        Out: them, and whether they are all. Of an array of at most `most_bytes` all are read.
        """
        found: list[Any] = []
        try:
            for element in self.elements():
                found.append(element)
                if len(found) >= most and self.bytes_read > most_bytes:
                    return found, False
        except (ValueError, RecursionError):
            if not any(isinstance(element, dict) for element in found):
                raise
            return found, False
        return found, True

    def _elements(self, depth: int) -> Iterator[Any]:
        yield from (self.value(depth + 1) for _ in self._places("[", "]"))

    def has_ended(self) -> bool:
        """Whether only white space is left."""
        return self.next_sign() == ""

    def expect_end(self) -> None:
        """Raise `json.JSONDecodeError` when something is left."""
        if not self.has_ended():
            raise self._error("Extra data")

    def _members(self, depth: int) -> Iterator[tuple[str, Any]]:
        for _ in self._places("{", "}"):
            if self.next_sign() != '"':
                raise self._error("Expecting property name enclosed in double quotes")
            name = self.value(_LEVELS_TAKEN_APART)
            if self.next_sign() != ":":
                raise self._error("Expecting ':' delimiter")
            self._position += 1
            yield name, self.value(depth + 1)

    def _places(self, opening: str, closing: str) -> Iterator[None]:
        """Yield at each place where an element or member begins; the caller reads it."""
        self._position += len(opening)
        if self.next_sign() == closing:
            self._position += 1
            return
        while True:
            yield
            sign = self.next_sign()
            if sign not in (",", closing):
                raise self._error("Expecting ',' delimiter")
            self._position += 1
            if sign == closing:
                return

    def _whole_value(self, depth: int) -> Any:
        value, end = _DECODER.raw_decode(self._window, self._position)
        may_go_on = isinstance(value, int | float) and end >= len(self._window) - _CUT_CHARACTERS
        if may_go_on and not self._is_whole:
            raise json.JSONDecodeError("Cut off", self._window, end)
        start, self._position = self._position, end
        openings = self._window.count("[", start, end) + self._window.count("{", start, end)
        self._signs += 1 + openings + self._window.count(",", start, end)
        _check_signs(self._signs)
        _check_depth(value, openings, above=depth)
        return value

    def _is_cut_off(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._window) - _CUT_CHARACTERS

    def _left(self) -> int:
        return len(self._window) - self._position

    def next_sign(self) -> str:
        """The next character that is not white space, without consuming it; empty at the end."""
        while True:
            self._position = _after(_BLANKS, self._window, self._position)
            if self._position < len(self._window):
                return self._window[self._position]
            if self._is_whole:
                return ""
            self._read_on()

    def _read_on(self) -> None:
        """Drop what was consumed and read as much as is left, so that a long value takes linear time."""
        if self._left() > _LONGEST_VALUE:
            raise ValueError(f"a value of more than {_LONGEST_VALUE:,} characters")
        wanted = max(self._piece_bytes, self._left())
        raw = self._stream.read(wanted)
        self._is_whole = len(raw) < wanted
        if not self.bytes_read:
            raw = raw.removeprefix(BOM)
        self.bytes_read += wanted
        try:
            text = self._bytes.decode(raw, self._is_whole)
        except UnicodeDecodeError:
            self._on_bad_bytes()
            self._bytes.errors = "replace"
            text = self._bytes.decode(raw, self._is_whole)
        self._lines_before += self._window.count("\n", 0, self._position)
        self._window, self._position = self._window[self._position :] + text, 0

    def _error(self, message: str) -> json.JSONDecodeError:
        return self._placed(json.JSONDecodeError(message, self._window, self._position))

    def _placed(self, error: json.JSONDecodeError) -> json.JSONDecodeError:
        error.lineno += self._lines_before
        return error


def why_no_json(error: BaseException) -> str:
    """Why a text could not be read as JSON, in a few words."""
    if isinstance(error, RecursionError):
        return "nested too deeply to be a recording"
    if isinstance(error, json.JSONDecodeError):
        said = "no JSON value" if error.msg == "Expecting value" else error.msg
        return f"{said.removesuffix(' at')} at column {error.colno}"
    if "integer string conversion" in str(error):  # Python's only word for it
        return "a number with more digits than can be read"
    return str(error) or type(error).__name__
