"""A line shortened where a person would stop reading: after a sentence, else after a clause."""

from __future__ import annotations

from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_SENTENCE = regex(r"[.!?](?=[\"'”)]?\s)")
_CLAUSE = regex(r"[,;](?=\s)|\s(?=[-–—(]\s?\S)")
_LEFT_OPEN = regex(r"\b(?:that|which|who|to|and|or|but|the|an?|of|with|for|in|on|by|from|as|if|is|are|be|so|when)$")
_LEAST = 0.4  # of `most`; a shorter piece would omit too much


def clause(text: str, most: int) -> str:
    """`text` as a plain line of at most `most` characters that ends where a sentence or a clause does.

    Only a text without such a place in the last three fifths of `most` is cut at a word, with an ellipsis.
    """
    whole = plain_line(text, 4 * most)
    if len(whole) <= most:
        return whole
    for pattern in (_SENTENCE, _CLAUSE):
        ends = [match.end() for match in pattern.finditer(whole[: most + 1]) if most * _LEAST < match.end() <= most]
        for end in reversed(ends):
            piece = whole[:end].rstrip(" ,;–—-(")
            if _is_closed(piece):
                return plain_line(piece, most)
    return plain_line(whole, most)


def _is_closed(piece: str) -> bool:
    """No bracket, quotation or code span is left open, and no word that wants another."""
    if _LEFT_OPEN.search(piece):
        return False
    return piece.count("(") == piece.count(")") and piece.count('"') % 2 == 0 and piece.count("`") % 2 == 0
