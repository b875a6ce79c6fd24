"""Two branches that each ingested other sessions, merged by git itself: `wiki catalog` gives the bytes of one run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.engine import Engine
from agent_wiki.engines.offline import OfflineEngine
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.owners_pages import keep, reject
from agent_wiki.report import Report
from tests.repositories import Repository
from tests.wikis import Script, changed, ingest, record, rule, skill, tree

EXAMPLE = Path(__file__).parents[2] / "wiki-example"
TRACES = sorted((EXAMPLE / "traces").iterdir())
NO_ATTRIBUTES = "# nothing\n"


class _Keeping(OfflineEngine):
    """The embedded engine, but the wiki keeps its answers as it keeps a model's."""

    answers_are_kept = True


def _init(wiki: Path) -> None:
    run([], Options(wiki, ("catalog",)), Report("init", str(wiki)), lambda _what, _done, _of: None)


def _catalog(wiki: Path) -> Report:
    return run([], Options(wiki, ("catalog",)), Report("catalog", str(wiki)), lambda _what, _done, _of: None)


def _branches(
    repository: Repository,
    base: Sequence[Path],
    one: Sequence[Path],
    two: Sequence[Path],
    *,
    engine: str | Engine = "offline",
) -> None:
    """`main` with the base, and the branches `one` and `two`, of which the second is checked out."""
    if not repository.wiki.exists():
        _init(repository.wiki)
    if base:
        ingest(base, repository.wiki, engine)
    repository.commit()
    for name, paths in (("one", one), ("two", two)):
        repository.branch(name)
        ingest(paths, repository.wiki, engine)
        repository.commit()


