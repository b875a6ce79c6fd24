"""Which parts of a user's turn are the user's own words, and not pasted, quoted, forwarded or printed by a tool.

A turn is read line by line. Text in a fence, a terminal's or a program's output, what follows "the log says:" and what
a harness wrote are a tool's; lines quoted with `>`, mail and forwarded text are strangers'. A
short fenced command that the user gives as the instruction is the user's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from agent_wiki.trajectory.harness_text import harness_mark
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.trajectory.pasted_signs import (
    ANNOUNCES,
    ASKS_FOR,
    COMMAND,
    END_OF_EXTERNAL,
    FENCE,
    FORWARDED,
    MAIL_HEAD,
    OF_A_PROGRAM,
    OF_OUTPUT,
    OF_STRANGERS,
    OF_TOOLS,
    OPENING,
    OUTPUT,
    PROMPT,
    QUOTED,
    SAID_TO_BE_EXTERNAL,
    SCRIPT_OF_PACKAGE,
    SHELLS,
)

Voice = Literal["user", "tool", "external"]

_LONGEST_TYPED = 10_000  # characters: nobody types more in one turn
_READ_OF_A_PASTE = 4_000  # of a longer turn, what may still be the user's
_SHORT_FENCE = (3, 240)  # lines, characters
_NEAR_FENCE = 50  # characters of the line above a fence: what it says last is of the fence
_MOST_JUDGED, _MOST_OF_OWN = 3_000, 0.7  # characters of a turn; the share of it that is said before a paste
_FEWEST_WORDS, _FEWEST_LINES = 9, 6
# What a reviewer writes of a line: `src/cart.py:12 rename this`; a compiler names the column, or the fault.
_REMARK = regex(r"\s*[\w./-]+:\d+:? +(?![^\n]*(?:error|warning|fail))", re.IGNORECASE)
_LONG_PASTE = 400  # characters below a line that announces it
# The screen of an agent's own program, and what was typed there; the first line of an error.
_SCREEN, _OF_SCREEN = regex(r"\s*[●⏺✻] "), regex(r"^[ \t]*(?:⎿|✻ |❯|● \w{2,20}\()", re.MULTILINE)
_TYPED = regex(r"^[ \t\xa0]*❯[ \t\xa0]+(\S[^\n]*(?:\n(?![ \t\xa0]*(?:[●⏺✻⎿─❯]|\n))[^\n]+){0,20})", re.MULTILINE)
_INPUT = regex(  # a copied screen with what stood in its input line
    r"\s*(?:[ \t]{0,8}┃[^\n]{0,300}\n){2,20}\s*(?:-- (?:INSERT|NORMAL) --[^\n]{0,200}\n\s*)?(?=\S)", needs=("┃",)
)
_SECRET_LINES = regex(r"(?:\s*\[REDACTED:[^\]\n]{1,80}\][ \t]*\n\s*)+(?=\S)", needs=("[REDACTED",))  # pasted first
_MENTIONS = regex(r"""(?:@(?:"[^"\n]{1,300}"|[\w./\\:-]{1,300})\s+)+(?=\S)""")  # of files, before what is asked of them
_ERROR = regex(r"\s*(?:\w*(?:Error|Exception)\b|Traceback \(most|Uncaught |fatal: |FATAL)")
_MOST_BELOW, _FEWEST_BELOW = 4, 4  # lines, words


@dataclass(frozen=True, slots=True)
class VoicePart:
    """A stretch of a turn and whose words it holds; `end` is exclusive."""

    start: int
    end: int
    voice: Voice


def voice_of(text: str, quote: str, *, follows_reply: bool) -> Voice:
    """Whose words a quote from a user's turn is; without a quote, whether the user says anything in it.

    A quote that occurs several times is the user's if one of them is. One that is not there as it is, for stand-ins of
    personal data are in it, is no better than the whole turn.
    """
    parts = parts_of(text, follows_reply=follows_reply)
    if not quote.strip():
        return _best(part.voice for part in parts if text[part.start : part.end].strip())
    found: list[Voice] = []
    at = text.find(quote)
    while at >= 0 and len(found) < 50:
        found.append(_worst(_overlapped(text, parts, at, at + len(quote))))
        at = text.find(quote, at + 1)
    return _best(found) if found else _worst(_overlapped(text, parts, 0, len(text)))


def own_text(text: str, *, follows_reply: bool) -> str:
    """What of a user's turn are the user's own words."""
    parts = parts_of(text, follows_reply=follows_reply)
    return "".join(text[part.start : part.end] for part in parts if part.voice == "user")


