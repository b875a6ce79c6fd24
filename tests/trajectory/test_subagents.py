"""Which sessions began a session."""

from __future__ import annotations

from agent_wiki.trajectory.subagents import begun_by, descendants


def test_a_subagent_is_begun_by_its_parent_and_by_what_its_id_extends() -> None:
    assert begun_by("a") == ()
    assert begun_by("b", "a") == ("a",)
    assert begun_by("a.agent-1.agent-2") == ("a.agent-1", "a")
    assert begun_by("a.agent-2", "a.agent-1") == ("a.agent-1", "a")


def test_descendants_are_found_on_all_levels_also_below_one_that_is_not_known() -> None:
    parents = [("a", None), ("b", "a"), ("c", "b"), ("d", "a.agent-gone"), ("e", None), ("f", "e"), ("a-2", None)]
    assert descendants(parents, ["a"]) == {"b", "c", "d"}
    assert descendants(parents, ["b"]) == {"c"}
    assert descendants(parents, ["c"]) == set()


def test_parents_in_a_circle_end() -> None:
    assert descendants([("a", "b"), ("b", "a")], ["a"]) == {"b"}
