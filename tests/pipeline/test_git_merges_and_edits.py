"""What persons wrote and models answered stays where git merges two branches of a wiki."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agent_wiki.pipeline.owners_pages import keep
from agent_wiki.pipeline.report import Report
from tests.pipeline.branches import NO_ATTRIBUTES, TRACES, branches, catalog, init_wiki, one_rule_each, only_page
from tests.readers.claude_lines import assistant, call, result, user
from tests.repositories import Repository
from tests.wikis import Script, changed, ingest, record, rule, skill, tree


@pytest.fixture(scope="module")
def both_render(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Branches whose contracts have examples of their own. Tests take a copy."""
    folder = tmp_path_factory.mktemp("both")
    repository, other = Repository(folder / "repository"), folder / "pip.jsonl"
    lines = [
        user("Install the wheel of the cart"),
        assistant("m1", call("c1", command="pip install dist/cart.whl")),
        user([result("c1", "Exit code 127\nbash: line 1: pip: command not found", is_error=True)]),
        assistant("m2", call("c2", command="python3 -m pip install dist/cart.whl")),
        user([result("c2", "Successfully installed cart-1.0")]),
    ]
    other.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    branches(repository, TRACES[:1], TRACES[9:11], [other])
    return repository


@pytest.fixture
def told(tmp_path: Path) -> Script:
    """Four sessions that state one rule and show one workflow."""
    script = Script(tmp_path)
    shared = rule("Run the check before a change.")
    for name in "abcd":
        script.says(name, rules=[shared], skill=skill("check-it", scripts=[{"file": "x.sh", "text": "make check\n"}]))
    return script


@pytest.mark.long
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
    page = only_page(repository.wiki, pattern)
    before = page.read_text(encoding="utf-8")
    assert old in before
    page.write_text(before.replace(old, new), encoding="utf-8")
    repository.commit()
    repository.branch("two")
    ingest(paths[2:], repository.wiki, told.engine)
    repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one")
    report = catalog(repository.wiki)
    assert report.edited == [page.relative_to(repository.wiki).as_posix()]
    kept = page.read_text(encoding="utf-8")
    assert new in kept
    assert new or old not in kept


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
    catalog(repository.wiki)
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
    script, paths = one_rule_each(tmp_path, a={}, b={}, c={}, d={})
    repository = Repository(tmp_path / "repository")
    init_wiki(repository.wiki)
    config = repository.wiki / "_config.yaml"
    task = "tasks:\n  cart: {title: Fix the cart, family_match: {goal_substring: [cart]}}\n"
    config.write_text(re.sub(r"(?m)^tasks:( {})?\n", task, config.read_text(encoding="utf-8")), encoding="utf-8")
    branches(repository, [paths["a"], paths["b"]], [paths["c"]], [paths["d"]], engine=script.engine)
    _edit(repository.wiki / path, "Ours since spring.")
    repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one")
    for _ in range(2):
        assert catalog(repository.wiki).edited == [path]
        text = (repository.wiki / path).read_text(encoding="utf-8")
        assert "Ours since spring." in text
        assert text.count("generated: sha256:") == 1


@pytest.mark.parametrize("attributes", [None, NO_ATTRIBUTES], ids=["lines of both", "conflict markers"])
def test_a_file_that_its_owner_keeps_is_left_as_git_merged_it_and_reported(
    tmp_path: Path, attributes: str | None
) -> None:
    script, paths = one_rule_each(tmp_path, a={}, b={}, c={})
    repository = Repository(tmp_path / "repository")
    init_wiki(repository.wiki)
    if attributes is not None:
        (repository.wiki / ".gitattributes").write_text(attributes, encoding="utf-8")
    ingest([paths["a"]], repository.wiki, script.engine)
    page = only_page(repository.wiki, "guidelines/run-*.md")
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
    report = catalog(repository.wiki)
    assert page.read_text(encoding="utf-8") == merged
    assert f"{path}: git merged it, and you keep it: take out what is there twice" in report.warnings


def test_answers_of_a_model_stay_and_a_line_says_what_brings_clusters_up_to_date(tmp_path: Path, told: Script) -> None:
    repository = Repository(tmp_path / "repository")
    paths = [record(tmp_path / "t", name, f"2026-01-0{day}") for day, name in enumerate("abcd", 1)]
    init_wiki(repository.wiki)
    repository.commit()
    for name, half in (("one", paths[:2]), ("two", paths[2:])):
        repository.branch(name)
        ingest(half, repository.wiki, told.engine)
        repository.commit()
    answers = {path.name for path in (repository.wiki / "_corpus").glob("*.json")}
    repository.git("merge", "--quiet", "--no-edit", "one")
    answers |= {path.name for path in (repository.wiki / "_corpus").glob("*.json")}
    report = catalog(repository.wiki)
    assert [each.partition(":")[0] for each in report.warnings] == ["git merged this wiki"] * 2
    assert "wiki consolidate-clusters" in report.warnings[0]
    assert "wiki discover-tasks" in report.warnings[1]
    assert {path.name for path in (repository.wiki / "_corpus").glob("*.json")} == answers
    assert catalog(repository.wiki).warnings == []
    for stage in ("consolidate-clusters", "discover-tasks"):
        ingest([], repository.wiki, told.engine, stages=(stage, "catalog"))
    ingest(paths, tmp_path / "once", told.engine)
    assert changed(tree(repository.wiki), tree(tmp_path / "once")) == []


def test_what_owners_wrote_into_the_configuration_on_both_sides_stays(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    init_wiki(repository.wiki)
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
    assert catalog(repository.wiki).failures == []
    merged = (repository.wiki / "_config.yaml").read_text(encoding="utf-8").splitlines()
    assert [merged.count(f"  {line}") for lines in wrote.values() for line in lines] == [1, 1, 1, 1]
