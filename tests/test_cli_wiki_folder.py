"""Which wiki a command works on when none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.commands.unchanged import wiki_folder


def test_the_nearest_wiki_above_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert wiki_folder(None) == tmp_path / "wiki"
    assert wiki_folder(Path("other")) == Path("other")


def test_the_search_ends_at_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    monkeypatch.chdir(repository)
    assert wiki_folder(None) == Path("wiki")


def test_a_wiki_that_is_not_there_is_not_dumped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "guidelines", "--wiki", str(tmp_path / "none")]) == 2
    assert "no such wiki" in capsys.readouterr().err
