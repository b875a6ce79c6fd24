"""`AGENTS.md`: an example from the wiki's own pages, and whose the file is."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest

from agent_wiki.pages.contract import ExampleSearch, contract, is_its_owners
from agent_wiki.pages.index_shards import CONTENTS, sessions_of
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval import consult
from agent_wiki.stages.turnings import Grade
from agent_wiki.wiki.templates import Templates
from tests.wikis import Script, record, rule

RULE: dict[str, Any] = {
    "kind": "guideline", "id": "aaaaaaaaaaaa", "title": "Quote YAML", "tags": ["yaml"],
    "trigger": "A colon is refused.", "link": "guidelines/quote-yaml__aaaaaaaaaaaa.md",
    "support": {"sessions": 3}, "trust": "tool", "cause": "checked",
}  # fmt: skip
CLUSTER = {**RULE, "kind": "cluster", "id": "cluster:x", "link": "guidelines/x__cluster.md", "members": [RULE["id"]]}
TEMPLATES = Templates()
EXAMPLES = Path(__file__).parents[2] / "wiki-example"


def _example(*rows: dict[str, Any]) -> dict[str, Any] | None:
    search = ExampleSearch()
    for row in rows:
        search.add(row, sessions_of(row))
    return search.found()


def _contract(*rows: dict[str, Any], is_sharded: bool = False) -> str:
    return contract(_example(*rows), TEMPLATES, is_sharded=is_sharded)


def test_the_example_is_the_wikis_own_best_page_whatever_the_order() -> None:
    example = _example(RULE, CLUSTER)
    assert example == _example(CLUSTER, RULE)
    assert example is not None
    assert (example["kind"], example["link"], example["sessions"]) == ("cluster", "guidelines/x__cluster.md", 3)
    text = _contract(RULE, CLUSTER)
    assert "`guidelines/x__cluster.md`" in text
    assert "“A colon is refused.”" in text


@pytest.mark.parametrize(
    "change",
    [{"trust": "external"}, {"trigger": ""}, {"tags": []}, {"kind": "task"}, {"kind": "skill"}, {"cause": "asserted"}],
)
def test_a_page_from_outside_without_a_situation_or_unchecked_is_no_example(change: dict[str, Any]) -> None:
    assert _example({**RULE, **change}) is None
    assert "size of an image" in _contract({**RULE, **change})


def test_a_cluster_is_an_example_only_with_a_member_that_was_checked() -> None:
    other = {**RULE, "cause": "stated", "support": {"sessions": 1}}
    assert _example(other, CLUSTER) is None
    assert _example({**other, "cause": "checked", "trust": "external"}, CLUSTER) is None


def test_what_holds_for_one_repository_alone_is_an_example_only_where_nothing_else_is_and_says_so() -> None:
    own = {**RULE, "id": "bbbbbbbbbbbb", "scope": "repository:shop", "support": {"sessions": 90}}
    example = _example(own, {**RULE, "scope": "tool:git"})
    assert example is not None
    assert example["link"] == RULE["link"]
    assert "`--repository shop`" in _contract(own)
    assert "--repository" not in _contract(RULE, own)


def test_the_example_of_a_wiki_works_as_it_is_written(tmp_path: Path) -> None:
    for name in ("wiki", "answered/wiki"):
        wiki = tmp_path / name
        copytree(EXAMPLES / name, wiki, ignore=ignore_patterns(".wiki"))
        text = (wiki / "AGENTS.md").read_text(encoding="utf-8")
        (situation,) = re.findall("for which this holds: “(.*)”", text)
        (link,) = re.findall("Open its `link`, `([^`]+)`", text)
        assert consult(wiki, situation)[0].link == link


def test_only_in_a_large_wiki_agents_read_shards() -> None:
    assert "_index/_contents.jsonl" not in _contract(RULE)
    assert "_index/_contents.jsonl" in _contract(RULE, is_sharded=True)


def test_what_was_made_is_ours_until_a_word_changes() -> None:
    made = _contract(RULE)
    assert not is_its_owners(made, _example(RULE), TEMPLATES)
    assert is_its_owners(made.replace("colon", "comma"), _example(RULE), TEMPLATES)
    assert is_its_owners(made + "\nAsk Mia first.\n", _example(RULE), TEMPLATES)
    assert is_its_owners("Mine.\n", _example(RULE), TEMPLATES)
    assert is_its_owners("", _example(RULE), TEMPLATES)


def _ingest(wiki: Path, engine: str, *recordings: Path) -> str:
    run(recordings, Options(wiki, engine=engine), Report("ingest", str(wiki)), lambda _what, _done, _of: None)
    return (wiki / "AGENTS.md").read_text(encoding="utf-8")


def test_the_order_of_runs_does_not_show_and_an_owners_word_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = Grade("checked", "it failed and passed")
    monkeypatch.setattr("agent_wiki.stages.extract_guidelines.grade_of", lambda *_: checked)
    told = Script(tmp_path)
    told.says("a", rules=[rule("Run the check before a change.")])
    told.says("b", rules=[rule("Read the log after a change.")])
    a, b = record(tmp_path, "a"), record(tmp_path, "b")
    empty = _ingest(tmp_path / "one", told.engine)
    assert "size of an image" in empty
    _ingest(tmp_path / "one", told.engine, a)
    one = _ingest(tmp_path / "one", told.engine, b)
    _ingest(tmp_path / "two", told.engine, b)
    assert _ingest(tmp_path / "two", told.engine, a) == one
    assert "size of an image" not in one
    (tmp_path / "one" / "AGENTS.md").write_text(one + "\nAsk Mia first.\n", encoding="utf-8")
    assert _ingest(tmp_path / "one", told.engine, record(tmp_path, "c")).endswith("Ask Mia first.\n")


def test_shards_appear_above_five_hundred_rows_and_go_again(tmp_path: Path) -> None:
    from agent_wiki.pages import index_shards

    told = Script(tmp_path)
    told.says("a", rules=[rule("Run the check before a change.")])
    wiki, recording = tmp_path / "wiki", record(tmp_path, "a")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_shards, "MOST_WHOLE", 0)
        assert "_index/_contents.jsonl" in _ingest(wiki, told.engine, recording)
        assert (wiki / CONTENTS).is_file()
    (wiki / "_index" / "notes.md").write_text("the owner's", encoding="utf-8")
    (wiki / "index.md").unlink()
    assert "_index/_contents.jsonl" not in _ingest(wiki, told.engine, recording)
    assert [each.name for each in (wiki / "_index").iterdir()] == ["notes.md"]
