"""What people and other tools do to a wiki survives the next run, and damage costs only what is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_wiki.errors import RunError, UnsafePath
from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.state import WikiState, view_of
from agent_wiki.pipeline.corpus import archived_guidelines
from agent_wiki.pipeline.former_layout import converted
from agent_wiki.wiki.config import Config, parse_config
from agent_wiki.wiki.page import Page, parse_page, render_page
from agent_wiki.wiki.templates import Templates
from tests.wikis import Script, changed, ingest, record, rule, skill, tree

ONE, TWO = "Run the check before a change.", "Read the log of the check."
CATALOG = ("catalog",)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    told = Script(tmp_path)
    told.says("a", rules=[rule(ONE), rule(TWO)], skill=skill("check-the-cart"))
    told.says("b", rules=[rule(ONE)])
    return told


@pytest.fixture
def wiki(tmp_path: Path, script: Script) -> Path:
    """A wiki of two sessions: two rules and a skill."""
    ingest([record(tmp_path / "t", "a"), record(tmp_path / "t", "b")], tmp_path / "wiki", script.engine)
    return tmp_path / "wiki"


def _guideline(wiki: Path, text: str) -> Path:
    folders = [wiki / "guidelines", wiki / "_archived"]
    pages = [path for folder in folders if folder.is_dir() for path in folder.glob("*__*.md")]
    (page,) = (path for path in pages if parse_page(path.read_text(encoding="utf-8"), "").lead == text)
    return page


def test_a_page_that_a_person_changed_is_kept_and_reported_by_every_run(
    tmp_path: Path, script: Script, wiki: Path
) -> None:
    pages = [_guideline(wiki, ONE), wiki / "summaries" / "a.md", wiki / "skills" / "check-the-cart" / "SKILL.md"]
    for page in pages:
        page.write_text(page.read_text(encoding="utf-8") + "\nA word of mine.\n", encoding="utf-8")
    edited = {page: page.read_bytes() for page in pages}
    record(tmp_path / "t", "a", "2026-03-01", more=1)
    for _ in range(2):
        report = ingest([tmp_path / "t"], wiki, script.engine)
        assert sorted(report.edited) == sorted(page.relative_to(wiki).as_posix() for page in pages)
        assert report.exit_code == 0
        assert {page: page.read_bytes() for page in pages} == edited
    assert '"turns": 6' in (wiki / "_sessions" / "a.json").read_text(encoding="utf-8")


def test_a_page_edited_in_a_program_that_marks_the_byte_order_is_an_edited_page(script: Script, wiki: Path) -> None:
    page, untouched = _guideline(wiki, ONE), _guideline(wiki, TWO)
    before = untouched.read_text(encoding="utf-8")
    for path, more in ((page, "\nA word of mine.\n"), (untouched, "")):
        path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8-sig")
    edited = page.read_bytes()
    report = ingest([], wiki, script.engine, stages=CATALOG)
    assert (report.edited, report.warnings) == ([page.relative_to(wiki).as_posix()], [])
    assert page.read_bytes() == edited
    assert untouched.read_text(encoding="utf-8-sig") == before


def test_one_tag_that_a_person_wrote_without_a_list_is_theirs(script: Script, wiki: Path) -> None:
    config = wiki / "_config.yaml"
    name = _guideline(wiki, ONE).stem.rpartition("__")[2]
    lines = config.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.strip().startswith(f"{name}:"))
    lines[at] = f"    {name}: mine  # a word of mine\n"
    config.write_text("".join(lines), encoding="utf-8")
    ingest([], wiki, script.engine, stages=CATALOG)
    assert config.read_text(encoding="utf-8") == "".join(lines)
    assert parse_page(_guideline(wiki, ONE).read_text(encoding="utf-8"), "").fields["tags"] == ["mine"]


@pytest.mark.parametrize("tags", ["[a, b]", "one", "{guideline: {0123456789ab: {a: b}}}"])
def test_tags_in_another_form_stop_the_run_before_it_writes_over_them(script: Script, wiki: Path, tags: str) -> None:
    config = wiki / "_config.yaml"
    config.write_text(f"tags: {tags}\n", encoding="utf-8")
    before = tree(wiki)
    with pytest.raises(RunError, match=r"_config\.yaml: tags"):
        ingest([], wiki, script.engine, stages=CATALOG)
    assert changed(before, tree(wiki)) == []


def test_a_persons_tags_and_comments_in_the_configuration_win(tmp_path: Path, script: Script, wiki: Path) -> None:
    config = wiki / "_config.yaml"
    page = _guideline(wiki, ONE)
    guideline_id = page.stem.rpartition("__")[2]
    text = config.read_text(encoding="utf-8")
    edited = text.replace(f"{guideline_id}: [cart, checks]", f"{guideline_id}: [mine]   # because I say so")
    assert edited != text
    config.write_text(edited, encoding="utf-8")
    ingest([tmp_path / "t"], wiki, script.engine)
    assert config.read_text(encoding="utf-8") == edited
    assert parse_page(page.read_text(encoding="utf-8"), "").fields["tags"] == ["mine"]
    ingest([tmp_path / "t"], wiki, script.engine, rewrite=True)
    assert config.read_text(encoding="utf-8") == edited
    assert parse_page(page.read_text(encoding="utf-8"), "").fields["tags"] == ["mine"]
    config.write_text(text, encoding="utf-8")
    ingest([], wiki, script.engine, stages=CATALOG)
    assert parse_page(page.read_text(encoding="utf-8"), "").fields["tags"] == ["cart", "checks"]


def test_a_persons_cluster_gets_its_page_and_loses_it_with_its_entry(script: Script, wiki: Path) -> None:
    before = tree(wiki)
    config = wiki / "_config.yaml"
    ids = [_guideline(wiki, text).stem.rpartition("__")[2] for text in (ONE, TWO)]
    text = config.read_text(encoding="utf-8")
    entry = f"clusters:\n  # mine\n  care: {{title: Take care, takeaway: Look first., members: [{', '.join(ids)}]}}\n"
    config.write_text(text.replace("clusters: {}\n", entry), encoding="utf-8")
    ingest([], wiki, script.engine, stages=CATALOG)
    assert "# Take care" in (wiki / "guidelines" / "care__cluster.md").read_text(encoding="utf-8")
    assert "cluster: care" in _guideline(wiki, ONE).read_text(encoding="utf-8")
    assert "  # mine\n  care:" in config.read_text(encoding="utf-8")
    config.write_text(text, encoding="utf-8")
    ingest([], wiki, script.engine, stages=CATALOG)
    assert changed(before, tree(wiki)) == []


def test_a_configuration_with_windows_line_ends_keeps_them(tmp_path: Path, script: Script, wiki: Path) -> None:
    config = wiki / "_config.yaml"
    windows = config.read_bytes().replace(b"\n", b"\r\n")
    config.write_bytes(windows)
    ingest([], wiki, script.engine, stages=CATALOG)
    assert config.read_bytes() == windows
    script.says("c", rules=[rule("A third rule for the windows.")])
    ingest([record(tmp_path / "t", "c")], wiki, script.engine)
    assert len(parse_config(config.read_bytes().decode()).tags) == 3


@pytest.mark.parametrize("damage", [b"tags: [", b"tags: {}\n# caf\xe9\n"])
def test_a_damaged_configuration_stops_the_run_before_it_writes(script: Script, wiki: Path, damage: bytes) -> None:
    (wiki / "_config.yaml").write_bytes(damage)
    before = tree(wiki)
    with pytest.raises(RunError, match=r"_config\.yaml.*correct it"):
        ingest([], wiki, script.engine, stages=CATALOG)
    assert changed(before, tree(wiki)) == []


@pytest.mark.long
@pytest.mark.parametrize("damage", [b"---\ntags: [\n---\n\n# T\n", b"---\nid: x\n", b"---\nid: x\n---\n# caf\xe9\n"])
@pytest.mark.parametrize("name", ["guideline", "summaries/a.md", "skills/check-the-cart/SKILL.md"])
def test_a_damaged_page_is_reported_each_time_and_left_unchanged(
    tmp_path: Path, script: Script, wiki: Path, name: str, damage: bytes
) -> None:
    page = _guideline(wiki, ONE) if name == "guideline" else wiki / name
    page.write_bytes(damage)
    for _ in range(2):
        script.says("c", rules=[rule(ONE)])
        report = ingest([tmp_path / "t"], wiki, script.engine)
        assert [failure.unit for failure in report.failures] == [page.relative_to(wiki).as_posix()]
        assert report.exit_code == 1
    report = ingest([record(tmp_path / "t", "c")], wiki, script.engine)
    assert report.sessions["mined"] == 1
    assert page.read_bytes() == damage
    assert (wiki / "summaries" / "c.md").exists()


FOREIGN = """\
---
id: 0123456789ab
type:  guideline
tags: [ x ]   # by hand
---
# A page of another tool

