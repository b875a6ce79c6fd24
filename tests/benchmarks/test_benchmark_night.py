"""The benchmark of a night's diff counts what git sees."""

from __future__ import annotations

from pathlib import Path

from benchmarks.night import night

RECORDS = Path(__file__).resolve().parents[2] / "wiki-example" / "wiki" / "_sessions"


def test_a_night_is_counted_by_kind_and_what_became_of_each_file(tmp_path: Path) -> None:
    records = sorted(RECORDS.iterdir())[:4]
    found = night(records, 1, tmp_path / "wiki")
    assert (found["_sessions", "new"], found["summary", "new"]) == (1, 1)
    assert (found["index.md", "changed"], found["_index.jsonl", "changed"]) == (1, 1)
    assert found["summary", "changed"] == 0
