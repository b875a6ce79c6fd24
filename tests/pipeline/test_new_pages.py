"""`--max-new-pages`: a run publishes the new pages that are worth most, the others wait, and none is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.pages.waiting import LessonPage, chosen, lesson_pages
from agent_wiki.pipeline.catalogs import catalog_of
from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.pipeline.new_pages import AtMost, listed
from agent_wiki.pipeline.owners_pages import reject
from agent_wiki.pipeline.patch_config import patch_config
from agent_wiki.pipeline.report import Report
from agent_wiki.wiki.layout import kind_of, page_id
from agent_wiki.wiki.store import WikiFolder
from tests.repositories import Repository
from tests.wikis import Script, changed, ingest, record, rule, tree

EXAMPLE = Path(__file__).parents[2] / "wiki-example" / "wiki"
RULES = [f"Look at the {name} before a change." for name in ("cart", "till", "door", "shelf", "scale")]


class Shop:
    """Sessions that teach five rules: the third is seen in three sessions, the fifth in two, the others in one."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.wiki, self.script = folder, folder / "wiki", Script(folder)
        taught = {"a": RULES[:3], "b": [RULES[2], RULES[3]], "c": [RULES[2], RULES[4]], "d": [RULES[4]]}
        for session, rules in taught.items():
            self.script.says(session, rules=[rule(text, title=f"Look at it {text[12:16]}") for text in rules])
        self.paths = [record(folder / "traces", session) for session in taught]

    def night(self, most: int | None = None, commit: str = "", **options: Any) -> Report:
        if most is not None:
            options["new_pages"] = AtMost(most, commit)
        return ingest(self.paths, self.wiki, self.script.engine, **options)

    def published(self) -> set[str]:
        texts = [path.read_text("utf-8") for path in (self.wiki / "guidelines").glob("*__*.md")]
        return {each for each in RULES if any(each in text for text in texts)}

    def waiting(self) -> list[dict[str, str]]:
        file = self.wiki / "_waiting.jsonl"
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def one_run(tmp_path: Path) -> dict[str, bytes]:
    (tmp_path / "once").mkdir()
    once = Shop(tmp_path / "once")
    once.night()
    return tree(once.wiki)


def test_what_most_sessions_show_is_published_first_and_in_the_end_all_is_as_in_one_run(
    shop: Shop, one_run: dict[str, bytes]
) -> None:
    report = shop.night(2)
    assert shop.published() == {RULES[2], RULES[4]}
    assert report.pages_waiting == len(shop.waiting()) == 3
    assert "wait:  3 new pages, for a later run to publish" in report.lines()
    assert shop.night(2).pages_waiting == 1
    assert len(shop.published()) == 4
    assert shop.night(2).pages_waiting == 0
    assert changed(one_run, tree(shop.wiki)) == []


@pytest.mark.parametrize("first", [0, 1, 3])
def test_a_run_without_the_option_publishes_all(shop: Shop, one_run: dict[str, bytes], first: int) -> None:
    shop.night(first)
    assert len(shop.published()) == first
    shop.night()
    assert changed(one_run, tree(shop.wiki)) == []


def test_nothing_names_a_page_that_waits(shop: Shop) -> None:
    shop.night(1)
    named = {each["id"] for each in shop.waiting()}
    assert len(named) == 4
    texts = {path: text.decode() for path, text in tree(shop.wiki).items()}
    naming = {path for path, text in texts.items() if any(name in text for name in named)}
    assert {path.partition("/")[0] for path in naming} == {"_config.yaml", "_sessions", "_waiting.jsonl"}


