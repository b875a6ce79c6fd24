"""consolidate-clusters: groups of guidelines that state one rule, and the checks on what an engine says of them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from agent_wiki.asking.prompts import read_prompts, render_prompt
from agent_wiki.engine import BaseEngine
from agent_wiki.engines.offline import OfflineEngine
from agent_wiki.pages.compare.views import GuidelineView, SkillView
from agent_wiki.stages.consolidate_clusters import (
    MOST_MEMBERS,
    ClusterAnswer,
    ClusterQuestion,
    ClustersAnswer,
    candidate_groups,
    check,
    consolidate_clusters,
)

_WORDINGS = [
    "Run `make schema` before the tests of the ledger.",
    "Before testing the ledger, run `make schema`.",
    "The ledger tests need `make schema` to run before.",
    "Ledger tests: run `make schema` before.",
]


def _guideline(guideline_id: str, rule: str, session: str | None = None, **fields: Any) -> GuidelineView:
    fields.setdefault("tags", ("ledger", "schema"))
    return GuidelineView(
        guideline_id, fields.pop("title", ""), rule, sessions=(session or f"s-{guideline_id}",), **fields
    )


def _schema_rules() -> list[GuidelineView]:
    return [_guideline(f"a{at}", rule) for at, rule in enumerate(_WORDINGS)]


def _ids(groups: list[tuple[GuidelineView, ...]]) -> list[list[str]]:
    return [[view.id for view in group] for group in groups]


def test_one_rule_of_several_sessions_is_one_group_and_a_topic_is_no_group() -> None:
    others = [
        _guideline("b0", "Run `make docs` before the tests of the ledger."),
        _guideline("b1", "Keep the schema of the ledger in one file."),
    ]
    assert _ids(candidate_groups([*_schema_rules(), *others])) == [["a0", "a1", "a2", "a3"]]


def test_guidelines_of_one_session_are_no_group() -> None:
    assert candidate_groups([_guideline(f"a{at}", rule, "s1") for at, rule in enumerate(_WORDINGS)]) == []


def test_a_page_that_comes_later_leaves_other_groups_as_they_are() -> None:
    first = candidate_groups(_schema_rules())
    more = [_guideline(f"c{at}", f"Run `make schema{at}` before the tests of part {at}.") for at in range(500)]
    assert first[0] in candidate_groups([*_schema_rules(), *more])


def test_no_guideline_is_in_two_groups_and_no_group_is_too_large() -> None:
    views = [_guideline(f"a{at:02d}", _WORDINGS[at % 4]) for at in range(30)]
    groups = _ids(candidate_groups(views))
    members = [each for group in groups for each in group]
    assert len(members) == len(set(members))
    assert all(2 <= len(group) <= MOST_MEMBERS for group in groups)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_guidelines_give_the_same_clusters_in_any_order(seed: int) -> None:
    views = [*_schema_rules(), *(_guideline(f"b{at}", "Close the crawler port `9911` at the end.") for at in range(2))]
    shuffled = random.Random(seed).sample(views, len(views))
    first = consolidate_clusters(views, [], OfflineEngine())
    assert consolidate_clusters(shuffled, [], OfflineEngine()) == first
    assert len(first.clusters) == 2


def test_a_cluster_that_a_skill_covers_is_not_made() -> None:
    by_words = SkillView("x", "Test it", steps_text="1. Run `make schema` before. 2. Run the tests of the ledger.")
    elsewhere = SkillView("y", "Publish", tags=("ledger", "schema", "testing"), steps_text="1. Run `make publish`.")
    assert consolidate_clusters(_schema_rules(), [by_words], OfflineEngine()).clusters == ()
    assert len(consolidate_clusters(_schema_rules(), [elsewhere], OfflineEngine()).clusters) == 1


def _cluster(*members: str, slug: str = "run-make-schema") -> ClusterAnswer:
    return ClusterAnswer(
        slug=slug, title="Run it", description="D", takeaway="Run `make schema`.", members=list(members), tags=["x"]
    )


@pytest.mark.parametrize(
    ("clusters", "reason"),
    [
        ([_cluster("a0", "zz")], "not one of the guidelines"),
        ([_cluster("a0", "a0")], "twice"),
        ([_cluster("a0", "a1"), _cluster("a1", "a2", slug="other")], "another cluster"),
        ([_cluster("a0", "b0")], "one session"),
    ],
)
def test_an_invalid_cluster_is_rejected_with_its_reason(clusters: list[ClusterAnswer], reason: str) -> None:
    members = (*_schema_rules(), _guideline("b0", "Run it", "s-a0"))
    kept, rejected = check(ClustersAnswer(clusters=clusters), ClusterQuestion(members))
    assert len(rejected) == 1
    assert reason in rejected[0].reason
    assert len(kept) == len(clusters) - 1


def test_a_rejected_cluster_is_reported_and_the_others_are_kept() -> None:
    class _Careless(BaseEngine):
        name, version = "careless", "1"

        def answer(self, question: Any) -> Any:
            answer = OfflineEngine().answer(question)
            if question.members[0].id == "a0":
                return ClustersAnswer(clusters=[_cluster("a0", "zz")])
            return answer

    views = [*_schema_rules(), *(_guideline(f"b{at}", "Close the crawler port `9911` at the end.") for at in range(2))]
    found = consolidate_clusters(views, [], _Careless())
    assert [cluster.members for cluster in found.clusters] == [["b0", "b1"]]
    assert len(found.rejected) == 1


def test_an_empty_wiki_has_no_clusters() -> None:
    assert consolidate_clusters([], [], OfflineEngine()).clusters == ()


def test_who_judges_for_himself_is_shown_what_may_be_one_rule() -> None:
    reworded = [
        _guideline("a0", "Run the tests with `make test` where the project has that target, from the first run on."),
        _guideline("a1", "Run `make test` where the `Makefile` has it, and no runner such as `python3 -m pytest`."),
        _guideline("b0", "Run `cargo bench` with the features that ship."),
    ]
    assert candidate_groups(reworded) == [], "not sure enough to be joined unseen"
    assert _ids(candidate_groups(reworded, is_judged=True)) == [["a0", "a1"]]
    assert _ids(candidate_groups(reversed(reworded), is_judged=True)) == [["a0", "a1"]]


def test_who_judges_is_shown_guidelines_that_quote_one_failure_whatever_their_words() -> None:
    line = "ModuleNotFoundError: No module named 'ledger' (line {})"
    views = [
        _guideline("a0", "Set `PYTHONPATH=src` first.", failures=(line.format(3),), tags=("python",)),
        _guideline("a1", "Install the package in editable mode.", failures=(line.format(88),), tags=("packaging",)),
        _guideline("a2", "Run `make test` in its stead.", failures=("exit code 1",), tags=("make",)),
        _guideline("a3", "Call the tool by its path.", failures=("exit code 1",), tags=("shell",)),
    ]
    assert candidate_groups(views) == []
    assert _ids(candidate_groups(views, is_judged=True)) == [["a0", "a1"]]
    asked = render_prompt(ClusterQuestion(tuple(views[:2])), read_prompts()).question
    assert f"  failed with: {line.format(88)}\n" in asked


def test_a_group_to_be_judged_is_no_larger_than_can_be_shown() -> None:
    many = [_guideline(f"a{at:02}", f"Run `make test` with the settings of part {at} first.") for at in range(40)]
    groups = candidate_groups(many, is_judged=True)
    assert max(map(len, groups)) <= MOST_MEMBERS
    assert len({view.id for group in groups for view in group}) == sum(map(len, groups)) > 30
