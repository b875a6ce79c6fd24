"""Which pages share words with a request: SQLite's full-text index (BM25, fields weighted), then a score in 0 to 1.

FTS5 receives only stems made by this module (letters and digits), so a request can never contain query syntax.
"""

from __future__ import annotations

import builtins
import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from agent_wiki.pages.compare.similarity import stem, strength, tokens
from agent_wiki.retrieval.rows import Row
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.kinds import EPISODE

FIELDS = {"trigger": 1.0, "title": 1.0, "tags": 0.8, "summary": 0.7, "body": 0.5}
_COLUMNS = ", ".join(FIELDS)
_BM25 = ", ".join(str(10 * weight) for weight in FIELDS.values())
_RARITY_COUNTS = 2.0
_MORE_PAGES = 500  # as if there were so many more: that few pages of a small wiki have a word does not make it rare
_MOST_OF_TOTAL = 8
_MOST_TERMS = 32  # of a long request: the most distinctive
_MOST_SEARCHED = 12  # of those, because each costs a look-up
_LEAST_OF_BEST = 0.2  # a word with less of the best word's weight finds too many pages
_NUMBERED = {
    **dict.fromkeys(("code", "errno", "exit", "exits", "exited", "signal", "status"), "code"),
    "port": "port",
    "version": "version",
}
# Go, whose name is a word that says nothing elsewhere.
_GO = re.compile(r"(?<=[\w`'\"(,;] )Go (?=[a-z])|\bgo (?=(?:build|fmt|generate|get|install|mod|test|tool|vet)\b)")
_FILE_NAME = re.compile(r"[\w./-]*\w\.([a-z][a-z0-9]{1,4})")
_OF_FORMAT = 2.0  # of its weight: the ending of a file's name says what kind of file it is
_WORDS_THAT_SAY_SO = """
error fail failed failure fatal exception raised warning traceback found missing invalid unexpected denied permission
permitted refused cannot unable
"""
_WORDS_OF_FAILURES = """
command file directory folder path line code exit exited status stop stopped process
operation module named such message response argument type value bin usr lib home tmp var opt etc sh local
"""
# Of these, and of Python's own exceptions, most failures and command lines consist: they say that something failed,
# not what.
EXCEPTIONS = frozenset(stem(name) for name in dir(builtins) if name.endswith("Error"))
"""Python's own, as stems."""
_SAYS_SO = EXCEPTIONS.union(map(stem, [*_WORDS_THAT_SAY_SO.split(), "named"]))  # `No module named x`
GENERIC = _SAYS_SO.union(map(stem, _WORDS_OF_FAILURES.split()))
"""What a request shares with most failures, as stems."""
_OF_GENERIC = 0.3  # of its weight that such a word keeps
_LEAST_TOTAL = 9.0  # about two words of average weight: one word in common with a short request is no answer to it
_LONG_NUMBER = 3  # digits; such a number counts by itself
_MOST_CHARACTERS = 20_000  # of a page; requests are shorter
_GOLANG = "golang"
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_NOT_PLAIN = re.compile(r"[\W_]+")
_QUOTED = re.compile(r"`([^`\n]{4,300})`|“([^”\n]{4,300})”")
_PLACEHOLDER = re.compile(r"<[^<>]*>|…|\.\.\.")
_QUOTED_COUNTS = 0.5  # more, for the words of a failure that a page quotes and the request repeats
_MOST_LEFT_OUT = 0.25  # of the words of such a failure
_LONGEST_QUOTED = 300  # characters of a line
_MOST_LINES = 20
_LEAST_VERBATIM = 3  # words; of fewer, such as `not found`, many failures consist
_WORD = re.compile(r"\w+")

SCHEMA = f"""
CREATE VIRTUAL TABLE pages USING fts5({_COLUMNS}, tokenize = 'ascii');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(pages, 'row');
"""


def forms(text: str) -> Iterator[tuple[str, str]]:
    """The meaningful `(stem, word as written)` of a text, in order; `book_reservation` also as its parts.

    A small number counts with the word before it that says what it numbers, as in `exit code 2` or `port 80`.
    """
    before = ""
    for token in tokens(_GO.sub(f"{_GOLANG} ", text[:_MOST_CHARACTERS])):
        numbered, before = _NUMBERED.get(before), token.lower()
        if numbered and token.isdecimal() and len(token) < _LONG_NUMBER:
            yield f"{numbered}{token}", token
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