def test_the_example_with_clusters_skills_and_tasks_page_by_page_ends_as_in_one_run(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    shutil.copytree(EXAMPLE, wiki)
    for folder in ("guidelines", "skills", "tasks", "_archived"):
        shutil.rmtree(wiki / folder, ignore_errors=True)
    waiting = [99]
    while waiting[-1]:
        before = len(_pages(wiki))
        waiting.append(ingest([], wiki, "offline", new_pages=AtMost(3)).pages_waiting)
        assert len(_pages(wiki)) - before <= 3
        assert waiting[-1] < waiting[-2]
    assert len(waiting) > 3  # the rounds were several
    assert changed(tree(EXAMPLE), tree(wiki)) == []


def _pages(wiki: Path) -> set[str]:
    return {path for path in tree(wiki) if kind_of(path) not in (None, "summary")}


def test_a_run_without_news_publishes_what_waits(shop: Shop) -> None:
    shop.night(2)
    assert shop.night(2).recordings_unchanged == 4
    assert len(shop.published()) == 4


def test_a_clone_goes_on_where_the_wiki_was(shop: Shop, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    shop.wiki = repository.wiki
    shop.night(2)
    repository.commit()
    repository.git("clone", "--quiet", str(repository.root), str(tmp_path / "clone"))
    assert main(["catalog", "--wiki", str(tmp_path / "clone" / "wiki"), "--max-new-pages", "2"]) == 0
    shop.night(2)
    assert changed(tree(shop.wiki), tree(tmp_path / "clone" / "wiki")) == []


def test_two_branches_publish_what_either_did(shop: Shop, tmp_path: Path, one_run: dict[str, bytes]) -> None:
    repository = Repository(tmp_path / "repository")
    shop.wiki, paths = repository.wiki, shop.paths
    shop.night(0)
    repository.commit()
    for name, most in (("one", 1), ("two", 3)):
        repository.branch(name)
        shop.night(most)
        repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one", fails=None)
    shop.paths = []
    assert shop.night(0, stages=("catalog",)).pages_waiting == 2
    assert len(shop.published()) == 3
    shop.paths = paths
    shop.night()
    assert changed(one_run, tree(shop.wiki)) == []


def test_a_pull_request_that_nobody_merges_gets_no_more_pages(shop: Shop, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    shop.wiki = repository.wiki
    shop.night(1)
    repository.commit()
    base = repository.git("rev-parse", "HEAD").strip()
    for _ in range(2):
        assert shop.night(2, base).pages_waiting == 2
        assert len(shop.published()) == 3
        repository.commit()
    assert shop.night(1, base).pages_waiting == 2
    assert len(shop.published()) == 3
    assert shop.night(2, repository.git("rev-parse", "HEAD").strip()).pages_waiting == 0


def test_what_is_new_since_a_revision_needs_one(shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ingest", str(shop.paths[0]), "--wiki", str(tmp_path / "wiki"), "--new-since", "main"]
    assert main(words) == 2
    assert "--new-since needs --max-new-pages" in capsys.readouterr().err
    assert main([*words, "--max-new-pages", "3"]) == 2
    assert "--new-since main: no such revision here" in capsys.readouterr().err
    assert not (tmp_path / "wiki").exists()


def test_an_owner_who_rejects_a_page_publishes_no_other(shop: Shop) -> None:
    shop.night(2)
    (page,) = (each for each in (shop.wiki / "guidelines").glob("*__*.md") if RULES[2] in each.read_text("utf-8"))
    reject(shop.wiki, [f"guidelines/{page.name}"], "", Report("reject", ""))
    assert shop.published() == {RULES[4]}
    assert len(shop.waiting()) == 3


def test_a_change_of_the_configuration_publishes_no_other(shop: Shop) -> None:
    shop.night(2)
    patch_config(shop.wiki, {"rules": {"ignore": ["no-such-rule"]}}, Report("config patch", ""))
    assert (len(shop.waiting()), len(shop.published())) == (3, 2)


def test_a_forgotten_session_takes_its_waiting_pages_with_it(shop: Shop) -> None:
    shop.night(2)
    forget(shop.wiki, ["a"], Report("forget", ""), lambda _what, _done, _of: None)
    assert [each["title"] for each in shop.waiting()] == ["Look at it shel"]
    assert shop.published() == {RULES[2], RULES[4]}


def test_a_killed_run_and_the_next_publish_as_many_as_one(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    published: list[str] = []

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("agent_wiki.pipeline.catalog_files.CatalogFiles._write_indexes", killed)
        with pytest.raises(KeyboardInterrupt):
            shop.night(2)
    published += shop.published()
    assert len(published) == 2
    assert shop.night(2).pages_waiting == 3
    assert shop.published() == set(published)
    assert shop.night(2).pages_waiting == 1


def test_a_cluster_waits_for_two_of_its_members() -> None:
    cluster = LessonPage("cluster:c", "cluster", "C", (0,), frozenset({"a", "b", "d"}))
    pages = [cluster, *(LessonPage(name, "guideline", name, (1,)) for name in ("a", "b", "d"))]
    assert chosen(pages, (), 1) == {"a"}
    assert chosen(pages, (), 3) == {"a", "b", "cluster:c"}
    assert chosen(pages[:1] + pages[2:], ("a",), 2) == {"b", "cluster:c"}
    assert chosen(pages, ("a", "b"), 1) == {"cluster:c"}


def test_a_workflow_comes_after_every_lesson_whose_cause_is_checked_and_before_those_that_are_stated() -> None:
    pages = lesson_pages(catalog_of(read_wiki(EXAMPLE, [])))
    rows = map(json.loads, (EXAMPLE / "_index.jsonl").read_text("utf-8").splitlines())
    causes = {row["id"]: row.get("cause", row["kind"]) for row in rows}
    found = [causes[each.id] for each in pages if each.kind in ("guideline", "skill")]
    assert set(found) == {"checked", "skill", "stated"}
    assert found == sorted(found, key=["checked", "skill", "stated"].index)


def test_the_body_lists_what_waits_as_later_runs_publish_it(tmp_path: Path) -> None:
    """Of the example, in which a cluster is worth as much as the best of its members and comes after the second."""
    repository = Repository(tmp_path / "repository")
    shutil.copytree(EXAMPLE, repository.wiki, dirs_exist_ok=True)
    for folder in ("guidelines", "skills", "tasks", "_archived"):
        shutil.rmtree(repository.wiki / folder, ignore_errors=True)
    ingest([], repository.wiki, "offline", new_pages=AtMost(0))
    repository.commit()
    body = tmp_path / "body.md"
    assert main(["report", "--wiki", str(repository.wiki), "--pr", str(body)]) == 0
    waiting = json.loads(body.with_suffix(".json").read_text("utf-8"))["waiting"]
    listed, titles = [each["id"] for each in waiting], {each["kind"]: each["title"] for each in waiting}
    assert " " in titles["skill"], "its title, as under New, and no slug"
    published: list[str] = []
    while ingest([], repository.wiki, "offline", new_pages=AtMost(1)).pages_waiting:
        published += sorted({*map(page_id, _pages(repository.wiki))} - {*published})
    assert published == listed[: len(published)]
    assert len(listed) == len(published) + 1


def test_a_join_publishes_no_more_either(shop: Shop, tmp_path: Path, one_run: dict[str, bytes]) -> None:
    shop.night()
    (tmp_path / "joined").mkdir()
    config = (shop.wiki / "_config.yaml").read_text(encoding="utf-8")
    (tmp_path / "joined" / "_config.yaml").write_text(f"{config}trust: [{shop.wiki.name}]\n", encoding="utf-8")
    words = ["join", str(shop.wiki), "--wiki", str(tmp_path / "joined")]
    assert main([*words, "--max-new-pages", "1", "--engine", shop.script.engine]) == 0
    assert len(list((tmp_path / "joined" / "guidelines").glob("*__*.md"))) == 1
    assert main([*words, "--engine", shop.script.engine]) == 0
    assert changed(one_run, tree(tmp_path / "joined")) == ["_config.yaml"]


def test_a_dry_run_writes_no_list(shop: Shop) -> None:
    assert shop.night(2, dry_run=True).pages_waiting == 3
    assert not shop.wiki.exists()


def test_a_page_waits_whatever_its_title_has_in_it(tmp_path: Path) -> None:
    line = json.dumps({"id": "0123456789ab", "title": "Look\u2028at it"}, ensure_ascii=False)
    folder = WikiFolder(tmp_path)
    folder.write_text("_waiting.jsonl", f"{line}\n")
    assert listed(folder) == {"0123456789ab"}
