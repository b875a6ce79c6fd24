"""`wiki check`: nothing in a whole wiki, nothing written without --fix, what is mechanical mended and no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.checks.skills import faults_of_fields
from agent_wiki.commands import main
from agent_wiki.pipeline import publish
from agent_wiki.pipeline.load import LoadedWiki, load_wiki
from agent_wiki.retrieval.recording_places import Places
from agent_wiki.wiki.store import WikiFolder
from tests.checks.broken import built, copied, make
from tests.wikis import changed, tree

PAGE = "guidelines/run-the-check-first__7890180238f4.md"
OTHER = "guidelines/ask-for-the-currency__f218b7d8e589.md"
EDITED: dict[str, Any] = {"file": PAGE, "old": "The check told", "new": "I know that the check told"}
CONFLICT = r"<<<<<<< a\n\1\n=======\n\1\n>>>>>>> b"
MECHANICAL: list[dict[str, Any]] = [
    {"file": "_index.jsonl", "remove": True},
    {"file": ".gitattributes", "remove": True},
    {"file": ".wiki/.gitignore", "write": ""},
    {"file": ".wiki/4194999.tmp", "write": "a part"},
    {"file": OTHER, "pattern": "generated: sha256:.{4}", "new": "generated: sha256:0000"},
    {"file": "tasks/fix-the-cart__task.md", "remove": True},
    {"file": "summaries/s-2.md", "pattern": "(?m)^(The check failed.*)$", "new": CONFLICT},
]


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("whole"))


def _files(wiki: Path) -> dict[str, bytes]:
    return {str(path.relative_to(wiki)): path.read_bytes() for path in wiki.rglob("*") if path.is_file()}


def test_nothing_is_found_in_a_whole_wiki_and_nothing_is_written(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _files(wiki)
    assert main(["check", "--wiki", str(wiki)]) == 0
    assert capsys.readouterr().out == "0 findings in 8 pages, 3 sessions, quotes held against the recordings of 3\n"
    assert main(["check", "--wiki", str(wiki), "--fix"]) == 0
    assert changed(_files(wiki), before) == []


def test_a_wiki_without_its_machinery_and_recordings_is_whole_too(wiki: Path, tmp_path: Path) -> None:
    moved = copied(wiki, tmp_path / "a").rename(tmp_path / "wiki")
    for path in sorted((moved / ".wiki").rglob("*"), reverse=True):
        path.unlink()
    (moved / ".wiki").rmdir()
    assert main(["check", "--wiki", str(moved)]) == 0
    assert not (moved / ".wiki").exists()


def test_fix_mends_what_is_mechanical_and_leaves_what_a_person_wrote(
    wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = copied(wiki, tmp_path)
    whole, edits = tree(broken), [*MECHANICAL, EDITED]
    for edit in edits:
        make(broken, edit)
    before = _files(broken)
    assert main(["check", "--wiki", str(broken), "--fix", "--dry-run"]) == 1
    shown = capsys.readouterr().out
    assert changed(_files(broken), before) == []
    for edit in MECHANICAL:
        assert f"would be mended: {edit['file']}: " in shown
    assert main(["check", "--wiki", str(broken), "--fix"]) == 1
    shown = capsys.readouterr().out
    assert [line.partition(":")[0] for line in shown.splitlines() if not line.startswith("mended: ")] == [
        PAGE,
        "1 finding in 8 pages, 3 sessions, quotes held against the recordings of 3",
    ]
    for edit in MECHANICAL:
        assert f"mended: {edit['file']}: " in shown
    assert changed(tree(broken), whole) == [PAGE]
    assert b"I know that the check told" in (broken / PAGE).read_bytes()
    assert not (broken / ".wiki/4194999.tmp").exists()


def test_a_wiki_is_loaded_once_also_where_pages_and_their_index_were_edited(
    wiki: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded: list[Path] = []

    def noted(folder: WikiFolder, *args: Any, **options: Any) -> LoadedWiki:
        loaded.append(folder.root)
        return load_wiki(folder, *args, **options)

    monkeypatch.setattr(publish, "load_wiki", noted)
    edited = copied(wiki, tmp_path)
    for edit in (EDITED, {"file": "guidelines/index.md", "add": "Mine.\n"}):
        make(edited, edit)
    assert main(["check", "--wiki", str(edited)]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if ": rendering/edited: " in line]
    assert [line.partition(":")[0] for line in lines] == ["guidelines/index.md", PAGE]
    assert loaded == [edited]


def test_what_was_found_as_json_and_as_sarif(wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = copied(wiki, tmp_path)
    make(broken, EDITED)
    sarif = tmp_path / "check.sarif"
    assert main(["check", "--wiki", str(broken), "--json", "--sarif", str(sarif)]) == 1
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert (found["check"], found["file"], found["line"]) == ("rendering/edited", PAGE, 27)
    run = json.loads(sarif.read_text(encoding="utf-8"))["runs"][0]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "rendering/edited"
    assert (place["artifactLocation"]["uri"], place["region"]) == ((broken / PAGE).as_uri(), {"startLine": 27})


def test_of_a_wiki_that_cannot_be_loaded_the_files_are_checked(
    wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = copied(wiki, tmp_path)
    make(broken, {"file": "_config.yaml", "add": "clusters: [\n"})
    make(broken, {"file": ".wiki/.gitignore", "remove": True})
    assert main(["check", "--wiki", str(broken), "--fix"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "mended: .wiki/.gitignore: written"
    assert any("config/unreadable" in line for line in lines)
    assert lines[-1].startswith("not checked any further: _config.yaml:")


def test_a_folder_that_is_no_wiki_is_refused(tmp_path: Path) -> None:
    assert main(["check", "--wiki", str(tmp_path / "none")]) == 2
    (tmp_path / "notes.txt").write_text("no wiki", encoding="utf-8")
    assert main(["check", "--wiki", str(tmp_path)]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]


@pytest.mark.parametrize(
    "front",
    [
        "name: check-it\ndescription: What it does.",
        "name: check-it\ndescription: What it does.\nlicense: MIT\nmetadata:\n  a: b",
        "name: Check-it\ndescription: What it does.",
        "name: other\ndescription: What it does.",
        "name: -check-it\ndescription: What it does.",
        "name: check--it\ndescription: What it does.",
        "name: check_it\ndescription: What it does.",
        f"name: {'c' * 65}\ndescription: What it does.",
        "name: check-it",
        "description: What it does.",
        f"name: check-it\ndescription: {'d' * 1025}",
        f"name: check-it\ndescription: d\ncompatibility: {'d' * 501}",
        "name: check-it\ndescription: What it does.\ntrust: user",
        "name: ''\ndescription: What it does.",
        "name: check-it\ndescription: ' '",
    ],
)
def test_a_skill_is_judged_as_the_reference_validator_judges_it(front: str) -> None:
    validator = pytest.importorskip("skills_ref.validator", reason="skills-ref is among the requirements of tests")
    parser = pytest.importorskip("skills_ref.parser")
    fields, _ = parser.parse_frontmatter(f"---\n{front}\n---\n\n# It\n")
    theirs = validator.validate_metadata(fields, Path("check-it"))
    assert bool(list(faults_of_fields(fields, "check-it"))) is bool(theirs), theirs


def test_a_recording_in_a_bucket_is_not_fetched(
    wiki: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fetched(key: str) -> Path:
        assert "://" not in key, f"{key} was asked for"
        return Path(key)

    monkeypatch.setattr("agent_wiki.retrieval.recording_places.path_of_listed", fetched)
    moved = copied(wiki, tmp_path / "a").rename(tmp_path / "wiki")
    entry = {"key": "s3://nowhere/s-1.json", "size": 1, "changed": "x", "sessions": [["s-1", "sha256:0", "mined"]]}
    (moved / "_buckets.jsonl").write_text(f"{json.dumps(entry)}\n", encoding="utf-8")
    assert main(["check", "--wiki", str(moved)]) == 0
    assert "against the recordings of 0" in capsys.readouterr().out
    with pytest.raises(AssertionError, match="was asked for"):
        Places(WikiFolder(moved)).find("s-1", "s-1.json", None)
