"""Free texts of records as they are read: a record may come from another wiki, whose stages nobody here has seen.

What this program's own stages write is plain already, and stays as it is.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from agent_wiki.wiki.text import plain_line, without_markup

_MOST = 4_000
_FENCE = re.compile(r"(?ms)^( *)(`{3,}|~{3,}).*?(?:^\1\2|\Z)")


def _line(text: str) -> str:
    return plain_line(text, _MOST)


def _paragraphs(text: str) -> str:
    return "\n\n".join(_line(each) for each in text.split("\n\n") if each.strip())


def _markdown(text: str) -> str:
    """Markdown in which headings, lists and code stay, and nothing leads or draws from elsewhere."""
    pieces: list[str] = []
    position = 0
    for match in _FENCE.finditer(text):
        pieces += [_inert(text[position : match.start()]), match.group()]
        position = match.end()
    return "".join([*pieces, _inert(text[position:])])


def _inert(text: str) -> str:
    return "\n".join(without_markup(line) for line in text.split("\n"))


PlainLine = Annotated[str, AfterValidator(_line)]
"""One plain line."""
PlainText = Annotated[str, AfterValidator(_paragraphs)]
"""Plain paragraphs."""
PlainMarkdown = Annotated[str, AfterValidator(_markdown)]
"""What this program once rendered itself: Markdown without tags and addresses."""
