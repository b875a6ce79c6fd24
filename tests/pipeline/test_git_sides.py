"""Git is asked about a wiki only after it has merged pages of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wikis import Script, ingest, record


def test_of_a_wiki_without_a_merged_page_git_is_asked_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answered(_wiki: Path, *arguments: str) -> bytes:
        asked.append(arguments[0])
        return b""

    monkeypatch.setattr("agent_wiki.pipeline.git_sides.git_output", answered)
    ingest([record(tmp_path, "a")], tmp_path / "wiki", Script(tmp_path).engine)
    assert asked == []
    page = next((tmp_path / "wiki" / "summaries").glob("*a*.md"))
    page.write_text(f"<<<<<<< HEAD\n{page.read_text()}=======\n>>>>>>> one\n", encoding="utf-8")
    ingest([], tmp_path / "wiki", Script(tmp_path).engine, stages=("catalog",))
    assert asked == ["rev-parse", "rev-list"]
