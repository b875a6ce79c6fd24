"""A request and a wiki → the few pages that apply, best first; empty if none does."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from agent_wiki.errors import UsageError
from agent_wiki.retrieval import lexical, meaning
from agent_wiki.retrieval.bare_failures import says_what_failed
from agent_wiki.retrieval.bare_requests import is_about
from agent_wiki.retrieval.fuse import THRESHOLD, discounted, floor_of, fused, ranked, sinks
from agent_wiki.retrieval.index import RetrievalIndex, opened
from agent_wiki.retrieval.repositories import bare_name, named_in, without_names
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.kinds import EPISODE, INDEXED
from agent_wiki.wiki.scopes import repository_of_row

_MOST_EPISODES = 1
_MOST_CANDIDATES = 40  # for each of the two scores
_MOST_WORDS_SHOWN = 6
_MOST_OF_TASK = meaning.MOST_CHARACTERS
_LONGEST_NAME = 80


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
class RowScores:
    """The scores of one row. `words`: stem → the best field that holds it.

    `is_verbatim`: its trigger or evidence quotes a failure that stands in the request word by word.
    """

    number: int
    lexical: float
    meaning: float
    words: dict[str, str]
    is_verbatim: bool = False

    @property
    def shared(self) -> int:
        """The number of the request's words that the row has outside its body."""
        return sum(field != "body" for field in self.words.values())

    @property
    def fused(self) -> float:
        """One score from both; about 0 to 1."""
        score = fused(self.lexical, self.meaning, self.shared)
        return max(score, THRESHOLD) if self.is_verbatim else score


def consult(
    wiki: Path,
    task: str,
    *,
    tags: Collection[str] = (),
    kinds: Collection[str] = (),
    most: int = 5,
    repository: str | None = None,
) -> list[Hit]:
    """The pages of a wiki that apply to a task in plain words, best first; empty if none does.

    In: the wiki's folder; the task; `tags`, of which a page must have one, and `kinds`, of which it must be one
    (empty: any); the number of pages; the repository that the reader works in, as `name`, `owner/name` or an address,
    None for unknown. One that the task names counts as well: what holds for them alone is preferred, what holds for
    another one alone is not shown. Out: at most `most` hits: lessons first, then at most one episode (all of them
    where `kinds` asks for them), with those that harmed more than they helped at the end.
    Raises `UsageError` for a kind that is none, and if the folder is not a wiki.
    """
    if unknown := sorted(set(kinds) - set(INDEXED)):
        raise UsageError(f"no kind {str(unknown[0])[:_LONGEST_NAME]!r}: choose one of {', '.join(INDEXED)}")
    index = opened(wiki)
    given = bare_name(repository or "")
    task = task[:_MOST_OF_TASK]
    named = named_in(task, index.repositories)
    here = named | {given} - {""}
    task = without_names(task, [given])
    asked = lexical.words_of(task)
    wanted = _wanted(index, tags, kinds)
    scored = [
        each for each in _scores(index, task, named, wanted) if each.fused >= floor_of(index.topics[each.number][0])
    ]
    rows = {each.number: index.fields(each.number) for each in scored}
    scored = [each for each in scored if _may_apply(rows[each.number], here)]
    scored = [each for each in scored if _answers(each, rows[each.number], task, asked, here)]
    order = _order(scored, rows, here)

    hits: list[Hit] = []
    for scores in sorted(scored, key=order):
        row = rows[scores.number]
        why = _why(scores, asked, is_of_here=_is_of(row, here))
        hits.append(Hit(wiki, row, min(scores.fused, 1.0), why, sinks(row.get("used"))))

    def cover(hit: Hit, link: str) -> Hit | None:
        number = index.numbers.get(link)
        if number is None or (wanted is not None and number not in wanted):
            return None
        row = index.fields(number)
        return replace(hit, row=row, why=f"covers “{hit.title}”; {hit.why}", has_sunk=sinks(row.get("used")))

    found: dict[str, Hit] = {}
    for hit in hits:
        link = _covering_link(hit.row)
        standing = (cover(hit, link) if link is not None else None) or hit
        found.setdefault(standing.link, standing)
    return _in_order(found.values(), most, most if EPISODE in kinds else _MOST_EPISODES)


def _scores(index: RetrievalIndex, task: str, named: Collection[str], wanted: Set[int] | None) -> Iterable[RowScores]:
    """The scores of the rows for a task; where it names a repository, the better ones of with and without the name."""
    found = {each.number: each for each in row_scores(index, task, lexical.words_of(task), wanted)}
    shorter = without_names(task, named)
    for each in row_scores(index, shorter, lexical.words_of(shorter), wanted) if shorter != task else ():
        best = found.get(each.number)
        if best is None or (best.is_verbatim, best.fused) < (each.is_verbatim, each.fused):
            found[each.number] = each
    return found.values()


def _answers(scores: RowScores, row: Mapping[str, Any], task: str, asked: Mapping[str, str], here: Set[str]) -> bool:
    """False for a page that shares no more with a bare command than its program, or with a failure than that it is one.

    One for this very repository may.
    """
    if scores.is_verbatim or _is_of(row, here):
        return True
    return says_what_failed(task, scores.words, scores.meaning) and is_about(row, scores.words, asked.keys())


