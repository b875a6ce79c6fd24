"""Are the lessons true, and are they found: a wiki of annotated sessions, scored by readers' stored judgements.

    python -m benchmarks.lessons [--todo] [--wiki DIR] [--judgements FILE] [--shared DIR]
    python -m benchmarks.lessons --stored --judgements benchmarks/judgements/together.json

The annotated recordings are mined by the embedded engine; `--wiki` scores a wiki that was made of them in another way.
`--stored` scores a wiki that is not here, as it was judged: agents who had not seen the annotations answered the
prompts, all of a session together (`together.json`) or one by one (`thorough.json`), and what they wrote quotes
recordings that are not ours to ship.
`unseen.json` is about twelve recordings that the author of the prompts had not read: one reader annotated them, a
second answered the prompts, a third judged. It says itself what each annotated lesson is worth.
`coders.json` and `round29.json` are likewise about fourteen and fifteen recordings of coding agents, with the checked
lessons alone that readers found; `round32.json` and `round48.json` are about sixteen each, with all lessons.
Readers who did not write the engine judge each page (keep, weak, false) and say which page holds an annotated lesson,
in full or half. Their judgements are stored by page id, a digest of the rule's words: what is worded anew has to be
judged anew, and `--todo` lists it. A third of the sessions, by the digest of their names, is closed: nobody looks at
their annotations or pages while writing rules. Exit code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_wiki.engine import no_progress
from agent_wiki.pages.state import WikiView, view_of
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.pipeline.report import Report

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
JUDGEMENTS = Path(__file__).parent / "judgements" / "offline.json"
VERDICTS = ("keep", "weak", "false")


@dataclass(frozen=True, slots=True)
class Targets:
    """Shares: of the judged pages, at most and at least; of lessons found in full or half, at least."""

    most_false: float
    least_kept: float = 0.0
    least_checked: float = 0.0
    least_of_value: tuple[tuple[int, float], ...] = ()


EMBEDDED = Targets(0.03, least_kept=0.85, least_checked=0.30)
MODEL = Targets(0.02, least_of_value=((3, 0.80), (2, 0.70)))


@dataclass(frozen=True, slots=True)
class Lesson:
    """One annotated lesson. `key` names it in the judgements: the annotation's file and its position."""

    key: str
    rule: str
    value: int
    is_stated: bool
    is_checked: bool


