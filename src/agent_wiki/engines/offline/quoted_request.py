"""How a request of the user is quoted: its line, all of it, or both of its ends; between the marks are own words."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.goal import (
    ENDS,
    FAR,
    FEW_WORDS,
    LOG_LINE,
    LONG,
    PASTED,
    WANTS_TO_KNOW,
    asks_plainly,
    is_paste,
)
from agent_wiki.engines.offline.requests import UserRequest, letters_of
from agent_wiki.engines.offline.tables import written
from agent_wiki.engines.offline.wording import said
from agent_wiki.trajectory.lazily import regex
from agent_wiki.trajectory.own_words import is_output
from agent_wiki.trajectory.pasted_signs import OF_OUTPUT
from agent_wiki.wiki.text import without_links, without_rules

_NO_WORDS = written("no_words", re.IGNORECASE)
_CONTINUES, _BLANKS = regex(r"[ \t]*[,(\w–—-]"), regex(r"\s+")


def both_ends(request: UserRequest, most: int) -> str:
    """How a long request begins and how it ends, each quoted: what is asked may stand at either end of a paste."""
    text = without_rules(without_links(request.text)).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    is_typed = request.is_said and request.kind != "command" and not is_paste(text) and not text.startswith("<")
    first, last = (lines[0], lines[-1][:FAR]) if lines[1:] and is_typed else ("", "")
    is_scrap = len(text) >= LONG and not (asks_plainly(last) or WANTS_TO_KNOW.match(last))  # of which it is a scrap
    letters = 0 if is_scrap else min(sum(map(str.isalpha, each)) for each in (first, last))
    if letters < FEW_WORDS or _NO_WORDS.match(last) or OF_OUTPUT.match(last):
        return ""
    return f"{said(first, most // 2)} … {said(last, most // 2)}"


def in_own_words(line: str, request: UserRequest, most: int) -> str:
    """A request's line in quotation marks, its first letter as it was written.

    Without the marks where the line was put together, or is another's: the words between marks stand in the request.
    """
    letters = letters_of(request.text) if request.is_said else ""
    for each in (line, line[:1].lower() + line[1:]) if line else ():
        if letters_of(each) in letters:
            words = said(each, most)
            return f"{words[:-1]} …”" if words[-2:-1] != "…" and _breaks_off(each, request.text) else words
    return said(line, most).strip("“”")


def _breaks_off(line: str, text: str) -> bool:
    """The line ends where no sentence and no line of the text does."""
    words = " ".join(line.rstrip(ENDS).split())
    even = _BLANKS.sub(lambda blanks: "\n" if "\n" in blanks[0] else " ", text)  # no expression of a request's words
    at = even.replace("\n", " ").find(words)
    return at >= 0 and _CONTINUES.match(even, at + len(words)) is not None


def in_full(request: UserRequest, most: int) -> str:
    """All that a request says, in quotation marks; empty where it has more than `most` characters, code, or output."""
    text = without_rules(without_links(request.text)).strip()
    is_typed = request.is_said and request.kind != "command" and not (LOG_LINE.match(text) or is_output(text))
    if len(text) > most or not is_typed or text.startswith("<") or "```" in text:
        return ""
    return said(text, most)


def pasted_line(line: str, most: int) -> str:
    """The line of pasted output that stands in a request's line, quoted; empty where the person said something."""
    return said(line.removeprefix(PASTED), most) if line.startswith(PASTED) else ""
