"""`rules: {ignore: […]}` in `_config.yaml`: an owner switches a rule of the embedded engine off."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.readers.example_notation import example_session
from agent_wiki.trajectory import envelope_chunks
from tests.wikis import ingest, tree

REBASED = """$ git rebase --continue
! error: There was a problem with the editor 'vi'
$ GIT_EDITOR=true git rebase --continue
= ok"""


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "traces" / "example.json"
    path.parent.mkdir()
    path.write_text("".join(envelope_chunks(example_session(REBASED))), encoding="utf-8")
    return path


def _ignore(wiki: Path, rules: str) -> None:
    config = wiki / "_config.yaml"
    config.write_text(f"{config.read_text(encoding='utf-8')}rules:\n  ignore: {rules}\n", encoding="utf-8")


def _titles(wiki: Path) -> list[str]:
    pages = sorted(path for path in (wiki / "guidelines").glob("*.md") if path.stem != "index")
    return [line[2:] for page in pages for line in page.read_text(encoding="utf-8").splitlines() if line[:2] == "# "]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_rule_that_is_ignored_makes_no_page_and_makes_it_again_once_it_is_not(
    recording: Path, tmp_path: Path, jobs: int
) -> None:
    wiki = tmp_path / "wiki"
    ingest([recording], wiki, "offline", jobs=jobs)
    before = tree(wiki)
    assert _titles(wiki) == ["Set GIT_EDITOR for git rebase"]
    config = (wiki / "_config.yaml").read_bytes()
    _ignore(wiki, "[surroundings/variable]")
    report = ingest([recording], wiki, "offline", jobs=jobs)
    assert "Set GIT_EDITOR for git rebase" not in _titles(wiki)
    assert (report.failures, report.warnings) == ([], [])
    assert ingest([recording], wiki, "offline", jobs=jobs).pages_unchanged == sum(report.pages.values())
    (wiki / "_config.yaml").write_bytes(config)
    ingest([recording], wiki, "offline", jobs=jobs)
    assert tree(wiki) == before


def test_a_rule_that_there_is_not_is_a_warning_and_nothing_is_mined_again(recording: Path, tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    ingest([recording], wiki, "offline")
    before = tree(wiki)
    _ignore(wiki, "[remedies/no-such-rule]")
    report = ingest([recording], wiki, "offline")
    assert report.warnings == ["_config.yaml: rules.ignore: there is no rule 'remedies/no-such-rule'"]
    assert {**tree(wiki), "_config.yaml": b""} == {**before, "_config.yaml": b""}
    assert report.exit_code == 0


def test_what_is_no_list_of_rules_is_one_line(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = tmp_path / "wiki"
    ingest([recording], wiki, "offline")
    _ignore(wiki, "surroundings/variable")
    assert main(["ingest", str(recording), "--wiki", str(wiki)]) == 2
    assert (
        capsys.readouterr().err == "wiki: _config.yaml: rules.ignore is not a list of ids; correct it and run again\n"
    )
