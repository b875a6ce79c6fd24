"""Which rule found what is on a page, as the records of the sessions say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands.why import _lines
from agent_wiki.retrieval.rule_records import rules_behind
from agent_wiki.retrieval.why import PageWhy, Why


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    lessons = {"one": "retries/flag-added", "two": "remedies/set-upstream", "three": "retries/flag-added"}
    (tmp_path / "_sessions").mkdir()
    for session, rule_id in lessons.items():
        guideline = {"id": "0123456789ab", "title": "Set upstream", "rule_id": rule_id}
        skill = {"name": "check-it", "title": "Check it", "rule_id": "recipes/checks"}
        stages = {"extract-guidelines": {"answer": [guideline]}, "synthesize-skill": {"answer": [skill]}}
        record = {"session_id": session, "stages": stages}
        (tmp_path / "_sessions" / f"{session}.json").write_text(json.dumps(record), encoding="utf-8")
    return tmp_path


def test_a_page_names_the_rules_that_found_it_in_its_sessions(wiki: Path) -> None:
    assert rules_behind(wiki, "0123456789ab", ["one", "three", "one"]) == ["retries/flag-added"]
    assert rules_behind(wiki, "0123456789ab", ["one", "two"]) == ["remedies/set-upstream", "retries/flag-added"]
    assert rules_behind(wiki, "check-it", ["two"]) == ["recipes/checks"]


def test_a_page_of_no_rule_names_none(wiki: Path) -> None:
    assert rules_behind(wiki, "ffffffffffff", ["one"]) == []
    assert rules_behind(wiki, "0123456789ab", ["a session without a record"]) == []


def test_the_rule_is_one_line_of_the_page() -> None:
    page = PageWhy("guidelines/a__0.md", "0", "guideline", "Set upstream", rules=["remedies/set-upstream"])
    lines = list(_lines(Why([page], {})))
    assert "  found by the rule remedies/set-upstream" in lines
    assert page.to_json()["rules"] == ["remedies/set-upstream"]