def _order(
    scored: Sequence[RowScores], rows: Mapping[int, Mapping[str, Any]], here: Set[str]
) -> Callable[[RowScores], tuple[bool, float, bool, int]]:
    """The key to sort by: quoted failures first, then by score.

    A page of which nobody knows how far it holds does not come before one of the reader's own repository that shares
    as many words with the request: it may come from another project.
    """

    def score_of(each: RowScores) -> float:
        row = rows[each.number]
        return ranked(each.fused, row.get("cause"), is_of_here=_is_of(row, here))

    own = [each for each in scored if _is_of(rows[each.number], here)]

    def key(each: RowScores) -> tuple[bool, float, bool, int]:
        score, row = score_of(each), rows[each.number]
        if row.get("scope") is None:
            score = min(score, *(score_of(other) for other in own if other.shared >= each.shared), math.inf)
        return not each.is_verbatim, -score, not _is_of(row, here), each.number

    return key


def _in_order(hits: Iterable[Hit], most: int, most_episodes: int) -> list[Hit]:
    """Lessons before episodes, of which there are only a few, and what sank last of all; no page that is gone."""
    ordered = sorted(hits, key=lambda hit: (hit.has_sunk, hit.kind == EPISODE))
    episodes = [hit for hit in ordered if hit.kind == EPISODE]
    shown = (hit for hit in ordered if hit not in episodes[most_episodes:])
    return list(islice((hit for hit in shown if (hit.wiki / hit.link).is_file()), most))


def _may_apply(row: Mapping[str, Any], here: Set[str]) -> bool:
    """False for a comparison in which nothing was found, and for what holds for another repository alone."""
    own = repository_of_row(row)
    return row.get("findings") != 0 and (not here or own is None or own in here)


def _is_of(row: Mapping[str, Any], here: Set[str]) -> bool:
    """Whether a row holds for one of these repositories alone."""
    return repository_of_row(row) in here


def _covering_link(row: Mapping[str, Any]) -> str | None:
    """The page that covers a guideline, so that an agent reads a rule once; None if none does."""
    link = row.get("superseded_by")
    if row.get("kind") != "guideline" or not isinstance(link, str):
        return None
    return link if link.startswith("skills/") else f"guidelines/{link.removeprefix('guidelines/')}"


def row_scores(
    index: RetrievalIndex, task: str, asked: Mapping[str, str], wanted: Set[int] | None = None
) -> list[RowScores]:
    """Both scores of every row that either search finds; `asked`: stem → word of the task; `wanted`: only these."""
    table = meaning.table()
    frequency = lexical.frequencies(index.connection, list(asked))
    request = lexical.request_terms(asked, frequency, len(index.links), table.rarity)
    query = meaning.Query(table.vector(task))
    if wanted is None:
        numbers = {
            *lexical.candidates(index.connection, request, _MOST_CANDIDATES),
            *query.nearest(index.signs, _MOST_CANDIDATES),
        }
    else:
        inside = sorted(wanted)
        nearest = query.nearest([index.signs[number] for number in inside], _MOST_CANDIDATES)
        sharing = [number for number in lexical.candidates(index.connection, request, -1) if number in wanted]
        numbers = {*sharing[:_MOST_CANDIDATES], *(inside[position] for position in nearest)}
    words = lexical.matches(index.connection, numbers, request)
    quotations = index.quotations(numbers)
    in_order = lexical.terms(task) if quotations else []
    found = []
    for number in sorted(numbers):
        nearness = discounted(index.nearness(query, number), task)
        quoted, is_verbatim = lexical.repeated(quotations.get(number, ()), in_order)
        score = lexical.score(words[number], request, quoted)
        found.append(RowScores(number, score, nearness, words[number], is_verbatim))
    return found


def _wanted(index: RetrievalIndex, tags: Collection[str], kinds: Collection[str]) -> Set[int] | None:
    """The rows that have one of the tags and are of one of the kinds; None for all."""
    if not tags and not kinds:
        return None
    named = {tag.casefold() for tag in tags}
    return {
        number
        for number, (kind, own) in enumerate(index.topics)
        if (not kinds or kind in kinds) and (not named or not named.isdisjoint(own))
    }


def _why(scores: RowScores, asked: Mapping[str, str], *, is_of_here: bool) -> str:
    """The request's own words by the field that has them, how close the meaning is, and what else speaks for it."""
    parts = ["it quotes this failure"] if scores.is_verbatim else []
    parts += ["of this repository"] if is_of_here else []
    left = _MOST_WORDS_SHOWN
    for field in lexical.FIELDS:
        words = [asked[term] for term in asked if scores.words.get(term) == field][: max(left, 0)]
        left -= len(words)
        if words:
            parts.append(f"{field}: {', '.join(words)}")
    if scores.meaning > 0:
        parts.append(f"meaning {scores.meaning:.2f}")
    return "; ".join(parts)
