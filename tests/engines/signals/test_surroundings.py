"""Time, permissions and folders."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import surroundings
from tests.engines.scripted_session import Script

ESCALATED: dict[str, Any] = {"sandbox_permissions": "require_escalated"}


def _rules(script: Script) -> list[str]:
    return [lesson.guideline.rule for lesson in surroundings.lessons(MinedSession.of(script.done()))]


def _shell(script: Script, command: str, result: str, *, failed: bool = False, **arguments: Any) -> Script:
    return script.call("Bash", {"command": command, **arguments}, result, failed=failed)


def test_more_time_for_a_command_that_ran_out_of_it() -> None:
    script = _shell(Script(), "make e2e", "Command timed out after 2m 0.0s", failed=True, timeout=120000)
    assert _rules(_shell(script, "make e2e", "ok", timeout=600000)) == [
        "Run `make e2e` with a longer time limit, or in the background: it does not finish within the default one."
    ]


def test_the_same_time_again_teaches_nothing() -> None:
    script = _shell(Script(), "make e2e", "Command timed out after 2m 0.0s", failed=True, timeout=120000)
    assert not _rules(_shell(script, "make e2e", "ok", timeout=120000))


@pytest.mark.parametrize(
    ("error", "what"),
    [
        ("fatal: unable to access: Could not resolve host: example.org", "commands that need the network"),
        ("error: cannot open '.git/FETCH_HEAD': Operation not permitted", "git commands that write to `.git`"),
        ("listen tcp 127.0.0.1:0: bind: operation not permitted", "tests and servers that open local ports"),
        ("touch: /opt/x: Permission denied", "commands that write outside the workspace"),
    ],
)
def test_what_only_works_outside_the_sandbox_is_asked_for_at_once(error: str, what: str) -> None:
    script = _shell(Script(), "git fetch origin", error, failed=True)
    assert _rules(_shell(script, "git fetch origin", "ok", **ESCALATED)) == [
        f"Ask for permission to leave the sandbox right away for {what}: inside it they fail."
    ]


def test_a_failure_that_has_nothing_to_do_with_the_sandbox_gives_no_lesson() -> None:
    script = _shell(Script(), "git fetch origin", "fatal: no such remote", failed=True)
    assert not _rules(_shell(script, "git fetch origin", "ok", **ESCALATED))


def test_the_folder_that_holds_what_a_command_needs() -> None:
    script = Script().runs("go test ./...", "go: go.mod file not found in current directory", failed=True)
    assert _rules(script.runs("cd server && go test ./...", "ok")) == [
        "Run `go` in the folder that holds `go.mod`: go there with `cd` or name the folder in the call."
    ]


def test_the_same_folder_is_no_remedy() -> None:
    script = Script().runs("cd a && go test ./...", "go: go.mod file not found in current directory", failed=True)
    assert not _rules(script.runs("cd a && go test ./...", "ok"))
