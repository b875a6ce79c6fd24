"""A command that names no engine takes the embedded one, and never replaces what another engine made."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.commands import main
from tests.wikis import Script, record, tree


def _wiki_of_another_engine(folder: Path) -> tuple[Path, list[str]]:
    told = Script(folder)
    told.says("")
    wiki = folder / "wiki"
    paths = [str(record(folder / "t", "session-1"))]
    assert main(["ingest", *paths, "--wiki", str(wiki), "--engine", told.engine]) == 0
    return wiki, paths


@pytest.mark.parametrize("command", ["ingest", "summarize", "discover-tasks", "join"])
def test_what_another_engine_made_is_not_replaced_unasked(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki, paths = _wiki_of_another_engine(tmp_path)
    before = tree(wiki)
    words = {"discover-tasks": [], "join": [str(wiki)]}.get(command, paths)
    assert main([command, *words, "--wiki", str(wiki)]) == 2
    assert "made with --engine scripted; say so to go on with it, or --engine offline" in capsys.readouterr().err
    assert tree(wiki) == before


def test_catalog_asks_nobody_and_a_named_engine_is_taken_at_its_word(tmp_path: Path) -> None:
    wiki, paths = _wiki_of_another_engine(tmp_path)
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    assert main(["ingest", *paths, "--wiki", str(wiki), "--engine", "offline"]) == 0
    assert main(["ingest", *paths, "--wiki", str(wiki)]) == 0
