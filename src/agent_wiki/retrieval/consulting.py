"""A request and a wiki → the few pages that apply, best first; none when none does."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent_wiki.retrieval import lexical, meaning
from agent_wiki.retrieval.cover import covered
from agent_wiki.retrieval.fuse import THRESHOLD, fused, sinks
from agent_wiki.retrieval.index import RetrievalIndex, opened
from agent_wiki.wiki.sessions import texts_of

_MOST_CANDIDATES = 60  # of each opinion
_MOST_WORDS_SHOWN = 6
_MOST_OF_TASK = meaning.MOST_CHARACTERS


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that applies. `row` as in `_index.jsonl`; `score` 0 to 1; `why` one line of plain text.

    `has_sunk`: sessions that read it were harmed or contradicted it more often than they followed it.
    """

    wiki: Path
    row: Mapping[str, Any]
    score: float
    why: str
    has_sunk: bool = False

    @property
    def link(self) -> str:
        return str(self.row["link"])

    @property
    def kind(self) -> str:
        return str(self.row["kind"])

    @property
    def title(self) -> str:
        title = self.row.get("title")
        return title if isinstance(title, str) and title else self.link

    def to_json(self) -> dict[str, Any]:
        """The index row with `score` and `why`."""
        return {**self.row, "score": round(self.score, 3), "why": self.why}


@dataclass(frozen=True, slots=True)
class Opinions:
    """What each way of looking says of one row. `words`: stem → the best field that holds it."""

    number: int
    lexical: float
    meaning: float
    words: dict[str, str]


def consult(
    wiki: Path, task: str, *, tags: Collection[str] = (), kinds: Collection[str] = (), most: int = 5
) -> list[Hit]:
    """The pages of a wiki that apply to a task said in plain words, best first; empty when none does.

    In: the wiki's folder; what somebody is about to do; `tags` of which a page must have one and `kinds` of which it
    must be (both: any when empty); `most` pages. Out: at most `most` hits, those that harmed more than they helped
    last. Raises `UsageError` when the folder is no wiki.
    """
    index = opened(wiki)
    task = task[:_MOST_OF_TASK]
    asked = lexical.words_of(task)
    hits: list[Hit] = []
    for each in opinions(index, task, asked):
        score = fused(each.lexical, each.meaning)
        if score < THRESHOLD:
            continue
        row = index.fields(each.number)
        if _is_wanted(row, tags, kinds):
            hits.append(Hit(wiki, row, score, _why(each, asked), sinks(row.get("used"))))
    hits.sort(key=lambda hit: (hit.has_sunk, -hit.score, hit.link))

    def cover(hit: Hit, link: str) -> Hit | None:
        number = index.clusters.get(link)
        row = index.fields(number) if number is not None else None
        if row is None or not _is_wanted(row, tags, kinds):
            return None
        return replace(hit, row=row, why=f"covers “{hit.title}”; {hit.why}", has_sunk=sinks(row.get("used")))

    return covered(hits, cover)[:most]


def opinions(index: RetrievalIndex, task: str, asked: Mapping[str, str]) -> list[Opinions]:
    """Both opinions on every row that either of them names; `asked`: stem → word of the task."""
    table = meaning.table()
    frequency = lexical.frequencies(index.connection, list(asked))
    request = lexical.telling(asked, frequency, len(index.links), table.rarity)
    vector = table.vector(task)
    numbers = dict.fromkeys(lexical.candidates(index.connection, request.weights, _MOST_CANDIDATES))
    numbers.update(dict.fromkeys(meaning.nearest(vector, index.signs, _MOST_CANDIDATES) if vector else ()))
    found = []
    for number in numbers:
        words = lexical.matches(index.connection, number, request.weights)
        nearness = meaning.cosine(vector, index.vector(number))
        found.append(Opinions(number, lexical.score(words, request), nearness, words))
    return found


def _is_wanted(row: Mapping[str, Any], tags: Collection[str], kinds: Collection[str]) -> bool:
    if kinds and row.get("kind") not in kinds:
        return False
    return not tags or not {tag.casefold() for tag in tags}.isdisjoint(
        tag.casefold() for tag in texts_of(row.get("tags"))
    )


def _why(opinion: Opinions, asked: Mapping[str, str]) -> str:
    """The request's own words by where they stand, and how near the meaning lies."""
    parts = []
    left = _MOST_WORDS_SHOWN
    for field in lexical.FIELDS:
        words = [asked[term] for term in asked if opinion.words.get(term) == field][: max(left, 0)]
        left -= len(words)
        if words:
            parts.append(f"{field}: {', '.join(words)}")
    if opinion.meaning > 0:
        parts.append(f"meaning {opinion.meaning:.2f}")
    return "; ".join(parts)
