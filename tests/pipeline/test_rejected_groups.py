"""Rejected clusters, tasks and subtasks of the example: gone, and not made again under another name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_wiki.checks.configuration import CONFIGURATION
from agent_wiki.checks.running import faults_of
from agent_wiki.checks.subject import CheckedWiki
from agent_wiki.engine import no_progress
from agent_wiki.pipeline.owners_pages import reject
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval.page_names import files_named
from agent_wiki.wiki.config import OVERRIDES, parse_config
from agent_wiki.wiki.config_edits import edit_config
from agent_wiki.wiki.page import parse_page
from tests.wikis import changed, ingest, tree

EXAMPLE = Path(__file__).resolve().parents[2] / "wiki-example"
CLUSTER = "guidelines/always-run-the-tests-with-make-test__cluster.md"
TASK = "tasks/slugify-drops-accented-letters__task.md"
SUBTASK = "tasks/totals-from-a-wiki-page__subtask.md"


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE / "wiki", tmp_path / "wiki")
    return tmp_path / "wiki"


def _rejected(wiki: Path, *names: str) -> Report:
    return reject(wiki, files_named(wiki, names), "", Report("reject", str(wiki)))


def _again(wiki: Path) -> None:
    for stage in ("consolidate-clusters", "discover-tasks"):
        ingest([], wiki, "offline", stages=(stage, "catalog"))


def _config(wiki: Path) -> str:
    return (wiki / "_config.yaml").read_text(encoding="utf-8")


def test_a_rejected_cluster_frees_its_members_and_is_not_made_again(wiki: Path) -> None:
    members = [each["id"] for each in parse_page((wiki / CLUSTER).read_text(encoding="utf-8"), "").fields["members"]]
    before = tree(wiki)
    assert CLUSTER in _rejected(wiki, "cluster:always-run-the-tests-with-make-test").removed
    _again(wiki)
    assert not list((wiki / "guidelines").glob("*__cluster.md"))
    pages = {page.stem.rpartition("__")[2]: page for page in (wiki / "guidelines").glob("*__*.md")}
    for member in members:
        assert parse_page(pages[member].read_text(encoding="utf-8"), "").fields.get("cluster") is None
    assert parse_config(_config(wiki)).clusters == {}
    lines = _config(wiki).replace("  cluster:always-run-the-tests-with-make-test: ''\n", "")
    assert lines != _config(wiki)
    (wiki / "_config.yaml").write_text(lines, encoding="utf-8")
    _again(wiki)
    pages_now = {path: text for path, text in tree(wiki).items() if path != "_config.yaml"}
    assert changed({path: text for path, text in before.items() if path != "_config.yaml"}, pages_now) == []


def test_a_cluster_of_the_same_rule_under_another_name_is_not_made_either(wiki: Path) -> None:
    _rejected(wiki, CLUSTER)
    config = wiki / "_config.yaml"
    text = _config(wiki).replace("cluster:always-run-the-tests-with-make-test", "cluster:formerly-called-so")
    config.write_text(text, encoding="utf-8")
    (record,) = [path for path in (wiki / "_corpus").glob("*.json") if "make-test" in path.read_text(encoding="utf-8")
                 and '"rejected"' in path.read_text(encoding="utf-8")]  # fmt: skip
    renamed = record.read_text(encoding="utf-8").replace("always-run-the-tests-with-make-test", "formerly-called-so")
    record.write_text(renamed, encoding="utf-8")
    _again(wiki)
    assert not list((wiki / "guidelines").glob("*__cluster.md"))


def test_a_made_cluster_whose_member_was_rejected_is_no_warning_and_no_finding_and_goes_with_the_next_run(
    wiki: Path,
) -> None:
    member, *_ = [each["id"] for each in parse_page((wiki / CLUSTER).read_text(encoding="utf-8"), "").fields["members"]]
    report = _rejected(wiki, member)
    assert CLUSTER in report.removed
    assert report.warnings == []
    assert faults_of(CheckedWiki(wiki), CONFIGURATION, no_progress) == []
    _again(wiki)
    assert parse_config(_config(wiki)).clusters == {}


def test_a_cluster_that_a_person_configured_stays_in_the_configuration_unused(wiki: Path) -> None:
    members = [page.stem.rpartition("__")[2] for page in sorted((wiki / "guidelines").glob("*__????????????.md"))][:2]
    text = _config(wiki).replace(
        "clusters:\n", f"clusters:\n  a-mine: {{title: Mine, members: [{', '.join(members)}]}}\n"
    )
    (wiki / "_config.yaml").write_text(text, encoding="utf-8")
    _again(wiki)
    assert (wiki / "guidelines" / "a-mine__cluster.md").exists()
    _rejected(wiki, "a-mine")
    _again(wiki)
    assert not (wiki / "guidelines" / "a-mine__cluster.md").exists()
    assert "  a-mine: {title: Mine" in _config(wiki)


def test_a_rejected_task_is_not_compared_again_also_when_its_family_has_another_name(wiki: Path) -> None:
    _rejected(wiki, TASK)
    _again(wiki)
    assert not (wiki / TASK).exists()
    assert "task:slugify-drops-accented-letters" in parse_config(_config(wiki)).rejected
    sessions = [path.stem for path in (wiki / "_sessions").glob("mini-*.json")]
    overrides = {session: {"family": "accents"} for session in sessions}
    edited = edit_config(_config(wiki), OVERRIDES, overrides)
    (wiki / "_config.yaml").write_text(edited, encoding="utf-8")
    _again(wiki)
    assert not list((wiki / "tasks").glob("accents__task.md"))
    assert set(parse_config(_config(wiki)).tasks) == {
        "orders-per-customer",
    }


def test_a_rejected_subtask_is_gone_and_so_is_what_says_the_same_of_its_session(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    shutil.copytree(EXAMPLE / "answered" / "wiki", wiki)
    _rejected(wiki, SUBTASK)
    assert not (wiki / SUBTASK).exists()
    for path in (wiki / "_corpus").glob("*.json"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"slug": "totals-from-', '"slug": "other-'), encoding="utf-8")
    ingest([], wiki, "offline", stages=("catalog",))
    assert [page.name for page in (wiki / "tasks").glob("*__subtask.md")] == [
        "totals-after-a-printed-trial__subtask.md"
    ]
