"""catalog: derived fields, backlinks and indexes are a function of pages and configuration."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.wiki.page import Page, parse_page
from tests.wikis import COMMAND, Script, arc, changed, ingest, record, rule, skill, tree

RULE = "Run the check before a change."
ID = "7890180238f4"
CATALOG = ("catalog",)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    told = Script(folder)
    told.says("", rules=[rule(RULE)])
    told.says("a", skill=skill("check-it"))
    page = f"guidelines/run-the-check-first__{ID}.md"
    for name, status in (("c", "followed"), ("d", "harmful")):
        recalled = [{"page": page, "status": status, "turn": 7, "quote": COMMAND}]
        outcome = "failure" if name == "d" else "success"
        told.says(name, arcs=[arc(outcome=outcome, recalled=recalled)], rules=[rule(RULE)])
    paths = [
        record(folder / "t", name, f"2026-01-0{day}", reads=[page] if name in "cd" else ())
        for day, name in enumerate("abcd", start=1)
    ]
    ingest(paths, folder / "wiki", told.engine)
    return folder


@pytest.fixture
def wiki(made: Path, tmp_path: Path) -> Path:
    """Three sessions that state one rule; c follows what it read, d finds it harmful and is a subagent of a."""
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True) / "wiki"


def page(wiki: Path, path: str) -> Page:
    return parse_page((wiki / path).read_text(encoding="utf-8"), path)


def rows(wiki: Path) -> dict[str, dict[str, Any]]:
    lines = (wiki / "_index.jsonl").read_text(encoding="utf-8").split("\n")
    return {row["id"]: row for row in (json.loads(line) for line in lines if line)}


def test_support_counts_the_sessions_that_a_page_shows_and_in_the_index_all(wiki: Path) -> None:
    fields = page(wiki, f"guidelines/run-the-check-first__{ID}.md").fields
    assert fields["support"] == {"sessions": 3, "success": 3, "partial": 0, "failure": 0}
    assert (fields["trust"], fields["verified_at"], fields["related_summary"]) == (
        "assistant", "2026-01-03", "summaries/a.md",
    )  # fmt: skip
    assert fields["sources"] == ["a.json", "b.json", "c.json"]
    row = rows(wiki)[ID]
    assert (row["support"], row["verified_at"]) == (
        {"sessions": 4, "success": 3, "partial": 0, "failure": 1}, "2026-01-04",
    )  # fmt: skip


def test_dump_and_why_go_by_all_sessions_also_where_a_page_shows_some(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dump", "guidelines", "--wiki", str(wiki)]) == 0
    (dumped,) = json.loads(capsys.readouterr().out)
    assert (dumped["support"]["sessions"], str(dumped["verified_at"])) == (4, "2026-01-04")
    assert main(["why", ID, "--wiki", str(wiki), "--json"]) == 0
    (walked,) = json.loads(capsys.readouterr().out)["pages"]
    assert [each["session_id"] for each in walked["cited"]] == ["a", "b", "c", "d"]


def test_backlinks_are_the_inversion_of_evidence(wiki: Path) -> None:
    for name in "abcd":
        fields = page(wiki, f"summaries/{name}.md").fields
        assert fields["contributed_guidelines"] == [ID]
        assert fields.get("contributed_skills") == (["check-it"] if name == "a" else None)


def test_every_use_of_a_page_is_listed_on_it_and_decides_its_tier(wiki: Path) -> None:
    used_by = page(wiki, f"guidelines/run-the-check-first__{ID}.md").section("Used by") or ""
    assert f"| [Fix the cart](../summaries/c.md) | — | followed | “{COMMAND}” |" in used_by
    assert f"| [Fix the cart](../summaries/d.md) | — | harmful | “{COMMAND}” |" in used_by
    assert "| disputed | 1 |" in (wiki / "guidelines" / "index.md").read_text(encoding="utf-8")
    recalled = page(wiki, "summaries/c.md").section("Recalled guidelines") or ""
    assert recalled.startswith("- **followed** [")
    assert f"(../guidelines/run-the-check-first__{ID}.md) (T7): “{COMMAND}”" in recalled
    log = [json.loads(line) for line in (wiki / "_audit.log").read_text(encoding="utf-8").splitlines()]
    found = [each for each in log if each["action"] == "summary.guideline_use"]
    uses = [(each["session_id"], each["id"], each["status"]) for each in found]
    assert uses == [("c", ID, "followed"), ("d", ID, "harmful")]
    assert all("ts" in each for each in log)


def test_the_index_prefers_clusters_and_skills_and_every_link_exists(wiki: Path) -> None:
    config = wiki / "_config.yaml"
    text = config.read_text(encoding="utf-8")
    tasks = "tasks:\n  carts: {title: Carts, family_match: {goal_substring: [CART]}, findings: [one, two]}\n"
    config.write_text(text.replace("tasks: {}\n", tasks), encoding="utf-8")
    ingest([], wiki, "offline", stages=CATALOG)
    found = rows(wiki)
    assert [row["kind"] for row in found.values()] == ["skill", "guideline", "task"]
    assert all((wiki / row["link"]).is_file() for row in found.values())
    assert found["task:carts"]["family"] == "carts"
    task = page(wiki, "tasks/carts__task.md")
    assert task.fields["sessions"] == ["a", "b", "c", "d"]
    assert task.section("Findings") == "- one\n- two"
    assert len((task.section("Comparison") or "").splitlines()) == 6
    assert "carts" in page(wiki, "summaries/a.md").fields["tags"]


def test_a_pinned_session_belongs_to_its_family_only(wiki: Path) -> None:
    config = wiki / "_config.yaml"
    text = config.read_text(encoding="utf-8")
    tasks = "tasks:\n  carts: {family_match: {goal_substring: cart}}\n  others: {title: Others}\n"
    pinned = "session_family_overrides:\n  b: {family: others, trial: 3, condition: no}\n"
    text = text.replace("tasks: {}\n", tasks).replace("session_family_overrides: {}\n", pinned)
    config.write_text(text, encoding="utf-8")
    ingest([], wiki, "offline", stages=CATALOG)
    assert page(wiki, "tasks/carts__task.md").fields["sessions"] == ["a", "c", "d"]
    others = page(wiki, "tasks/others__task.md")
    assert others.fields["sessions"] == ["b"]
    assert "| 3 | no | m-1 | [Fix the cart](../summaries/b.md) | success |" in others.body
    assert others.section("Findings") is None
    assert rows(wiki)["task:others"]["findings"] == 0


def test_what_the_configuration_names_in_vain_is_a_warning(wiki: Path) -> None:
    config = wiki / "_config.yaml"
    text = config.read_text(encoding="utf-8")
    text = text.replace("clusters: {}\n", f"clusters:\n  alone: {{members: [{ID}, 000000000000]}}\n")
    config.write_text(text.replace("tasks: {}\n", "tasks:\n  none: {title: x}\n"), encoding="utf-8")
    report = ingest([], wiki, "offline", stages=CATALOG)
    assert sorted(report.warnings) == [
        "cluster alone: 1 of its members exist, two are needed",
        "task none: no session matches it",
    ]
    assert report.exit_code == 0


def test_indexes_that_were_deleted_or_changed_are_made_again(wiki: Path) -> None:
    before = tree(wiki)
    for path in before:
        if path.endswith(("index.md", "_index.jsonl", "_id_index.json")):
            (wiki / path).write_text("nonsense", encoding="utf-8")
    (wiki / "index.md").unlink()
    ingest([], wiki, "offline", stages=CATALOG)
    assert changed(before, tree(wiki)) == []


def test_a_page_that_is_gone_is_rendered_again_and_a_record_that_is_gone_takes_its_figures_with_it(wiki: Path) -> None:
    before = tree(wiki)
    (wiki / "summaries" / "d.md").unlink()
    ingest([], wiki, "offline", stages=CATALOG)
    assert changed(before, tree(wiki)) == []
    (wiki / "_sessions" / "d.json").unlink()
    ingest([], wiki, "offline", stages=CATALOG)
    guideline = page(wiki, f"guidelines/run-the-check-first__{ID}.md")
    assert "[d]" not in (guideline.section("Used by") or "")
    assert guideline.fields["verified_at"] == "2026-01-03"
    assert not (wiki / "summaries" / "d.md").exists()


def test_the_sources_of_a_page_lead_to_the_arc_that_holds_the_cited_turn(tmp_path: Path) -> None:
    script = Script(tmp_path)
    script.says("", arcs=[arc("First", 1, 1, slug="b"), arc("Second", 2, 4, slug="a")], rules=[rule("Check first.")])
    ingest([record(tmp_path / "in", "s")], tmp_path / "wiki", script.engine)
    (written,) = (tmp_path / "wiki" / "guidelines").glob("run-*.md")
    text = written.read_text(encoding="utf-8")
    assert "related_summary: summaries/s__a.md" in text
    assert "[Second](../summaries/s__a.md) (2026-01-01): T2" in text


def test_summaries_are_named_by_their_titles_where_the_owner_asks_for_it(wiki: Path) -> None:
    before = tree(wiki)
    config = wiki / "_config.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "summary_names: title\n", encoding="utf-8")
    ingest([], wiki, "offline", stages=CATALOG)
    assert sorted(path.name for path in (wiki / "summaries").glob("*__*.md")) == [
        f"fix-the-cart__{name}.md" for name in "abcd"
    ]
    assert not [
        path
        for path in before
        if path.startswith("summaries/") and path != "summaries/index.md" and (wiki / path).exists()
    ]
    assert (
        page(wiki, f"guidelines/run-the-check-first__{ID}.md").fields["related_summary"]
        == "summaries/fix-the-cart__a.md"
    )
    config.write_bytes(before["_config.yaml"])
    ingest([], wiki, "offline", stages=CATALOG)
    assert changed(before, tree(wiki)) == []
    config.write_text("summary_names: uuid\n", encoding="utf-8")
    assert main(["catalog", "--wiki", str(wiki)]) == 2