Its rule.
"""


def test_pages_of_others_with_one_id_are_both_kept(script: Script, wiki: Path) -> None:
    for name in ("one__0123456789ab.md", "two__0123456789ab.md"):
        (wiki / "guidelines" / name).write_text(FOREIGN, encoding="utf-8")
    report = ingest([], wiki, script.engine, stages=CATALOG)
    assert report.removed == []
    assert any("two__0123456789ab.md" in warning for warning in report.warnings)
    for name in ("one__0123456789ab.md", "two__0123456789ab.md"):
        assert (wiki / "guidelines" / name).read_text(encoding="utf-8") == FOREIGN
    assert ingest([], wiki, script.engine, stages=CATALOG, rewrite=True).written == []


@pytest.mark.parametrize("place", ["guidelines/a__{id}.md", "guidelines/zz__{id}.md", "_archived/mine__{id}.md"])
def test_a_page_of_another_with_the_id_of_ours_is_kept(script: Script, wiki: Path, place: str) -> None:
    ours = _guideline(wiki, ONE)
    guideline_id = ours.stem.rpartition("__")[2]
    before = tree(wiki)
    theirs = wiki / place.format(id=guideline_id)
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text(FOREIGN.replace("0123456789ab", guideline_id), encoding="utf-8")
    ingest([], wiki, script.engine, stages=CATALOG)
    assert theirs.read_text(encoding="utf-8") == FOREIGN.replace("0123456789ab", guideline_id)
    theirs.unlink()
    assert changed(before, tree(wiki)) == []


def test_a_skill_of_another_keeps_its_files_also_when_a_session_makes_one_of_its_name(
    tmp_path: Path, script: Script, wiki: Path
) -> None:
    folder = wiki / "skills" / "deploy"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: deploy\ndescription: Theirs.\n---\n# Deploy\n", encoding="utf-8")
    (folder / "scripts" / "run.sh").write_bytes(b"#!/bin/sh\r\nexit 0")
    (folder / "scripts" / "logo.png").write_bytes(b"\x89PNG\xff\xfe\x00")
    before = {path: (path.read_bytes(), path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}
    script.says("c", skill=skill("deploy", scripts=[{"file": "run.sh", "text": "echo ours"}]))
    ingest([record(tmp_path / "t", "c")], wiki, script.engine)
    assert {path: (path.read_bytes(), path.stat().st_mode) for path in folder.rglob("*") if path.is_file()} == before
    assert '"skill:deploy"' in (wiki / "_index.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["guidelines/theirs__cluster.md", "tasks/theirs__task.md", "tasks/x__subtask.md"])
def test_a_cluster_or_task_page_of_another_is_kept(script: Script, wiki: Path, kind: str) -> None:
    page = wiki / kind
    page.parent.mkdir(exist_ok=True)
    page.write_text("---\ntype: cluster\ntitle: Theirs\n---\n# Theirs\n", encoding="utf-8")
    ingest([], wiki, script.engine, stages=CATALOG)
    assert page.read_text(encoding="utf-8") == "---\ntype: cluster\ntitle: Theirs\n---\n# Theirs\n"


def test_a_page_renamed_by_a_person_is_one_page_again(script: Script, wiki: Path) -> None:
    before = tree(wiki)
    page = _guideline(wiki, ONE)
    page.rename(page.with_name("my-name__" + page.name.rpartition("__")[2]))
    ingest([], wiki, script.engine, stages=CATALOG)
    assert changed(before, tree(wiki)) == []


def test_agents_md_is_its_owners_once_written(script: Script, wiki: Path) -> None:
    (wiki / "AGENTS.md").write_text("mine", encoding="utf-8")
    ingest([], wiki, script.engine, stages=CATALOG)
    assert (wiki / "AGENTS.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("place", ["guidelines", "skills", ".wiki", "summaries/a.md", "_index.jsonl"])
def test_a_link_inside_the_wiki_is_refused(tmp_path: Path, script: Script, wiki: Path, place: str) -> None:
    outside = tmp_path / "outside"
    (wiki / place).rename(outside)
    (wiki / place).symlink_to(outside)
    before = {path: path.read_bytes() for path in [outside, *outside.rglob("*")] if path.is_file()}
    record(tmp_path / "t", "a", more=1)
    with pytest.raises(UnsafePath, match="link"):
        ingest([tmp_path / "t"], wiki, script.engine)
    assert {path: path.read_bytes() for path in [outside, *outside.rglob("*")] if path.is_file()} == before


@pytest.mark.parametrize("slug", ["../../x", "a/b", "", "x\\..\\y"])
def test_a_slug_in_the_configuration_cannot_leave_the_wiki(script: Script, wiki: Path, slug: str) -> None:
    ids = [_guideline(wiki, text).stem.rpartition("__")[2] for text in (ONE, TWO)]
    config = wiki / "_config.yaml"
    text = config.read_text(encoding="utf-8")
    entry = json.dumps({slug: {"title": "T", "members": ids}})
    config.write_text(text.replace("clusters: {}", f"clusters: {entry}"), encoding="utf-8")
    outside = sorted(wiki.parent.iterdir())
    with pytest.raises(RunError, match="cannot be the name of a page"):
        ingest([], wiki, script.engine, stages=CATALOG)
    assert sorted(wiki.parent.iterdir()) == outside
    assert not list(wiki.parent.rglob("x__cluster.md"))


ODD: Any = st.recursive(
    st.sampled_from([None, True, 0, -1, 1.5, "", "x", "2026-01-01", 10**30, "\u2028"]),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.sampled_from(["id", "turn", "session_id"]), each),
    max_leaves=4,
)
NAMES = (
    "id", "session_id", "tags", "stage_tags", "evidence", "variants", "support", "sources", "related_summary", "turns",
    "recalled_guidelines", "contributed_guidelines", "arc_turns", "sibling_summaries", "coverage", "mined", "made_by",
    "verified_at", "trust", "cluster", "members", "sessions", "archived", "lineage", "parent_session_id", "outcome",
    "trial", "condition", "tool_calls", "total_cost_usd", "goal", "trigger", "description", "wiki_consulted",
)  # fmt: skip
PATHS = (
    "summaries/a.md", "summaries/a__x.md", "guidelines/a__0123456789ab.md", "_archived/b__0123456789ab.md",
    "guidelines/c__cluster.md", "skills/d/SKILL.md", "tasks/e__task.md", "tasks/f__subtask.md",
)  # fmt: skip
ODD_FIELDS = st.dictionaries(st.sampled_from(NAMES), ODD, max_size=6)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from(PATHS), ODD_FIELDS, max_size=5),
    st.dictionaries(st.sampled_from("ce"), ODD_FIELDS),
)
@example({"guidelines/a__0123456789ab.md": {"evidence": [{"session_id": "s", "turn": "x"}], "made_by": {}}}, {})
def test_odd_values_in_pages_and_configuration_never_break_the_catalog(
    pages: dict[str, dict[str, Any]], entries: dict[str, dict[str, Any]]
) -> None:
    config = Config(clusters=entries, tasks=entries, tags={"0123456789ab": ["t"]})
    all_pages = {path: Page(fields, ("# T\n\nx\n",)) for path, fields in pages.items()}
    former = {path: page for path, page in all_pages.items() if isinstance(page.fields.get("made_by"), dict)}
    foreign = {path: page for path, page in all_pages.items() if path not in former}
    view = view_of(WikiState(config, converted(former, lambda _slug: {}), foreign=foreign))
    made = Catalog(view, archived_guidelines(view, archive_covered=True), Templates())
    rendered = [(page.path, page.text() if page.text else "") for page in made.pages()]
    assert {path.rpartition("/")[2] for path in foreign} <= {path.rpartition("/")[2] for path, _ in rendered}


@pytest.mark.long
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(PATHS), ODD_FIELDS, min_size=1, max_size=5))
@example({"summaries/a.md": {}, "tasks/f__subtask.md": {"verified_at": None, "parent_session_id": [], "made_by": {}}})
@example({"summaries/a.md": {"goal": [[]], "made_by": {}}})
def test_a_wiki_of_odd_pages_is_catalogued_and_a_second_run_changes_nothing(pages: dict[str, dict[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        wiki = Path(folder, "wiki")
        for path, fields in pages.items():
            (wiki / path).parent.mkdir(parents=True, exist_ok=True)
            (wiki / path).write_text(render_page(Page(fields, ("# T\n\nx\n",))), encoding="utf-8")
        engine = Script(Path(folder)).engine
        paths = [record(Path(folder, "t"), "a")]
        assert ingest(paths, wiki, engine).bugs == []
        before = tree(wiki)
        (wiki / ".wiki" / "finished.json").unlink(missing_ok=True)
        assert ingest(paths, wiki, engine).bugs == []
        assert changed(before, tree(wiki)) == []