@pytest.fixture(scope="module")
def without_attributes(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Branches of a wiki in which git merges by no rule of ours. Tests take a copy."""
    repository = Repository(tmp_path_factory.mktemp("without") / "repository")
    _init(repository.wiki)
    (repository.wiki / ".gitattributes").write_text(NO_ATTRIBUTES, encoding="utf-8")
    _branches(repository, TRACES[:3], TRACES[3:11], TRACES[11:])
    return repository


@pytest.fixture(scope="module")
def both_render(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Branches that render the contract of one session again. Tests take a copy."""
    repository = Repository(tmp_path_factory.mktemp("both") / "repository")
    _branches(repository, TRACES[:1], TRACES[1:9], TRACES[9:12])
    return repository


@pytest.fixture(scope="module")
def one_run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The wiki of all sessions, ingested at once."""
    wiki = tmp_path_factory.mktemp("once") / "wiki"
    ingest(TRACES, wiki, "offline")
    return tree(wiki)


@pytest.mark.parametrize(("base", "step"), [(0, 1), (2, 1), (4, 2)], ids=["init alone", "halves", "every other"])
def test_branches_merge_without_a_stop_and_catalog_gives_the_bytes_of_one_run(
    tmp_path: Path, one_run: dict[str, bytes], base: int, step: int
) -> None:
    repository = Repository(tmp_path / "repository")
    rest = TRACES[base:]
    half = len(rest) // 2
    one, two = (rest[:half], rest[half:]) if step == 1 else (rest[::2], rest[1::2])
    _branches(repository, TRACES[:base], one, two)
    repository.git("merge", "--quiet", "--no-edit", "one")
    report = _catalog(repository.wiki)
    assert (report.failures, report.edited, report.warnings) == ([], [], [])
    assert changed(tree(repository.wiki), one_run) == []
    assert _catalog(repository.wiki).written == []


def test_a_merged_wiki_with_a_rejected_page_has_its_clusters_and_tasks_made_anew(tmp_path: Path) -> None:
    repository, once = Repository(tmp_path / "repository"), tmp_path / "once"
    for wiki in (once, repository.wiki):
        _init(wiki)
        ingest(TRACES[:12], wiki, "offline")
        page = min(path for path in wiki.glob("guidelines/*.md") if path.name != "index.md")
        reject(wiki, [page.relative_to(wiki).as_posix()], "Taught nothing.", Report("reject", str(wiki)))
    ingest(TRACES[12:], once, "offline")
    _branches(repository, (), TRACES[12:16], TRACES[16:])
    repository.git("merge", "--quiet", "--no-edit", "one")
    report = _catalog(repository.wiki)
    assert (report.failures, report.warnings) == ([], [])
    assert changed(tree(repository.wiki), tree(once)) == []


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_conflict_markers_that_were_committed_cost_nothing(
    tmp_path: Path, one_run: dict[str, bytes], without_attributes: Repository, style: str
) -> None:
    repository = without_attributes.copied(tmp_path / "repository")
    repository.git("-c", f"merge.conflictStyle={style}", "merge", "--quiet", "--no-edit", "one", fails=True)
    repository.commit()
    conflicts = [path for path, content in tree(repository.wiki).items() if b"\n>>>>>>> " in content]
    assert {"_config.yaml", "_index.jsonl", "index.md", "tasks/index.md"} <= set(conflicts)
    report = _catalog(repository.wiki)
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
    _branches(repository, family[:3], [family[3], *others[:7]], [family[4], *others[7:]], engine=_Keeping())
    for side in ("one", "two"):
        seen = repository.git("diff", "--find-renames=45%", "--summary", "main", side, "--", "wiki/_corpus")
        assert "delete mode" in seen
        assert "rename" not in seen
    repository.git("merge", "--quiet", "--no-edit", "one")
    assert _catalog(repository.wiki).failures == []
    assert changed(tree(repository.wiki), one_run) == []


def test_blank_lines_of_answers_are_written_again_where_somebody_took_them_away(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    shutil.copytree(EXAMPLE / "answered" / "wiki", wiki)
    before = tree(wiki)
    answers = sorted((wiki / "_corpus").glob("*.json"))
    for path in answers:
        path.write_text(path.read_text(encoding="utf-8").rstrip() + "\n", encoding="utf-8")
    assert len(changed(tree(wiki), before)) == len(answers) > 0
    assert _catalog(wiki).written == [path.relative_to(wiki).as_posix() for path in answers]
    assert changed(tree(wiki), before) == []


def test_of_a_session_that_grew_on_both_sides_git_never_mixes_two_records(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    versions = [[record(tmp_path / f"t{more}", "s-1", more=more)] for more in (0, 1, 3)]
    _branches(repository, *versions)
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
    _init(repository.wiki)
    (repository.wiki / ".gitattributes").write_text(NO_ATTRIBUTES, encoding="utf-8")
    versions = [[record(tmp_path / f"t{more}", "s-1", more=more)] for more in (0, 3, 1)]
    _branches(repository, *versions)
    repository.git("merge", "--quiet", "--no-edit", "one", fails=True)
    repository.commit()
    path = repository.wiki / "_sessions" / "s-1.json"
    assert b"<<<<<<< " in path.read_bytes()
    assert _catalog(repository.wiki).failures == []
    kept = json.loads(path.read_bytes())
    assert kept["turns"] == 10
    assert kept["stages"]["summarize"]["answer"][0]["last_turn"] == 10


def _page(wiki: Path, pattern: str) -> Path:
    (found,) = wiki.glob(pattern)
    return found


@pytest.fixture
def told(tmp_path: Path) -> Script:
    """Four sessions that state one rule and show one workflow."""
    script = Script(tmp_path)
    shared = rule("Run the check before a change.")
    for name in "abcd":
        script.says(name, rules=[shared], skill=skill("check-it", scripts=[{"file": "x.sh", "text": "make check\n"}]))
    return script


@pytest.mark.parametrize("is_rendered_before", [False, True], ids=["on one side", "on both sides"])
@pytest.mark.parametrize(
    ("pattern", "old", "new"),
    [
        ("guidelines/*.md", "The check told what was wrong.", "It told us so twice."),
        ("guidelines/*.md", "## Used by", "## Note\n\nOurs since spring.\n\n## Used by"),
        ("guidelines/*.md", "The check told what was wrong.\n", ""),
        ("skills/*/SKILL.md", "Check, change, check.", "Check, then change."),
        ("skills/*/scripts/x.sh", "make check", "make check V=1"),
        ("summaries/a.md", "The check failed, then passed.", "A flaky test."),
    ],
)  # fmt: skip
def test_what_a_person_wrote_into_a_page_that_the_other_side_rendered_again_stays(
    tmp_path: Path, told: Script, pattern: str, old: str, new: str, *, is_rendered_before: bool
) -> None:
    repository = Repository(tmp_path / "repository")
    written = {"x.sh": "make check\n"}
    paths = [record(tmp_path / "t", name, f"2026-01-0{day}", writes=written) for day, name in enumerate("abcd", 1)]
    ingest(paths[:1], repository.wiki, told.engine)
    repository.commit()
    repository.branch("one")
    if is_rendered_before:
        ingest(paths[1:2], repository.wiki, told.engine)
    pattern = pattern.replace("/*.md", "/run-*.md")
    page = _page(repository.wiki, pattern)
    before = page.read_text(encoding="utf-8")
    assert old in before
    page.write_text(before.replace(old, new), encoding="utf-8")
    repository.commit()
    repository.branch("two")
    ingest(paths[2:], repository.wiki, told.engine)
    repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one")
    report = _catalog(repository.wiki)
    assert report.edited == [page.relative_to(repository.wiki).as_posix()]
    kept = page.read_text(encoding="utf-8")
    assert new in kept
    assert new or old not in kept


def _said(tmp_path: Path, **by_session: dict[str, Any]) -> tuple[Script, dict[str, Path]]:
    """A script in which each session states one rule with these fields, and the recordings, of a day each."""
    script = Script(tmp_path)
    for name, fields in by_session.items():
        script.says(name, rules=[rule("Run the check before a change.", **fields)])
    days = {name: f"2026-01-0{day}" for day, name in enumerate(sorted(by_session), 1)}
    return script, {name: record(tmp_path / "t", name, day) for name, day in days.items()}


def test_where_git_stops_at_a_page_that_one_side_took_away_catalog_finishes_the_merge(tmp_path: Path) -> None:
    script, paths = _said(tmp_path, a={}, b={})
    repository = Repository(tmp_path / "repository")
    _branches(repository, [paths["a"]], [paths["b"]], [], engine=script.engine)
    _page(repository.wiki, "guidelines/run-*.md").unlink()
    repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one", fails=True)
    assert _catalog(repository.wiki).failures == []
    ingest(paths.values(), tmp_path / "once", script.engine)
    pages = [tree(wiki) for wiki in (repository.wiki, tmp_path / "once")]
    assert [path for path in changed(*pages) if path.startswith("guidelines/")] == []
    repository.commit()
    assert repository.git("status", "--porcelain") == ""


def test_a_line_that_another_branch_says_in_other_words_is_nobodys_edit(tmp_path: Path) -> None:
    """Of the first session's page and one like it a line is gone, for on the other side another session speaks."""
    script, paths = _said(tmp_path, a={}, b={"rationale": "It saves an hour."}, c={})
    repository = Repository(tmp_path / "repository")
    _branches(repository, [paths["c"]], [paths["a"]], [paths["b"]], engine=script.engine)
    repository.git("merge", "--quiet", "--no-edit", "one")
    merged = _page(repository.wiki, "guidelines/run-*.md").read_text(encoding="utf-8")
    assert "It saves an hour." in merged
    assert "The check told what was wrong." not in merged
    assert _catalog(repository.wiki).edited == []
    ingest(paths.values(), tmp_path / "once", script.engine)
    pages = [tree(wiki) for wiki in (repository.wiki, tmp_path / "once")]
    assert [path for path in changed(*pages) if path.startswith("guidelines/")] == []


def test_what_a_rejected_page_says_on_either_side_stops_no_merge(tmp_path: Path) -> None:
    titles = {"a": "Run the check early", "b": "Run the check soon", "c": "Run the check first"}
    script, paths = _said(tmp_path, **{name: {"title": title} for name, title in titles.items()})
    repository = Repository(tmp_path / "repository")
    _init(repository.wiki)
    ingest([paths["c"]], repository.wiki, script.engine)
    page = _page(repository.wiki, "guidelines/run-*.md").relative_to(repository.wiki).as_posix()
    reject(repository.wiki, [page], "Taught nothing.", Report("reject", str(repository.wiki)))
    _branches(repository, (), [paths["a"]], [paths["b"]], engine=script.engine)
    repository.git("merge", "--quiet", "--no-edit", "one")
    assert _catalog(repository.wiki).failures == []
    kept = [json.loads(path.read_bytes()) for path in (repository.wiki / "_corpus").glob("*.json")]
    assert [each["answer"]["title"] for each in kept if each["kind"] == "rejected"] == [titles["a"]]


def test_two_frontmatters_that_git_put_one_below_the_other_are_nobodys_edit(tmp_path: Path) -> None:
    script, paths = _said(tmp_path, a={}, b={}, c={}, d={})
    repository = Repository(tmp_path / "repository")
    _init(repository.wiki)
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
    assert _catalog(repository.wiki).edited == []
    assert all(f"summaries/{name}.md" in page.read_text(encoding="utf-8") for name in "abcd")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## Recipe", "Ask Kim before a release.\n\n## Recipe"),
        ("5. Read the top 2 to 5 pages, no more.\n", ""),
        ("\n_Made by", "\n## House rules\n\n- No page older than a year.\n\n_Made by"),
    ],
)
def test_what_a_person_wrote_into_the_contract_that_both_sides_rendered_stays(
    tmp_path: Path, both_render: Repository, old: str, new: str
) -> None:
    repository = both_render.copied(tmp_path / "repository")
    repository.git("checkout", "--quiet", "one")
    contract = repository.wiki / "AGENTS.md"
    text = contract.read_text(encoding="utf-8")
    assert old in text
    contract.write_text(text.replace(old, new), encoding="utf-8")
    repository.commit()
    repository.git("checkout", "--quiet", "two")
    repository.git("merge", "--quiet", "--no-edit", "one", fails=None)
    merged = contract.read_text(encoding="utf-8")
    assert merged.count("_Made by `wiki`") == 2
    _catalog(repository.wiki)
    assert contract.read_text(encoding="utf-8") == merged


