"""The takeaway of a cluster is true of every member."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.clusters import score

from agent_wiki.engines.offline.consolidate_clusters import answer
from agent_wiki.pages.compare.views import GuidelineView
from agent_wiki.stages.consolidate_clusters import ClusterQuestion


def _question(*rules: tuple[str, str]) -> ClusterQuestion:
    members = (
        GuidelineView(f"g{at}", title, rule, tags=("ledger", f"tag{at}"), sessions=(f"s{at}",))
        for at, (title, rule) in enumerate(rules)
    )
    return ClusterQuestion(tuple(members))


def test_the_takeaway_holds_only_what_every_member_supports() -> None:
    question = _question(
        ("Build the schema", "Run `make schema` before the ledger tests. Set `LEDGER_PORT` to a free port."),
        ("Build the schema", "Before the ledger tests, run `make schema`."),
        ("Build the schema early", "The ledger tests need `make schema` to run before. It takes 40 seconds."),
    )
    cluster = answer(question).clusters[0]
    assert "LEDGER_PORT" not in cluster.takeaway
    assert "40" not in cluster.takeaway
    assert "`make schema`" in cluster.takeaway
    assert cluster.members == ["g0", "g1", "g2"]
    assert cluster.slug.startswith("build-the-schema")
    assert cluster.tags == ["ledger"]


def test_without_a_sentence_that_is_true_of_all_there_is_no_cluster() -> None:
    question = _question(
        ("Tidy the ledger", "Run `ledger --tidy` on the file."), ("Tidy the ledger", "Run `ledger --sort` on the file.")
    )
    assert answer(question).clusters == []


def test_a_title_that_names_what_only_one_member_names_is_not_the_clusters() -> None:
    question = _question(
        ("Run make schema for `core`", "Run `make schema` before the ledger tests."),
        ("Run make schema for `rim`", "Run `make schema` before the ledger tests start."),
    )
    title = answer(question).clusters[0].title
    assert "core" not in title
    assert "rim" not in title


def test_a_cluster_is_the_same_however_many_sessions_show_its_members() -> None:
    """Else its page would change each night."""
    question = _question(
        ("Build the schema", "Run `make schema` before the ledger tests."),
        ("Build the schema", "Before the ledger tests, run `make schema`."),
    )
    more = tuple(replace(member, sessions=(*member.sessions, "s9")) for member in question.members)
    assert answer(question) == answer(ClusterQuestion(more))


def test_planted_rules_are_found_and_near_misses_stay_apart() -> None:
    measured = score(4_000, seed=11)
    assert measured.precision >= 0.98
    assert measured.recall >= 0.9
