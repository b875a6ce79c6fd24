"""An agent answers all questions on a recording in one: what it gives is taken apart, checked and made into pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from tests.pipeline.agents import NO_GUIDELINES, ONE_RULE, SUMMARY, Wiki, long_recording
from tests.wikis import arc, changed, ingest, record, rule, skill, tree

_ALL: dict[str, Any] = {"SummaryAnswer": SUMMARY, "GuidelinesAnswer": ONE_RULE, "SkillsAnswer": skill("check-it")}


def test_one_prompt_puts_all_questions_and_one_answer_makes_all_pages(
    tmp_path: Path, wiki: Wiki, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(tmp_path, "a")
    code, asked = wiki("prompt", "together", path)
    assert (code, asked["is_answered"]) == (0, False)
    assert set(asked["schema"]["properties"]) == set(_ALL)
    assert asked["message"].count("2 checks failed") == 1, "the recording is read once"
    code, told = wiki("apply", answer={"request": asked["request"], "answer": _ALL})
    assert (code, told["problems"]) == (0, [])
    kinds = {each.partition("/")[0] for each in told["written"]}
    assert {"summaries", "guidelines", "skills"} <= kinds
    assert wiki("worklist", path)[1]["questions"] == []
    capsys.readouterr()
    assert main(["prompt", "together", str(path), "--wiki", str(tmp_path / "wiki")]) == 0
    printed, said = capsys.readouterr()
    assert "(answered)" in printed.splitlines()[1]
    assert said == "no such question is open any more: this one is answered, and an answer to it replaces that\n"


def test_it_gives_the_same_wiki_as_answers_one_by_one_and_as_the_journal_alone(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    assert wiki("apply", "together", path, answer=_ALL)[0] == 0
    made = tree(tmp_path / "wiki")
    journal = tmp_path / "wiki" / ".wiki" / "journal"
    assert ingest([path], tmp_path / "again", f"recorded:{journal}").exit_code == 0
    assert changed(made, tree(tmp_path / "again")) == []
    (tmp_path / "wiki").rename(tmp_path / "one")
    for stage, answer in zip(("summary", "guidelines", "skill"), _ALL.values(), strict=True):
        assert wiki("apply", stage, path, answer=answer)[0] == 0
    assert changed(made, tree(tmp_path / "wiki")) == []


@pytest.mark.parametrize(
    ("change", "places"),
    [
        ({"GuidelinesAnswer": None}, ["GuidelinesAnswer"]),
        ({"SummaryAnswer": {"arcs": [arc(accepted_turn=99)]}}, ["SummaryAnswer.arcs.0.accepted_turn"]),
        ({"SkillsAnswer": skill("check-it", evidence=[{"turn": 2, "quote": "no such"}])},
         ["SkillsAnswer.skill.evidence.0.quote", "SkillsAnswer.check-it"]),
        ({"Other": {}}, ["Other"]),
        ({"SummaryAnswer": {"arcs": [arc(accepted_turn=99), 3]}, "SkillsAnswer": skill("Check It"),
          "GuidelinesAnswer": {"guidelines": [rule("x" * 601, title="Check")]}},
         ["SummaryAnswer.arcs.1", "SummaryAnswer.arcs.0.accepted_turn", "GuidelinesAnswer.Check",
          "GuidelinesAnswer.Check", "SkillsAnswer.skill.name"]),
    ],
)  # fmt: skip
def test_each_part_is_checked_and_nothing_is_written_before_all_are_right(
    tmp_path: Path, wiki: Wiki, change: dict[str, Any], places: list[str]
) -> None:
    path = record(tmp_path, "a")
    code, told = wiki("apply", "together", path, answer={**_ALL, **change})
    assert (code, [each["place"] for each in told["problems"]]) == (1, places)
    assert tree(tmp_path / "wiki") == {}


def test_a_part_that_is_answered_for_itself_afterwards_is_corrected(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    assert wiki("apply", "together", path, answer=_ALL)[0] == 0
    assert wiki("apply", "guidelines", path, answer=NO_GUIDELINES)[0] == 0
    assert not list((tmp_path / "wiki" / "guidelines").glob("*__*.md"))


def test_a_skill_that_is_not_given_is_asked_for_by_its_own_question(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    assert wiki("apply", "together", path, answer={**_ALL, "SkillsAnswer": None})[0] == 0
    assert [each["stage"] for each in wiki("worklist", path)[1]["questions"]] == ["synthesize-skill"]


@pytest.mark.long
def test_of_a_long_session_each_segment_is_asked_all_and_then_one_answer_is_made_of_each(
    tmp_path: Path, wiki: Wiki
) -> None:
    path = long_recording(tmp_path)
    segments = 0
    while "+" in (asked := wiki("prompt", "together", path)[1])["stage"]:
        turns = [int(each) for each in re.findall(r"^\[T(\d+)\]", asked["message"], re.MULTILINE)]
        shown: dict[str, Any] = {"outcome": "unknown", "outcome_turn": None}
        summary = {"arcs": [arc(first=min(turns), last=max(turns), **shown)]}
        answer = {**_ALL, "SummaryAnswer": summary, "SkillsAnswer": {"skill": None, "reason": "no"}}
        answer["GuidelinesAnswer"] = ONE_RULE if segments == 0 else NO_GUIDELINES
        code, told = wiki("apply", answer={"request": asked["request"], "answer": answer})
        assert (code, told["problems"]) == (0, [])
        segments += 1
    assert segments > 2
    # No segment holds a skill, so that nothing is asked about it.
    merged = {"summarize": {"arcs": [arc(last=44)]}, "extract-guidelines": ONE_RULE}
    for stage, whole in merged.items():
        assert [each["stage"] for each in wiki("worklist", path)[1]["questions"]] == [stage]
        asked = wiki("prompt", "together", path)[1]  # what is left of a recording, under the same name
        assert (asked["stage"], asked["is_answered"]) == (stage, False)
        assert wiki("apply", "together", path, answer=whole)[0] == 0
    assert wiki("worklist", path)[1]["questions"] == []
