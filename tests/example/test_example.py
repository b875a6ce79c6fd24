"""The example wiki is what its recordings give, byte for byte."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import pytest

from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report

EXAMPLE = Path(__file__).resolve().parents[2] / "wiki-example"
ACCEPT = "rm -r wiki-example/wiki; wiki ingest wiki-example/traces --wiki wiki-example/wiki; git diff wiki-example"


def _files(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".wiki" not in path.parts and path.name != "_audit.log"
    }


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    wiki = tmp_path_factory.mktemp("example") / "wiki"
    report = Report("ingest", "wiki")
    run([EXAMPLE / "traces"], Options(wiki), report, lambda _what, _done, _of: None)
    assert report.exit_code == 0, report.lines()
    return _files(wiki)


def test_the_example_wiki_is_rebuilt_to_the_same_bytes(rebuilt: dict[str, str]) -> None:
    committed = _files(EXAMPLE / "wiki")
    changed = [
        line
        for name in sorted({*rebuilt, *committed})
        for line in difflib.unified_diff(
            committed.get(name, "").splitlines(), rebuilt.get(name, "").splitlines(), f"committed/{name}", name, n=0
        )
    ]
    shown = "\n".join(changed[:60])
    assert not changed, f"the example differs:\n{shown}\nto accept what the code gives now:\n  {ACCEPT}"


def test_the_example_shows_each_kind_of_page(rebuilt: dict[str, str]) -> None:
    for kind in ("__cluster.md", "__task.md", "SKILL.md", "_index.jsonl", "AGENTS.md"):
        assert any(name.endswith(kind) for name in rebuilt), kind
    assert "**followed**" in "".join(text for name, text in rebuilt.items() if name.startswith("summaries/"))
    assert any("/scripts/" in name for name in rebuilt)


def test_what_to_read_first_has_no_page_that_a_cluster_covers(rebuilt: dict[str, str]) -> None:
    covered = [row["link"] for row in map(json.loads, rebuilt["_index.jsonl"].splitlines()) if "superseded_by" in row]
    read_first = rebuilt["index.md"].partition("## Newest")[0]
    assert covered
    assert [link for link in covered if link in read_first] == []


def test_the_example_has_twelve_traces_in_three_formats(rebuilt: dict[str, str]) -> None:
    summaries = [text for name, text in rebuilt.items() if name.startswith("summaries/") and "index" not in name]
    formats = {line for text in summaries for line in text.splitlines() if line.startswith("source_format:")}
    assert len(summaries) >= 12
    assert len(formats) >= 3
