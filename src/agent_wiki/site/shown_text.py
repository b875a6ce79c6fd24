"""Text of recordings as pieces that a page can show: cited stretches marked, long ones cut, nothing hidden in them.

Recordings are hostile. What cannot be seen (control, invisible and reordering characters) is shown as a symbol, as on
a terminal; the templates escape the rest, so that markup stays text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from agent_wiki.trajectory.hidden_characters import NOT_SHOWN
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import symbol_of

_COLOURS = re.compile(r"\x1b\[[0-9;:?]{0,40}[@-~]")
_AROUND = 400  # characters shown on either side of a cited stretch, where a text is cut


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A stretch of a text. `cited` is marked, with the anchor that a quote leads to; `cut` says what is left out."""

    kind: Literal["text", "cited", "cut"]
    text: str
    anchor: str = ""


def visible(text: str) -> str:
    """`text` with hidden characters as symbols; colours of a terminal are left out, line ends are line feeds."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    return NOT_SHOWN.sub(lambda match: symbol_of(match.group()), text)


def quote_anchor(turn: int, quote: str) -> str:
    """The anchor of a cited stretch."""
    made = hashlib.blake2b(quote.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"t{turn}-{made}"


def pieces_of(text: str, turn: int, quotes: Sequence[str], most: int) -> list[TextPiece]:
    """A text in pieces: its beginning and end where it has more than `most` characters, and all that is cited."""
    stretches = _stretches(text, quotes)
    pieces: list[TextPiece] = []
    at = 0
    for start, end in _kept(len(text), [(start, end) for start, end, _ in stretches], most):
        if start > at:
            pieces.append(TextPiece("cut", f"{start - at:,} characters left out"))
        pieces += _marked(text, start, end, stretches, turn)
        at = end
    if at < len(text):
        pieces.append(TextPiece("cut", f"{len(text) - at:,} characters left out"))
    return pieces


def parted(pieces: Sequence[TextPiece], most: int) -> tuple[list[TextPiece], list[TextPiece]]:
    """The first pieces of a long text, some `most` characters to the end of a line, and the rest, if it is worth it."""
    if sum(len(piece.text) for piece in pieces) < 2 * most:
        return list(pieces), []
    first: list[TextPiece] = []
    for at, piece in enumerate(pieces):
        if piece.kind == "text" and len(piece.text) > most:
            cut = piece.text.rfind("\n", 0, most) + 1 or most
            rest = [TextPiece("text", piece.text[cut:]), *pieces[at + 1 :]]
            return [*first, TextPiece("text", piece.text[:cut])], rest
        first.append(piece)
        most -= len(piece.text)
    return first, []


def anchors_in(text: str, turn: int, quotes: Sequence[str]) -> set[str]:
    """The anchors of those quotes that a text has."""
    return {quote_anchor(turn, quote) for _, _, quote in _stretches(text, quotes)}


def _stretches(text: str, quotes: Sequence[str]) -> list[tuple[int, int, str]]:
    """Where each quote is first found; of two that overlap the first."""
    found = sorted((at, at + len(quote), quote) for quote in set(quotes) if quote and (at := text.find(quote)) >= 0)
    apart: list[tuple[int, int, str]] = []
    for each in found:
        if not apart or each[0] >= apart[-1][1]:
            apart.append(each)
    return apart


def _kept(size: int, cited: Iterable[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """The stretches of a text of that size to show: all of it, or its beginning, its end and what is cited."""
    if size <= most:
        return [(0, size)]
    windows = [(0, most * 2 // 3), (size - most // 3, size)]
    windows += [(max(start - _AROUND, 0), min(end + _AROUND, size)) for start, end in cited]
    kept: list[tuple[int, int]] = []
    for start, end in sorted(windows):
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        else:
            kept.append((start, end))
    return kept


def _marked(
    text: str, start: int, end: int, stretches: Sequence[tuple[int, int, str]], turn: int
) -> Iterator[TextPiece]:
    at = start
    for first, last, quote in stretches:
        if first >= start and last <= end:
            if first > at:
                yield TextPiece("text", visible(text[at:first]))
            yield TextPiece("cited", visible(text[first:last]), quote_anchor(turn, quote))
            at = last
    if at < end:
        yield TextPiece("text", visible(text[at:end]))
