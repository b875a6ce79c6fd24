"""Rows of two indexes compared: what a page means counts, and no row is trusted to be whole."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.changes.pages import compared_pages
from agent_wiki.retrieval.rows import index_fields

LINK = "guidelines/run-the-check__0123456789ab.md"


def _row(**fields: Any) -> dict[str, Any]:
    said = {"kind": "guideline", "id": "0123456789ab", "title": "Run the check", "summary": "Run it.", "link": LINK}
    return {**said, "trigger": "before a change", "tags": ["checks"], "cause": "stated", "trust": "tool", **fields}


def _page(text: str, section: str = "Rationale") -> str:
    return f"---\nid: 0123456789ab\n---\n\n# Run the check\n\nRun it.\n\n## {section}\n\n{text}\n"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"summary": "Run it twice."}, ("words",)),
        ({"trigger": "", "title": "Run it"}, ("title", "when it applies")),
        ({"cause": "checked"}, ("cause stated → checked",)),
        ({"trust": None}, ("trust tool → unknown",)),
        ({"members": ["a", "b"]}, ("2 more members",)),
        ({"used": {"followed": 3, "harmful": 1}}, ("1 session more spoke against it",)),
    ],
)
def test_another_meaning_is_a_change(fields: dict[str, Any], why: tuple[str, ...]) -> None:
    (page,) = compared_pages([_row()], [_row(**fields)], {}).changed
    assert page.why == why


@pytest.mark.parametrize(
    "fields",
    [{"support": {"sessions": 9}}, {"tags": []}, {"cluster": "c", "superseded_by": "c"}, {"used": {"followed": 1}}],
)
def test_more_of_the_same_is_counted(fields: dict[str, Any]) -> None:
    found = compared_pages([_row()], [_row(**fields)], {})
    assert (found.all(), found.minor) == ([], 1)


def test_of_pages_that_differ_their_own_words_count() -> None:
    def why(old: str, new: str) -> list[tuple[str, ...]]:
        return [page.why for page in compared_pages([_row()], [_row()], {LINK: (old, new)}).changed]

    assert why(_page("Because."), _page("For another reason.")) == [("text",)]
    assert why(_page("one", "Sources"), _page("two", "Sources")) == []
    assert why("---\n[", _page("Because.")) == [("text",)]


def test_episodes_are_no_pages_and_an_id_counts_once() -> None:
    rows = [_row(), _row(title="Again"), _row(kind="episode", id="episode:s", link="summaries/s.md")]
    assert [page.title for page in compared_pages([], rows, {}).new] == ["Run the check"]


def test_an_index_of_another_layout_or_a_damaged_one_is_compared_as_far_as_it_goes() -> None:
    lines = b"""{"kind": "guideline", "link": "guidelines/a__000000000000.md"}
<<<<<<< ours
[1]
{"kind": "guideline", "id": 7, "title": ["x"], "support": 5, "used": [], "members": {}, "link": "guidelines/b__1.md"}
{"kind": "guideline", "id": "c", "link": "../outside.md"}
{"kind": "nonsense", "id": "d", "link": "guidelines/d__1.md"}
"""
    old = list(index_fields(lines))
    found = compared_pages(old, [_row()], {})
    assert [page.id for page in found.new] == ["0123456789ab"]
    assert [page.id for page in found.retired] == ["", "7"]
    assert [page.id for page in compared_pages(old, [{**row, "cause": {"x": 1}} for row in old], {}).changed] == [
        "",
        "7",
    ]
