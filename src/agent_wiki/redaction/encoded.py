"""What base64 holds: a vendor's key or a private key block, whose shape tells, and whole texts with secrets in them.

Base64 of anything else stays: it looks like a digest or a picture.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from agent_wiki.redaction.looks import looks_like_a_stand_in
from agent_wiki.redaction.secret_shapes import PREFIXED
from agent_wiki.redaction.shapes import Shape
from agent_wiki.trajectory.lazily import regex

_SHORTEST_PREFIX = 4  # a shorter one gives five characters of base64 or fewer, which stand in many a text


def _begin(prefix: str) -> str:
    """The characters with which the base64 of every text begins that begins with `prefix`."""
    return base64.b64encode(prefix.encode()).decode()[: len(prefix) * 8 // 6]


_BEGINS = tuple(
    sorted(
        {_begin(each) for shape in PREFIXED for each in shape.literals if len(each) >= _SHORTEST_PREFIX}
        | {_begin("-----BEGIN ")}
    )
)
ENCODED = Shape(
    "encoded",
    _BEGINS,
    regex(
        rf"(?:(?<![\w+/-])|(?<=\\[nrt]))(?:{'|'.join(re.escape(each) for each in _BEGINS)})"
        r"[\w+/-]{16,8000}={0,2}"
    ),
)


def kind_of_encoded(run: str) -> str | None:
    """The kind of the key that a run of base64 holds from its first character on; None if it holds none."""
    unpadded = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        whole = unpadded[:-1] if len(unpadded) % 4 == 1 else unpadded  # a single character of a group says nothing
        decoded = base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
    if decoded.startswith("-----BEGIN "):
        return "private-key" if "PRIVATE KEY" in decoded[:60] else None
    shape = next((shape for shape in PREFIXED if shape.pattern.match(decoded)), None)
    return shape.kind if shape and any(map(str.isdigit, decoded)) and not looks_like_a_stand_in(decoded) else None


_SHORTEST_TEXT = 32  # characters of base64 in one line, of a text that is not looked for by its beginning
_LONGEST_TEXT = 1 << 22
_MOST_LINES = 256  # that are read together: of more, each so many are a text of their own
_SHORT = regex(rf"(?s:.{{0,{_SHORTEST_TEXT - 1}}}[^A-Za-z0-9+/])*+(?=[A-Za-z0-9+/]{{{_SHORTEST_TEXT}}})")
_SHORT_IN_FOLDED = regex(rf"(?s:.{{0,{_SHORTEST_TEXT - 1}}} )*+(?=[^ ]{{{_SHORTEST_TEXT}}})")
_OF_ASCII = r"(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/]){4}"
_OF_ANOTHER_SCRIPT = r"[w-z0-9][I-LY-bo-r4-7]"
_RUN = regex(  # it may follow the sign of a diff or the letter of an escape; digests and pictures begin otherwise
    rf"(?:\+|(?<=\\)[nrt])?+(?:(?={_OF_ASCII}|{_OF_ANOTHER_SCRIPT})(?P<run>[A-Za-z0-9+/]{{16,}}+={{0,2}})|[A-Za-z0-9+/]++)"
)
_NEXT_LINE = regex(  # numbered, of a diff, or with its line break written as `\\n`
    r"(?:\r?\n|(?:\\{1,4}r)?\\{1,4}n)[ \t]{0,40}(?:\d{1,6}[\t→|:][ ]?)?(?:[-+>|][ ]?)?"
    r"(?P<line>[A-Za-z0-9+/]{1,4096}+={0,2})(?![\w+/=])"
)


def encoded_texts(text: str) -> Iterator[tuple[int, int, str]]:
    """Where base64 of a text stands, in one line or wrapped to lines of one length, and what it says."""
    position = 0
    while (short := _SHORT.match(text, position)) and (run := _RUN.match(text, short.end())):
        position = run.end()
        if run["run"] is None or not _text_in([run["run"][:_SHORTEST_TEXT]])[0]:
            continue  # a digest, a path, a picture
        places = _lines_from(text, *run.span("run"))
        lines, passed = [text[start:end] for start, end in places], 0
        while passed < len(lines):
            said, count = _text_in(lines[passed:])
            if said:
                yield places[passed][0], places[passed + count - 1][1], said
            passed += max(count, 1)
        position = places[-1][1]


def may_hold_texts(folded: str) -> bool:
    """Whether a text may hold base64 of a text; quick, for the text is folded: a blank stands for what is in no key."""
    return _SHORT_IN_FOLDED.match(folded) is not None


def _lines_from(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The lines that base64 may go over, of which the last may be a word."""
    lines, width = [(start, end)], end - start
    while len(lines) < _MOST_LINES and lines[-1][1] - lines[-1][0] == width and text[lines[-1][1] - 1] != "=":
        following = _NEXT_LINE.match(text, lines[-1][1])
        if following is None or len(following["line"]) > width:
            break
        lines.append(following.span("line"))
    return lines


def _text_in(lines: list[str]) -> tuple[str, int]:
    """The text that lines of base64 hold, perhaps cut off, and how many of them hold it; empty where none does."""
    unpadded = "".join(lines).rstrip("=")[:_LONGEST_TEXT]
    count = len(lines)
    held = base64.b64decode(unpadded[: len(unpadded) // 4 * 4] + _last_group(unpadded))
    try:
        said = held.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":  # of a character that is cut off
            count = error.start * 4 // 3 // len(lines[0])
        said = held[: error.start].decode("utf-8")
    return ("", 0) if "\0" in said or not count else (said, count)


def _last_group(unpadded: str) -> str:
    """The last characters of base64 with their padding; a single one says nothing."""
    last = unpadded[len(unpadded) // 4 * 4 :]
    return last + "=" * (4 - len(last)) if len(last) > 1 else ""