def _edit(page: Path, line: str) -> None:
    """Write a line below the title of a page."""
    text, count = re.subn(r"(?m)^(# .*\n)", rf"\1\n{line}\n", page.read_text(encoding="utf-8"), count=1)
    assert count == 1
    page.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("path", ["tasks/cart__task.md", "tasks/index.md", "index.md"])
def test_what_a_person_wrote_into_a_page_of_counts_stays_though_both_sides_rendered_it(
    tmp_path: Path, path: str
) -> None:
    """Which of its lines are a person's cannot be told from the records: git knows what either side had."""
    script, paths = _said(tmp_path, a={}, b={}, c={}, d={})
    repository = Repository(tmp_path / "repository")
    _init(repository.wiki)
    config = repository.wiki / "_config.yaml"
    task = "tasks:\n  cart: {title: Fix the cart, family_match: {goal_substring: [cart]}}\n"
    config.write_text(re.sub(r"(?m)^tasks:( {})?\n", task, config.read_text(encoding="utf-8")), encoding="utf-8")
    _branches(repository, [paths["a"], paths["b"]], [paths["c"]], [paths["d"]], engine=script.engine)
    _edit(repository.wiki / path, "Ours since spring.")
    repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one")
    for _ in range(2):
        assert _catalog(repository.wiki).edited == [path]
        text = (repository.wiki / path).read_text(encoding="utf-8")
        assert "Ours since spring." in text
        assert text.count("generated: sha256:") == 1


