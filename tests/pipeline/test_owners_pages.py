"""What an owner decides about pages: an edit stays, is kept for good or rendered again; a bad page never comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import UsageError
from agent_wiki.pages.state import view_of
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.pipeline.owners_pages import keep, reject, restore
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval.page_names import files_named
from agent_wiki.retrieval.review import to_review
from agent_wiki.retrieval.why import why as explained
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.layout import content_id, page_id
from agent_wiki.wiki.page import parse_page
from tests.wikis import Script, changed, ingest, record, rule, skill, tree

ONE, TWO = "Run `make check` before each change of the cart.", "Read the log of the check."
ONE_IN_OTHER_WORDS = "Before each change of the cart, run `make check`."
SKILL = "skills/check-the-cart/SKILL.md"
SCRIPT = "skills/check-the-cart/scripts/check.sh"
CATALOG = ("catalog",)
CHECK = "#!/bin/sh\nmake check\n"


@pytest.fixture
def script(tmp_path: Path) -> Script:
    told = Script(tmp_path)
    files = [{"file": "check.sh", "text": CHECK}]
    told.says("a", rules=[rule(ONE), rule(TWO, tags=["logs"])], skill=skill("check-the-cart", scripts=files))
    told.says("b", rules=[rule(ONE)])
    return told


@pytest.fixture
def wiki(tmp_path: Path, script: Script) -> Path:
    """A wiki of two sessions: two rules, a skill with a script."""
    paths = [record(tmp_path / "t", "a", writes={"check.sh": CHECK}), record(tmp_path / "t", "b")]
    assert ingest(paths, tmp_path / "wiki", script.engine, archive_covered=False).exit_code == 0
    return tmp_path / "wiki"


def _page(wiki: Path, text: str) -> str:
    pages = [page for folder in ("guidelines", "_archived") for page in (wiki / folder).glob("*__*.md")]
    (path,) = (page for page in pages if parse_page(page.read_text(encoding="utf-8"), "").lead == text)
    return path.relative_to(wiki).as_posix()


def _rules(wiki: Path) -> set[str]:
    pages = [page for folder in ("guidelines", "_archived") for page in (wiki / folder).glob("*__*.md")]
    return {parse_page(page.read_text(encoding="utf-8"), "").lead for page in pages}


def _edit(wiki: Path, path: str, old: str = "", new: str = "A word of mine.\n") -> str:
    file = wiki / path
    text = file.read_text(encoding="utf-8")
    edited = text.replace(old, new, 1) if old else text + new
    assert edited != text
    file.write_text(edited, encoding="utf-8")
    return edited


def _catalog(wiki: Path) -> Report:
    return ingest([], wiki, "offline", stages=CATALOG)


def _did(act: Callable[[Path, list[str], Report], Report], wiki: Path, *names: str) -> Report:
    return act(wiki, files_named(wiki, names), Report("test", str(wiki)))


def _rejected(wiki: Path, *names: str, why: str = "") -> Report:
    return reject(wiki, files_named(wiki, names), why, Report("reject", str(wiki)))


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


def test_a_rejected_rule_goes_with_all_that_mentions_it_and_comes_back_with_its_line_taken_out(wiki: Path) -> None:
    before = tree(wiki)
    page = _page(wiki, ONE)
    name = Path(page).stem.rpartition("__")[2]
    report = _rejected(wiki, page, why="It takes\nan hour.")
    assert page in report.removed
    config = (wiki / "_config.yaml").read_text(encoding="utf-8")
    assert f"rejected:\n  {name}: It takes an hour.\n" in config
    left = {path: text for path, text in tree(wiki).items() if name.encode() in text}
    assert {path.partition("/")[0] for path in left} == {"_config.yaml", "_sessions", "_corpus"}
    assert _catalog(wiki).written == []
    (wiki / "_config.yaml").write_text(config.replace(f"  {name}: It takes an hour.\n", ""), encoding="utf-8")
    _catalog(wiki)
    after = {path: text for path, text in tree(wiki).items() if path != "_config.yaml"}
    assert changed({path: text for path, text in before.items() if path != "_config.yaml"}, after) == []


def test_a_rejected_rule_does_not_come_back_in_other_words_nor_after_its_session_is_read_again(
    tmp_path: Path, script: Script, wiki: Path
) -> None:
    rejected = _page(wiki, ONE)
    _rejected(wiki, rejected, why="no longer true")
    script.says("c", rules=[rule(ONE_IN_OTHER_WORDS)])
    record(tmp_path / "t", "c", "2026-02-02")
    ingest([tmp_path / "t"], wiki, script.engine, archive_covered=False)
    assert _rules(wiki) == {TWO}
    (hidden,) = view_of(read_wiki(wiki, []).state).rejected.keys() - {page_id(rejected)}
    said_by = rf"left out: it says mostly the same as {page_id(rejected)}, which was rejected \(no longer true\)$"
    with pytest.raises(UsageError, match=said_by):
        explained(wiki, hidden)
    with pytest.raises(UsageError, match=r"left out: it was rejected \(no longer true\)$"):
        explained(wiki, rejected)
    for session in "ab":  # no session says it in the words that were rejected
        script.says(session, rules=[rule(ONE_IN_OTHER_WORDS), rule(TWO)])
    ingest([tmp_path / "t"], wiki, script.engine, archive_covered=False)
    assert _rules(wiki) == {TWO}
    summary = parse_page((wiki / "summaries" / "a.md").read_text(encoding="utf-8"), "")
    assert len(summary.fields["contributed_guidelines"]) == 1


NARROW, WIDE = (
    "Run the tests with `make test` where `pytest` is not installed.",
    "Always run the tests with `make test`.",
)


def _named(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if "rejected: " in line or "removed: " in line]


@pytest.fixture
def narrow_and_wide(tmp_path: Path) -> Path:
    """A wiki with a rule, a wider one, and a cluster of both."""
    told = Script(tmp_path)
    told.says("a", rules=[rule(NARROW, title="Run the tests with make test")])
    told.says("b", rules=[rule(WIDE, title=WIDE)])
    ids = [content_id(each) for each in (NARROW, WIDE)]
    (tmp_path / "nw").mkdir()
    (tmp_path / "nw" / "_config.yaml").write_text(
        f"clusters:\n  make-test: {{title: Make test, takeaway: Make test., members: [{', '.join(ids)}]}}\n",
        encoding="utf-8",
    )
    paths = [record(tmp_path / "narrow", name) for name in "ab"]
    ingest(paths, tmp_path / "nw", told.engine, archive_covered=False)
    assert (tmp_path / "nw" / "guidelines" / "make-test__cluster.md").exists()
    return tmp_path / "nw"


def test_a_wider_rule_stays_when_a_narrow_one_is_rejected_and_all_that_goes_is_named(
    narrow_and_wide: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki, page = narrow_and_wide, _page(narrow_and_wide, NARROW)
    words = ["reject", content_id(NARROW), "--wiki", str(wiki)]
    assert main([*words, "--dry-run"]) == 0
    also = "removed: guidelines/make-test__cluster.md"
    assert _named(capsys) == [f"would be rejected: {page}", f"would also be {also}"]
    assert {NARROW, WIDE} <= _rules(wiki)
    assert main(words) == 0
    assert _named(capsys) == [f"rejected: {page}", f"also {also}"]
    assert _rules(wiki) == {WIDE}
    assert _catalog(wiki).written == []


def test_a_narrow_rule_goes_with_a_wider_one_that_is_rejected_and_is_named(
    narrow_and_wide: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    narrow = _page(narrow_and_wide, NARROW)
    assert main(["reject", content_id(WIDE), "--wiki", str(narrow_and_wide)]) == 0
    assert f"also removed: {narrow}\n" in capsys.readouterr().out
    assert _rules(narrow_and_wide) == set()


def test_a_line_that_a_person_wrote_by_hand_rejects_a_page_for_good(tmp_path: Path, script: Script, wiki: Path) -> None:
    name = Path(_page(wiki, ONE)).stem.rpartition("__")[2]
    config = wiki / "_config.yaml"
    config.write_text(
        config.read_text(encoding="utf-8").replace("rejected: {}", f"rejected: {{{name}: }}"), encoding="utf-8"
    )
    _catalog(wiki)
    assert _rules(wiki) == {TWO}
    for session in "ab":
        script.says(session, rules=[rule(ONE_IN_OTHER_WORDS)])
    ingest([tmp_path / "t"], wiki, script.engine, archive_covered=False)
    assert ONE_IN_OTHER_WORDS not in _rules(wiki)


def test_a_rejected_skill_goes_with_its_scripts_and_covers_nothing(tmp_path: Path, script: Script, wiki: Path) -> None:
    before = {path for path in tree(wiki) if path.startswith("skills/check")}
    assert before == {SKILL, SCRIPT}
    _rejected(wiki, "check-the-cart")
    assert not {path for path in tree(wiki) if path.startswith("skills/check")}
    script.says("c", skill=skill("verify-the-cart"))
    script.says("a", rules=[rule(TWO)], skill=skill("prove-the-cart"))
    record(tmp_path / "t", "c", "2026-02-02")
    ingest([tmp_path / "t"], wiki, script.engine)
    assert not list((wiki / "skills").glob("*/SKILL.md"))


def test_what_a_person_edited_or_keeps_can_be_rejected(wiki: Path) -> None:
    one, two = _page(wiki, ONE), _page(wiki, TWO)
    _edit(wiki, one)
    _edit(wiki, two)
    _did(keep, wiki, two)
    assert {one, two} <= set(_rejected(wiki, one, two).removed)
    config = parse_config((wiki / "_config.yaml").read_text(encoding="utf-8"))
    assert (config.kept, len(config.rejected)) == ((), 2)
    assert _catalog(wiki).edited == []


def test_a_rejected_page_that_another_tool_wrote_is_removed_and_what_it_said_does_not_come_back(
    tmp_path: Path, script: Script, wiki: Path
) -> None:
    page = wiki / "guidelines" / "theirs__0123456789ab.md"
    title = "Run the check first"
    page.write_text(f"---\nid: 0123456789ab\n---\n\n# {title}\n\n{TWO} Twice, if need be.\n", encoding="utf-8")
    _catalog(wiki)
    with pytest.raises(UsageError, match="yours already"):
        _did(keep, wiki, "0123456789ab")
    with pytest.raises(UsageError, match="nothing to restore"):
        _did(restore, wiki, "0123456789ab")
    _rejected(wiki, "0123456789ab")
    assert not page.exists()
    script.says("a", rules=[rule(f"{TWO} Twice, if need be.")])
    ingest([tmp_path / "t"], wiki, script.engine, archive_covered=False)
    assert _rules(wiki) == {ONE}


def test_join_does_not_bring_a_rejected_page_of_another_tool_back(tmp_path: Path, wiki: Path) -> None:
    text = "---\nid: 0123456789ab\n---\n\n# Theirs\n\nA rule of theirs.\n"
    for folder in (wiki, tmp_path / "other"):
        ingest([], folder, "offline", stages=CATALOG)
        (folder / "guidelines").mkdir(exist_ok=True)
        (folder / "guidelines" / "theirs__0123456789ab.md").write_text(text, encoding="utf-8")
    _rejected(wiki, "0123456789ab")
    assert main(["join", str(tmp_path / "other"), "--wiki", str(wiki), "--engine", "offline"]) == 0
    assert not (wiki / "guidelines" / "theirs__0123456789ab.md").exists()


def test_summaries_and_files_that_are_no_pages_cannot_be_rejected(wiki: Path) -> None:
    before = tree(wiki)
    for path, reason in (("summaries/a.md", "wiki forget"), ("index.md", "only pages"), (SCRIPT, "only pages")):
        with pytest.raises(UsageError, match=reason):
            _rejected(wiki, path)
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
    assert f"{page} [edited]\n   --- rendered {page}\n   +++ edited {page}\n" in shown
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
