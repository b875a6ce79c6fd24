"""Ports that a sandbox refuses."""

from __future__ import annotations

from typing import Any

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import sandbox
from tests.engines.scripted_session import Script

ESCALATED: dict[str, Any] = {"sandbox_permissions": "require_escalated"}


def _rules(script: Script) -> list[str]:
    return [lesson.guideline.rule for lesson in sandbox.lessons(MinedSession.of(script.done()))]


def _shell(script: Script, command: str, result: str, *, failed: bool = False, **arguments: Any) -> Script:
    return script.call("Bash", {"command": command, **arguments}, result, failed=failed)


def test_ports_that_only_open_outside_the_sandbox_are_asked_for_at_once() -> None:
    script = _shell(Script(), "go test ./server", "listen tcp 127.0.0.1:0: bind: operation not permitted", failed=True)
    (rule,) = _rules(_shell(script, "go test ./server", "ok", **ESCALATED))
    assert rule.startswith("Ask for permission to leave the sandbox right away for tests and servers that open local")


def test_a_failure_that_has_nothing_to_do_with_the_sandbox_gives_no_lesson() -> None:
    script = _shell(Script(), "git fetch origin", "fatal: no such remote", failed=True)
    assert not _rules(_shell(script, "git fetch origin", "ok", **ESCALATED))
