"""`wiki catalog` of a wiki in which nothing has changed: quick, and with the words of the long way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.generated_wiki import generate

from agent_wiki.commands import main, unchanged
from agent_wiki.pipeline import finished


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    generate(tmp_path / "wiki", 3)
    assert main(["catalog", "--wiki", str(tmp_path / "wiki")]) == 0
    return tmp_path / "wiki"


def test_the_quick_answer_is_that_of_the_long_way(
    wiki: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert unchanged.is_catalogued(["catalog", "--wiki", str(wiki)])
    quick = capsys.readouterr().out
    monkeypatch.setattr(unchanged, "is_catalogued", lambda _words: False)
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    assert capsys.readouterr().out == quick
    assert "15 pages unchanged" in quick


@pytest.mark.parametrize("module", ["typer", "pydantic", "pydantic_core", "jinja2", "yaml"])
def test_the_quick_answer_loads_no_heavy_package(wiki: Path, module: str) -> None:
    script = (
        f"import sys; from agent_wiki.commands import main; sys.exit(main(sys.argv[1:]) or {module!r} in sys.modules)"
    )
    words = [sys.executable, "-c", script, "catalog", "--wiki", str(wiki)]
    assert subprocess.run(words, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("path", ["_config.yaml", "guidelines/index.md", "_sessions/another.json", "templates/x.j2"])
def test_any_change_of_a_file_takes_the_long_way(wiki: Path, path: str) -> None:
    (wiki / path).parent.mkdir(exist_ok=True)
    with (wiki / path).open("a", encoding="utf-8") as stream:
        stream.write("# more\n")
    assert not unchanged.is_catalogued(["catalog", "--wiki", str(wiki)])


def test_where_a_record_came_the_other_files_are_not_looked_at(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finished, "scan", lambda _root: pytest.fail("all files were looked at"))
    later = (wiki / ".wiki/finished.json").stat().st_mtime_ns + 1_000_000_000
    os.utime(wiki / "_sessions", ns=(later, later))
    assert not unchanged.is_catalogued(["catalog", "--wiki", str(wiki)])


def test_a_file_that_is_gone_or_a_link_takes_the_long_way(wiki: Path) -> None:
    page = sorted(wiki.glob("guidelines/*__*.md"))[0]
    page.rename(wiki.parent / "page.md")
    assert not unchanged.is_catalogued(["catalog", "--wiki", str(wiki)])
    page.symlink_to(wiki.parent / "page.md")
    assert not unchanged.is_catalogued(["catalog", "--wiki", str(wiki)])


def test_what_an_engine_warns_of_is_repeated(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (wiki / "_config.yaml").open("a", encoding="utf-8") as stream:
        stream.write("rules: {ignore: [no-such-rule]}\n")
    for _ in range(2):
        assert main(["catalog", "--wiki", str(wiki)]) == 0
        assert "no-such-rule" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["catalog", "--json"], ["catalog", "--dry-run"], ["ingest"], []])
def test_other_commands_take_the_long_way(wiki: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.chdir(wiki.parent)
    assert unchanged.is_catalogued(["catalog"])
    assert not unchanged.is_catalogued(words)
