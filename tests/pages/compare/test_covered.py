"""A guideline is archived only where a skill states its rule and its situation word by word."""

from __future__ import annotations

import pytest

from agent_wiki.pages.compare.covered import Subject, covered_guidelines

RULE = "Read zip archives with `python3 -m zipfile`."
TRIGGER = "`unzip` is not installed"
SKILL = Subject(
    "check-archive",
    "Lists an archive where unzip is not installed. 1. Read ZIP archives with python3 -m zipfile: the list first.",
    "A release archive to check",
)


def is_covered(rule: str = RULE, trigger: str = TRIGGER, skill: Subject = SKILL) -> bool:
    return covered_guidelines([skill], [Subject("abc123abc123", rule, trigger)]) == {"abc123abc123": skill.id}


def test_a_rule_that_a_skill_states_for_the_same_situation_is_covered() -> None:
    assert is_covered()


def test_the_situation_may_be_the_skills_trigger() -> None:
    assert is_covered(trigger="a release archive")


@pytest.mark.parametrize(
    "rule",
    ["Read zip archives with `python3 -m tarfile`.", "Never read zip archives with `unzip -l`.",
     "The list first, read zip archives with python3.", "Read tar archives with python3 -m zipfile.",
     "Zip archives."],
)  # fmt: skip
def test_a_rule_in_other_words_stays(rule: str) -> None:
    assert not is_covered(rule)


@pytest.mark.parametrize("trigger", ["", "Any archive that has to be read", "`unzip` is not installed on the server"])
def test_a_rule_for_another_or_a_wider_situation_stays(trigger: str) -> None:
    assert not is_covered(trigger=trigger)


def test_words_are_whole() -> None:
    text = "1. Reread zip archives with python3 -m zipfiles where unzip is not installed."
    assert not is_covered(skill=Subject("x", text, ""))
    assert not is_covered("Read zip archives with python3 -m zip", TRIGGER)


def test_the_first_skill_by_name_covers() -> None:
    other = Subject("a-check", SKILL.text, "")
    guideline = Subject("abc123abc123", RULE, TRIGGER)
    assert covered_guidelines([SKILL, other], [guideline]) == {"abc123abc123": "a-check"}
    assert covered_guidelines([], [guideline]) == {}
