"""A wiki of the original tool can be catalogued: only derived fields and indexes change, once."""

from __future__ import annotations

import difflib
import json
import re
from pathlib import Path

import pytest

from tests.wikis import Script, changed, ingest, record, rule, tree

CATALOG = ("catalog",)
DERIVED = re.compile(
    r"[-+](?:contributed_guidelines|contributed_skills|cluster|superseded_by|related_summary|tags): .*|---.*|\+\+\+.*"
)
GENERATED = {"index.md", "_index.jsonl", "_id_index.json", ".gitattributes"}


def test_only_derived_fields_and_indexes_change_and_only_once(tmp_path: Path, others_wiki: Path) -> None:
    before = tree(others_wiki)
    engine = Script(tmp_path).engine
    report = ingest([], others_wiki, engine, stages=CATALOG)
    assert (report.failures, report.removed) == ([], [])
    after = tree(others_wiki)
    for path in changed(before, after):
        if path.rpartition("/")[2] in GENERATED:
            continue
        was, now = before[path].decode().splitlines(), after[path].decode().splitlines()
        for line in difflib.unified_diff(was, now, n=0, lineterm=""):
            assert line.startswith("@@") or DERIVED.fullmatch(line), f"{path}: {line}"
    (others_wiki / ".wiki" / "finished.json").unlink()
    again = ingest([], others_wiki, engine, stages=CATALOG)
    assert (again.written, again.removed) == ([], [])
    assert changed(after, tree(others_wiki)) == []


def test_every_link_of_its_index_exists_and_every_page_is_in_it(tmp_path: Path, others_wiki: Path) -> None:
    ingest([], others_wiki, Script(tmp_path).engine, stages=CATALOG)
    rows = [json.loads(line) for line in (others_wiki / "_index.jsonl").read_text(encoding="utf-8").splitlines()]
    links = {row["link"] for row in rows}
    pages = {path for path in tree(others_wiki) if path.startswith("guidelines/") and "__" in path}
    assert links == pages
    assert all(len(row["summary"]) <= 240 for row in rows)


@pytest.mark.parametrize("new_line", ["\n", "\r\n"])
def test_our_sessions_join_it_and_its_pages_stay(tmp_path: Path, others_wiki: Path, new_line: str) -> None:
    for path in others_wiki.rglob("*__*.md"):
        path.write_bytes(path.read_bytes().replace(b"\n", new_line.encode()))
    before = tree(others_wiki)
    told = Script(tmp_path)
    told.says("a", rules=[rule("Run the check before a change.")])
    ingest([record(tmp_path / "t", "a")], others_wiki, told.engine)
    after = tree(others_wiki)
    assert "summaries/a.md" in after
    theirs = [path for path in before if path.startswith("guidelines/") and "__" in path]
    assert len(theirs) > 10
    assert [path for path in theirs if before[path] != after[path]] == []
