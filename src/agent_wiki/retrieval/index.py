"""The retrieval index of a wiki: words and vectors of all rows, in `.wiki/retrieval/`, rebuilt when pages change.

It is a cache: it may be deleted at any time and is never shared through git. A wiki that cannot be written to is
indexed in memory. A digest over the index and all pages shows whether it is up to date. Files whose size and
modification time have not changed are assumed to be the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from agent_wiki.retrieval import lexical, meaning
from agent_wiki.retrieval.repositories import repositories_of
from agent_wiki.retrieval.rows import Row, read_rows, signatures
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.index_file import index_bytes
from agent_wiki.wiki.layout import MACHINERY
from agent_wiki.wiki.replacing import replacing

VERSION = "10"
_FOLDER = "retrieval"
_FILE = "pages.sqlite"
_SEEN = "seen"
_TRUSTED_SECONDS = 2.0  # a long-running process checks the pages' modification times at most this often
_SIGN_BYTES = meaning.DIMENSIONS // 8

_SCHEMA = f"""
CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB);
CREATE TABLE rows (number INTEGER PRIMARY KEY, fields TEXT, quotations TEXT);
{lexical.SCHEMA}
"""


@dataclass(slots=True)
class _Held:
    """What this process knows of one wiki."""

    index: RetrievalIndex
    top: bytes  # size and modification time of `_index.jsonl`
    checked_at: float


_HELD: dict[Path, _Held] = {}


class RetrievalIndex:
    """An open retrieval index. Row n is the nth readable row of `_index.jsonl`."""

    def __init__(self, connection: sqlite3.Connection, seen: str = "") -> None:
        self.connection = connection
        self.seen = seen  # the digest of all sizes and modification times when it was last verified

    def _fact(self, name: str) -> bytes:
        found = self.connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return bytes(found[0]) if found else b""

    def is_readable(self) -> bool:
        """Whether this version made it. Raises `sqlite3.Error` or `ValueError` if it is damaged."""
        return self._fact("version").decode() == VERSION and len(self.links) == len(self.signs)

    @cached_property
    def content(self) -> str:
        """The digest of what was indexed."""
        return self._fact("content").decode()

    @cached_property
    def links(self) -> list[str]:
        """Every row's page."""
        found: list[str] = json.loads(self._fact("links"))
        return found

    @cached_property
    def topics(self) -> list[tuple[str, list[str]]]:
        """Every row's kind and its tags in lower case."""
        return [(kind, tags) for kind, tags in json.loads(self._fact("topics"))]

    @cached_property
    def repositories(self) -> frozenset[str]:
        """The repositories for which alone some row holds."""
        return frozenset(json.loads(self._fact("repositories")))

    @cached_property
    def signs(self) -> list[int]:
        """Every row's vector as its signs."""
        packed = self._fact("signs")
        return [int.from_bytes(packed[at : at + _SIGN_BYTES], "big") for at in range(0, len(packed), _SIGN_BYTES)]

    @cached_property
    def _vectors(self) -> bytes:
        return self._fact("vectors")

    @cached_property
    def _lengths(self) -> array[float]:
        return array("d", self._fact("lengths"))

    def nearness(self, query: meaning.Query, number: int) -> float:
        """The cosine of a query and a row; 0 for a row without a vector."""
        row = self._vectors[number * meaning.DIMENSIONS : (number + 1) * meaning.DIMENSIONS]
        return query.cosine(row, self._lengths[number])

    def fields(self, number: int) -> dict[str, Any]:
        """A row as in `_index.jsonl`."""
        (text,) = self.connection.execute("SELECT fields FROM rows WHERE number = ?", (number,)).fetchone()
        found: dict[str, Any] = json.loads(text)
        return found

    def quotations(self, numbers: Iterable[int]) -> dict[int, list[lexical.Quotation]]:
        """The failures that these rows' triggers and evidence quote; rows without one are absent."""
        listed = ",".join(map(str, numbers))
        statement = f"SELECT number, quotations FROM rows WHERE number IN ({listed}) AND quotations IS NOT NULL"
        return {
            number: [lexical.Quotation(*each) for each in json.loads(text)]
            for number, text in self.connection.execute(statement)
        }

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Link of each row's page → the row."""
        return {link: number for number, link in enumerate(self.links)}


def opened(wiki: Path) -> RetrievalIndex:
    """The up-to-date retrieval index of a wiki. Raises `UsageError` if the folder is not a wiki."""
    root = wiki.resolve()
    held = _HELD.get(root)
    top = signatures(root, ())
    if held is not None and held.top == top and time.monotonic() - held.checked_at < _TRUSTED_SECONDS:
        return held.index
    index = _up_to_date(root, held.index if held is not None else _loaded(root))
    _HELD[root] = _Held(index, top, time.monotonic())
    return index


