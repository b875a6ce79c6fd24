"""extract-guidelines: only what the recording bears out becomes a rule."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.engine import Problem
from agent_wiki.engines.scripted import ScriptedEngine
from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.stages import extract_guidelines, summarize
from tests.wikis import COMMAND, arc, rule, worked_session


def guidelines(*told: Any) -> tuple[tuple[GuidelineEntry, ...], list[Problem]]:
    engine = ScriptedEngine({"extract-guidelines": {"": {"guidelines": list(told)}}})
    summary = summarize.SummaryAnswer.model_validate({"arcs": [arc()]})
    return extract_guidelines.extract_guidelines(worked_session(), summary, engine)


def test_a_guideline_keeps_its_verbatim_quotes_and_loses_the_others() -> None:
    evidence = [{"turn": 5, "quote": "Visit `me`"}, {"turn": 3, "quote": COMMAND}, {"turn": 2, "quote": COMMAND}]
    found, dropped = guidelines(rule("Check it first.", evidence=evidence))
    (entry,) = found
    assert [(each.turn, each.trust) for each in entry.evidence] == [(2, "assistant"), (5, "external")]
    assert len(dropped) == 1
    assert "turn 3" in dropped[0].reason
    assert len(entry.id) == 12


@pytest.mark.parametrize(
    "change",
    [{"title": "Check"}, {"title": "a b c d e f g h"}, {"rule": "\u200b"},
     {"evidence": [{"turn": 1, "quote": "no such"}]}, {"evidence": [{"turn": 99, "quote": COMMAND}]}],
)  # fmt: skip
def test_an_invalid_guideline_is_dropped_with_its_reason(change: dict[str, Any]) -> None:
    found, dropped = guidelines({**rule("Check it first."), **change})
    assert found == ()
    assert dropped


def test_one_rule_stated_twice_is_one() -> None:
    found, _ = guidelines(rule("Check it first."), rule("check  IT first."))
    assert len(found) == 1
