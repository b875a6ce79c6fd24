"""What an owner decides about pages: an edit stays, is kept for good or rendered again, and nothing else is touched."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.pipeline.owners_pages import keep, reject, restore
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval.review import to_review
from agent_wiki.wiki.config import parse_config
from tests.pipeline.owners import ONE, SCRIPT, SKILL, TWO, two_sessions, wiki_of_two_sessions
from tests.pipeline.owners import catalog as _catalog
from tests.pipeline.owners import did as _did
from tests.pipeline.owners import edit as _edit
from tests.pipeline.owners import page_of as _page
from tests.wikis import Script, changed, ingest, record, rule, tree


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return two_sessions(tmp_path)


@pytest.fixture
def wiki(tmp_path: Path, script: Script) -> Path:
    return wiki_of_two_sessions(tmp_path, script)


def test_an_edit_of_the_body_or_of_the_front_matter_stays_and_is_reported(wiki: Path) -> None:
    one, two = _page(wiki, ONE), _page(wiki, TWO)
    texts = {one: _edit(wiki, one), two: _edit(wiki, two, "tags: [logs]", "tags: [logs, mine]")}
    for _ in range(2):
        assert _catalog(wiki).edited == sorted(texts)
        assert {path: (wiki / path).read_text(encoding="utf-8") for path in texts} == texts


def test_line_ends_that_git_changed_are_no_edit(wiki: Path) -> None:
    before = tree(wiki)
    for path in (_page(wiki, ONE), SKILL, SCRIPT, "index.md", "AGENTS.md"):
        (wiki / path).write_bytes(before[path].replace(b"\n", b"\r\n"))
    assert to_review(wiki).edited == []
    assert _catalog(wiki).edited == []
    assert changed(before, tree(wiki)) == []


def test_review_shows_what_an_edit_changed_against_what_the_sessions_say_now(
    tmp_path: Path, script: Script, wiki: Path
) -> None:
    page = _page(wiki, TWO)
    _edit(wiki, page)
    before = tree(wiki)
    ingest([record(tmp_path / "t", "b", more=1)], wiki, script.engine, archive_covered=False)
    script.says("c", rules=[rule(TWO)])
    ingest([record(tmp_path / "t", "c", "2026-02-02")], wiki, script.engine, archive_covered=False)
    assert (wiki / page).read_bytes() == before[page]
    (found,) = to_review(wiki).edited
    assert (found.link, found.is_supported) == (page, True)
    assert "+A word of mine." in found.diff.split("\n")
    assert any((line.startswith("-") and "'c'" in line.replace('"', "'")) or "summaries/c.md" in line
               for line in found.diff.split("\n") if line.startswith("-"))  # fmt: skip


def test_an_edited_page_whose_rule_vanishes_stays_is_indexed_and_goes_when_it_is_restored(
    tmp_path: Path, script: Script, wiki: Path
) -> None:
    page = _page(wiki, TWO)
    _edit(wiki, page, TWO, "Read the whole log.")
    script.says("a", rules=[rule(ONE)], skill={"skill": None})
    report = ingest([tmp_path / "t"], wiki, script.engine, archive_covered=False)
    assert (report.edited, report.exit_code) == ([page], 0)
    assert not (wiki / SKILL).exists()
    assert "Read the whole log." in (wiki / "_index.jsonl").read_text(encoding="utf-8")
    assert [(each.link, each.is_supported) for each in to_review(wiki).edited] == [(page, False)]
    assert page in _did(restore, wiki, page).removed
    assert page not in tree(wiki)
    assert _catalog(wiki).edited == []


def test_an_edited_member_of_a_cluster_whose_rule_vanishes_stops_nothing(
    tmp_path: Path, script: Script, wiki: Path
) -> None:
    page = _page(wiki, TWO)
    ids = [Path(each).stem.rpartition("__")[2] for each in (_page(wiki, ONE), page)]
    config = wiki / "_config.yaml"
    text = config.read_text(encoding="utf-8").replace("clusters: {}", f"clusters: {{c: {{members: {ids}}}}}")
    config.write_text(text.replace("'", ""), encoding="utf-8")
    _catalog(wiki)
    _edit(wiki, page)
    script.says("a", rules=[rule(ONE)])
    report = ingest([tmp_path / "t"], wiki, script.engine, archive_covered=False)
    assert "cluster c: 1 of its members exist, two are needed" in report.warnings
    assert report.edited == [page]


def test_edited_scripts_indexes_and_agents_md_stay_and_are_restored_to_the_generated_bytes(wiki: Path) -> None:
    before = tree(wiki)
    paths = [SCRIPT, SKILL, "index.md", "guidelines/index.md", "AGENTS.md", _page(wiki, ONE)]
    texts = {path: _edit(wiki, path) for path in paths}
    reported = sorted(set(paths) - {"AGENTS.md"})
    assert _catalog(wiki).edited == sorted(set(reported) - {SCRIPT})
    assert {path: (wiki / path).read_text(encoding="utf-8") for path in paths} == texts
    _did(restore, wiki, *paths)
    assert changed(before, tree(wiki)) == []
    assert to_review(wiki).edited == []


def test_an_edited_script_is_reported_shown_and_restored(wiki: Path) -> None:
    before = tree(wiki)
    _edit(wiki, SCRIPT)
    assert _catalog(wiki).edited == [SCRIPT]
    (found,) = to_review(wiki).edited
    assert (found.link, found.diff.split("\n")[-1]) == (SCRIPT, "+A word of mine.")
    assert _did(restore, wiki, SCRIPT).written == [SCRIPT]
    assert changed(before, tree(wiki)) == []


def test_a_page_that_a_person_deleted_is_rendered_again(wiki: Path) -> None:
    before = tree(wiki)
    for path in (_page(wiki, ONE), SKILL, "index.md", SCRIPT):
        (wiki / path).unlink()
    _catalog(wiki)
    assert changed(before, tree(wiki)) == []


def test_a_kept_page_is_no_longer_reported_and_never_written_or_removed(
    tmp_path: Path, script: Script, wiki: Path
) -> None:
    one, two = _page(wiki, ONE), _page(wiki, TWO)
    text = _edit(wiki, two)
    unedited = (wiki / one).read_bytes()
    names = [two, Path(one).stem.rpartition("__")[2], "index.md", SCRIPT]
    assert _did(keep, wiki, *names).edited == []
    assert parse_config((wiki / "_config.yaml").read_text(encoding="utf-8")).kept == tuple(
        sorted([one, two, "index.md", SCRIPT])
    )
    index = (wiki / "index.md").read_bytes()
    script.says("a", rules=[], skill={"skill": None})
    script.says("b", rules=[])
    report = ingest([tmp_path / "t"], wiki, script.engine, archive_covered=False)
    assert report.edited == []
    assert (wiki / two).read_text(encoding="utf-8") == text
    assert ((wiki / one).read_bytes(), (wiki / "index.md").read_bytes()) == (unedited, index)
    assert (wiki / SCRIPT).exists()
    assert not (wiki / SKILL).exists()
    assert to_review(wiki).edited == []


def test_keep_and_restore_lead_back_to_the_generated_bytes(wiki: Path) -> None:
    before = tree(wiki)
    page = _page(wiki, ONE)
    _edit(wiki, page)
    _did(keep, wiki, page)
    assert f"  - {page}\n" in (wiki / "_config.yaml").read_text(encoding="utf-8")
    _did(restore, wiki, page)
    assert changed(before, tree(wiki)) == []


def test_a_dry_run_decides_nothing(wiki: Path) -> None:
    page = _page(wiki, ONE)
    _edit(wiki, page)
    before = tree(wiki)
    for act in (keep, restore, partial(reject, why="no")):
        report = act(wiki, [page], report=Report("test", str(wiki), is_dry_run=True))
        assert "_config.yaml" in report.written or page in report.written
        assert changed(before, tree(wiki)) == []


@pytest.mark.parametrize(
    "name",
    ["../secret.md", "guidelines/../../secret.md", "/etc/passwd", "skills/../../secret.md", "_config.yaml"],
)
@pytest.mark.parametrize("command", ["keep", "restore", "reject"])
def test_no_name_leads_out_of_the_wiki(
    command: str, name: str, tmp_path: Path, wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret.md").write_text("mine\n", encoding="utf-8")
    before = tree(wiki)
    assert main([command, name, "--wiki", str(wiki)]) == 2
    assert "no page of" in capsys.readouterr().err
    assert (tmp_path / "secret.md").read_text(encoding="utf-8") == "mine\n"
    assert changed(before, tree(wiki)) == []


def test_a_link_in_the_place_of_a_script_is_not_followed(tmp_path: Path, wiki: Path) -> None:
    (tmp_path / "secret.sh").write_text("mine\n", encoding="utf-8")
    (wiki / SCRIPT).unlink()
    (wiki / SCRIPT).symlink_to(tmp_path / "secret.sh")
    assert main(["restore", str(wiki / SCRIPT), "--wiki", str(wiki)]) == 2
    assert (tmp_path / "secret.sh").read_text(encoding="utf-8") == "mine\n"


def test_entries_of_the_configuration_that_lead_out_of_the_wiki_are_nothing(tmp_path: Path, wiki: Path) -> None:
    (tmp_path / "secret.md").write_text("mine\n", encoding="utf-8")
    config = wiki / "_config.yaml"
    text = config.read_text(encoding="utf-8").replace("kept: []", "kept: [../secret.md]")
    config.write_text(text.replace("rejected: {}", "rejected: {../secret: , 'skill:../..': }"), encoding="utf-8")
    assert _catalog(wiki).exit_code == 0
    assert (tmp_path / "secret.md").read_text(encoding="utf-8") == "mine\n"


def test_the_commands_print_what_they_did(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = _page(wiki, ONE)
    _edit(wiki, page)
    assert main(["review", "--wiki", str(wiki)]) == 0
    shown = capsys.readouterr().out
    head, *commands = shown.splitlines()[:3]
    assert (head, commands) == (
        f"{page} [edited]",
        [
            f"   to keep your words: wiki keep {page} --wiki {wiki}",
            f"   to render it again: wiki restore {page} --wiki {wiki}",
        ],
    )
    assert f"\n   --- rendered {page}\n   +++ edited {page}\n" in shown
    assert "   +A word of mine.\n" in shown
    assert main(["review", "--wiki", str(wiki), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["link"], found["reason"], found["is_supported"]) == (page, "edited", True)
    assert main(["keep", page, "--wiki", str(wiki)]) == 0
    assert capsys.readouterr().out.startswith(f"kept: {page}\n")
    assert main(["restore", page, "--wiki", str(wiki), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["restored"], report["edited"], report["exit_code"]) == ([page], [], 0)
    assert main(["reject", page, "--why", "no", "--wiki", str(wiki), "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith(f"would be rejected: {page}\n")
    assert main(["reject", page, "--why", "no", "--wiki", str(wiki), "--json"]) == 0
    assert page in json.loads(capsys.readouterr().out)["removed"]


def test_escape_sequences_of_an_edit_do_not_reach_the_terminal(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _edit(wiki, _page(wiki, ONE), new="\x1b[2Jgone\x07\n")
    assert main(["review", "--wiki", str(wiki)]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("content", ["", "\n"])
def test_a_page_that_a_person_emptied_is_an_edited_one_and_counts_once(wiki: Path, content: str) -> None:
    lesson, skill, summary = _page(wiki, ONE), SKILL, "summaries/a.md"
    before, whole = tree(wiki), _catalog(wiki)
    for path in (lesson, skill, summary):
        (wiki / path).write_text(content, encoding="utf-8")
    shutil.rmtree(wiki / ".wiki")
    report = _catalog(wiki)
    assert report.pages == whole.pages
    assert report.edited == sorted([lesson, skill, summary])
    assert [each.partition(": ")[2].partition(";")[0] for each in report.warnings] == ["somebody emptied this page"] * 3
    assert set(changed(before, tree(wiki))) == {lesson, skill, summary}
    for page in (lesson, skill, summary):
        restore(wiki, [page], Report("restore", str(wiki)))
    assert changed(before, tree(wiki)) == []


def test_an_emptied_page_that_no_session_supports_is_in_no_index_and_goes_when_it_is_restored(wiki: Path) -> None:
    before = tree(wiki)
    path = "guidelines/gone__000000000000.md"
    (wiki / path).write_bytes(b"")
    assert _catalog(wiki).edited == [path]
    assert changed(before, tree(wiki)) == [path]
    restore(wiki, [path], Report("restore", str(wiki)))
    assert changed(before, tree(wiki)) == []