def _up_to_date(root: Path, index: RetrievalIndex | None) -> RetrievalIndex:
    """`index` if it still matches the pages; else a new one."""
    if index is not None and _seen_digest(root, index.links) == index.seen:
        return index
    content = index_bytes(root)
    before = signatures(root, ())  # taken before reading, so that a change in the meantime is noticed next time
    rows = read_rows(root, content)
    links = [row.link for row in rows]
    seen = _seen_digest(root, links) if before == signatures(root, ()) else ""
    digest = _content_digest(content, rows)
    if index is None or index.content != digest:
        index = RetrievalIndex(_built(rows, digest))
        _save(root, index.connection)
    index.seen = seen
    _write_seen(root, index)
    return index


def _content_digest(content: bytes, rows: Sequence[Row]) -> str:
    hasher = hashlib.sha256(VERSION.encode())
    for piece in (content, *("\n".join((row.body, *row.quotes)).encode("utf-8", "replace") for row in rows)):
        hasher.update(hashlib.sha256(piece).digest())
    return hasher.hexdigest()


def _built(rows: Sequence[Row], digest: str) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(_SCHEMA)
    lexical.insert(connection, rows)
    fields = ((number, json.dumps(row.fields, ensure_ascii=True), _quotations(row)) for number, row in enumerate(rows))
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", fields)
    vectors = list(_vectors(rows))
    facts = {
        "version": VERSION.encode(),
        "content": digest.encode(),
        "links": json.dumps([row.link for row in rows]).encode(),
        "topics": json.dumps([[row.kind, [tag.casefold() for tag in row.tags]] for row in rows]).encode(),
        "repositories": json.dumps(repositories_of(row.fields for row in rows)).encode(),
        "vectors": b"".join(each or bytes(meaning.DIMENSIONS) for each in vectors),
        "lengths": array("d", map(meaning.length, vectors)).tobytes(),
        "signs": b"".join(meaning.signs(each).to_bytes(_SIGN_BYTES, "big") for each in vectors),
    }
    connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
    connection.commit()
    return connection


def _quotations(row: Row) -> str | None:
    found = [*lexical.quotations(row.text("trigger")), *lexical.failures_quoted(row.quotes)]
    return json.dumps(found) if found else None


def _vectors(rows: Sequence[Row]) -> Iterator[meaning.Vector]:
    table = meaning.table()
    for row in rows:
        yield table.vector(meaning_text(row))


def meaning_text(row: Row) -> str:
    """The text that a row's vector is made of: when the page applies and what it says, not its whole body."""
    return "\n".join(filter(None, (row.text("title"), row.text("trigger"), row.text("summary"))))


def _place(root: Path) -> Path | None:
    """The folder of the index; None if a link could lead out of the wiki."""
    machinery = root / MACHINERY
    folder = machinery / _FOLDER
    return None if any(each.is_symlink() for each in (machinery, folder, folder / _FILE, folder / _SEEN)) else folder


def _loaded(root: Path) -> RetrievalIndex | None:
    """The index on disk; None if there is none of this version or it is damaged."""
    folder = _place(root)
    if folder is None or not (folder / _FILE).is_file():
        return None
    with suppress(sqlite3.Error, ValueError, OSError):
        # The file is replaced, never changed, so no lock is needed. A schema from elsewhere must not run functions.
        address = f"{(folder / _FILE).as_uri()}?mode=ro&immutable=1"
        index = RetrievalIndex(sqlite3.connect(address, uri=True, check_same_thread=False))
        content, _, seen = (folder / _SEEN).read_text(encoding="ascii").partition(" ")
        index.seen = seen if content == index.content else ""  # otherwise another process wrote it in the meantime
        index.connection.execute("PRAGMA trusted_schema = OFF")
        if index.is_readable():
            return index
    return None


def _save(root: Path, connection: sqlite3.Connection) -> None:
    """Write the index to disk atomically, if the wiki is writable. Of several processes, the last one wins."""
    folder = _place(root)
    if folder is None:
        return
    beside = folder / f"{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = root / MACHINERY / ".gitignore"
        if not ignore.exists():
            ignore.write_bytes(b"*\n")
        with closing(sqlite3.connect(beside)) as target:
            connection.backup(target)
        beside.replace(folder / _FILE)
    except (OSError, sqlite3.Error):
        with suppress(OSError):
            beside.unlink()


def _seen_digest(root: Path, links: Sequence[str]) -> str:
    return hashlib.sha256(signatures(root, links)).hexdigest()


def _write_seen(root: Path, index: RetrievalIndex) -> None:
    """Record the state of the pages for which this index was verified."""
    folder = _place(root)
    if folder is None or not folder.is_dir():
        return
    with suppress(OSError), replacing(folder / _SEEN) as stream:
        stream.write(f"{index.content} {index.seen}".encode("ascii"))
