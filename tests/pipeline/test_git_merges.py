"""Two branches that each ingested other sessions, merged by git itself: `wiki catalog` gives the bytes of one run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from agent_wiki.engines.offline import OfflineEngine
from agent_wiki.pipeline.owners_pages import reject
from agent_wiki.pipeline.report import Report
from tests.pipeline.branches import (
    EXAMPLE,
    NO_ATTRIBUTES,
    TRACES,
    branches,
    catalog,
    init_wiki,
    one_rule_each,
    only_page,
)
from tests.repositories import Repository
from tests.wikis import changed, ingest, record, tree


class _Keeping(OfflineEngine):
    """The embedded engine, but the wiki keeps its answers as it keeps a model's."""

    answers_are_kept = True


@pytest.fixture(scope="module")
def without_attributes(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Branches of a wiki in which git merges by no rule of ours. Tests take a copy."""
    repository = Repository(tmp_path_factory.mktemp("without") / "repository")
    init_wiki(repository.wiki)
    (repository.wiki / ".gitattributes").write_text(NO_ATTRIBUTES, encoding="utf-8")
    branches(repository, TRACES[:3], TRACES[3:9], TRACES[9:])
    return repository


@pytest.fixture(scope="module")
def one_run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The wiki of all sessions, ingested at once."""
    wiki = tmp_path_factory.mktemp("once") / "wiki"
    ingest(TRACES, wiki, "offline")
    return tree(wiki)


@pytest.mark.long
@pytest.mark.parametrize(("base", "step"), [(0, 1), (2, 1), (4, 2)], ids=["init alone", "halves", "every other"])
def test_branches_merge_without_a_stop_and_catalog_gives_the_bytes_of_one_run(
    tmp_path: Path, one_run: dict[str, bytes], base: int, step: int
) -> None:
    repository = Repository(tmp_path / "repository")
    rest = TRACES[base:]
    half = len(rest) // 2
    one, two = (rest[:half], rest[half:]) if step == 1 else (rest[::2], rest[1::2])
    branches(repository, TRACES[:base], one, two)
    repository.git("merge", "--quiet", "--no-edit", "one")
    report = catalog(repository.wiki)
    assert (report.failures, report.edited, report.warnings) == ([], [], [])
    assert changed(tree(repository.wiki), one_run) == []
    assert catalog(repository.wiki).written == []


@pytest.mark.long
def test_a_merged_wiki_with_a_rejected_page_has_its_clusters_and_tasks_made_anew(tmp_path: Path) -> None:
    repository, once = Repository(tmp_path / "repository"), tmp_path / "once"
    for wiki in (once, repository.wiki):
        init_wiki(wiki)
        ingest(TRACES[:12], wiki, "offline")
        page = min(path for path in wiki.glob("guidelines/*.md") if path.name != "index.md")
        reject(wiki, [page.relative_to(wiki).as_posix()], "Taught nothing.", Report("reject", str(wiki)))
    ingest(TRACES[12:], once, "offline")
    branches(repository, (), TRACES[12:16], TRACES[16:])
    repository.git("merge", "--quiet", "--no-edit", "one")
    report = catalog(repository.wiki)
    assert (report.failures, report.warnings) == ([], [])
    assert changed(tree(repository.wiki), tree(once)) == []


@pytest.mark.long
@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_conflict_markers_that_were_committed_cost_nothing(
    tmp_path: Path, one_run: dict[str, bytes], without_attributes: Repository, style: str
) -> None:
    repository = without_attributes.copied(tmp_path / "repository")
    repository.git("-c", f"merge.conflictStyle={style}", "merge", "--quiet", "--no-edit", "one", fails=True)
    repository.commit()
    conflicts = [path for path, content in tree(repository.wiki).items() if b"\n>>>>>>> " in content]
    assert {"_config.yaml", "_index.jsonl", "index.md", "summaries/index.md"} <= set(conflicts)
    report = catalog(repository.wiki)
    assert (report.failures, report.edited) == ([], [])
    expected = {**one_run, ".gitattributes": NO_ATTRIBUTES.encode()}
    assert changed(tree(repository.wiki), expected) == []


def test_git_takes_no_answer_for_a_renamed_one_where_both_sides_replaced_it(
    tmp_path: Path, one_run: dict[str, bytes]
) -> None:
    """Both sides retire the answer on a family that grew on both, and each adds one that is much like it."""
    repository = Repository(tmp_path / "repository")
    family = [path for path in TRACES if "orders" in path.name]
    others = [path for path in TRACES if path not in family]
    branches(repository, family[:3], [family[3], *others[:7]], [family[4], *others[7:]], engine=_Keeping())
    for side in ("one", "two"):
        seen = repository.git("diff", "--find-renames=45%", "--summary", "main", side, "--", "wiki/_corpus")
        assert "delete mode" in seen
        assert "rename" not in seen
    repository.git("merge", "--quiet", "--no-edit", "one")
    assert catalog(repository.wiki).failures == []
    assert changed(tree(repository.wiki), one_run) == []


def test_blank_lines_of_answers_are_written_again_where_somebody_took_them_away(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    shutil.copytree(EXAMPLE / "answered" / "wiki", wiki)
    before = tree(wiki)
    answers = sorted((wiki / "_corpus").glob("*.json"))
    for path in answers:
        path.write_text(path.read_text(encoding="utf-8").rstrip() + "\n", encoding="utf-8")
    assert len(changed(tree(wiki), before)) == len(answers) > 0
    assert catalog(wiki).written == [path.relative_to(wiki).as_posix() for path in answers]
    assert changed(tree(wiki), before) == []


def test_of_a_session_that_grew_on_both_sides_git_never_mixes_two_records(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    versions = [[record(tmp_path / f"t{more}", "s-1", more=more)] for more in (0, 1, 3)]
    branches(repository, *versions)
    path = repository.wiki / "_sessions" / "s-1.json"
    longest = path.read_bytes()
    repository.git("merge", "--quiet", "--no-edit", "one", fails=True)
    assert path.read_bytes() == longest
    repository.git("checkout", "--theirs", str(path))
    repository.commit()
    assert ingest(versions[2], repository.wiki, "offline").edited == []
    assert path.read_bytes() == longest
    ingest(versions[2], tmp_path / "once", "offline")
    pages = [tree(wiki) for wiki in (repository.wiki, tmp_path / "once")]
    assert [name for name in changed(*pages) if name.startswith("summaries/")] == []


def test_of_two_versions_between_conflict_markers_the_larger_is_kept_and_written(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    init_wiki(repository.wiki)
    (repository.wiki / ".gitattributes").write_text(NO_ATTRIBUTES, encoding="utf-8")
    versions = [[record(tmp_path / f"t{more}", "s-1", more=more)] for more in (0, 3, 1)]
    branches(repository, *versions)
    repository.git("merge", "--quiet", "--no-edit", "one", fails=True)
    repository.commit()
    path = repository.wiki / "_sessions" / "s-1.json"
    assert b"<<<<<<< " in path.read_bytes()
    assert catalog(repository.wiki).failures == []
    kept = json.loads(path.read_bytes())
    assert kept["turns"] == 10
    assert kept["stages"]["summarize"]["answer"][0]["last_turn"] == 10


def test_where_git_stops_at_a_page_that_one_side_took_away_catalog_finishes_the_merge(tmp_path: Path) -> None:
    script, paths = one_rule_each(tmp_path, a={}, b={})
    repository = Repository(tmp_path / "repository")
    branches(repository, [paths["a"]], [paths["b"]], [], engine=script.engine)
    only_page(repository.wiki, "guidelines/run-*.md").unlink()
    repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one", fails=True)
    assert catalog(repository.wiki).failures == []
    ingest(paths.values(), tmp_path / "once", script.engine)
    pages = [tree(wiki) for wiki in (repository.wiki, tmp_path / "once")]
    assert [path for path in changed(*pages) if path.startswith("guidelines/")] == []
    repository.commit()
    assert repository.git("status", "--porcelain") == ""


def test_a_line_that_another_branch_says_in_other_words_is_nobodys_edit(tmp_path: Path) -> None:
    """Of the first session's page and one like it a line is gone, for on the other side another session speaks."""
    script, paths = one_rule_each(tmp_path, a={}, b={"rationale": "It saves an hour."}, c={})
    repository = Repository(tmp_path / "repository")
    branches(repository, [paths["c"]], [paths["a"]], [paths["b"]], engine=script.engine)
    repository.git("merge", "--quiet", "--no-edit", "one")
    merged = only_page(repository.wiki, "guidelines/run-*.md").read_text(encoding="utf-8")
    assert "It saves an hour." in merged
    assert "The check told what was wrong." not in merged
    assert catalog(repository.wiki).edited == []
    ingest(paths.values(), tmp_path / "once", script.engine)
    pages = [tree(wiki) for wiki in (repository.wiki, tmp_path / "once")]
    assert [path for path in changed(*pages) if path.startswith("guidelines/")] == []


def test_what_a_rejected_page_says_on_either_side_stops_no_merge(tmp_path: Path) -> None:
    titles = {"a": "Run the check early", "b": "Run the check soon", "c": "Run the check first"}
    script, paths = one_rule_each(tmp_path, **{name: {"title": title} for name, title in titles.items()})
    repository = Repository(tmp_path / "repository")
    init_wiki(repository.wiki)
    ingest([paths["c"]], repository.wiki, script.engine)
    page = only_page(repository.wiki, "guidelines/run-*.md").relative_to(repository.wiki).as_posix()
    reject(repository.wiki, [page], "Taught nothing.", Report("reject", str(repository.wiki)))
    branches(repository, (), [paths["a"]], [paths["b"]], engine=script.engine)
    repository.git("merge", "--quiet", "--no-edit", "one")
    assert catalog(repository.wiki).failures == []
    kept = [json.loads(path.read_bytes()) for path in (repository.wiki / "_corpus").glob("*.json")]
    assert [each["answer"]["title"] for each in kept if each["kind"] == "rejected"] == [titles["a"]]


def test_two_frontmatters_that_git_put_one_below_the_other_are_nobodys_edit(tmp_path: Path) -> None:
    script, paths = one_rule_each(tmp_path, a={}, b={}, c={}, d={})
    repository = Repository(tmp_path / "repository")
    init_wiki(repository.wiki)
    repository.commit()
    for title, name, of in (("Fix the cart", "one", "ab"), ("Mend the cart", "two", "cd")):
        repository.branch(name)
        config = repository.wiki / "_config.yaml"
        task = f"tasks:\n  cart: {{title: {title}, family_match: {{goal_substring: [cart]}}}}\n"
        config.write_text(re.sub(r"(?m)^tasks:( {})?\n", task, config.read_text(encoding="utf-8")), encoding="utf-8")
        ingest([paths[session] for session in of], repository.wiki, script.engine)
        repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one")
    page = repository.wiki / "tasks" / "cart__task.md"
    assert page.read_text(encoding="utf-8").split("\n---\n")[1].count("\ngenerated: ") == 1
    assert catalog(repository.wiki).edited == []
    assert all(f"summaries/{name}.md" in page.read_text(encoding="utf-8") for name in "abcd")
