"""Which pages share words with a request: SQLite's full-text index (BM25, fields weighted), then a score in 0 to 1.

FTS5 sees only stems that this module made (letters and digits), so nothing in a request can be query syntax.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent_wiki.retrieval.rows import Row
from agent_wiki.similarity import stem, strength, tokens

FIELDS = ("trigger", "title", "tags", "body")
WEIGHTS = (4.0, 3.0, 2.0, 1.0)
_OF_BEST = {"trigger": 1.0, "title": 1.0, "tags": 0.8, "body": 0.35}
_MOST_TERMS = 32  # of a long request the rarest: they say most, and each costs a look-up
_MOST_CHARACTERS = 20_000
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_NOT_PLAIN = re.compile(r"[\W_]+")

SCHEMA = """
CREATE VIRTUAL TABLE pages USING fts5(trigger, title, tags, body, tokenize = 'ascii');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(pages, 'row');
"""


def forms(text: str) -> Iterator[tuple[str, str]]:
    """The (stem, word as written) of a text that say something, in order; `book_reservation` also as its parts."""
    for token in tokens(text[:_MOST_CHARACTERS]):
        if not strength(token):
            continue
        whole = stem(_NOT_PLAIN.sub("", token).lower())
        if whole:
            yield whole, token
        parts = _PART.findall(token)
        if len(parts) > 1:
            yield from ((stem(part), part) for part in parts if len(part) > 1 and strength(part.lower()))


def terms(text: str) -> list[str]:
    """The stems of `forms`."""
    return [each for each, _ in forms(text)]


def insert(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Put the words of all rows into the full-text index; row n of the index gets the number n."""
    statement = "INSERT INTO pages (rowid, trigger, title, tags, body) VALUES (?, ?, ?, ?, ?)"
    connection.executemany(statement, ((position, *_columns(row)) for position, row in enumerate(rows)))


def _columns(row: Row) -> list[str]:
    texts = (row.text("trigger"), row.text("title"), " ".join(row.tags), f"{row.text('summary')}\n{row.body}")
    return [" ".join(terms(text)) for text in texts]


def frequencies(connection: sqlite3.Connection, wanted: Sequence[str]) -> dict[str, int]:
    """In how many pages each of these stems occurs; stems of no page are absent."""
    marks = ",".join("?" * len(wanted))
    return dict(connection.execute(f"SELECT term, doc FROM vocabulary WHERE term IN ({marks})", list(wanted)))


def telling(wanted: Iterable[str], frequency: Mapping[str, int], pages: int) -> dict[str, float]:
    """Stem → inverse document frequency, of the stems that occur; of many the rarest."""
    weights = {term: math.log(1 + pages / frequency[term]) for term in dict.fromkeys(wanted) if term in frequency}
    kept = sorted(weights, key=lambda term: -weights[term])[:_MOST_TERMS]
    return {term: weights[term] for term in kept}


def candidates(connection: sqlite3.Connection, wanted: Iterable[str], most: int) -> list[int]:
    """The rows that BM25 ranks first for any of the stems."""
    query = " OR ".join(f'"{term}"' for term in wanted)
    if not query:
        return []
    ranked = f"SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, {', '.join(map(str, WEIGHTS))}) LIMIT ?"
    return [number for (number,) in connection.execute(ranked, (query, most))]


def matches(connection: sqlite3.Connection, number: int, wanted: Mapping[str, float]) -> dict[str, str]:
    """Stem → the best field of a row that holds it."""
    columns = connection.execute("SELECT trigger, title, tags, body FROM pages WHERE rowid = ?", (number,)).fetchone()
    found: dict[str, str] = {}
    for field, text in zip(FIELDS, columns or (), strict=False):
        for term in wanted.keys() & set(text.split()):
            found.setdefault(term, field)
    return found


def score(found: Mapping[str, str], wanted: Mapping[str, float]) -> float:
    """How much of what a request says stands on a page, 0 to 1; words on prominent places count more."""
    total = sum(wanted.values())
    return sum(wanted[term] * _OF_BEST[field] for term, field in found.items()) / total if total else 0.0
