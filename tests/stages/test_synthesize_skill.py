"""synthesize-skill: from a session that worked, with commands that stay commands."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.asking.prompts import read_prompts, render_prompt
from agent_wiki.engine import Problem
from agent_wiki.engines.scripted import ScriptedEngine
from agent_wiki.errors import AnswerRejected
from agent_wiki.pages.sessions import Arc
from agent_wiki.pages.skill import SkillEntry
from agent_wiki.stages import summarize, synthesize_skill
from agent_wiki.stages.extract_guidelines import extract_guidelines
from agent_wiki.stages.skill_scope import scope_of
from agent_wiki.stages.synthesize_skill import SkillAnswer
from agent_wiki.wiki.records import SessionRecord
from tests.pages.rendering import pages_of, stage
from tests.wikis import arc, rule, skill, worked_session


def skills(told: Any, *outcomes: str) -> tuple[tuple[SkillEntry, ...], list[Problem]]:
    engine = ScriptedEngine({"synthesize-skill": {"": told}})
    summary = summarize.SummaryAnswer.model_validate({"arcs": [arc(outcome=each) for each in outcomes or ("success",)]})
    return synthesize_skill.synthesize_skill(worked_session(), summary, engine)


@pytest.mark.parametrize("outcome", ["failure", "partial"])
def test_a_session_that_did_not_work_is_not_asked_for_a_skill(outcome: str) -> None:
    assert skills(skill("check-it"), outcome) == ((), [])


@pytest.mark.parametrize("outcomes", [["success"], ["unknown"], ["failure", "success"], ["partial", "unknown"]])
def test_a_session_of_which_a_part_worked_or_may_have_is_asked_for_a_skill(outcomes: list[str]) -> None:
    found, _ = skills(skill("check-it"), *outcomes)
    assert [entry.name for entry in found] == ["check-it"]


def test_a_command_cannot_end_its_fence_and_keeps_its_lines() -> None:
    command = "cat <<'E'\n```\n## Used by\n````\nE\x1b[0m\u202e"
    found, _ = skills(skill("check-it", steps=[{"text": "Check", "command": command}]))
    stages = {"summarize": stage("summarize", [Arc("Goal")]), "synthesize-skill": stage("synthesize-skill", found)}
    page = pages_of(SessionRecord("s", stages=stages))["skills/check-it/SKILL.md"]
    workflow = page.section("Workflow")
    assert workflow is not None
    assert "   `````sh\n" in workflow
    assert "   ## Used by\n" in workflow
    assert "\u202e" not in page.body
    assert page.section("Used by") == "_(no recalls yet)_"


@pytest.mark.parametrize(
    ("command", "scope"),
    [
        ("make docs", "repository"),
        ("npm run build -- <target>", "repository"),
        ("python3 tools/release.py <version>", "repository"),
        ("npm install <package>", "general"),
        ("python3 scripts/load.py <file>", "general"),
        ("python3 <script>", "general"),
        ("docker compose up -d <service>", "general"),
    ],
)
def test_a_workflow_holds_for_its_repository_alone_if_it_runs_what_only_that_has(command: str, scope: str) -> None:
    told = SkillAnswer.model_validate(
        skill("check-it", steps=[{"text": "Run it.", "command": command}], scripts=[{"file": "load.py", "text": "x"}])[
            "skill"
        ]
    )
    assert scope_of(told) == scope
    assert scope_of(told.model_copy(update={"scope": "tool:docker"})) == "tool:docker"


def test_a_skill_of_one_repository_is_general_once_a_second_has_it() -> None:
    found, _ = skills(skill("check-it", steps=[{"text": "Check", "command": "make check"}]))
    stages = {"summarize": stage("summarize", [Arc("Goal")]), "synthesize-skill": stage("synthesize-skill", found)}
    one = SessionRecord("a", repository="shop", stages=stages)
    assert pages_of(one)["skills/check-it/SKILL.md"].fields["metadata"]["scope"] == "repository:shop"
    both = pages_of(one, SessionRecord("b", repository="till", stages=stages))
    assert both["skills/check-it/SKILL.md"].fields["metadata"]["scope"] == "general"


@pytest.mark.parametrize(
    "change",
    [{"evidence": [{"turn": 2, "quote": "no such"}]},
     {"scripts": [{"file": "x.sh", "text": "a"}, {"file": "x.sh", "text": "b"}]}],
)  # fmt: skip
def test_an_invalid_skill_is_dropped_with_its_reason(change: dict[str, Any]) -> None:
    found, dropped = skills(skill("check-it", **change))
    assert found == ()
    assert dropped


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", "Check It"), ("name", "../x"), ("name", "a\n"), ("scripts", [{"file": "../x", "text": "a"}]),
     ("scripts", [{"file": ".x", "text": "a"}]), ("scripts", [{"file": "a/b", "text": "a"}]), ("steps", []),
     ("extra", 1)],
)  # fmt: skip
def test_an_answer_with_names_that_are_no_names_is_rejected(field: str, value: Any) -> None:
    with pytest.raises(AnswerRejected, match=field):
        skills(skill("check-it", **{field: value}))


def test_the_question_shows_the_lessons_of_the_session() -> None:
    told = rule("Run `make check` before a change.")
    engine = ScriptedEngine({"extract-guidelines": {"": {"guidelines": [told]}}})
    summary = summarize.SummaryAnswer.model_validate({"arcs": [arc()]})
    lessons, _ = extract_guidelines(worked_session(), summary, engine)
    question = synthesize_skill.SkillQuestion(worked_session(), summary, lessons)
    assert "Lesson: Run `make check` before a change.\n" in render_prompt(question, read_prompts()).question
