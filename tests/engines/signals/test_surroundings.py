"""Time and permissions."""

from __future__ import annotations

from typing import Any

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import surroundings
from tests.engines.scripted_session import Script

ESCALATED: dict[str, Any] = {"sandbox_permissions": "require_escalated"}


def _rules(script: Script) -> list[str]:
    return [lesson.guideline.rule for lesson in surroundings.lessons(MinedSession.of(script.done()))]


def _shell(script: Script, command: str, result: str, *, failed: bool = False, **arguments: Any) -> Script:
    return script.call("Bash", {"command": command, **arguments}, result, failed=failed)


def test_time_is_not_the_remedy_where_the_sandbox_was_left() -> None:
    script = _shell(Script(), "npm install", "Command timed out after 2m 0.0s", failed=True)
    assert not _rules(_shell(script, "npm install", "added 2 packages", timeout=600000, **ESCALATED))


def test_more_time_for_a_command_that_ran_out_of_it() -> None:
    script = _shell(Script(), "make e2e", "Command timed out after 2m 0.0s", failed=True)
    assert _rules(_shell(script, "make e2e", "ok", timeout=600000)) == [
        "Run `make e2e` with a longer time limit, or in the background: it does not finish within the default one."
    ]


def test_the_same_time_again_teaches_nothing() -> None:
    script = _shell(Script(), "make e2e", "Command timed out after 2m 0.0s", failed=True)
    assert not _rules(_shell(script, "make e2e", "ok"))


def test_a_limit_of_the_agents_own_is_not_the_default_one() -> None:
    script = _shell(Script(), "make e2e", "Command timed out after 1s", failed=True, timeout=1000)
    assert not _rules(_shell(script, "make e2e", "ok", timeout=600000))


def test_a_program_that_finishes_in_the_default_time_elsewhere_needs_no_more() -> None:
    script = _shell(Script(), "make e2e", "Command timed out after 2m 0.0s", failed=True)
    script = _shell(script, "make e2e", "ok", timeout=600000)
    assert not _rules(_shell(script, "make e2e", "ok"))


def test_ports_that_only_open_outside_the_sandbox_are_asked_for_at_once() -> None:
    script = _shell(Script(), "go test ./server", "listen tcp 127.0.0.1:0: bind: operation not permitted", failed=True)
    (rule,) = _rules(_shell(script, "go test ./server", "ok", **ESCALATED))
    assert rule.startswith("Ask for permission to leave the sandbox right away for tests and servers that open local")


def test_a_failure_that_has_nothing_to_do_with_the_sandbox_gives_no_lesson() -> None:
    script = _shell(Script(), "git fetch origin", "fatal: no such remote", failed=True)
    assert not _rules(_shell(script, "git fetch origin", "ok", **ESCALATED))
