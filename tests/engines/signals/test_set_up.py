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


def test_one_command_of_set_up_between_a_failure_and_its_pass_is_a_rule_of_the_repository() -> None:
    script = _prepared("pip install -e .")
    (lesson,) = _lessons(script)
    assert lesson.guideline.rule == (
        "Run `pip install -e .` before `pytest` in this repository: `pytest` stops with "
        "`ModuleNotFoundError: No module named 'shop'` until then."
    )
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


@pytest.mark.parametrize(
    ("command", "error", "check"),
    [
        ("docker compose up -d", "connect ECONNREFUSED 127.0.0.1:5432", "npm test"),
        ("git submodule update --init", "fatal error: cart.h: No such file or directory", "make test"),
        ("mise trust", "mise ERROR Config files are not trusted. Trust them with `mise trust`.", "mise run lint"),
    ],
)
def test_services_submodules_and_what_the_failure_names_are_set_up(command: str, error: str, check: str) -> None:
    (rule,) = _rules(_prepared(command, error=error, check=check))
    assert rule.startswith(f"Run `{command}` before ")


def test_what_gets_a_check_past_its_failure_had_to_run_before_it() -> None:
    error = 'error: Script not found "vite"\nerror: script "build" exited with code 1'
    script = Script().runs("bun run build", error, failed=True).runs("bun install", "installed")
    script.runs("bun run build", "src/cart.ts(3,5): error TS2322: Type 'string' is not a number.", failed=True)
    (lesson,) = _lessons(script)
    assert lesson.guideline.rule.startswith("Run `bun install` before `bun run build` in this repository")
    assert lesson.guideline.rationale.endswith("and no edit, it got past that.")
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


def test_the_same_failure_again_shows_that_nothing_was_set_up() -> None:
    script = Script().runs("pytest", _MISSING, failed=True).runs("pip install -e .", "ok")
    assert not _rules(script.runs("pytest", _MISSING, failed=True).runs("pytest", "3 passed"))


def test_what_the_failure_asks_for_by_a_sub_command_of_its_own_may_stand_before_the_retry() -> None:
    error = "Checking the stack\nYou must rebuild the index before a search.\nERROR: Giving up."
    script = Script().runs("shelf search cart 2>&1 | tail -5", error)
    script.runs("shelf rebuild 2>&1 | tail -3 && shelf search cart 2>&1 | tail -5", "built\ncart.py")
    (lesson,) = _lessons(script)
    assert lesson.guideline.rule == (
        "Run `shelf rebuild` before `shelf`: `shelf` stops with `You must rebuild the index before a search` where "
        "that is needed."
    )
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


def test_a_hook_may_say_what_to_run_on_a_line_of_its_own() -> None:
    error = "The client is out of date.\nRun this and stage what it makes:\n\n    pnpm client\n\nhook failed"
    script = Script().runs("git commit -m work", error, failed=True).runs("pnpm client", "written")
    (lesson,) = _lessons(script.runs("git commit -m work", "1 file changed"))
    assert lesson.guideline.title == "Run pnpm client before git commit"
    assert lesson.guideline.trigger == "`git commit` stops with `The client is out of date`."


def test_a_title_that_is_too_long_names_the_last_word_of_the_check() -> None:
    (lesson,) = _lessons(_prepared("pip install -e .", check="python -m pytest tests"))
    assert lesson.guideline.title == "Run pip install -e before pytest"


def test_a_browser_that_the_failure_says_how_to_install_is_there_once_the_tests_fail_otherwise() -> None:
    missing = (
        "FAILED tests/test_a.py::test_a - Error: Executable doesn't exist at /a/b\nRun: playwright install\n1 failed"
    )
    script = Script().runs("pytest tests", missing, failed=True).runs("playwright install", "Downloaded")
    script.runs(
        "pytest tests", "FAILED tests/test_a.py::test_a - Error: net::ERR_CONNECTION_REFUSED\n1 failed", failed=True
    )
    (lesson,) = _lessons(script)
    assert "stops with `Error: Executable doesn't exist at <path>` where" in lesson.guideline.rule
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


