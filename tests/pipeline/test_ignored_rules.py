"""`rules: {ignore: […]}` in `_config.yaml`: an owner switches a rule of the embedded engine off."""

from __future__ import annotations

import json
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


def _set(wiki: Path, rules: str, *words: str) -> None:
    assert main(["config", "set", "rules.ignore", rules, "--wiki", str(wiki), *words]) == 0


def test_setting_it_takes_the_pages_out_at_once_and_taking_it_back_brings_them_back(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = tmp_path / "wiki"
    ingest([recording], wiki, "offline")
    recording.unlink()
    before = tree(wiki)
    (page,) = (path for path in before if path.startswith("guidelines/set-git-editor"))
    _set(wiki, "[surroundings/variable]", "--dry-run")
    said = "ignored: 1 page would be removed, as `rules.ignore` names the rule: surroundings/variable (1)"
    assert said in capsys.readouterr().out.splitlines()
    assert tree(wiki) == before
    _set(wiki, "[surroundings/variable]", "--json")
    report = json.loads(capsys.readouterr().out)
    assert [(each["unit"], each["reason"]) for each in report["ignored"]] == [(page, "surroundings/variable")]
    after = tree(wiki)
    assert _titles(wiki) == []
    assert page.rpartition("__")[2].removesuffix(".md") not in (wiki / "_config.yaml").read_text(encoding="utf-8")
    assert {path: after[path] for path in after if path.startswith("_sessions/")} == {
        path: before[path] for path in before if path.startswith("_sessions/")
    }
    assert main(["check", "--wiki", str(wiki)]) == 0
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    assert tree(wiki) == after
    _set(wiki, "null")
    assert {**tree(wiki), "_config.yaml": b""} == {**before, "_config.yaml": b""}


def test_it_gives_the_bytes_of_a_wiki_that_never_knew_the_rule_once_the_recordings_are_read(
    recording: Path, tmp_path: Path
) -> None:
    wiki, other = tmp_path / "wiki", tmp_path / "other"
    ingest([recording], wiki, "offline")
    _set(wiki, "[surroundings/variable]")
    pages = tree(wiki)
    ingest([recording], wiki, "offline")
    changed = {path for path, content in tree(wiki).items() if content != pages.get(path)}
    assert all(path.startswith("_sessions/") for path in changed), "pages were up to date already"
    assert main(["init", "--wiki", str(other)]) == 0
    _set(other, "[surroundings/variable]")
    ingest([recording], other, "offline")
    assert tree(wiki) == tree(other)


def test_what_another_wiki_learnt_by_the_rule_is_not_taken_over(recording: Path, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    ingest([recording], theirs, "offline")
    assert main(["init", "--wiki", str(ours)]) == 0
    assert main(["config", "set", "trust", "[theirs]", "--wiki", str(ours)]) == 0
    _set(ours, "[surroundings/variable]")
    assert main(["join", str(theirs), "--wiki", str(ours)]) == 0
    assert _titles(ours) == []
    _set(ours, "null")
    assert _titles(ours) == ["Set GIT_EDITOR for git rebase"]


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