def words_of(task: str) -> dict[str, str]:
    """Stem → the first word of a task that has it, as it is written there."""
    found: dict[str, str] = {}
    for term, word in forms(task):
        found.setdefault(term, word)
    if stem(_GOLANG) in found and (written := _GO.search(task)) and _GOLANG not in task.lower():
        found[stem(_GOLANG)] = written.group().strip()
    return found


class Quotation(NamedTuple):
    """A text that a page quotes: its stems in order, and how many words it has with those that have no stem.

    `is_whole`: of one that says in which words a failure was seen, nothing counts but all of it.
    """

    stems: list[str]
    words: int
    is_whole: bool = False


def quotations(trigger: str) -> list[Quotation]:
    """Each text of at least two meaningful words that a trigger quotes, such as the message of an error.

    One name, such as `ModuleNotFoundError`, is no text: it says what kind of failure it is, not which.
    """
    texts = (_PLACEHOLDER.sub(" ", code or words) for code, words in _QUOTED.findall(trigger))
    return _of_several_words(text for text in texts if " " in text.strip())


def failures_quoted(quotes: Iterable[str]) -> list[Quotation]:
    """The lines of a page's quotes that say that something failed, as quotations.

    Each also without what stands before its colons, as `bash: line 1:` in `bash: line 1: pytest: command not found`:
    another shell, or another line, reports the same failure.
    """
    lines = (line[:_LONGEST_QUOTED] for quote in quotes for line in quote.splitlines()[:_MOST_LINES])
    parts = (part for line in lines if _says_so(line) for part in dict.fromkeys((line, _behind(line))))
    return [each._replace(is_whole=True) for each in _of_several_words(parts)]


def _behind(line: str) -> str:
    """The shortest end of a line behind a colon that still says what failed; the line where there is none."""
    parts = line.split(": ")
    ends = (": ".join(parts[at:]) for at in range(len(parts) - 1, -1, -1))
    return next((end for end in ends if _says_so(end) and len(_WORD.findall(end)) >= _LEAST_VERBATIM), line)


def _says_so(text: str) -> bool:
    """Whether a text says both that something failed and what."""
    own = set(terms(text))
    return not own.isdisjoint(_SAYS_SO) and not own <= GENERIC


def _of_several_words(texts: Iterable[str]) -> list[Quotation]:
    found = (Quotation(terms(text), len(_WORD.findall(text))) for text in texts)
    return [each for each in found if len(set(each.stems)) > 1]


def repeated(quoted: Iterable[Quotation], asked: Sequence[str]) -> tuple[frozenset[str], bool]:
    """What a request, as stems in order, repeats of quotations: their stems, and whether one of them word by word.

    Repeated is a quotation of which the request has three quarters of the words (all, of one that counts as a whole),
    two of them side by side.
    """
    held, pairs, text = set(asked), set(pairwise(asked)), f" {' '.join(asked)} "
    words: set[str] = set()
    is_verbatim = False
    for stems, length, is_whole in quoted:
        own = set(stems)
        if own <= GENERIC and len(own) < _LEAST_VERBATIM:
            continue
        most_left_out = 0 if is_whole else _MOST_LEFT_OUT * len(own)
        if len(own - held) <= most_left_out and not pairs.isdisjoint(pairwise(stems)):
            words |= own & held
            is_verbatim = is_verbatim or (length >= _LEAST_VERBATIM and f" {' '.join(stems)} " in text)
    return frozenset(words), is_verbatim


