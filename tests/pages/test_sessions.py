"""Which sessions count as one, and which arc a turn belongs to."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from agent_wiki.pages.foreign import foreign_sessions
from agent_wiki.pages.sessions import SUMMARIZE, Arc, sessions_of
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.records import SessionRecord
from tests.pages.rendering import stage


def roots(**sessions: dict[str, Any]) -> dict[str, str]:
    records = [
        SessionRecord(name, **fields, stages={SUMMARIZE: stage(SUMMARIZE, [Arc("g")])})
        for name, fields in sessions.items()
    ]
    return {name: session.root_id for name, session in sessions_of(records).items()}


def test_subagents_forks_and_copies_count_as_one_whatever_their_names() -> None:
    for one, two, three in permutations(("a", "b", "c")):
        found = roots(
            **{one: {"lineage": "x"}, two: {"lineage": "x", "forked_from": one}, three: {"parent_session_id": two}}
        )
        assert len(set(found.values())) == 1


def test_kinship_in_a_circle_ends() -> None:
    found = roots(a={"forked_from": "b"}, b={"forked_from": "a"}, c={"forked_from": "c"})
    assert found == {"a": "a", "b": "a", "c": "c"}


def test_subagents_of_a_missing_parent_are_kin_and_strangers_are_not() -> None:
    found = roots(a={"parent_session_id": "p"}, b={"parent_session_id": "p"}, c={}, d={"lineage": "y"})
    assert found == {"a": "a", "b": "a", "c": "c", "d": "d"}


def test_the_outcome_over_arcs_and_the_arc_of_a_turn() -> None:
    arcs = {
        "summaries/s__b.md": Page({"session_id": "s", "outcome": "failure", "arc_turns": [4, 6]}, ("",)),
        "summaries/s__a.md": Page({"session_id": "s", "outcome": "success", "arc_turns": [1, 3]}, ("",)),
    }
    session = sessions_of([], foreign_sessions(arcs))["s"]
    assert session.paths == ("summaries/s__a.md", "summaries/s__b.md")
    assert session.outcome == "partial"
    assert [session.path_of_turn(turn)[-4] for turn in (1, 3, 4, 6, 9)] == ["a", "a", "b", "b", "a"]


def test_a_session_with_a_record_is_not_read_from_a_page() -> None:
    page = Page({"session_id": "s", "goal": "from the page"}, ("",))
    record = SessionRecord("s", stages={SUMMARIZE: stage(SUMMARIZE, [Arc("from the record")])})
    found = sessions_of([record], foreign_sessions({"summaries/s.md": page}))
    assert [arc.goal for arc in found["s"].arcs] == ["from the record"]
