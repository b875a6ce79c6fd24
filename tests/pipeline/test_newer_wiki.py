"""A wiki that a newer version of this program wrote is read, and never written."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_wiki.commands import main
from tests.wikis import Script, ingest, record, rule, tree

SAYS = "of version 2, and this program knows version 1: upgrade agent-wiki"
RECORD, CONFIG, ANSWER = "_sessions/a.json", "_config.yaml", "_corpus/00112233445566778899aabbccddeeff.json"
WRITING = (
    ["ingest", "TRACES", "--engine", "offline"],
    ["extract-guidelines", "TRACES", "--engine", "offline"],
    ["discover-tasks", "--engine", "offline"],
    ["catalog"],
    ["init"],
    ["config", "set", "pii", "keep"],
    ["secrets", "--allow", "index.md:1", "--why", "none"],
    ["keep", "index.md"],
    ["reject", "index.md", "--why", "wrong"],
    ["forget", "b"],
    ["redact"],
    ["join", "OTHER", "--engine", "offline"],
    ["worklist"],
)


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    script = Script(tmp_path)
    script.says("", rules=[rule("Run the check before a change.")])
    ingest([record(tmp_path / "t", "a"), record(tmp_path / "t", "b")], tmp_path / "wiki", script.engine)
    shutil.copytree(tmp_path / "wiki", tmp_path / "other")
    return tmp_path / "wiki"


def _make_newer(wiki: Path, path: str) -> None:
    """Give one file of a wiki the next version."""
    file = wiki / path
    if path == ANSWER:
        file.parent.mkdir(exist_ok=True)
        file.write_text('{"kind": "x", "version": 2}\n', encoding="utf-8")
        return
    before = file.read_text(encoding="utf-8")
    after = before.replace('"version": 1', '"version": 2').replace("schema_version: 1", "schema_version: 2")
    assert after != before
    file.write_text(after, encoding="utf-8")


def _ran(words: Sequence[str], wiki: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of a command on the wiki, and all that it printed."""
    places = {"TRACES": str(wiki.parent / "t"), "OTHER": str(wiki.parent / "other")}
    code = main([*(places.get(each, each) for each in words), "--wiki", str(wiki)])
    printed = capsys.readouterr()
    return code, printed.out + printed.err


@pytest.mark.parametrize("path", [RECORD, CONFIG, ANSWER])
@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_a_command_that_would_write_stops_and_writes_nothing(
    words: list[str], path: str, wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _make_newer(wiki, path)
    before = tree(wiki)
    code, said = _ran(words, wiki, capsys)
    assert code == 2
    assert f"{path}: {SAYS}; nothing was written" in said
    assert tree(wiki) == before


@pytest.mark.parametrize("path", [RECORD, CONFIG])
@pytest.mark.parametrize("words", [["consult", "run the check"], ["why", "guidelines/index.md"], ["status"]])
def test_a_command_that_reads_goes_on(
    words: list[str], path: str, wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = next((wiki / "guidelines").glob("*__*.md")).relative_to(wiki).as_posix()
    _make_newer(wiki, path)
    code, said = _ran([lesson if each.endswith("index.md") else each for each in words], wiki, capsys)
    assert code in (0, 1)
    assert "nothing was written" not in said


@pytest.mark.parametrize("path", [RECORD, CONFIG, ANSWER])
def test_a_check_says_to_upgrade_and_not_to_ingest_or_render_again(
    path: str, wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _make_newer(wiki, path)
    code, said = _ran(["check"], wiki, capsys)
    assert code == 1
    assert SAYS in said
    assert "again)" not in said
    assert "1 finding " in said


def test_the_configuration_is_not_set_to_a_version_that_this_program_does_not_know(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(wiki)
    code, said = _ran(["config", "set", "schema_version", "2"], wiki, capsys)
    assert (code, SAYS in said) == (2, True)
    assert tree(wiki) == before


def test_a_word_that_only_a_newer_version_knows_is_said_to_be_that(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _make_newer(wiki, CONFIG)
    file = wiki / CONFIG
    file.write_text(file.read_text(encoding="utf-8") + "pii: veil\n", encoding="utf-8")
    code, said = _ran(["catalog"], wiki, capsys)
    assert (code, SAYS in said) == (2, True)
