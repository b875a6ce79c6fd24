"""Which rule found what is on a page, as the records of the sessions say."""

from __future__ import annotations

import pytest

from agent_wiki.commands.why import _page_lines
from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.pages.sessions import Arc
from agent_wiki.pages.skill import SkillEntry
from agent_wiki.pages.state import WikiState, WikiView, view_of
from agent_wiki.retrieval.rule_records import rules_behind
from agent_wiki.retrieval.why import PageWhy
from agent_wiki.wiki.records import SessionRecord
from tests.pages.rendering import stage


@pytest.fixture
def view() -> WikiView:
    found = {"one": "retries/flag-added", "two": "remedies/quote-wildcards", "three": "retries/flag-added"}
    records = {}
    for session, rule_id in found.items():
        guideline = GuidelineEntry("0123456789ab", "Quote wildcards", "r", "t", "w", rule_id=rule_id)
        skill = SkillEntry("check-it", "d", rule_id="recipes/script")
        by_model = GuidelineEntry("cccccccccccc", "A model's", "other words", "t", "w")
        stages = {"extract-guidelines": stage("extract-guidelines", [guideline, by_model])}
        stages |= {"synthesize-skill": stage("synthesize-skill", [skill]), "summarize": stage("summarize", [Arc("g")])}
        records[session] = SessionRecord(session, stages=stages)
    return view_of(WikiState(records=records))


def test_a_page_names_the_rules_that_found_it_in_its_sessions(view: WikiView) -> None:
    assert rules_behind(view, "0123456789ab") == ["remedies/quote-wildcards", "retries/flag-added"]
    assert rules_behind(view, "check-it") == ["recipes/script"]


def test_a_page_of_no_rule_names_none(view: WikiView) -> None:
    assert rules_behind(view, "cccccccccccc") == []
    assert rules_behind(view, "ffffffffffff") == []


def test_the_rule_is_one_line_of_the_page() -> None:
    page = PageWhy("guidelines/a__0.md", "0", "guideline", "Quote wildcards", rules=["remedies/quote-wildcards"])
    lines = list(_page_lines(page, {}, ""))
    assert "  found by the rule remedies/quote-wildcards" in lines
    assert page.to_json()["rules"] == ["remedies/quote-wildcards"]
