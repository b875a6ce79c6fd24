"""A wiki on two branches of a repository, each of which ingested other sessions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_wiki.engine import Engine
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from tests.repositories import Repository
from tests.wikis import Script, ingest, record, rule

EXAMPLE = Path(__file__).parents[2] / "wiki-example"
TRACES = sorted((EXAMPLE / "traces").iterdir())
NO_ATTRIBUTES = "# nothing\n"


def init_wiki(wiki: Path) -> None:
    run([], Options(wiki, ("catalog",)), Report("init", str(wiki)), lambda _what, _done, _of: None)


def catalog(wiki: Path) -> Report:
    return run([], Options(wiki, ("catalog",)), Report("catalog", str(wiki)), lambda _what, _done, _of: None)


def branches(
    repository: Repository,
    base: Sequence[Path],
    one: Sequence[Path],
    two: Sequence[Path],
    *,
    engine: str | Engine = "offline",
) -> None:
    """`main` with the base, and the branches `one` and `two`, of which the second is checked out."""
    if not repository.wiki.exists():
        init_wiki(repository.wiki)
    if base:
        ingest(base, repository.wiki, engine)
    repository.commit()
    for name, paths in (("one", one), ("two", two)):
        repository.branch(name)
        ingest(paths, repository.wiki, engine)
        repository.commit()


def only_page(wiki: Path, pattern: str) -> Path:
    (found,) = wiki.glob(pattern)
    return found


def one_rule_each(tmp_path: Path, **by_session: dict[str, Any]) -> tuple[Script, dict[str, Path]]:
    """A script in which each session states one rule with these fields, and the recordings, of a day each."""
    script = Script(tmp_path)
    for name, fields in by_session.items():
        script.says(name, rules=[rule("Run the check before a change.", **fields)])
    days = {name: f"2026-01-0{day}" for day, name in enumerate(sorted(by_session), 1)}
    return script, {name: record(tmp_path / "t", name, day) for name, day in days.items()}
