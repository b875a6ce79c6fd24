"""What has to run before a check can pass."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals import recoveries
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script

_MISSING = "ModuleNotFoundError: No module named 'shop'"


def _lessons(script: Script) -> list[Lesson]:
    return recoveries.lessons(MinedSession.of(script.done()))


def _rules(script: Script) -> list[str]:
    return [lesson.guideline.rule for lesson in _lessons(script)]


def _prepared(*commands: str, error: str = _MISSING, check: str = "pytest tests") -> Script:
    script = Script().runs(check, error, failed=True)
    for command in commands:
        script.runs(command, "ok")
    return script.runs(check, "3 passed")


def _lessons_named(command: str, error: str, check: str) -> list[Lesson]:
    return _lessons(_prepared(command, error=error, check=check))


def test_a_command_that_the_failure_names_is_a_rule_of_the_repository() -> None:
    said = "mise ERROR Config files are not trusted. Trust them with `mise trust`."
    script = _prepared("mise trust", error=said, check="mise run lint")
    (lesson,) = _lessons(script)
    assert lesson.guideline.rule == (
        "Run `mise trust` when `mise run lint` says “mise ERROR Config files are not trusted. Trust them with "
        "'mise trust'”."
    )
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


@pytest.mark.parametrize(
    ("command", "error", "check"),
    [
        ("pip install -e .", _MISSING, "pytest tests"),
        ("docker compose up -d", "connect ECONNREFUSED 127.0.0.1:5432", "npm test"),
        ("git submodule update --init", "fatal error: cart.h: No such file or directory", "make test"),
        ("npm install --save-dev shelf-tools", "shelf-tools: not found, install it with npm install", "npm test"),
    ],
)
def test_a_command_that_only_happened_to_help_or_installs_something_is_none(
    command: str, error: str, check: str
) -> None:
    assert not _lessons_named(command, error, check)


def test_the_same_failure_again_shows_that_nothing_was_set_up() -> None:
    said = "error: the client is out of date, run pnpm client"
    script = Script().runs("pnpm test", said, failed=True).runs("pnpm client", "ok")
    assert not _rules(script.runs("pnpm test", said, failed=True).runs("pnpm test", "3 passed"))


def test_what_the_failure_asks_for_by_a_sub_command_of_its_own_may_stand_before_the_retry() -> None:
    error = "Checking the stack\nYou must rebuild the index before a search.\nERROR: Giving up."
    script = Script().runs("shelf search cart 2>&1 | tail -5", error)
    script.runs("shelf rebuild 2>&1 | tail -3 && shelf search cart 2>&1 | tail -5", "built\ncart.py")
    (lesson,) = _lessons(script)
    assert lesson.guideline.rule == (
        "Run `shelf rebuild` when `shelf` says “You must rebuild the index before a search”."
    )
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


def test_a_hook_may_say_what_to_run_on_a_line_of_its_own() -> None:
    error = "The client is out of date.\nRun this and stage what it makes:\n\n    pnpm client\n\nhook failed"
    script = Script().runs("git commit -m work", error, failed=True).runs("pnpm client", "written")
    (lesson,) = _lessons(script.runs("git commit -m work", "1 file changed"))
    assert lesson.guideline.title == "Run pnpm client before git commit"
    assert "says “The client is out of date. Run this and stage what it makes: pnpm client”" in lesson.guideline.rule


def test_a_browser_that_the_failure_says_how_to_install_is_read_there() -> None:
    missing = (
        "FAILED tests/test_a.py::test_a - Error: Executable doesn't exist at /a/b\nRun: playwright install\n1 failed"
    )
    script = Script().runs("pytest tests", missing, failed=True).runs("playwright install", "Downloaded")
    assert not _rules(script.runs("pytest tests", "3 passed"))


_STALE = "error: the client is out of date, run pnpm client"


@pytest.mark.parametrize(
    "script",
    [
        Script()
        .runs("pnpm test", _STALE, failed=True)
        .edits("a", "b", "a.ts")
        .runs("pnpm client", "")
        .runs("pnpm test", "1 passed"),
        Script()
        .edits("a", "b", "package.json")
        .runs("pnpm test", _STALE, failed=True)
        .runs("pnpm client", "")
        .runs("pnpm test", "1 passed"),
        Script().runs("pnpm test", _STALE, failed=True).runs("pnpm client", "ok"),
    ],
    ids=["an edit between", "new dependencies", "no pass"],
)
def test_what_the_session_caused_or_nothing_shows_is_none(script: Script) -> None:
    assert not _rules(script)
