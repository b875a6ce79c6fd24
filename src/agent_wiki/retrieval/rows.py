"""The disk edge of reading: rows of `_index.jsonl` and the pages they link to. Both are somebody else's text.

A row that cannot be read, or whose link leads out of the wiki, is left out: consulting a wiki never fails for one
bad row.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_wiki.errors import RunError, UnreadablePage, UnsafePath, UsageError
from agent_wiki.wiki.layout import INDEX, kind_of

if TYPE_CHECKING:
    from agent_wiki.wiki.page import Page

KINDS = ("cluster", "skill", "guideline", "task", "subtask")
_DERIVED = frozenset({"Used by", "Sources"})  # what a page says of its origin is not what it is about


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the index, as it stands there, and the page's own words (empty when it cannot be read)."""

    fields: dict[str, Any]
    body: str

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
        """A field as text; empty when the row does not have it."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""


def tags_of(fields: Mapping[str, Any]) -> list[str]:
    """The tags of an index row."""
    tags = fields.get("tags")
    return [each for each in tags if isinstance(each, str)] if isinstance(tags, list) else []


def index_bytes(wiki: Path) -> bytes:
    """The index as it lies there. Raises `UsageError` when the folder is no wiki."""
    try:
        return (wiki / INDEX).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{wiki}: no wiki here, for there is no {INDEX}; name its folder with --wiki") from None
    except OSError as error:
        raise RunError(f"{wiki / INDEX}: cannot read ({error.strerror})") from error


def index_fields(content: bytes) -> Iterator[dict[str, Any]]:
    """The rows of an index that name a page of a known kind at a place where such a page lies."""
    for line in content.decode("utf-8", "replace").split("\n"):
        try:
            fields = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if not isinstance(fields, dict) or fields.get("kind") not in KINDS:
            continue
        link = fields.get("link")
        if isinstance(link, str) and kind_of(link) is not None:
            yield fields


def read_rows(wiki: Path, content: bytes) -> list[Row]:
    """Every row of an index with its page's words, in the order of the index."""
    return [Row(fields, _own_words(page_at(wiki, str(fields["link"])))) for fields in index_fields(content)]


def page_at(wiki: Path, link: str) -> Page | None:
    """The page that a link of the index leads to; None when it is not there, cannot be read or lies outside."""
    from agent_wiki.wiki.page import parse_page  # the page syntax is needed where pages are read, not to find them
    from agent_wiki.wiki.store import WikiFolder

    try:
        text = WikiFolder(wiki).read_text(link, errors="replace")
        return None if text is None else parse_page(text, link)
    except (UnsafePath, UnreadablePage, OSError, ValueError):
        return None


def _own_words(page: Page | None) -> str:
    if page is None:
        return ""
    return "".join(chunk for chunk in page.chunks if chunk.partition("\n")[0][3:].strip() not in _DERIVED)


def signatures(wiki: Path, links: Sequence[str]) -> bytes:
    """Size and time of change of the index and of each linked page, for telling whether any was touched."""
    found = array("q")
    note, stat, root = found.append, os.stat, str(wiki)
    for link in (INDEX, *links):
        try:
            status = stat(f"{root}/{link}")  # ten thousand of them, and a Path costs more than a stat
        except (OSError, ValueError):
            note(-1)
        else:
            note(status.st_size)
            note(status.st_mtime_ns)
    return found.tobytes()
