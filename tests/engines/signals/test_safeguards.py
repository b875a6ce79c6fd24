"""Refused replies, and calls of a reply that were called off."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import safeguards
from agent_wiki.readers.example_notation import example_session
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script


def _titles(script: Script) -> list[str]:
    return [lesson.guideline.title for lesson in safeguards.lessons(MinedSession.of(script.done()))]


def test_a_refused_reply_is_a_lesson_once_the_next_is_carried_out() -> None:
    script = Script().says("Either ls or pwd.").user("Please provide EXACTLY ONE action, found 2 actions.", "injected")
    assert not _titles(script)
    assert _titles(script.runs("ls", "a.py")) == ["Put one command in each reply"]


def test_a_reply_with_two_commands_is_refused_for_their_number() -> None:
    refusal = "Please always provide EXACTLY ONE action in triple backticks."
    script = Script().says("Both:\n\n```bash\nls\n```\n\n```bash\npwd\n```").user(refusal, "injected")
    assert _titles(script.runs("ls", "a.py")) == ["Put one command in each reply"]
    script = Script().says("It is done.").user(refusal, "injected")
    assert not _titles(script.runs("ls", "a.py")), "it had none"


def test_a_plan_that_is_handed_on_to_another_model_refuses_nothing() -> None:
    plan = "Add a script, so that one starts both with a single command.\n\n```\na\n```\n\n```\nb\n```"
    assert not _titles(Script().says(plan).user(plan, "injected").runs("ls", "a.py"))


def test_a_user_who_asks_for_one_command_is_no_harness() -> None:
    script = Script().says("Either ls or pwd.").user("Give me exactly one command.")
    assert not _titles(script.runs("ls", "a.py"))


BATCH = (
    "$ grep -rn cart docs\n! exit code 1\n& git log -3\n~ <tool_use_error>Sibling tool call errored</tool_use_error>\n"
)


def test_a_call_that_was_called_off_beside_a_failed_one_and_works_again_is_a_lesson() -> None:
    trajectory = example_session(f"{BATCH}$ git log -3\n= 7a0f18f Cart")
    (lesson,) = safeguards.lessons(MinedSession.of(trajectory))
    assert lesson.guideline.title == "Guard commands within a batch of calls"
    assert (lesson.guideline.event_turn, lesson.guideline.confirming_turn) == (2, 5)
    assert grade_of(lesson.guideline, trajectory).cause == "checked"


@pytest.mark.parametrize(
    "then",
    [
        "$ git log -5\n= 7a0f18f Cart",  # another call
        "$ git log -3\n! fatal: not a git repository",  # it fails by itself
    ],
)
def test_a_call_that_was_called_off_and_not_made_again_with_success_is_none(then: str) -> None:
    assert not safeguards.lessons(MinedSession.of(example_session(f"{BATCH}{then}")))


def test_a_call_that_was_called_off_for_a_file_that_could_not_be_read_is_none() -> None:
    text = BATCH.replace("$ grep -rn cart docs", 'call: Read {"file_path": "docs"}')
    assert not safeguards.lessons(MinedSession.of(example_session(f"{text}$ git log -3\n= 7a0f18f Cart")))
