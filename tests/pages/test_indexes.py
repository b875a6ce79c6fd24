"""The indexes are made from what the pages say, whatever that is."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_wiki.pages.index_pages import MOST_LISTED
from agent_wiki.pages.safety.judge import findings_in
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.layout import INDEX
from agent_wiki.wiki.page import Page, split_body
from tests.pages.rendering import catalog_of, indexes_of
from tests.wiki.test_yaml_syntax import TEXTS

TOLD = st.fixed_dictionaries({"title": TEXTS, "trigger": TEXTS, "tags": st.lists(TEXTS, max_size=3)})


def guideline(title: str, rule: str = "Do it.", **fields: Any) -> Page:
    return Page(fields, split_body(f"# {title}\n\n{rule}\n\n## Rationale\n\nBecause.\n"))


def indexes(pages: dict[str, Page]) -> dict[str, str]:
    return indexes_of(catalog_of(foreign=pages, config=Config(trusted=tuple(pages))))


def test_what_a_page_of_others_says_of_its_own_trust_is_strangers_word_unless_the_owner_trusts_it() -> None:
    path = "guidelines/a__00000000000a.md"
    said = {path: guideline("A", support={"sessions": 99}, trust="user")}
    (row,) = map(json.loads, indexes_of(catalog_of(foreign=said))[INDEX].splitlines())
    assert (row.get("trust"), row.get("support")) == ("external", None)
    (row,) = map(json.loads, indexes(said)[INDEX].splitlines())
    assert (row["trust"], row["support"]) == ("user", {"sessions": 99})
    silent = {path: guideline("A")}
    (row,) = map(json.loads, indexes_of(catalog_of(foreign=silent))[INDEX].splitlines())
    assert row["trust"] == "external"
    (row,) = map(json.loads, indexes(silent)[INDEX].splitlines())
    assert "trust" not in row


def test_rows_are_in_order_of_preference_and_archived_pages_in_no_index() -> None:
    pages = {
        "guidelines/a__00000000000a.md": guideline("A", id="00000000000a"),
        "guidelines/c__cluster.md": guideline("C", members=[{"id": "00000000000a", "link": "x"}]),
        "skills/s/SKILL.md": guideline("S", description="What it does."),
        "tasks/t__task.md": guideline("T", family="f", sessions=["x", "y"]),
        "tasks/u__subtask.md": guideline("U", parent_session_id="x", parent_summary="summaries/x.md"),
        "_archived/z__00000000000f.md": guideline("Z"),
    }
    made = indexes(pages)
    rows = [json.loads(line) for line in made[INDEX].splitlines()]
    assert [row["kind"] for row in rows] == ["cluster", "skill", "guideline", "task", "subtask"]
    assert rows[0]["members"] == ["00000000000a"]
    assert (rows[1]["summary"], rows[1]["priority"]) == ("What it does.", "high")
    assert rows[3]["family"] == "f"
    assert (rows[4]["parent_session_id"], rows[4]["parent_summary"]) == ("x", "summaries/x.md")
    assert json.loads(made["guidelines/_id_index.json"]) == {"00000000000a": "guidelines/a__00000000000a.md"}
    assert not [path for path, text in made.items() if "__00000000000f" in text]


def test_tags_that_two_guidelines_share_are_a_group() -> None:
    pages = {
        f"guidelines/g{n}__00000000000{n}.md": guideline(f"G {n}", tags=tags)
        for n, tags in enumerate([["x", "y"], ["x"], []])
    }
    text = indexes(pages)["guidelines/index.md"]
    assert "### `x`" in text
    assert "### `y`" not in text


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TOLD, max_size=4))
def test_every_row_is_one_line_of_json_and_every_link_of_an_index_exists(told: list[dict[str, Any]]) -> None:
    pages = {
        f"guidelines/g__{number:012x}.md": guideline(each["title"], trigger=each["trigger"], tags=each["tags"])
        for number, each in enumerate(told)
    }
    made = indexes(pages)
    pages = {path: page for path, page in pages.items() if not findings_in(f"{page.title}\n{page.body}")}
    lines = made[INDEX].split("\n")[:-1]
    assert len(lines) == len(pages)
    assert all(len(json.loads(line)["summary"]) <= 240 for line in lines)
    assert {json.loads(line)["link"] for line in lines} == pages.keys()
    links = re.findall(r"\]\((g__[0-9a-f]{12}\.md)\)", made["guidelines/index.md"])
    assert {f"guidelines/{link}" for link in links} == pages.keys()


def test_sums_say_over_how_many_summaries_they_go() -> None:
    pages = {
        "summaries/a.md": Page({"session_id": "a", "total_cost_usd": 0.5, "tool_calls": 3}, ("# A\n",)),
        "summaries/b.md": Page({"session_id": "b", "tool_calls": "many"}, ("# B\n",)),
    }
    made = indexes(pages)
    assert " Tool calls | Cost USD |\n" in made["summaries/index.md"]
    text = made["summaries/index.md"]
    assert "- cost: $0.50 over 1 of 2 summaries" in text
    assert "- tool calls: 3 over 1 of 2 summaries" in text
    assert "output tokens" not in text


def test_a_page_for_people_lists_the_guidelines_that_most_speaks_for_and_counts_the_others() -> None:
    pages = {
        f"guidelines/g__{number:012x}.md": guideline(f"G {number}", tags=["x"], support={"sessions": number % 300})
        for number in range(MOST_LISTED + 100)
    }
    made = indexes(pages)
    text = made["guidelines/index.md"]
    ids = re.findall(r"^- \*\*\[G (\d+)\]", text, re.MULTILINE)
    assert sorted(map(int, ids)) == [number for number in range(600) if number % 300 >= 50]
    assert f"Listed are {MOST_LISTED} of 600" in text
    assert "| normal | 596 |\n| unvalidated | 4 |" in text
    assert len(made[INDEX].splitlines()) == 600


def test_a_page_for_people_lists_the_newest_sessions() -> None:
    pages = {
        f"summaries/s{number}.md": Page({"session_id": f"s{number}", "verified_at": f"20{number:03d}"}, ("# A\n",))
        for number in range(100, MOST_LISTED + 102)
    }
    text = indexes(pages)["summaries/index.md"]
    assert sorted(re.findall(r"\(s(\d+)\.md\)", text)) == [str(number) for number in range(102, MOST_LISTED + 102)]
    assert f"Listed are the newest {MOST_LISTED} of {MOST_LISTED + 2} sessions." in text
