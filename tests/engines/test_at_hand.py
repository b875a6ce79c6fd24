"""Who names no engine is told in one line which ones are there that would find more."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.engines.at_hand import hint
from tests.engines.programs.fakes import calls_of, on_path, program
from tests.wikis import record


def test_nothing_is_said_where_nothing_is_there(tmp_path: Path) -> None:
    assert hint({"PATH": str(tmp_path)}) == ""


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`wiki ingest` of a recording, where a program and a key are there."""
    program(tmp_path, "claude", "")
    on_path(tmp_path, monkeypatch)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-secret")
    return ["ingest", str(record(tmp_path / "t", "session-0")), "--wiki", str(tmp_path / "wiki")]


def test_one_line_names_what_is_there_and_nothing_is_started(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    said = capsys.readouterr()
    (line,) = [line for line in said.err.splitlines() if line.startswith("hint: ")]
    assert "--engine claude-code (`claude` is installed), anthropic (ANTHROPIC_API_KEY is set)" in line
    assert "a-secret" not in said.err + said.out
    assert "hint" not in said.out
    assert calls_of(tmp_path, "claude") == 0
    assert main(words) == 0
    assert "hint" not in capsys.readouterr().err, "nothing was mined"


@pytest.mark.parametrize("more", [["--engine", "offline"], ["--json"]])
def test_who_chose_or_wants_json_is_not_told(
    words: list[str], more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *more]) == 0
    said = capsys.readouterr()
    assert "hint" not in said.err + said.out