def insert(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Insert the words of all rows into the full-text index; row n of the index gets the number n."""
    statement = f"INSERT INTO pages (rowid, {_COLUMNS}) VALUES (?, {', '.join('?' * len(FIELDS))})"
    connection.executemany(statement, ((position, *_columns(row)) for position, row in enumerate(rows)))


def _columns(row: Row) -> list[str]:
    # What a session was asked says little of what it tried in vain.
    asked = ("", "") if row.kind == EPISODE else (row.text("trigger"), row.text("title"))
    texts = (*asked, " ".join(row.tags), row.text("summary"), row.body)
    return [" ".join(terms(text)) for text in texts]


def frequencies(connection: sqlite3.Connection, wanted: Sequence[str]) -> dict[str, int]:
    """The number of pages with each of these stems; stems of no page are absent."""
    marks = ",".join("?" * len(wanted))
    return dict(connection.execute(f"SELECT term, doc FROM vocabulary WHERE term IN ({marks})", list(wanted)))


@dataclass(frozen=True, slots=True)
class RequestTerms:
    """The weighted terms of a request. `weights`: stem → weight, for the most distinctive stems that occur in pages.

    `total`: the weight of the eight most distinctive words, including those of no page: for a request that is mostly
    about something else, a few words in common count little. It is at least that of two words.
    """

    weights: dict[str, float]
    total: float


def request_terms(
    asked: Mapping[str, str], frequency: Mapping[str, int], pages: int, rarity: Callable[[str], float]
) -> RequestTerms:
    """Weight the words of a request (stem → word as written) by their rarity in the wiki and in the language."""
    weights = {
        term: math.log(1 + (pages + _MORE_PAGES) / (frequency.get(term, 0) + 0.5)) * rarity(word) ** _RARITY_COUNTS
        for term, word in asked.items()
    }
    for ending, own in _file_names(asked.values()):
        weights = {term: weight for term, weight in weights.items() if term in frequency or term not in own}
        if ending in weights:
            weights[ending] *= _OF_FORMAT
    ranked = sorted(weights, key=lambda term: (-weights[term], term))
    total = max(sum(weights[term] for term in ranked[:_MOST_OF_TOTAL]), _LEAST_TOTAL)
    kept = [term for term in ranked if term in frequency][:_MOST_TERMS]
    return RequestTerms({term: weights[term] for term in kept}, total)


def _file_names(words: Iterable[str]) -> Iterator[tuple[str, set[str]]]:
    """Of each file that a request names the ending, and the words of its name, which are the asker's own."""
    for word in words:
        if name := _FILE_NAME.fullmatch(word):
            ending = stem(name[1])
            yield ending, set(terms(word)) - {ending}


def candidates(connection: sqlite3.Connection, request: RequestTerms, most: int) -> list[int]:
    """The rows that BM25 ranks first for the request's most distinctive stems; all rows found if `most` is -1."""
    least = max(request.weights.values(), default=0.0) * _LEAST_OF_BEST
    wanted = [term for term, weight in request.weights.items() if weight >= least][:_MOST_SEARCHED]
    if not wanted:
        return []
    query = " OR ".join(f'"{term}"' for term in wanted)
    ranked = f"SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, {_BM25}) LIMIT ?"
    return [number for (number,) in connection.execute(ranked, (query, most))]


def matches(connection: sqlite3.Connection, numbers: Iterable[int], request: RequestTerms) -> dict[int, dict[str, str]]:
    """Row → stem → the best field of the row that has it."""
    wanted = request.weights.keys()
    listed = ",".join(map(str, numbers))
    found: dict[int, dict[str, str]] = {}
    for number, *columns in connection.execute(f"SELECT rowid, {_COLUMNS} FROM pages WHERE rowid IN ({listed})"):
        held = found.setdefault(number, {})
        for field, text in zip(FIELDS, columns, strict=True):
            for term in wanted & set(text.split()):
                held.setdefault(term, field)
    return found


def score(found: Mapping[str, str], request: RequestTerms, quoted: Set[str] = frozenset()) -> float:
    """How much of a request is on a page, 0 to 1; words in prominent fields count more, `quoted` ones most.

    With quoted words it may exceed 1.
    """
    held = math.fsum(  # the same whatever the order, which a set of words does not have
        request.weights[term]
        * (
            FIELDS[field] + _QUOTED_COUNTS
            if term in quoted
            else FIELDS[field] * (_OF_GENERIC if term in GENERIC else 1.0)
        )
        for term, field in found.items()
    )
    return held / request.total if request.total else 0.0
