"""The engine that says what it was told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.engines import engine_named
from agent_wiki.engines.scripted import ScriptedEngine
from agent_wiki.errors import AnswerRejected, UsageError
from agent_wiki.stages.extract_guidelines import GuidelinesQuestion
from agent_wiki.stages.summarize import SummarizeQuestion, SummaryAnswer
from agent_wiki.trajectory import Message, Source, Trajectory
from tests.wikis import arc

SESSION = Trajectory("s", Source("test"), [Message("user", "x"), Message("assistant", "y")])


def test_an_answer_for_this_version_of_a_session_wins() -> None:
    told = {"": {"arcs": [arc("any")]}, "s": {"arcs": [arc("s")]}, "s#2": {"arcs": [arc("two turns")]}}
    engine = ScriptedEngine({"summarize": told})
    assert engine.answer(SummarizeQuestion(SESSION)).arcs[0].goal == "two turns"
    longer = Trajectory("s", Source("test"), [*SESSION.messages, Message("user", "z")])
    assert engine.answer(SummarizeQuestion(longer)).arcs[0].goal == "s"
    other = Trajectory("t", Source("test"), SESSION.messages)
    assert engine.answer(SummarizeQuestion(other)).arcs[0].goal == "any"


def test_an_answer_that_was_not_given_is_empty_where_the_stage_allows_it() -> None:
    engine = ScriptedEngine({})
    summary = SummaryAnswer.model_validate({"arcs": [arc()]})
    assert engine.answer(GuidelinesQuestion(SESSION, summary)).guidelines == []
    with pytest.raises(AnswerRejected, match="summarize: the script has no answer"):
        engine.answer(SummarizeQuestion(SESSION))


def test_an_answer_that_does_not_fit_is_rejected_with_its_field() -> None:
    engine = ScriptedEngine({"summarize": {"s": {"arcs": [arc(outcome="splendid")]}}})
    with pytest.raises(AnswerRejected, match=r"summarize: arcs\.0\.outcome"):
        engine.answer(SummarizeQuestion(SESSION))


def test_the_version_changes_with_what_may_be_said() -> None:
    assert ScriptedEngine({"a": {"x": 1}}).version == ScriptedEngine({"a": {"x": 1}}).version
    assert ScriptedEngine({"a": {"x": 1}}).version != ScriptedEngine({"a": {"x": 2}}).version


def test_the_engine_is_reached_by_the_name_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"summarize": {}}), encoding="utf-8")
    assert engine_named(f"scripted:{tmp_path / 'a.json'}").name == "scripted"
    (tmp_path / "b.json").write_text("[1]", encoding="utf-8")
    for name in ("scripted:" + str(tmp_path / "none.json"), f"scripted:{tmp_path / 'b.json'}", "nonesuch"):
        with pytest.raises(UsageError):
            engine_named(name)
