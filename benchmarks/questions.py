"""Does `wiki consult` answer what developers ask: questions with stored judgements of the pages, asked of three wikis.

    python -m benchmarks.questions [--choose] [--todo] [--list] [--mined DIR] [--shared DIR]

The wikis: the answered example, the wiki that another tool published, and one mined by the embedded engine from the
recordings (`--mined` names one that is there already). A reader of all their pages judged for each question which
are useful and which partly; every other page is wrong for it. Judgements go by page id, a digest of the rule's words,
so a page worded anew has to be judged anew; `--todo` lists such pages. Every question is asked of every wiki: where
none of its pages is useful or partly so, silence is right. The questions under `choosing` are for choosing weights and
threshold (`--choose`, `--list`), those under `reporting` for reporting. Those under `second_reader` were written and
judged by somebody who had read the pages alone: neither the code, nor an answer of it. Exit code 1 when a target is
missed, by either.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_wiki.engine import no_progress
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval import consult
from agent_wiki.retrieval.consulting import RowScores, row_scores
from agent_wiki.retrieval.fuse import LEXICAL, MEANING, THRESHOLD, floor_of
from agent_wiki.retrieval.index import opened
from agent_wiki.retrieval.lexical import words_of
from benchmarks.recall import copied
from benchmarks.recall_requests import NOTHING_APPLIES_CHOSEN_WITH

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
JUDGEMENTS = Path(__file__).parent / "judgements" / "questions.json"
USEFUL, PARTLY, WRONG, SILENT = "useful", "partly", "wrong", "silent"
LEAST_USEFUL, MOST_WRONG, LEAST_SILENT = 0.60, 0.05, 0.95
_WEIGHTS = (0.5, 0.6, 0.7, 0.8)  # of words
_THRESHOLDS = tuple(percent / 100 for percent in range(42, 58))


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of the pages that are useful for it, and partly so."""

    ask: str
    kind: str
    useful: frozenset[str]
    partly: frozenset[str]

    def verdict(self, page: str | None) -> str:
        """What it is worth that this page comes first; None if no page comes."""
        if page is None:
            return SILENT
        return USEFUL if page in self.useful else PARTLY if page in self.partly else WRONG


@dataclass(frozen=True, slots=True)
class Judged:
    """All questions, and the ids of the pages that the reader knew."""

    read: frozenset[str]
    choosing: tuple[Question, ...]
    reporting: tuple[Question, ...]
    second_reader: tuple[Question, ...]


@dataclass(slots=True)
class Score:
    """What came first. `answerable`: the verdicts where a page of the wiki is useful, else they are in `others`.

    `unrelated`: of the questions to which nothing applies in any wiki.
    """

    answerable: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    unrelated: list[str] = field(default_factory=list)

    def note(self, question: Question, ids: frozenset[str], first: str | None) -> None:
        """Add what a wiki with these pages answered first."""
        verdict = question.verdict(first)
        if question.useful & ids:
            self.answerable.append(verdict)
        else:
            self.others.append(verdict)
        if not question.useful | question.partly:
            self.unrelated.append(verdict)

    @property
    def useful(self) -> float:
        return _share(self.answerable, USEFUL)

    @property
    def wrong(self) -> float:
        return _share(self.answerable + self.others, WRONG)

    @property
    def silent(self) -> float:
        return _share(self.unrelated, SILENT)

    def is_met(self) -> bool:
        """Whether all three targets are met."""
        return self.useful >= LEAST_USEFUL and self.wrong <= MOST_WRONG and self.silent >= LEAST_SILENT

    def __str__(self) -> str:
        of_useful = " ".join(f"{_share(self.answerable, each):6.0%}" for each in (USEFUL, PARTLY, WRONG, SILENT))
        of_others = " ".join(f"{_share(self.others, each):6.0%}" for each in (PARTLY, WRONG, SILENT))
        tail = f"{self.wrong:6.1%} {len(self.unrelated):5} {self.silent:6.1%}"
        return f"{len(self.answerable):5} {of_useful} {len(self.others):7} {of_others} {tail}"


HEAD = f"{'':<11}asked useful partly  wrong silent  others partly  wrong silent  WRONG  unrelated SILENT"


def _share(verdicts: Sequence[str], wanted: str) -> float:
    return verdicts.count(wanted) / len(verdicts) if verdicts else 0.0


def judged(path: Path = JUDGEMENTS) -> Judged:
    """The stored questions and judgements."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    choosing, reporting, second_reader = (
        tuple(
            Question(each["ask"], each["kind"], frozenset(each[USEFUL]), frozenset(each[PARTLY]))
            for each in stored[part]
        )
        for part in ("choosing", "reporting", "second_reader")
    )
    return Judged(frozenset(stored["read"]), choosing, reporting, second_reader)


def wikis(scratch: Path, shared: Path, mined: Path | None) -> dict[str, Path]:
    """The three wikis by name, copied or made below `scratch`."""
    answered, other = copied(ROOT / "wiki-example/answered/wiki", scratch / "answered"), scratch / "twobatch"
    copied(shared / "wikis" / "wiki-twobatch", other)
    run([], Options(other, ("catalog",)), Report("catalog", "twobatch"), no_progress)
    own = scratch / "mined"
    if mined is None:
        run([shared / "traces"], Options(own), Report("ingest", "mined"), no_progress)
    else:
        copied(mined, own)
    return {"answered": answered, "twobatch": other, "mined": own}


def page_ids(wiki: Path) -> list[str]:
    """The id of each row of a wiki's retrieval index."""
    index = opened(wiki)
    return [str(index.fields(number)["id"]) for number in range(len(index.links))]


