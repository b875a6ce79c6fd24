"""A forgotten session: the wiki is that of the others, and what persons wrote stays."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.owners_pages import keep
from agent_wiki.pipeline.report import Report
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.corpus_records import CorpusRecord
from agent_wiki.wiki.page import parse_page
from agent_wiki.wiki.records import MadeBy, record_text
from tests.pipeline.forgetting import ONE, TWO, forget_sessions
from tests.processes import die_before, exit_codes, started
from tests.wikis import Script, arc, changed, ingest, record, rule, skill, tree

CATALOG = ("catalog",)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    said = Script(tmp_path)
    goal = "Make the cart of alder add up to the cent"
    said.says("alder", arcs=[arc(goal)], rules=[rule(ONE), rule(TWO, title="Read logs to the end", tags=["logs"])])
    said.says("alder", skill=skill("check-the-cart"))
    said.says("birch", rules=[rule(ONE)])
    return said


@pytest.fixture
def wiki(tmp_path: Path, script: Script) -> Path:
    paths = [record(tmp_path / "t", "alder"), record(tmp_path / "t", "birch", "2026-02-02")]
    assert ingest(paths, tmp_path / "wiki", script.engine, archive_covered=False).exit_code == 0
    return tmp_path / "wiki"


def _page(wiki: Path, text: str) -> Path:
    pages = [page for folder in ("guidelines", "_archived") for page in (wiki / folder).glob("*__*.md")]
    (path,) = (page for page in pages if parse_page(page.read_text(encoding="utf-8"), "").lead == text)
    return path


def _append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_what_only_the_session_supported_goes_and_the_rest_rests_on_the_others(wiki: Path) -> None:
    two = _page(wiki, TWO)
    forget_sessions(wiki, "alder")
    assert not two.exists()
    assert not (wiki / "skills" / "check-the-cart").exists()
    page = parse_page(_page(wiki, ONE).read_text(encoding="utf-8"), "")
    assert (page.fields["support"]["sessions"], page.fields["related_summary"]) == (1, "summaries/birch.md")


def test_an_edited_page_that_only_the_session_supported_goes_and_is_named(wiki: Path) -> None:
    two, skill_page = _page(wiki, TWO), wiki / "skills" / "check-the-cart" / "SKILL.md"
    for page in (two, skill_page, wiki / "summaries" / "alder.md"):
        _append(page, "\nA word of mine.\n")
    forgotten = forget_sessions(wiki, "alder")
    edited = sorted(page.relative_to(wiki).as_posix() for page in (two, skill_page, wiki / "summaries" / "alder.md"))
    assert (forgotten.edited, forgotten.exit_code) == (edited, 0)
    assert set(edited) <= set(forgotten.report.removed)
    assert not any((wiki / path).exists() for path in edited)
    assert f"removed, though a person had edited it: {edited[0]}" in forgotten.lines()


def test_what_a_person_wrote_stays_and_is_named_where_it_holds_text_of_the_session(wiki: Path) -> None:
    goal = "Make the cart of alder add up to the cent"
    kept = wiki / "summaries" / "alder.md"
    keep(wiki, ["summaries/alder.md"], Report("keep", str(wiki)))
    _append(_page(wiki, ONE), f"\n{goal}.\n")
    (wiki / "templates").mkdir()
    (wiki / "templates" / "mine.md.j2").write_text(f"{{# {goal} #}}", encoding="utf-8")
    _append(wiki / "_config.yaml", f"# {goal}\n")
    forgotten = forget_sessions(wiki, "alder")
    assert forgotten.exit_code == 1
    assert {
        "summaries/alder.md",
        _page_of(wiki, goal),
        "templates/mine.md.j2",
        "_config.yaml",
    } <= set(forgotten.remaining)
    assert kept.exists()
    assert "STILL HOLDS text of a forgotten session: _config.yaml" in forgotten.lines()


def _page_of(wiki: Path, text: str) -> str:
    (path,) = (page for page in (wiki / "guidelines").glob("*__*.md") if text in page.read_text(encoding="utf-8"))
    return path.relative_to(wiki).as_posix()


def test_the_configuration_loses_all_that_names_the_session_and_keeps_what_a_person_wrote(wiki: Path) -> None:
    config, two = wiki / "_config.yaml", _page(wiki, TWO).stem.rpartition("__")[2]
    text = config.read_text(encoding="utf-8")
    text = text.replace(f"{two}: [logs]", f"{two}: [mine]")
    text = text.replace("tasks: {}", "tasks:\n  carts:  # mine\n    title: Carts\n    sessions: [alder, birch]\n")
    text = text.replace("overrides: {}", "overrides:\n  alder: {family: carts}\n  birch: {trial: 1}")
    config.write_text(text, encoding="utf-8")
    ingest([], wiki, "offline", stages=CATALOG)
    assert forget_sessions(wiki, "alder").exit_code == 0
    after = config.read_text(encoding="utf-8")
    assert two not in after
    assert "alder" not in after
    assert "  carts:  # mine\n    title: Carts\n    sessions: [birch]\n" in after
    assert parse_config(after).overrides == {"birch": {"trial": 1}}


def test_the_audit_log_names_the_session_no_more_and_says_that_one_was_forgotten(wiki: Path) -> None:
    log = wiki / "_audit.log"
    use = {"action": "summary.guideline_use", "session_id": "alder", "id": "x", "status": "followed"}
    _append(log, json.dumps({**use, "session_id": "birch"}) + "\n" + json.dumps(use) + "\n")
    assert "skill:check-the-cart" in log.read_text(encoding="utf-8")
    forget_sessions(wiki, "alder")
    text = log.read_text(encoding="utf-8")
    assert ("alder" in text, "check-the-cart" in text) == (False, False)
    entries = [json.loads(line) for line in text.splitlines()]
    assert [each["action"] for each in entries] == ["summary.guideline_use", "forget"]
    assert set(entries[1]) == {"action", "ts", "id"}


def test_a_line_of_the_audit_log_goes_whole_though_its_text_has_other_ends_of_lines(wiki: Path) -> None:
    log = wiki / "_audit.log"
    use = {"action": "recall", "id": "x", "evidence": "said\u2028twice", "session_id": "alder"}
    _append(log, json.dumps(use, ensure_ascii=False) + "\n")
    forget_sessions(wiki, "alder")
    assert "said" not in log.read_text(encoding="utf-8")


def test_a_dry_run_says_what_would_go_and_writes_nothing(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    every = {path: path.read_bytes() for path in wiki.rglob("*") if path.is_file()}
    assert main(["forget", "alder", "--wiki", str(wiki), "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "would be forgotten: alder\n" in shown
    assert "would be removed: _sessions/alder.json\n" in shown
    assert {path: path.read_bytes() for path in wiki.rglob("*") if path.is_file()} == every
    assert main(["forget", "alder", "--wiki", str(wiki), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["forgotten"], report["remaining"]) == (["alder"], [])
    assert "_sessions/alder.json" in report["removed"]
    assert report["recordings_left"] == [str((wiki.parent / "t" / "alder.json").resolve())]


def test_a_dry_run_names_no_cache_that_the_run_writes_again(tmp_path: Path, script: Script, wiki: Path) -> None:
    session = "0619ab75-c1b2-5696-8a71-1a319b657b2f"  # long enough to be searched for
    ingest([record(tmp_path / "t", session)], wiki, script.engine)
    assert session in (wiki / ".wiki" / "judged.json").read_text(encoding="utf-8")
    assert forget_sessions(wiki, session, dry_run=True).remaining == []
    assert forget_sessions(wiki, session).remaining == []


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("oak", "no session"),
        ("", "no session"),
        ("al", "3 sessions begin so; give at least 4 characters of an id: alder, alder-1, alder-2"),
        ("bi", "1 session begins so"),
        ("alder-", "2 sessions begin so"),
        ("../alder", "no session"),
    ],
)
def test_a_name_that_is_no_session_or_several_forgets_none(
    wanted: str, reason: str, tmp_path: Path, script: Script, wiki: Path
) -> None:
    ingest([record(tmp_path / "t", "alder-1"), record(tmp_path / "t", "alder-2")], wiki, script.engine)
    before = tree(wiki)
    with pytest.raises(UsageError, match=reason):
        forget_sessions(wiki, "birch", wanted)
    assert changed(before, tree(wiki)) == []
    assert forget_sessions(wiki, "alder").sessions == ["alder"], "a whole id goes before the beginnings of others"


@pytest.mark.parametrize(("name", "session_id"), [("session-b", "session-b"), ("session-", "session-b"), ("b", "b")])
def test_a_session_whose_record_cannot_be_read_is_said_to_be_that(tmp_path: Path, name: str, session_id: str) -> None:
    wiki = tmp_path / "w"
    ingest([record(tmp_path / "t", session_id)], wiki, "offline")
    (wiki / "_sessions" / f"{session_id}.json").write_text("{", encoding="utf-8")
    before = tree(wiki)
    with pytest.raises(
        UsageError, match=rf"its record cannot be read \(_sessions/{session_id}\.json: not a record .*git"
    ):
        forget_sessions(wiki, name)
    assert tree(wiki) == before
    with pytest.raises(UsageError, match="no session has this id"):
        forget_sessions(wiki, "session-c")


def test_a_session_is_named_by_its_recording_where_that_holds_no_other(wiki: Path) -> None:
    assert forget_sessions(wiki, "birch.json", dry_run=True).sessions == ["birch"]
    known = json.loads((wiki / "_sessions" / "alder.json").read_text(encoding="utf-8"))
    known["recording"]["file"] = "birch.json"
    (wiki / "_sessions" / "alder.json").write_text(json.dumps(known), encoding="utf-8")
    with pytest.raises(UsageError, match=r"birch\.json: 2 sessions are from this recording: alder, birch"):
        forget_sessions(wiki, "birch.json", dry_run=True)


def test_its_pages_go_also_where_the_record_of_another_session_cannot_be_read(wiki: Path) -> None:
    (wiki / "_sessions" / "birch.json").write_text("{torn", encoding="utf-8")
    two = _page(wiki, TWO)
    forgotten = forget_sessions(wiki, "alder")
    assert forgotten.exit_code == 1
    assert not two.exists()
    assert not (wiki / "summaries" / "alder.md").exists()
    assert (wiki / "summaries" / "birch.md").exists()


def test_a_link_in_the_machinery_is_not_followed(tmp_path: Path, wiki: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x.txt").write_text("mine\n", encoding="utf-8")
    for name in ("retrieval", "tool-results"):
        shutil.rmtree(wiki / ".wiki" / name, ignore_errors=True)
        (wiki / ".wiki" / name).symlink_to(tmp_path / "mine")
    assert main(["forget", "alder", "--wiki", str(wiki)]) == 2
    assert (tmp_path / "mine" / "x.txt").read_text(encoding="utf-8") == "mine\n"


def _forget_and_die(wiki: Path, place: str) -> None:
    die_before(0, place)
    forget_sessions(wiki, "alder")


@pytest.mark.parametrize(
    "place", ["agent_wiki.pipeline.publish.Publisher.put_corpus_record", "agent_wiki.pipeline.publish.Publisher.forget"]
)
def test_killed_before_the_record_is_gone_the_same_command_finishes(
    place: str, tmp_path: Path, script: Script, wiki: Path
) -> None:
    alone = tmp_path / "alone"
    ingest([tmp_path / "t" / "birch.json"], alone, script.engine, archive_covered=False)
    answer = CorpusRecord(
        "cluster", ("alder",), MadeBy("consolidate-clusters", "scripted", "sha256:0"), {"clusters": []}
    )
    (wiki / "_corpus").mkdir()
    (wiki / "_corpus" / "0.json").write_text(record_text(answer), encoding="utf-8")
    assert exit_codes(started(_forget_and_die, wiki, place)) == [-signal.SIGKILL]
    assert (wiki / "_sessions" / "alder.json").exists()
    assert forget_sessions(wiki, "alder").exit_code == 0
    assert changed(tree(alone), tree(wiki)) == []


def test_killed_after_it_the_next_run_renders_the_pages(tmp_path: Path, script: Script, wiki: Path) -> None:
    alone = tmp_path / "alone"
    ingest([tmp_path / "t" / "birch.json"], alone, script.engine, archive_covered=False)
    place = "agent_wiki.pipeline.publish.Publisher.finish"
    assert exit_codes(started(_forget_and_die, wiki, place)) == [-signal.SIGKILL]
    assert not (wiki / "_sessions" / "alder.json").exists()
    ingest([tmp_path / "t" / "birch.json"], wiki, script.engine, archive_covered=False)
    assert changed(tree(alone), tree(wiki)) == []