def below_paste(text: str) -> str:
    """What a person types on a copied screen of the agent, below a long error, or after keys and names of files.

    All of the text where there is none of them.
    """
    if before := _SECRET_LINES.match(text) or _MENTIONS.match(text) or _INPUT.match(text):
        text = text[before.end() :]
    if typed := _typed_on_screen(text):
        return typed[-1].strip()
    first, _, rest = text.strip().partition("\n\n")
    last = rest.rpartition("\n\n")[2].strip()
    is_error = _ERROR.match(first) is not None and first.count("\n") + 1 >= _FEWEST_LINES
    is_own = len(last.split()) >= _FEWEST_BELOW and last.count("\n") < _MOST_BELOW and not OF_OUTPUT.match(last)
    return last if is_error and is_own else text


def without_quoted(text: str) -> str:
    """Without the lines that the person quotes (`> …`), where there are own words beside them."""
    own = [line for line in text.split("\n") if not line.lstrip().startswith("> ")]
    said = " ".join(own).split()
    return "\n".join(own) if len(said) >= _FEWEST_BELOW and not said[-1].endswith(":") else text


def is_screen(text: str) -> bool:
    """Whether a text is a copied screen of the agent on which nothing was typed."""
    return _typed_on_screen(text) == []


def _typed_on_screen(text: str) -> list[str] | None:
    """What was typed on a copied screen of the agent, in order; None for any other text."""
    return _TYPED.findall(text) if _SCREEN.match(text) and _OF_SCREEN.search(text) else None


@lru_cache(maxsize=64)  # several lines of a page quote the same turn
def own_part(text: str) -> str:
    """What a person says before a paste that they announce ("here is the error:"); all where there is none."""
    own = own_text(text, follows_reply=True) if "\n" in text and len(text) <= _LONGEST_TYPED else text
    is_own = text.startswith(own) and len(own) < _MOST_OF_OWN * len(text) and len(own.split()) >= _FEWEST_WORDS
    return own.rstrip(" \n:") if is_own else text


def is_output(text: str) -> bool:
    """Whether at least half of a text's lines are such as programs print, the first among them or the rest of one.

    Of a few lines that says nothing; a person mostly begins with a capital letter.
    """
    lines = [line for line in text[:_MOST_JUDGED].splitlines() if line.strip()]
    if len(lines) < _FEWEST_LINES or not (OF_OUTPUT.match(lines[0]) or lines[0].lstrip()[:1].islower()):
        return False
    printed = [line for line in lines if OF_OUTPUT.match(line) and not _REMARK.match(line)]
    return 2 * len(printed) >= len(lines)


@lru_cache(maxsize=64)  # of a turn each quote and each sentence is judged
def parts_of(text: str, *, follows_reply: bool) -> tuple[VoicePart, ...]:
    """A user's turn in parts, in order, without a gap. `follows_reply`: an agent's reply comes before it."""
    if follows_reply and (OUTPUT.match(text) or _is_json(text)):
        return (VoicePart(0, len(text), "tool"),)
    read = text if len(text) <= _LONGEST_TYPED else text[:_READ_OF_A_PASTE]
    parts: list[VoicePart] = []
    for start, end, voice in _Lines(read).voices():
        if parts and parts[-1].voice == voice:
            parts[-1] = VoicePart(parts[-1].start, end, voice)
        else:
            parts.append(VoicePart(start, end, voice))
    if len(read) < len(text):
        parts.append(VoicePart(len(read), len(text), "external" if parts[-1].voice == "external" else "tool"))
    return tuple(parts)


def _is_json(text: str) -> bool:
    start = text.strip()[:40]
    return re.match(r'[{\[]\s*"', start) is not None and text.rstrip().endswith(("}", "]"))


def _overlapped(text: str, parts: Sequence[VoicePart], start: int, end: int) -> Iterator[Voice]:
    for part in parts:
        if part.start < end and start < part.end and text[max(start, part.start) : min(end, part.end)].strip():
            yield part.voice


_ORDER: tuple[Voice, ...] = ("user", "tool", "external")


def _best(voices: Iterator[Voice] | list[Voice]) -> Voice:
    return min(voices, key=_ORDER.index, default="tool")


def _worst(voices: Iterator[Voice]) -> Voice:
    return max(voices, key=_ORDER.index, default="tool")


