"""Which wiki a command works on when none is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.commands.unchanged import wiki_folder


def test_the_nearest_wiki_above_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert wiki_folder(None) == Path("wiki")  # outside of a repository it may be another project's
    (tmp_path / ".git").mkdir()
    assert wiki_folder(None) == tmp_path / "wiki"
    assert wiki_folder(Path("other")) == Path("other")


def test_the_search_ends_at_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    monkeypatch.chdir(repository)
    assert wiki_folder(None) == Path("wiki")


@pytest.mark.parametrize("command", ["consolidate-clusters", "discover-tasks", "catalog"])
def test_a_stage_that_works_on_what_is_mined_makes_no_wiki(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--wiki", str(tmp_path / "none")]) == 2
    assert "no wiki here" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_wiki_that_is_not_there_is_not_dumped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "guidelines", "--wiki", str(tmp_path / "none")]) == 2
    assert "no wiki here" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["dump", "summaries"],
        ["consult", "tests fail"],
        ["status"],
        ["check"],
        ["review"],
        ["why", "a-page"],
        ["keep", "a-page"],
        ["report"],
        ["config"],
        ["catalog"],
        ["site", "--out", "site"],
    ],
    ids=lambda words: words[0],
)
def test_where_no_wiki_is_the_one_beside_it_is_named(
    tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / ("a-long-name-of-a-folder" * 4)
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert main(["init", "--wiki", "demo"]) == 0
    assert main(["catalog", "--wiki", "demo"]) == 0
    assert main(command) == 2
    assert re.search(
        r"\Awiki: \S*/wiki: no wiki here; (\S*/)?demo is one: name it with --wiki", capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "command", [["ingest", "{recording}"], ["summarize", "{recording}"], ["catalog"], ["join", "{other}"]]
)
def test_a_folder_of_other_things_is_not_made_a_wiki(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    docs, other = tmp_path / "docs", tmp_path / "other"
    docs.mkdir()
    (docs / "guide.md").write_text("# Ours\n", encoding="utf-8")
    assert main(["init", "--wiki", str(other)]) == 0
    recording = tmp_path / "r.json"
    recording.write_text('{"messages": [{"role": "user", "content": "Hi"}]}', encoding="utf-8")
    words = [word.format(recording=recording, other=other) for word in command]
    assert main([*words, "--wiki", str(docs)]) == 2
    assert "holds other things and is no wiki" in capsys.readouterr().err
    assert [each.name for each in docs.iterdir()] == ["guide.md"]


@pytest.mark.parametrize("command", [["catalog"], ["consult", "tests fail"], ["why", "a-page"], ["review"]])
def test_a_command_that_reads_a_wiki_makes_none(tmp_path: Path, command: list[str]) -> None:
    assert main([*command, "--wiki", str(tmp_path / "wiki")]) != 0
    assert list(tmp_path.iterdir()) == []


def test_what_an_owner_prepared_is_no_other_thing(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    (wiki / "prompts").mkdir(parents=True)
    (wiki / ".git").mkdir()
    recording = tmp_path / "r.json"
    recording.write_text('{"messages": [{"role": "user", "content": "Hi"}]}', encoding="utf-8")
    assert main(["ingest", str(recording), "--wiki", str(wiki)]) == 0


def test_a_wiki_that_is_there_is_not_made_again_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    capsys.readouterr()
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'wiki'} is a wiki already; nothing to write\n"
