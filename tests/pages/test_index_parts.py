"""Index pages of a large wiki: every row is in one of them, each is bounded, and a new row touches one."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.pages.index_pages import MOST_LISTED
from agent_wiki.pages.index_parts import MOST_ROWS, IndexPart, ListedPage, parts_by_date
from agent_wiki.pages.index_shards import is_shard
from tests.pages.rendering import catalog_of, indexes_of
from tests.pages.test_indexes import guideline

DATES = st.sampled_from(["2026-01-01", "2026-01-02", "2026-02-01", "../../x", "", None])


def _rows(count: int, date: str | None) -> list[ListedPage]:
    return [ListedPage(f"guidelines/g{number}__{number:012x}.md", date, f"G {number}") for number in range(count)]


def _by_name(parts: list[IndexPart]) -> dict[str, list[str]]:
    return {part.name: part.rows() for part in parts}


@settings(max_examples=30)
@given(st.lists(st.tuples(DATES, st.integers(0, 99)), max_size=40, unique=True))
def test_every_row_is_in_one_part_whatever_the_order(dated: list[tuple[str | None, int]]) -> None:
    rows = [ListedPage(f"guidelines/g{number}-{date}.md", date, f"G {number}") for date, number in dated]
    parts = parts_by_date("guidelines", rows)
    lines = sorted(f"- [{row.title}](../{row.path})" for row in rows)
    assert sorted(line for part in parts for line in part.rows()) == lines
    assert [part.size for part in parts] == [len(part.rows()) for part in parts]
    assert _by_name(parts) == _by_name(parts_by_date("guidelines", reversed(rows)))
    assert all(is_shard(part.path.removeprefix("_index/")) for part in parts)


def test_a_month_of_many_rows_is_divided_by_day_and_a_day_by_a_digest() -> None:
    rows = [*_rows(3 * MOST_ROWS, "2026-01-02"), ListedPage("guidelines/a.md", "2026-01-01", "A"), *_rows(3, None)]
    parts = _by_name(parts_by_date("guidelines", rows))
    assert {name for name in parts if name.startswith("2026-01-02-")} == {
        f"2026-01-02-{digit:x}" for digit in range(16)
    }
    assert parts["2026-01-01"] == ["- [A](../guidelines/a.md)"]
    assert len(parts["undated"]) == 3
    assert all(len(found) <= MOST_ROWS for found in parts.values())
    more = _by_name(parts_by_date("guidelines", [*rows, ListedPage("guidelines/b.md", "2026-01-01", "B")]))
    assert [name for name in more if more[name] != parts.get(name)] == ["2026-01-01"]


def test_every_guideline_of_a_large_wiki_can_be_reached_from_its_index_page() -> None:
    dates = ("2026-01-01", "2026-02-03", "2026-02-04")
    pages = {
        f"guidelines/g__{number:012x}.md": guideline(f"G {number}", tags=["x", "y"], verified_at=dates[number % 3])
        for number in range(MOST_LISTED + 1)
    }
    made = indexes_of(catalog_of(foreign=pages))
    front = made["guidelines/index.md"]
    linked = re.findall(r"\[2026-\d\d\]\(\.\./(_index/_guidelines-[^)]+)\) \((\d+)\)", front)
    assert [path for path, _ in linked] == ["_index/_guidelines-2026-02.md", "_index/_guidelines-2026-01.md"]
    links = [link for path, _ in linked for link in re.findall(r"\]\(\.\./(guidelines/[^)]+)\)", made[path])]
    assert sorted(links) == sorted(pages)
    assert sum(int(count) for _, count in linked) == len(pages)
    assert "[`x`](../_index/_tag-x.md)" in front
    assert made["_index/_tag-x.md"].count("\n- [G ") == 100


def test_a_wiki_that_fits_on_one_page_has_no_parts() -> None:
    pages = {f"guidelines/g__{number:012x}.md": guideline(f"G {number}") for number in range(20)}
    assert not [path for path in indexes_of(catalog_of(foreign=pages)) if path.startswith("_index/")]