class _Lines:
    """The lines of a turn, each with a voice."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        self.found: list[Voice] = ["user"] * len(self.lines)

    def voices(self) -> Iterator[tuple[int, int, Voice]]:
        """Start, end and voice of each line."""
        self._blocks()
        self._programs()
        at = 0
        for line, voice in zip(self.lines, self.found, strict=True):
            yield at, at + len(line), voice
            at += len(line)

    def _blocks(self) -> None:
        """What is fenced, tagged, quoted, forwarded or announced, in one pass."""
        at = 0
        while at < len(self.lines):
            at = self._block(at)

    def _block(self, at: int) -> int:
        """Mark the block that begins with a line; the line after it."""
        line = self.lines[at]
        if fence := FENCE.match(line):
            return self._fence(at, fence[1], fence[2].lower())
        if harness_mark(line):
            return self._mark(at, len(self.lines), "tool")
        if tagged := self._tagged(at):
            return self._mark(at, *tagged)
        if SAID_TO_BE_EXTERNAL in line:  # up to the last end, for a stranger may write one before it
            ends = [row + 1 for row in range(at, len(self.lines)) if END_OF_EXTERNAL in self.lines[row]]
            return self._mark(at, ends[-1] if ends else len(self.lines), "external")
        if FORWARDED.match(line) or all(map(MAIL_HEAD.match, (line, "".join(self.lines[at + 1 : at + 2])))):
            return self._mark(at, len(self.lines), "external")
        if QUOTED.match(line):
            return self._mark(at, at + 1, "tool" if SCRIPT_OF_PACKAGE.match(line) else "external")
        if ANNOUNCES.match(line) and sum(map(len, self.lines[at + 1 :])) > _LONG_PASTE:
            return self._mark(at + 1, len(self.lines), "external" if OF_STRANGERS.search(line) else "tool")
        return at + 1

    def _mark(self, start: int, end: int, voice: Voice) -> int:
        self.found[start:end] = [voice] * (end - start)
        return max(end, start + 1)

    def _tagged(self, at: int) -> tuple[int, Voice] | None:
        """The line after a block in tags, and its voice; a tag that is only spoken of has no end."""
        for voice, opening in OPENING.items():
            if tag := opening.search(self.lines[at]):
                closing = f"</{tag[1]}>".lower()
                rows = range(at, len(self.lines))
                end = next((row + 1 for row in rows if closing in self.lines[row].lower()), None)
                return None if end is None else (end, voice)
        return None

    def _fence(self, at: int, mark: str, language: str) -> int:
        row = at + 1
        while row < len(self.lines) and not self.lines[row].lstrip().startswith(mark):
            row += 1
        has_end = row < len(self.lines) and not self.lines[row].strip().strip(mark[0])  # else another one begins there
        body, before = self.lines[at + 1 : row], self._line_before(at).rstrip()[-_NEAR_FENCE:]
        if not _is_instruction(body, before, language):
            of_strangers = OF_STRANGERS.search(before) and not OF_TOOLS.search(before)
            self._mark(at, row + has_end, "external" if of_strangers else "tool")
        return row + has_end

    def _line_before(self, at: int) -> str:
        return next((line for line in reversed(self.lines[:at]) if line.strip()), "")

    def _programs(self) -> None:
        """Output that was pasted without a fence: below a prompt, and runs of lines that programs write."""
        rows = [row for row, line in enumerate(self.lines) if self.found[row] == "user" and OF_A_PROGRAM.match(line)]
        for first, last in _runs(rows):
            if last - first >= 2 or self.lines[first].lstrip().startswith("Traceback"):
                self._mark(first, self._paragraph_end(last), "tool")
        for row, line in enumerate(self.lines):
            if self.found[row] == "user" and PROMPT.match(line) and self._paragraph_end(row) > row + 1:
                self._mark(row, self._paragraph_end(row), "tool")

    def _paragraph_end(self, row: int) -> int:
        return next((at for at in range(row, len(self.lines)) if not self.lines[at].strip()), len(self.lines))


def _is_instruction(body: Sequence[str], before: str, language: str) -> bool:
    """A few lines that the user gives to be run or used, not what a program printed or somebody wrote."""
    text = [line for line in body if line.strip()]
    if not text or len(text) > _SHORT_FENCE[0] or sum(map(len, text)) > _SHORT_FENCE[1]:
        return False
    if OF_STRANGERS.search(before) or OF_TOOLS.search(before) or any(map(OF_A_PROGRAM.match, text)):
        return False
    is_command = not language and all(map(COMMAND.match, text))
    return is_command or language in SHELLS or ASKS_FOR.search(before) is not None


def _runs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last row of each run with gaps of at most three."""
    start: int | None = None
    last = 0
    for row in rows:
        if start is not None and row - last > 3:
            yield start, last
            start = row
        start, last = row if start is None else start, row
    if start is not None:
        yield start, last
