"""An option that a program does not know, and the call that passed."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals import unknown_options
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script


def _lessons(script: Script) -> list[Lesson]:
    return unknown_options.lessons(MinedSession.of(script.done()))


def _rules(script: Script) -> list[str]:
    return [each.guideline.rule for each in _lessons(script)]


@pytest.mark.parametrize(
    ("failed", "error", "worked", "rule"),
    [
        (
            "shelf close 12 --comment 'sold out'",
            "Error: unknown flag: --comment",
            "shelf close 12 --reason 'sold out'",
            "Give `shelf close` `--reason` and not `--comment`, which it does not know.",
        ),
        (
            "shelf list --labels=till",
            "error: unexpected argument '--labels' found",
            "shelf list -l till",
            "Give `shelf list` `-l` and not `--labels`, which it does not know.",
        ),
        (
            "shelf log --all",
            "error: unrecognized option '--all'",
            "shelf log -r 'all()'",
            "Give `shelf log` `-r all()` and not `--all`, which it does not know.",
        ),
    ],
)
def test_the_option_that_passed_in_place_of_the_unknown_one_is_the_rule(
    failed: str, error: str, worked: str, rule: str
) -> None:
    script = Script().runs(failed, error, failed=True).runs(worked, "ok")
    (lesson,) = _lessons(script)
    assert lesson.guideline.rule == rule
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


_UNKNOWN = "Error: unknown flag: --comment"


@pytest.mark.parametrize(
    "script",
    [
        Script().runs("shelf close 12 --comment x", _UNKNOWN, failed=True).runs("shelf close --help", "usage"),
        Script().runs("shelf close 12 --comment x", _UNKNOWN, failed=True).runs("shelf open 13 --reason x", "ok"),
        Script()
        .runs("shelf close 12 --comment x", _UNKNOWN, failed=True)
        .runs("shelf list", "12")
        .runs("shelf close 12 --reason x", "ok"),
        Script().runs("shelf sync --dry-run", "unknown option --dry-run", failed=True).runs("shelf sync", "ok"),
        Script().runs("shelf view 2 --step 5", "unknown flag: --step", failed=True).runs("shelf view 2", "ok"),
        Script().runs("npm test --runAll", "CACError: Unknown option `--runAll`", failed=True).runs("npm test", "ok"),
        Script().runs("shelf close 12 --comment x", "Error: no such book", failed=True).runs("shelf close 12", "ok"),
        Script().runs("shelf close 12 --comment x --quick", _UNKNOWN, failed=True).runs("shelf close 12", "ok"),
    ],
    ids=["help", "another call", "not the next", "a guard", "less", "a runner", "another failure", "more is different"],
)
def test_what_differs_otherwise_or_says_something_else_is_none(script: Script) -> None:
    assert not _rules(script)


def test_an_option_behind_two_dashes_is_that_of_another_program() -> None:
    error = "error: unexpected argument '--prompt' found\n\nUsage: shelf exec [PROMPT]"
    script = Script().runs("cargo run -- exec --prompt x", error, failed=True)
    assert not _rules(script.runs("cargo run -- exec x", "ok"))
