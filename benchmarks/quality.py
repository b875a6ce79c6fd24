"""How good is what the embedded engine finds, on a folder of real recordings.

    python -m benchmarks.quality [FOLDER]

Four figures, all measured in this run: error detection against the recorded flags with them hidden; task families
against the recorded ids with ids, trials and rewards hidden; every quote in the records of a built wiki looked up
again in its recording; guidelines a session and the share of sessions with none. Exit code 1 when a target is missed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.evidence import is_verbatim
from benchmarks import TRACES, errors, families, guidelines

LEAST_F1 = 0.9
LEAST_RAND_INDEX = 0.9


@dataclass(frozen=True, slots=True)
class RecordedQuote:
    """One quote of one record."""

    record: str
    session_id: str
    turn: int
    quote: str


def quotes_in(value: Any, record: str, session_id: str) -> Iterator[RecordedQuote]:
    """Every quote in what a stage answered, at any depth: a turn with the `quote` or the `evidence` found there.

    Counted in the records, not on the pages: a page shows the first of many, and a skill's shows none.
    """
    if isinstance(value, list):
        for each in value:
            yield from quotes_in(each, record, session_id)
    elif isinstance(value, dict):
        text = value.get("quote", value.get("evidence"))
        if isinstance(text, str) and "turn" in value:
            yield RecordedQuote(record, str(value.get("session_id", session_id)), value["turn"], text)
        for each in value.values():
            yield from quotes_in(each, record, session_id)


def quotes_of_a_built_wiki(folder: Path) -> tuple[list[RecordedQuote], list[RecordedQuote]]:
    """Ingest `folder` into a wiki of its own; give all its quotes and those that do not stand in their turn."""
    with tempfile.TemporaryDirectory() as place:
        wiki = Path(place, "wiki")
        run([folder], Options(wiki), Report("ingest", "wiki"), lambda _what, _done, _of: None)
        records = {path.name: json.loads(path.read_bytes()) for path in sorted(wiki.glob("_sessions/*.json"))}
    quotes = [
        quote
        for name, record in records.items()
        for stage in record["stages"].values()
        for quote in quotes_in(stage["answer"], name, record["session_id"])
    ]
    by_id: dict[str, Trajectory] = {each.session_id: each for each in guidelines.sessions(folder)}
    missing = [
        each
        for each in quotes
        if each.session_id not in by_id or not is_verbatim(by_id[each.session_id], each.turn, each.quote)
    ]
    return quotes, missing


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; exit code 1 when one is below its target."""
    words = sys.argv[1:] if arguments is None else arguments
    folder = Path(words[0]) if words else TRACES
    missed: list[str] = []

    results = list(errors.labelled_results(folder))
    print(f"error detection, {len(results)} labelled results")
    for label, bare in (("as recorded", False), ("exit codes removed", True)):
        score = errors.scores(results, bare=bare)["all"]
        precision, recall, f1 = (value or 0.0 for value in (score.precision(), score.recall(), score.f1()))
        print(f"  {label}: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}")
        if not bare and f1 < LEAST_F1:
            missed.append(f"error detection F1 {f1:.3f}")

    for source_format in ("tau-bench", "tau2-bench"):
        figures = families.figures(folder, source_format)
        if figures.tasks == 0:
            print(f"task families, {source_format}: no task in three sessions here")
            continue
        print(
            f"task families, {source_format}: {figures.sessions} sessions of {figures.tasks} tasks; adjusted Rand index"
            f" {figures.alone:.3f} alone, {figures.among_all:.3f} among all; a third of the turns missing: mean"
            f" {figures.fewer_turns[0]:.3f}, worst {figures.fewer_turns[1]:.3f}"
        )
        if source_format == "tau-bench" and figures.alone < LEAST_RAND_INDEX:
            missed.append(f"adjusted Rand index {figures.alone:.3f}")

    quotes, missing = quotes_of_a_built_wiki(folder)
    print(f"quotes in the wiki's records: {len(quotes)}, verbatim in their turn: {len(quotes) - len(missing)}")
    missed += [f"quote of {each.record} not in turn {each.turn} of {each.session_id}" for each in missing]

    found = guidelines.measure(folder)
    sessions, working = max(found.sessions, 1), max(found.working, 1)
    print(
        f"guidelines: {found.guidelines} in {found.sessions} sessions ({found.guidelines / sessions:.2f} each), none in"
        f" {found.with_none} ({found.with_none / sessions:.0%}); of {found.working} with ten tool calls or more, none"
        f" in {found.working_with_none} ({found.working_with_none / working:.0%})"
    )
    for line in missed:
        print(f"MISSED: {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