def asked(wiki: Path, question: Question) -> str | None:
    """The id of the page that `wiki consult` puts first."""
    hits = consult(wiki, question.ask)
    return str(hits[0].row["id"]) if hits else None


def report(wikis: Mapping[str, Path], questions: Sequence[Question]) -> tuple[list[str], Score]:
    """The table of all wikis, and the score over all of them."""
    total, lines = Score(), [HEAD]
    for name, wiki in wikis.items():
        score, ids = Score(), frozenset(page_ids(wiki))
        for question in questions:
            first = asked(wiki, question)
            score.note(question, ids, first)
            total.note(question, ids, first)
        lines.append(f"{name:<11}{score}")
    return [*lines, f"{'all':<11}{total}"], total


def listed(wikis: Mapping[str, Path], questions: Sequence[Question]) -> Iterator[str]:
    """Every answer that is wrong, or silent where a page is useful."""
    for name, wiki in wikis.items():
        ids = frozenset(page_ids(wiki))
        for question in questions:
            hits = consult(wiki, question.ask)
            verdict = question.verdict(str(hits[0].row["id"]) if hits else None)
            if verdict == WRONG or (question.useful & ids and verdict != USEFUL):
                first = f"{hits[0].score:.2f} {hits[0].title}: {hits[0].why}" if hits else ""
                yield f"{verdict:<6} {name:<8} [{question.kind}] {question.ask} -> {first}"


def choose(wikis: Mapping[str, Path], questions: Sequence[Question]) -> Iterator[str]:
    """The scores at each weight and threshold, with more requests to which nothing applies."""
    found = []
    nothing = frozenset[str]()
    questions = [*questions, *(Question(each, "unrelated", nothing, nothing) for each in NOTHING_APPLIES_CHOSEN_WITH)]
    for wiki in wikis.values():
        index, ids = opened(wiki), page_ids(wiki)
        more = [floor_of(kind) - THRESHOLD for kind, _ in index.topics]
        found += [(ids, more, each, row_scores(index, each.ask, words_of(each.ask))) for each in questions]
    yield f"weight least {HEAD[11:]}"
    for weight in _WEIGHTS:
        for least in _THRESHOLDS:
            score = Score()
            for ids, more, question, rows in found:
                score.note(question, frozenset(ids), _first(ids, more, rows, _weighted(weight), least))
            yield f"{weight:6.1f} {least:5.2f}{score}{'  met' if score.is_met() else ''}"


def _weighted(weight: float) -> Callable[[RowScores], float]:
    """The score of `wiki consult` if it had this weight of words."""

    def score(each: RowScores) -> float:
        others = each.fused - LEXICAL * each.lexical - MEANING * each.meaning
        return others + weight * each.lexical + (1 - weight) * each.meaning

    return score


def _first(
    ids: Sequence[str],
    more: Sequence[float],
    rows: Sequence[RowScores],
    score: Callable[[RowScores], float],
    least: float,
) -> str | None:
    """The best page at the floor `least`, to which a kind that has to fit better adds `more`; lessons come first."""
    kept = [each for each in rows if score(each) >= least + more[each.number]]
    best = max(kept, key=lambda each: (not more[each.number], score(each)), default=None)
    return ids[best.number] if best is not None else None


def todo(wikis: Mapping[str, Path], known: Judged) -> Iterator[str]:
    """The pages that were not there when the questions were judged."""
    for name, wiki in wikis.items():
        index = opened(wiki)
        for number, page in enumerate(page_ids(wiki)):
            if page not in known.read:
                fields = index.fields(number)
                yield f"{name}: {page} {fields.get('title')} | {fields.get('trigger', '')}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions", description="Judged questions.")
    parser.add_argument("--choose", action="store_true", help="what weights and threshold were chosen with")
    parser.add_argument("--todo", action="store_true", help="pages that nobody judged yet")
    parser.add_argument(
        "--list", action="store_true", help="the wrong and missing answers of the questions for choosing"
    )
    parser.add_argument("--mined", type=Path, metavar="DIR", help="a wiki of the recordings, instead of mining them")
    parser.add_argument("--shared", type=Path, default=SHARED, metavar="DIR")
    wanted = parser.parse_args(arguments)
    known, is_met = judged(), True
    with tempfile.TemporaryDirectory() as name:
        places = wikis(Path(name), wanted.shared, wanted.mined)
        if wanted.todo:
            lines = list(todo(places, known))
        elif wanted.list:
            lines = list(listed(places, known.choosing))
        elif wanted.choose:
            lines = list(choose(places, known.choosing))
        else:
            lines, total = report(places, known.reporting)
            others, of_others = report(places, known.second_reader)
            lines += ["", "a second reader, who knew the pages alone:", *others]
            is_met = total.is_met() and of_others.is_met()
        for line in lines:
            print(line)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
