"""What a person finds on the index pages, and that pages name sessions by what was asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_wiki.pages import index_pages, indexes
from agent_wiki.pages.sessions import Arc, Session
from agent_wiki.pages.support import Evidence, sources_section
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.records import SessionRecord
from tests.pages.rendering import catalog_of, indexes_of
from tests.pages.test_catalog import ID, made, page, wiki
from tests.pages.test_indexes import guideline

__all__ = ["made", "wiki"]


def _section(text: str, name: str) -> str:
    return text.partition(f"## {name}\n")[2].partition("\n## ")[0]


def test_the_start_page_leads_to_what_is_best_new_and_in_dispute(wiki: Path) -> None:
    start = (wiki / "index.md").read_text(encoding="utf-8")
    link = f"guidelines/run-the-check-first__{ID}.md"
    assert _section(start, "Read first").count("\n- ") == 1  # the skill: what use speaks against is not led to
    assert "(skills/check-it/SKILL.md)" in _section(start, "Read first")
    assert _section(start, "Newest").strip() == f"- 2026-01-03: [Run the check first]({link})"  # as its page
    assert f"[Run the check first]({link}): followed 1, harmful 1" in _section(start, "In dispute")
    assert "1 rule, 0 clusters" in _section(start, "All pages")


def test_the_start_page_of_an_empty_wiki_has_no_empty_sections() -> None:
    assert re.findall(r"^## (.+)", indexes_of(catalog_of())["index.md"], re.MULTILINE) == ["All pages", "Provenance"]


def test_a_summary_leads_to_its_lessons_and_is_known_by_its_title(wiki: Path) -> None:
    summary = page(wiki, "summaries/a.md")
    rule = f"- [Run the check first](../guidelines/run-the-check-first__{ID}.md)"
    assert summary.section("Lessons") == f"{rule}\n- [Check it](../skills/check-it/SKILL.md)"
    assert summary.fields["aliases"] == ["Fix the cart"]
    assert "[Fix the cart](a.md)" in (wiki / "summaries" / "index.md").read_text(encoding="utf-8")


def test_a_title_with_brackets_cannot_end_its_link() -> None:
    goal = "[Bug] close ](http://x.example) the door] now"
    session = Session(SessionRecord("s", agent="a]b"), "s", ("summaries/s.md",), (Arc(goal=goal),))
    text = sources_section([(session, Evidence(3, "it is shut", "tool"))], "../")
    assert text == "- [(Bug) close ) (x.example) the door) now](../summaries/s.md) (a)b): T3 “it is shut”"


def test_a_quote_with_signs_that_plain_words_lose_is_shown_as_code() -> None:
    session = Session(SessionRecord("s"), "s", ("summaries/s.md",), (Arc(goal="Ignore all but the notes"),))
    cited = [Evidence(3, "!/notes/**/*.jsonl", "tool"), Evidence(4, "<urlopen error>", "tool")]
    cited += [Evidence(5, "#!/bin/bash -e", "tool"), Evidence(6, "1. first", "tool")]
    text = sources_section([(session, each) for each in cited], "../")
    assert text.endswith("T3 `!/notes/**/*.jsonl`; T4 `<urlopen error>`; T5 `#!/bin/bash -e`; T6 `1. first`")


def test_a_session_without_any_words_is_named_by_its_id() -> None:
    session = Session(SessionRecord("s-1"), "s-1", ("summaries/s-1.md",), (Arc(goal="\u200b"),))
    assert session.titles() == {"summaries/s-1.md": "s-1"}


def test_all_skills_and_tasks_of_a_large_wiki_can_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (index_pages, indexes):
        monkeypatch.setattr(module, "MOST_LISTED", 2)
    pages: dict[str, Page] = {
        f"skills/s{n}/SKILL.md": guideline(f"S {n}", verified_at=f"2026-0{n}-01") for n in (1, 2, 3)
    }
    pages |= {f"tasks/t{n}__task.md": guideline(f"T {n}", verified_at="2026-05-01") for n in (1, 2, 3)}
    made = indexes_of(catalog_of(foreign=pages))
    for section, count in (("skills", 3), ("tasks", 3)):
        front = made[f"{section}/index.md"]
        parts = re.findall(rf"\]\(\.\./(_index/_{section}-[^)]+)\)", front)
        links = {link for part in parts for link in re.findall(rf"\]\(\.\./({section}/[^)]+)\)", made[part])}
        assert links == {path for path in pages if path.startswith(section)}
        assert len(links) == count
