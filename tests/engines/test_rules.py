"""The rules of the embedded engine: ids, examples, and what each finds."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from agent_wiki.engines.offline import OfflineEngine
from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.example_sessions import example_of, fires
from agent_wiki.engines.offline.extract_guidelines import answer, offered
from agent_wiki.engines.offline.rule import AnyRule
from agent_wiki.engines.offline.rules import GUIDELINE_RULES, RULES
from agent_wiki.readers.example_notation import example_session
from agent_wiki.stages.extract_guidelines import GuidelinesQuestion
from agent_wiki.stages.summarize import ArcAnswer, SummaryAnswer
from agent_wiki.trajectory import Trajectory

BY_ID = {rule.id: rule for rule in RULES}
APPLIED = (
    "$ git rebase --continue\n! error: There was a problem with the editor 'vi'\n"
    "$ GIT_EDITOR=true git rebase --continue\n= ok"
)


def question(trajectory: Trajectory) -> GuidelinesQuestion:
    arc = ArcAnswer(first_turn=1, last_turn=1, goal="Fix it", outcome="unknown", narrative="It went on.", key_turns=[])
    return GuidelinesQuestion(trajectory, SummaryAnswer(arcs=[arc]))


def test_ids_are_unique_and_short() -> None:
    assert [rule_id for rule_id, count in Counter(rule.id for rule in RULES).items() if count > 1] == []
    assert [rule.id for rule in RULES if not re.fullmatch(r"[a-z-]{4,20}/[a-z0-9-]{3,30}", rule.id)] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_finds_its_example_and_stays_silent_on_the_other(rule: AnyRule) -> None:
    example = example_of(rule)
    assert fires(rule, example.fires)
    assert not fires(rule, example.silent)


def test_no_example_is_left_of_a_rule_that_is_gone() -> None:
    from agent_wiki.engines.offline import example_sessions

    families = sorted(path.stem for path in example_sessions.FOLDER.glob("*.toml"))
    assert families == sorted({rule.family for rule in RULES})
    shipped = {f"{family}/{name}" for family in families for name in example_sessions.shipped_examples(family)}
    assert shipped == set(BY_ID)


def test_whatever_is_found_names_a_rule_that_there_is() -> None:
    found = {
        lesson.guideline.rule_id
        for rule in GUIDELINE_RULES
        for text in (example_of(rule).fires, example_of(rule).silent)
        for lesson in offered(MinedSession.of(example_session(text)))
    }
    assert found == {rule.id for rule in GUIDELINE_RULES}


def test_a_rule_left_out_finds_nothing_and_the_others_find_what_they_did() -> None:
    trajectory = example_session(APPLIED)
    assert [each.rule_id for each in answer(question(trajectory)).guidelines] == ["surroundings/variable"]
    others = [rule for rule in GUIDELINE_RULES if rule.id != "surroundings/variable"]
    assert "surroundings/variable" not in [each.rule_id for each in answer(question(trajectory), others).guidelines]


def test_an_example_says_who_said_what_in_which_turn() -> None:
    trajectory = example_session("user: Fix it.\nagent: Looking.\n$ ls\n= a.py\nuser: go on\nagent: Done.")
    roles = [(message.role, message.content, len(message.tool_calls)) for message in trajectory.messages]
    assert roles == [
        ("user", "Fix it.", 0),
        ("assistant", "Looking.", 1),
        ("tool", "a.py", 0),
        ("user", "go on", 0),
        ("assistant", "Done.", 0),
    ]


def test_an_example_that_does_not_begin_with_the_user_begins_with_a_request() -> None:
    assert [message.role for message in example_session("$ ls").messages] == ["user", "assistant", "tool"]
    assert [message.role for message in example_session("agent: Hello.").messages] == ["user", "assistant"]


@pytest.mark.parametrize("text", ["a word", "+ new", "= a result of nothing"])
def test_a_line_of_no_notation_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        example_session(text)


def test_the_version_says_what_is_left_out_and_nothing_of_what_there_is_not() -> None:
    plain, one, same = OfflineEngine(), OfflineEngine(["recipes/script"]), OfflineEngine(["recipes/script", "no/such"])
    assert len({plain.version, one.version}) == 2
    assert same.version == one.version
    assert OfflineEngine(["no/such"]).version == plain.version
    assert one.made_with("summarize") == plain.made_with("summarize")
    assert one.made_with("synthesize-skill") != plain.made_with("synthesize-skill")
    assert [str(each) for each in same.account().warnings] == ["_config.yaml: rules.ignore: there is no rule 'no/such'"]
