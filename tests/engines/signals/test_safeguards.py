"""Failures that were there before, refused replies."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import safeguards
from tests.engines.scripted_session import Script

FAILED = "--- FAIL: TestCart (0.01s)\nFAIL"


def _titles(script: Script) -> list[str]:
    return [lesson.guideline.title for lesson in safeguards.lessons(MinedSession.of(script.done()))]


def test_a_check_that_fails_without_the_change_too_is_a_lesson() -> None:
    script = Script().edits("a", "b").runs("go test ./...", FAILED, failed=True)
    script.runs("git stash && go test ./...; git stash pop", FAILED, failed=True)
    assert _titles(script.says("These failures are pre-existing.")) == ["Check failures against unchanged code"]


def test_a_check_that_passes_without_the_change_gives_no_lesson() -> None:
    script = Script().edits("a", "b").runs("go test ./...", FAILED, failed=True)
    script.runs("git stash && go test ./...; git stash pop", "error: local changes would be overwritten", failed=True)
    assert not _titles(script.says("That is not related to my change."))


def test_a_refused_reply_is_a_lesson_once_the_next_is_carried_out() -> None:
    script = Script().says("Either ls or pwd.").user("Please provide EXACTLY ONE action, found 2 actions.", "injected")
    assert not _titles(script)
    assert _titles(script.runs("ls", "a.py")) == ["Put one command in each reply"]


def test_a_user_who_asks_for_one_command_is_no_harness() -> None:
    script = Script().says("Either ls or pwd.").user("Give me exactly one command.")
    assert not _titles(script.runs("ls", "a.py"))