@dataclass(frozen=True, slots=True)
class Annotated:
    """One annotated recording. `is_closed`: it is not looked at while rules are written."""

    name: str
    file: Path
    is_closed: bool
    lessons: tuple[Lesson, ...]


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A guideline or a skill of the wiki: its id, what it says, and the files of the sessions behind it."""

    id: str
    text: str
    cause: str
    files: frozenset[str]


@dataclass(slots=True)
class Score:
    """Counts over some annotated sessions and the pages that rest on them."""

    lessons: list[tuple[Lesson, str]] = field(default_factory=list)
    pages: list[tuple[WrittenPage, str]] = field(default_factory=list)

    def share(self, verdict: str) -> float | None:
        """The share of the judged pages with a verdict; None where none is judged."""
        judged = [found for _, found in self.pages if found in VERDICTS]
        return judged.count(verdict) / len(judged) if judged else None

    def lines(self) -> Iterator[str]:
        """The figures, one a line."""
        groups = [(f"value {value}", [each for each in self.lessons if each[0].value == value]) for value in (3, 2, 1)]
        groups.append(("stated", [each for each in self.lessons if each[0].is_stated]))
        groups.append(("cause checked", [each for each in self.lessons if each[0].is_checked]))
        for what, found in [("lessons", self.lessons), *groups]:
            counts = [sum(match == wanted for _, match in found) for wanted in ("full", "half", "none")]
            yield f"{what:16} {len(found):4} of them full {counts[0]}, half {counts[1]}, none {counts[2]}"
        for what, causes in (("pages", ("checked", "stated", "asserted", "")), ("of them checked", ("checked",))):
            chosen = [verdict for page, verdict in self.pages if page.cause in causes]
            counted = ", ".join(f"{each} {chosen.count(each)}" for each in (*VERDICTS, "not judged"))
            yield f"{what:16} {len(chosen):4} of them {counted}"

    def misses(self, targets: Targets = EMBEDDED) -> Iterator[str]:
        """The targets that are missed."""
        wrong, kept = self.share("false"), self.share("keep")
        if wrong is not None and wrong > targets.most_false:
            yield f"{wrong:.0%} of the judged pages are false, at most {targets.most_false:.0%} may be"
        if kept is not None and kept < targets.least_kept:
            yield f"{kept:.0%} of the judged pages are kept, at least {targets.least_kept:.0%} are to be"
        groups = [
            ("with a checked cause", targets.least_checked, [each for each in self.lessons if each[0].is_checked])
        ]
        for value, share in targets.least_of_value:
            groups.append((f"of value {value}", share, [each for each in self.lessons if each[0].value == value]))
        for what, share, lessons in groups:
            found = sum(match != "none" for _, match in lessons)
            if found < share * len(lessons):
                yield f"{found} of {len(lessons)} lessons {what} are found, {share:.0%} are to be"


def annotated(shared: Path) -> list[Annotated]:
    """Every annotated recording with its lessons."""
    found = []
    for path in sorted((shared / "gold").glob("*.json")):
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        lessons = tuple(
            Lesson(f"{path.stem}#{position}", each["rule"], each["value"], each["stated"], each["cause_checked"])
            for position, each in enumerate(values["lessons"])
        )
        is_closed = int(hashlib.sha256(path.name.encode()).hexdigest(), 16) % 3 == 2
        found.append(Annotated(path.stem, shared / "traces" / values["file"], is_closed, lessons))
    return found


def annotated_in(judgements: dict[str, Any]) -> list[Annotated]:
    """The annotated recordings of judgements that say of each lesson what it is worth; else none.

    So judgements on recordings that are not here are scored: their lessons are known by a key alone. A recording in
    which a reader found no lesson has its pages all the same.
    """
    valued = {key: each for key, each in judgements["lessons"].items() if "value" in each}
    lessons: dict[str, list[Lesson]] = {name: [] for name in judgements.get("goals", {}) if valued}
    for key, each in valued.items():
        lesson = Lesson(key, "", each["value"], each["stated"], each["checked"])
        lessons.setdefault(key.partition("#")[0], []).append(lesson)
    return [Annotated(name, Path(name), is_closed=False, lessons=tuple(found)) for name, found in lessons.items()]


def written_pages(view: WikiView) -> list[WrittenPage]:
    """The guidelines and skills of a wiki."""
    found = [
        WrittenPage(name, f"{each.entry.title}: {each.entry.rule}", each.entry.cause or "", _files(each.sessions))
        for name, each in view.guidelines.items()
    ]
    found += [
        WrittenPage(f"skill:{name}", f"{each.entry.title}: {each.entry.description}", "", _files(each.sessions))
        for name, each in view.skills.items()
    ]
    return found


def judged_pages(judgements: dict[str, Any]) -> list[WrittenPage]:
    """The pages of a wiki that is not here, by its judgements.

    `files` has the names of the recordings behind each page, `causes` its grade.
    """
    return [
        WrittenPage(name, "", judgements["causes"].get(name, ""), frozenset(judgements["files"][name]))
        for name in judgements["pages"]
    ]


def _files(sessions: Iterator[Any]) -> frozenset[str]:
    return frozenset(source for session in sessions for source in session.sources)


def scored(
    recordings: Sequence[Annotated], pages: Sequence[WrittenPage], judgements: dict[str, Any], *, is_closed: bool | None
) -> Score:
    """The score over the open or the closed recordings, or over all. A match counts only while its page is there."""
    chosen = [each for each in recordings if is_closed is None or each.is_closed is is_closed]
    files = {each.file.name for each in chosen}
    own = {page.id: page for page in pages if page.files & files}
    score = Score(pages=[(page, judgements["pages"].get(page.id, "not judged")) for page in own.values()])
    for lesson in (lesson for each in chosen for lesson in each.lessons):
        match = judgements["lessons"].get(lesson.key, {})
        score.lessons.append((lesson, match["match"] if match.get("page") in own else "none"))
    return score


def mined(recordings: Sequence[Annotated], wiki: Path) -> None:
    """Mine the recordings with the embedded engine."""
    run([each.file for each in recordings], Options(wiki), Report("ingest", str(wiki)), no_progress)


def _pages(recordings: Sequence[Annotated], wiki: Path | None) -> list[WrittenPage]:
    with tempfile.TemporaryDirectory() as place:
        if wiki is None:
            mined(recordings, wiki := Path(place, "wiki"))
        return written_pages(view_of(read_wiki(wiki, []).state))


def main(words: Sequence[str] | None = None) -> int:
    """Score, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--todo", action="store_true", help="list the pages that nobody judged")
    parser.add_argument("--wiki", type=Path, help="a wiki of the annotated recordings; else one is made")
    parser.add_argument("--judgements", type=Path, default=JUDGEMENTS)
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--stored", action="store_true", help="score what was judged, without the wiki")
    options = parser.parse_args(words)
    judgements = json.loads(options.judgements.read_text(encoding="utf-8"))
    recordings = annotated_in(judgements) if options.stored else []
    if not recordings and not options.shared.is_dir():
        print(f"{options.shared}: no annotated recordings here, nothing is measured")
        return 0
    recordings = recordings or annotated(options.shared)
    pages = judged_pages(judgements) if options.stored else _pages(recordings, options.wiki)
    misses: list[str] = []
    sides = {each.is_closed for each in recordings}
    for what, is_closed in (("open", False), ("closed", True), ("all", None)):
        if is_closed not in sides and (is_closed is not None or len(sides) == 1):
            continue
        score = scored(recordings, pages, judgements, is_closed=is_closed)
        print(f"\n{what}:", *score.lines(), sep="\n  ")
        misses += [f"{what}: {each}" for each in score.misses(MODEL if options.stored else EMBEDDED)]
        for page in (page for page, verdict in score.pages if options.todo and verdict == "not judged"):
            print(f"  to be judged: {page.id} {page.text}  [{', '.join(sorted(page.files))}]")
    print(*[f"MISSED {each}" for each in misses], sep="\n")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
