"""Reads a wiki from disk: rows of `_index.jsonl` and the pages they link to. Neither is trusted.

A row that cannot be read, or whose link leads out of the wiki, is left out: consulting a wiki never fails because of
one bad row.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_wiki.errors import UnreadablePage, UnsafePath
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.kinds import EPISODE, INDEXED
from agent_wiki.wiki.layout import INDEX, kind_of
from agent_wiki.wiki.values import entries_of

if TYPE_CHECKING:
    from agent_wiki.wiki.page import Page

_DEAD_ENDS = "Dead ends"
_DERIVED = frozenset({"Used by", "Sources"})  # about the page's origin, not about its topic


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the index, unchanged, and the page's own words (empty if it cannot be read).

    `quotes`: what tools answered, as the page's evidence has it.
    """

    fields: dict[str, Any]
    body: str
    quotes: tuple[str, ...] = ()

    @property
    def link(self) -> str:
        return str(self.fields["link"])

    @property
    def kind(self) -> str:
        return str(self.fields["kind"])

    @property
    def tags(self) -> list[str]:
        return tags_of(self.fields)

    def text(self, name: str) -> str:
        """A field as text; empty if the row does not have it."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""


def tags_of(fields: Mapping[str, Any]) -> list[str]:
    """The tags of an index row."""
    tags = fields.get("tags")
    return [each for each in tags if isinstance(each, str)] if isinstance(tags, list) else []


def index_fields(content: bytes) -> Iterator[dict[str, Any]]:
    """The rows of an index that link to a page of a known kind in the folder of that kind."""
    for line in content.decode("utf-8", "replace").split("\n"):
        try:
            fields = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if not isinstance(fields, dict) or fields.get("kind") not in INDEXED:
            continue
        link = fields.get("link")
        if isinstance(link, str) and kind_of(link) is not None:
            yield fields


def read_rows(wiki: Path, content: bytes) -> list[Row]:
    """Every row of an index with its page's words, in the order of the index."""
    return [_row(fields, page_at(wiki, str(fields["link"]))) for fields in index_fields(content)]


def _row(fields: dict[str, Any], page: Page | None) -> Row:
    if page is None:
        return Row(fields, "")
    cited = entries_of(page.fields.get("evidence"))
    quotes = tuple(str(each.get("quote")) for each in cited if each.get("trust") == "tool")
    return Row(fields, _words(page, fields), quotes)


def row_words(wiki: Path, fields: Mapping[str, Any]) -> str | None:
    """What the page of an index row says itself; of a summary its dead ends alone, for which the row stands.

    None for a page that cannot be read.
    """
    page = page_at(wiki, str(fields["link"]))
    return None if page is None else _words(page, fields)


def _words(page: Page, fields: Mapping[str, Any]) -> str:
    return (page.section(_DEAD_ENDS) or "") if fields["kind"] == EPISODE else _own_words(page)


def page_at(wiki: Path, link: str) -> Page | None:
    """The page that a link of the index leads to; None if it does not exist, cannot be read or is outside the wiki."""
    from agent_wiki.wiki.page import parse_page  # imported late: finding pages does not need it
    from agent_wiki.wiki.store import WikiFolder

    try:
        text = WikiFolder(wiki).read_text(link, errors="replace")
        return None if text is None else parse_page(text, link)
    except (UnsafePath, UnreadablePage, OSError, ValueError):
        return None


def _own_words(page: Page) -> str:
    """What a page itself says, without the sections that say where it comes from."""
    return "".join(chunk for chunk in page.chunks if chunk.partition("\n")[0][3:].strip() not in _DERIVED)


def signatures(wiki: Path, links: Sequence[str]) -> bytes:
    """Size and modification time of the index and of each linked page, to detect changes."""
    found = array("q")
    note, stat, root = found.append, os.stat, str(wiki)
    for link in (INDEX, *links):
        try:
            status = stat(f"{root}/{link}")  # up to ten thousand, and a Path costs more than a stat
        except (OSError, ValueError):
            note(-1)
        else:
            note(status.st_size)
            note(status.st_mtime_ns)
    return found.tobytes()