@pytest.mark.parametrize("attributes", [None, NO_ATTRIBUTES], ids=["lines of both", "conflict markers"])
def test_a_file_that_its_owner_keeps_is_left_as_git_merged_it_and_reported(
    tmp_path: Path, attributes: str | None
) -> None:
    script, paths = _said(tmp_path, a={}, b={}, c={})
    repository = Repository(tmp_path / "repository")
    _init(repository.wiki)
    if attributes is not None:
        (repository.wiki / ".gitattributes").write_text(attributes, encoding="utf-8")
    ingest([paths["a"]], repository.wiki, script.engine)
    page = _page(repository.wiki, "guidelines/run-*.md")
    path = page.relative_to(repository.wiki).as_posix()
    repository.commit()
    repository.branch("one")
    ingest([paths["b"]], repository.wiki, script.engine)
    _edit(page, "Ours on one side.")
    keep(repository.wiki, [path], Report("keep", str(repository.wiki)))
    repository.commit()
    repository.branch("two")
    ingest([paths["c"]], repository.wiki, script.engine)
    _edit(page, "Ours on the other side.")
    repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one", fails=attributes is not None)
    repository.commit()
    merged = page.read_text(encoding="utf-8")
    assert "Ours on one side." in merged
    assert "Ours on the other side." in merged
    report = _catalog(repository.wiki)
    assert page.read_text(encoding="utf-8") == merged
    assert f"{path}: git merged it, and you keep it: take out what is there twice" in report.warnings


