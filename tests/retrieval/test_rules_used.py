"""`wiki rules`: the embedded engine's rules, and what each made in a wiki."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.engines.offline.rules import RULES
from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.pages.sessions import Arc
from agent_wiki.pages.skill import SkillEntry
from agent_wiki.wiki.records import SessionRecord, record_text
from tests.pages.rendering import stage


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """A wiki with two records: what they hold is what the engine wrote of its rules."""
    folder = tmp_path / "wiki"
    (folder / "_sessions").mkdir(parents=True)
    lesson = GuidelineEntry("0123456789ab", "Quote wildcards", "r", "t", "w", rule_id="remedies/quote-wildcards")
    gone = GuidelineEntry("ba9876543210", "Old \x1b[31mlesson", "r", "t", "w", rule_id="hints/long-gone")
    skill = SkillEntry("check-it", "d", rule_id="recipes/script")
    by_model = GuidelineEntry("cccccccccccc", "A model's", "r", "t", "w")
    for name, guidelines, skills in (("one", [lesson, gone], [skill]), ("two", [lesson, by_model], [])):
        stages = {"extract-guidelines": stage("extract-guidelines", guidelines)}
        stages |= {
            "synthesize-skill": stage("synthesize-skill", skills),
            "summarize": stage("summarize", [Arc("Fix it")]),
        }
        text = record_text(SessionRecord(name, stages=stages))
        (folder / "_sessions" / f"{name}.json").write_text(text, encoding="utf-8")
    (folder / "_config.yaml").write_text("rules:\n  ignore: [recipes/script]\n", encoding="utf-8")
    return folder


def _printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["rules", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_every_rule_is_one_line_with_what_it_made(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in _printed(capsys, "--wiki", str(wiki))}
    first = ["remedies/quote-wildcards", "recipes/script", "hints/long-gone"]
    assert list(lines) == [*first, *(rule.id for rule in RULES if rule.id not in first)]
    assert lines["remedies/quote-wildcards"].startswith("2 in 2 sessions ")
    assert lines["recipes/script"].startswith("ignored ")
    assert lines["recoveries/renamed"].startswith("- ")
    assert lines["hints/long-gone"] == "1 in 1 session     There is no such rule any more."


def test_without_a_wiki_every_rule_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = _printed(capsys, "--wiki", str(tmp_path / "none"))
    assert [line.split()[0] for line in lines] == [rule.id for rule in RULES]


def test_what_each_rule_made_is_listed_below_it_when_all_is_wanted(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = _printed(capsys, "-v", "--wiki", str(wiki))
    assert lines[1:3] == ["  0123456789ab  Quote wildcards  (one)", "  0123456789ab  Quote wildcards  (two)"]
    assert len(lines) == len(RULES) + 1 + 4


def test_one_rule_is_shown_with_its_examples_and_pages(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = _printed(capsys, "remedies/quote-wildcards", "--wiki", str(wiki))
    assert "  $ eslint 'src/*.vue'" in lines
    assert lines[-2:] == ["  0123456789ab  Quote wildcards  (one)", "  0123456789ab  Quote wildcards  (two)"]


def test_what_is_left_of_an_ignored_rule_is_said_to_be_on_no_page(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = _printed(capsys, "recipes/script", "--wiki", str(wiki))
    assert lines[-3:] == [
        "in records here, and on no page while the rule is ignored:",
        "",
        "  check-it  Check it  (one)",
    ]


def test_what_a_record_hides_is_taken_out(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "  ba9876543210  Old lesson  (one)" in _printed(capsys, "hints/long-gone", "--wiki", str(wiki))


def test_a_family_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = _printed(capsys, "safeguards", "--wiki", str(tmp_path / "none"))
    assert [line.split()[0] for line in lines] == [f"safeguards/{name}" for name in ("one-command", "tool-call")]


def test_the_same_as_json(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rule,) = json.loads("\n".join(_printed(capsys, "recipes/script", "--json", "--wiki", str(wiki))))["rules"]
    example = rule.pop("example")
    assert example["fires"].startswith("call: Write ")
    assert rule == {
        "id": "recipes/script",
        "family": "recipes",
        "makes": "skill",
        "summary": "A script that takes its inputs from outside was written and ran.",
        "is_ignored": True,
        "made": [{"session_id": "one", "page": "check-it", "title": "Check it"}],
    }


def test_a_record_that_cannot_be_read_is_one_line_and_the_others_count(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (wiki / "_sessions" / "torn.json").write_text('{"session_id": "torn", "sta', encoding="utf-8")
    assert main(["rules", "remedies/quote-wildcards", "--wiki", str(wiki)]) == 1
    printed = capsys.readouterr()
    assert "2 in 2 sessions" in printed.out
    assert printed.err.startswith("_sessions/torn.json: not a record (")


def test_an_unknown_name_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "retires", "--wiki", str(tmp_path)]) == 2
    assert (
        capsys.readouterr().err == "wiki: no rule and no family of rules is called 'retires'; `wiki rules` lists them\n"
    )