@pytest.mark.parametrize(
    "script",
    [
        _prepared("pip install shop"),
        _prepared("ls tests"),
        _prepared("pip install -e .", "npm ci"),
        _prepared("docker compose down && docker compose up -d", error="connect ECONNREFUSED 127.0.0.1:5432"),
        _prepared("pip install -e .", error="AssertionError: 3 != 4"),
        Script()
        .runs("pytest", _MISSING, failed=True)
        .edits("a", "b", "a.py")
        .runs("uv sync", "")
        .runs("pytest", "1 passed"),
        Script()
        .edits("a", "b", "pyproject.toml")
        .runs("pytest", _MISSING, failed=True)
        .runs("uv sync", "")
        .runs("pytest", "1 passed"),
        Script().runs("pytest tests", _MISSING, failed=True).runs("pip install -e .", "ok"),
    ],
    ids=["named", "a look", "two", "a restart", "code", "an edit between", "new dependencies", "no pass"],
)
def test_what_the_failure_names_the_session_caused_or_nothing_shows_is_none(script: Script) -> None:
    assert not _rules(script)


def test_of_several_passes_the_very_command_that_was_let_out_of_the_sandbox_counts() -> None:
    error = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"
    script = Script().call("exec_command", {"cmd": "ls -la"}, error, failed=True)
    script.call("exec_command", {"cmd": "ls -la src", "sandbox_permissions": "require_escalated"}, "a.py")
    script.call("exec_command", {"cmd": "ls -la", "sandbox_permissions": "require_escalated"}, "src")
    (lesson,) = _lessons(script)
    assert lesson.guideline.title == "Leave a sandbox that cannot start"


def test_what_only_looks_for_a_file_is_no_check() -> None:
    error = "ls: cannot access 'node_modules/.bin/jest': No such file or directory"
    assert not _rules(_prepared("npm install", error=error, check="ls node_modules/.bin/jest"))


_INSIDE = "File '/home/kim/venv/lib/python3.12/site-packages/tillkit/hash.py', line 6\n"
_NO_ATTRIBUTE = f"{_INSIDE}AttributeError: module 'saltbox' has no attribute 'version_info'"


_OTHER = "Uninstalling saltbox-5.0.1\nSuccessfully installed saltbox-4.1.0"


def _with_version(*commands: str, error: str, said: str = _OTHER) -> list[Lesson]:
    script = Script().runs("pytest tests", error, failed=True)
    for command in commands:
        script.runs(command, said)
    return _lessons(script.runs("pytest tests", "3 passed"))


def test_another_version_of_a_package_that_the_failure_names_is_a_rule() -> None:
    (lesson,) = _with_version("pip install 'saltbox<5'", error=_NO_ATTRIBUTE)
    assert lesson.guideline.rule == (
        "Pin `saltbox<5` beside `tillkit`: with the version that comes by itself, `pytest` stops with "
        "`AttributeError: module 'saltbox' has no attribute 'version_info'`."
    )
    script = Script().runs("pytest tests", _NO_ATTRIBUTE, failed=True).runs("pip install 'saltbox<5'", _OTHER)
    assert grade_of(lesson.guideline, script.runs("pytest tests", "3 passed").done()).cause == "checked"


@pytest.mark.parametrize(
    ("commands", "error", "said"),
    [
        (["pip install saltbox"], _NO_ATTRIBUTE, _OTHER),  # which version is not said
        (["pip install 'pepperbox<5'"], _NO_ATTRIBUTE, _OTHER),  # of which the failure says nothing
        (["pip install 'saltbox<5' 'tillkit<2'"], _NO_ATTRIBUTE, _OTHER),
        (["pip install 'saltbox<5'", "rm -r build"], _NO_ATTRIBUTE, _OTHER),
        (
            ["pip install 'saltbox<5'"],
            f"{_NO_ATTRIBUTE}\nhint: install saltbox<5",
            _OTHER,
        ),  # the failure says it itself
        (["pip install 'saltbox<5'"], _NO_ATTRIBUTE, "Successfully installed saltbox-4.1.0"),  # none had been there
    ],
)
def test_a_version_that_is_not_named_or_not_alone_is_none(commands: list[str], error: str, said: str) -> None:
    found = _with_version(*commands, error=error, said=said)
    assert not [each for each in found if "version" in each.guideline.rule]


def test_a_title_leaves_out_the_environment_that_the_rule_names() -> None:
    script = Script().runs(
        "conda run -n shop python3 lamp.py", "ModuleNotFoundError: No module named 'cv2'", failed=True
    )
    script.runs("conda run -n shop pip install opencv-python", "Successfully installed opencv-python")
    (lesson,) = _lessons(script.runs("conda run -n shop python3 lamp.py", "3 lamps"))
    assert lesson.guideline.title == "Run pip install opencv-python before python3"
