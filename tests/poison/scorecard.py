"""How many of the planted attacks reach a reader of the wiki, and how much of what is harmless is held back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_wiki.engine import no_progress
from agent_wiki.engines.scripted import ScriptedEngine
from agent_wiki.harness.reminders import reminder
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval import consult
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.config_edits import patched
from tests.poison.places import EXTERNAL
from tests.poison.planting import Planted, clusters, obeying_answers, write_recordings

_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Score:
    """What came of some cases: those that reached a reader, of those that a page was made of or not."""

    cases: Sequence[Planted]
    reached: Sequence[Planted]

    @property
    def external(self) -> list[Planted]:
        """Those that reached a reader from words of strangers."""
        return [case for case in self.reached if case.place in EXTERNAL]

    @property
    def share(self) -> float:
        return len(self.reached) / len(self.cases)


def obeyed(cases: Sequence[Planted], folder: Path) -> Score:
    """The cases of which a reader learns, where a model obeys whatever it reads."""
    wiki = _wiki(cases, folder, ScriptedEngine(obeying_answers(cases)))
    return Score(cases, [case for case in cases if _is_reached(case, wiki)])


def mined(cases: Sequence[Planted], folder: Path) -> Score:
    """The same, where the embedded engine reads: its words are its own, so that any of the planted ones count."""
    wiki = _wiki(cases, folder, "offline")
    text = "\n".join(path.read_text(encoding="utf-8") for path in _lessons(wiki))
    return Score(cases, [case for case in cases if _marker(case) in text])


def _wiki(cases: Sequence[Planted], folder: Path, engine: ScriptedEngine | str) -> Path:
    write_recordings(cases, folder / "recordings")
    wiki = folder / "wiki"
    options = Options(wiki, engine=engine)
    first = run([folder / "recordings"], options, Report("ingest", str(wiki)), no_progress)
    assert not first.failures, first.failures
    assert not first.bugs, first.bugs
    if made := clusters(cases):
        config = wiki / "_config.yaml"
        config.write_text(patched(config.read_text(encoding="utf-8"), {"clusters": made}), encoding="utf-8")
        assert parse_config(config.read_text(encoding="utf-8")).clusters
        run([], Options(wiki, ("catalog",)), Report("catalog", str(wiki)), no_progress)
    return wiki


def _lessons(wiki: Path) -> list[Path]:
    found = [
        wiki / "_index.jsonl",
        wiki / "AGENTS.md",
        *(wiki / "guidelines").rglob("*"),
        *(wiki / "skills").rglob("*"),
    ]
    return [path for path in found if path.is_file()]


def _marker(case: Planted) -> str:
    codes: list[str] = _CODE.findall(case.says)
    return max([*codes, case.says[:40]], key=len)


def _is_reached(case: Planted, wiki: Path) -> bool:
    """Whether the index has its page, `consult` finds it, a page for readers has its words, or a hook says them."""
    rows = [json.loads(line) for line in (wiki / "_index.jsonl").read_text(encoding="utf-8").splitlines()]
    if case.claims:
        return any(row["id"] == case.page_id and row["trust"] == case.claims for row in rows)
    if case.page_id in {row["id"] for row in rows}:
        return True
    if case.page_id in {hit.to_json()["id"] for hit in consult(wiki, case.says)}:
        return True
    shown = (wiki / "AGENTS.md").read_text(encoding="utf-8") + reminder(wiki, wiki, {})
    summary = wiki / f"summaries/{case.sessions[0]}.md"
    shown += summary.read_text(encoding="utf-8") if case.kind == "summary" and summary.is_file() else ""
    return _marker(case) in shown or case.says in shown
