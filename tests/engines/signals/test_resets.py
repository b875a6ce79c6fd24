"""What an earlier run left is cleared away, and the check that had failed passes."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import recoveries
from agent_wiki.engines.offline.signals.resets import clears
from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script

BOOKED = "× books a seat once > Error: the seat is booked already"


def titles(script: Script) -> list[str]:
    return [lesson.guideline.title for lesson in recoveries.lessons(MinedSession.of(script.done()))]


def failed() -> Script:
    return Script().runs("npx vitest run src/api", BOOKED, failed=True)


def test_a_volume_that_was_cleared_away_is_what_helped() -> None:
    script = failed().runs("docker compose down -v && docker compose up -d", "Removed\nStarted")
    script.runs("npx vitest run src/api", "Tests  7 passed (7)")
    (lesson,) = recoveries.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.title == "Reset with docker compose down -v"
    assert "start it again" in lesson.guideline.rule
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


def test_something_else_in_between_may_have_been_the_cause() -> None:
    edited = (
        failed()
        .runs("docker compose down -v", "Removed")
        .call("Edit", {"file_path": "src/api/seats.ts", "old_string": "a", "new_string": "b"}, "updated")
    )
    assert titles(edited.runs("npx vitest run src/api", "Tests  7 passed (7)")) == []
    installed = failed().runs("docker compose down -v", "Removed").runs("npm install", "added 7 packages")
    assert titles(installed.runs("npx vitest run src/api", "Tests  7 passed (7)")) == []
    said = failed().runs("docker compose down -v", "Removed").user("I started the database again, try now.")
    assert titles(said.runs("npx vitest run src/api", "Tests  7 passed (7)")) == []
    again = failed().runs("docker compose down -v", "Removed").runs("npx vitest run src/api", BOOKED, failed=True)
    assert titles(again) == []


@pytest.mark.parametrize(
    ("line", "is_clear"),
    [
        ("rm -rf .next node_modules/.cache", True),
        ("rm -rf src/generated", False),
        ("rm -rf .", False),
        ("cargo clean", True),
        ("docker compose down", False),
        ("make clean all", False),
        ("git clean -fdx", False),
    ],
)
def test_only_what_a_tool_had_written_is_cleared_away(line: str, is_clear: bool) -> None:
    assert clears(simple_commands(line)[0]) is is_clear
