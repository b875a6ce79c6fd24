"""Refused replies."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import safeguards
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
