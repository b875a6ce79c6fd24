"""What a shell offers at a tab, by the variables that its completion script sets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agent_wiki.commands import main
from tests.conftest import ROOT


def _offered(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.setattr(sys, "argv", ["wiki"])
    monkeypatch.setenv("_WIKI_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    assert main() == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("wiki con", {"consult", "connect", "config", "consolidate-clusters"}),
        ("wiki why --con", {"--context"}),
        ("wiki why always-parse", {"always-parse-csv-with-the-csv-module__caf16d1e74d4"}),
        ("wiki keep guidelines/always-parse", {"guidelines/always-parse-csv-with-the-csv-module__caf16d1e74d4.md"}),
        ("wiki forget 0619", {"0619ab75-c1b2-5696-8a71-1a319b657b2f"}),
        ("wiki prompt s", {"summarize", "synthesize-skill"}),
        ("wiki ingest --engine co", {"codex"}),
        ("wiki connect cu", {"cursor"}),
    ],
)
def test_names_of_the_wiki_and_of_the_program_are_offered(
    words: str, offered: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT / "wiki-example")
    assert set(_offered(words, monkeypatch, capsys)) == offered


def test_without_a_wiki_nothing_is_offered_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _offered("wiki why a", monkeypatch, capsys) == []


def test_a_name_that_a_shell_would_run_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wiki").mkdir()
    links = ["guidelines/a`id`.md", "guidelines/a$(id).md", "guidelines/a b.md", "guidelines/ab.md"]
    rows = "".join(json.dumps({"kind": "guideline", "id": str(n), "link": link}) + "\n" for n, link in enumerate(links))
    (tmp_path / "wiki" / "_index.jsonl").write_text(rows, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert _offered("wiki why a", monkeypatch, capsys) == ["ab"]