def test_answers_of_a_model_stay_and_a_line_says_what_brings_clusters_up_to_date(tmp_path: Path, told: Script) -> None:
    repository = Repository(tmp_path / "repository")
    paths = [record(tmp_path / "t", name, f"2026-01-0{day}") for day, name in enumerate("abcd", 1)]
    _init(repository.wiki)
    repository.commit()
    for name, half in (("one", paths[:2]), ("two", paths[2:])):
        repository.branch(name)
        ingest(half, repository.wiki, told.engine)
        repository.commit()
    answers = {path.name for path in (repository.wiki / "_corpus").glob("*.json")}
    repository.git("merge", "--quiet", "--no-edit", "one")
    answers |= {path.name for path in (repository.wiki / "_corpus").glob("*.json")}
    report = _catalog(repository.wiki)
    assert [each.partition(":")[0] for each in report.warnings] == ["git merged this wiki"] * 2
    assert "wiki consolidate-clusters" in report.warnings[0]
    assert "wiki discover-tasks" in report.warnings[1]
    assert {path.name for path in (repository.wiki / "_corpus").glob("*.json")} == answers
    assert _catalog(repository.wiki).warnings == []
    for stage in ("consolidate-clusters", "discover-tasks"):
        ingest([], repository.wiki, told.engine, stages=(stage, "catalog"))
    ingest(paths, tmp_path / "once", told.engine)
    assert changed(tree(repository.wiki), tree(tmp_path / "once")) == []


def test_what_owners_wrote_into_the_configuration_on_both_sides_stays(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    _init(repository.wiki)
    repository.commit()
    wrote = {
        "one": ["# ours, since June", "photos: {title: Photos, family_match: {goal_substring: [photo]}}"],
        "two": ["# theirs", "songs: {title: Songs, family_match: {goal_substring: [song]}}"],
    }
    for position, (name, lines) in enumerate(wrote.items()):
        repository.branch(name)
        ingest(TRACES[position::2], repository.wiki, "offline")
        config = repository.wiki / "_config.yaml"
        before = config.read_text(encoding="utf-8")
        written = "".join(f"  {line}\n" for line in lines)
        config.write_text(re.sub(r"(?m)^tasks:( {})?\n", f"tasks:\n{written}", before), encoding="utf-8")
        repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one")
    assert _catalog(repository.wiki).failures == []
    merged = (repository.wiki / "_config.yaml").read_text(encoding="utf-8").splitlines()
    assert [merged.count(f"  {line}") for lines in wrote.values() for line in lines] == [1, 1, 1, 1]
