"""What sessions did with the pages they read."""

from __future__ import annotations

import pytest

from agent_wiki.pages.foreign import foreign_sessions
from agent_wiki.pages.recalls import Recall, recalled_section, recalls_by_page, tier, used_by_section
from agent_wiki.pages.sessions import RecallEntry
from agent_wiki.wiki.page import Page


def uses(*statuses: str) -> list[Recall]:
    return [Recall("p", f"s{at}", f"summaries/s{at}.md", "S", "", each, "q") for at, each in enumerate(statuses)]


@pytest.mark.parametrize(
    ("statuses", "sessions", "expected"),
    [
        ((), 1, "unvalidated"), ((), 2, "normal"), (("followed",), 1, "normal"), (("followed", "followed"), 1, "high"),
        (("followed", "followed", "harmful"), 9, "disputed"), (("contradicted",), 9, "low"),
        (("ignored",), 1, "unvalidated"), (("ignored", "ignored"), 1, "weak"), (("ignored", "ignored"), 2, "normal"),
        (("ignored", "harmful"), 1, "low"),
    ],
)  # fmt: skip
def test_use_decides_the_tier(statuses: tuple[str, ...], sessions: int, expected: str) -> None:
    assert tier(uses(*statuses), sessions) == expected


def test_odd_entries_are_no_uses() -> None:
    entries = [{"id": "p", "status": "loved"}, "x", None, {"status": "followed"}, {"id": "p", "status": "ignored"}]
    page = Page({"session_id": "s", "recalled_guidelines": entries}, ("",))
    pages = {"summaries/s.md": page, "summaries/t.md": Page({"recalled_guidelines": 5}, ("",))}
    found = recalls_by_page(foreign_sessions(pages))
    assert {name: [each.status for each in recalls] for name, recalls in found.items()} == {
        "": ["followed"], "p": ["ignored"],
    }  # fmt: skip


def test_a_table_row_cannot_be_broken_by_a_quote() -> None:
    recall = Recall("p", "s|x", "summaries/s.md", "s|x", "a|b", "followed", "x | y\n| z |")
    rows = used_by_section([recall], "../").splitlines()
    assert len(rows) == 3
    assert rows[2].replace("\\|", "").count("|") == 5
    assert used_by_section([], "../") == "_(no recalls yet)_"


def test_a_recalled_page_is_linked_when_it_is_here_and_named_when_not() -> None:
    entries = [RecallEntry("a", "A", "followed", "q", 3), RecallEntry("b", "B", "ignored")]
    assert recalled_section(entries, {"a": "guidelines/a__a.md"}) == (
        "- **followed** [A](../guidelines/a__a.md) (T3): “q”\n- **ignored** B"
    )
    assert recalled_section([], {}) == ""


def test_a_page_lists_every_use_that_speaks_against_it_and_of_the_others_the_first_ones() -> None:
    found = uses(*["followed"] * 4, "harmful", *["ignored"] * 7, *["contradicted"] * 4, "followed")
    listed = [row.split(" | ")[2] for row in used_by_section(found, "../").splitlines()[2:]]
    assert listed == [*["followed"] * 4, "harmful", *["ignored"] * 5, *["contradicted"] * 4, "followed"]
    assert used_by_section(found[:3], "../") == used_by_section(found[:4], "../")
