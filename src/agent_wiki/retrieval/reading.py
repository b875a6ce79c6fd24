"""Pages as an agent reads them: without their frontmatter, within a limit that always holds."""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.retrieval.consulting import Hit
from agent_wiki.retrieval.rows import row_words
from agent_wiki.retrieval.terminal import one_line, plain_text, summary_line
from agent_wiki.wiki.kinds import EPISODE
from agent_wiki.wiki.text import plain_line

BYTES_PER_TOKEN = 2
"""Low on purpose: all texts of the measured recordings have more, so the limit holds for any model."""

_MOST_TITLE = 120
_CUT = "… (cut here; the whole page is {link})\n"
_NOT_SHOWN = "Not shown for lack of space: {links}\n"


def read_pages(hits: Sequence[Hit], max_tokens: int) -> str:
    """The pages of some hits, best first, each under a line that names it, in at most `max_tokens` tokens.

    A token is counted as two bytes of UTF-8. A page that does not fit is cut at a line and says so; better pages
    take precedence. Frontmatter, `Used by` and `Sources` are left out. Control characters are removed, so that the
    text cannot affect a terminal.
    """
    room = max(max_tokens, 0) * BYTES_PER_TOKEN
    shown: list[str] = []
    for position, hit in enumerate(hits):
        text = _page_text(hit)
        rest = _NOT_SHOWN.format(links=", ".join(one_line(each.link) for each in hits[position + 1 :]))
        reserve = _size(rest) if position + 1 < len(hits) else 0
        if _size(text) <= room - reserve or (not reserve and _size(text) <= room):
            shown.append(text)
            room -= _size(text)
            continue
        text = _cut(text, room - reserve, hit.link)
        if text:
            shown.append(text)
            room -= _size(text)
        left = hits[position + 1 :] if text else hits[position:]
        rest = _NOT_SHOWN.format(links=", ".join(one_line(each.link) for each in left))
        if left and _size(rest) <= room:
            shown.append(rest)
        break
    return "".join(shown)


def _page_text(hit: Hit) -> str:
    body = row_words(hit.wiki, hit.row)
    if body is None:
        body = "(this page cannot be read)\n"
    elif hit.kind == EPISODE:
        body = f"Dead ends of the session “{plain_line(hit.title, _MOST_TITLE)}”:\n\n{body}"
    return f"--- {summary_line(hit)}\n\n{plain_text(body).strip()}\n\n"


def _cut(text: str, room: int, link: str) -> str:
    """As many whole lines as fit together with a note that the rest is missing; empty if only a few would fit."""
    note = _CUT.format(link=one_line(link))
    room -= _size(note)
    kept: list[str] = []
    for line in text.splitlines(keepends=True):
        room -= _size(line)
        if room < 0:
            break
        kept.append(line)
    return "".join([*kept, note]) if len(kept) > 2 else ""


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
