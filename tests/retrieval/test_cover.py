"""What stands for what, and what comes last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_wiki.retrieval import consult
from agent_wiki.retrieval.fuse import sinks
from tests.retrieval.wikis import PYTEST, YAML, write_wiki

CLUSTER: dict[str, Any] = {
    "kind": "cluster", "id": "cluster:runner", "title": "Use the repository's own runner", "tags": ["runner", "tests"],
    "trigger": "", "summary": "A repository's own script knows how it is tested.",
    "link": "guidelines/runner__cluster.md", "members": [PYTEST["id"], "444444444444"], "priority": "high",
}  # fmt: skip
MEMBER = {**PYTEST, "cluster": "runner", "superseded_by": "runner__cluster.md"}
OTHER = {
    **MEMBER, "id": "444444444444", "title": "Run the tests with make test",
    "link": "guidelines/run-the-tests-with-make-test__444444444444.md",
}  # fmt: skip
TASK = "pytest is not found, how do I run the tests?"


def test_a_cluster_replaces_the_members_that_match_once(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path / "wiki", (CLUSTER, MEMBER, OTHER, YAML))
    (hit,) = consult(wiki, TASK)
    assert hit.row == CLUSTER
    assert hit.why.startswith("covers “Run the tests with ")


def test_members_are_returned_where_only_guidelines_are_asked_for(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path / "wiki", (CLUSTER, MEMBER, OTHER, YAML))
    assert {hit.row["id"] for hit in consult(wiki, TASK, kinds=("guideline",))} == {MEMBER["id"], OTHER["id"]}


def test_a_cluster_whose_page_is_gone_covers_nothing(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path / "wiki", (MEMBER, YAML))
    assert [hit.row for hit in consult(wiki, TASK)] == [MEMBER]


def test_a_page_that_harmed_more_than_it_helped_comes_last(tmp_path: Path) -> None:
    good = {
        **PYTEST, "id": "555555555555", "title": "Ask for the checks", "trigger": "The tests have to be run.",
        "link": "guidelines/checks__555555555555.md",
    }  # fmt: skip
    bad = {**PYTEST, "used": {"followed": 1, "contradicted": 1, "harmful": 1}}
    hits = consult(write_wiki(tmp_path / "wiki", (bad, good)), TASK)
    assert [hit.row["id"] for hit in hits] == [good["id"], bad["id"]]
    assert hits[1].score > hits[0].score
    assert [hit.has_sunk for hit in hits] == [False, True]


def test_what_helped_as_often_as_it_harmed_does_not_sink() -> None:
    assert not sinks({"followed": 1, "harmful": 1})
    assert sinks({"contradicted": 1})
    assert not sinks({"ignored": 5})
    assert not sinks(None)
    assert not sinks({"harmful": "many"})
