"""Pages that an owner rejects: what goes with one, and that it never comes back under another name."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import UsageError
from agent_wiki.pages.state import view_of
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.pipeline.owners_pages import keep, restore
from agent_wiki.retrieval.why import why as explained
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.layout import content_id, page_id
from agent_wiki.wiki.page import parse_page
from tests.pipeline.owners import CATALOG, ONE, SCRIPT, SKILL, TWO, two_sessions, wiki_of_two_sessions
from tests.pipeline.owners import catalog as _catalog
from tests.pipeline.owners import did as _did
from tests.pipeline.owners import edit as _edit
from tests.pipeline.owners import page_of as _page
from tests.pipeline.owners import rejected as _rejected
from tests.wikis import Script, changed, ingest, record, rule, skill, tree


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return two_sessions(tmp_path)


@pytest.fixture
def wiki(tmp_path: Path, script: Script) -> Path:
    return wiki_of_two_sessions(tmp_path, script)


ONE_IN_OTHER_WORDS = "Before each change of the cart, run `make check`."


def _rules(wiki: Path) -> set[str]:
    pages = [page for folder in ("guidelines", "_archived") for page in (wiki / folder).glob("*__*.md")]
    return {parse_page(page.read_text(encoding="utf-8"), "").lead for page in pages}


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
    _rejected(wiki, "0123456789ab", for_good=True)
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
    _rejected(wiki, "0123456789ab", for_good=True)
    assert main(["join", str(tmp_path / "other"), "--wiki", str(wiki), "--engine", "offline"]) == 0
    assert not (wiki / "guidelines" / "theirs__0123456789ab.md").exists()


def test_summaries_and_files_that_are_no_pages_cannot_be_rejected(wiki: Path) -> None:
    before = tree(wiki)
    for path, reason in (("summaries/a.md", "wiki forget"), ("index.md", "only pages"), (SCRIPT, "only pages")):
        with pytest.raises(UsageError, match=reason):
            _rejected(wiki, path)
    assert changed(before, tree(wiki)) == []
