"""A command that is refused for want of an option, and passes with it."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import added_options
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script

ASKED = 'Error: Command `till close` requires confirmation. Use option "--yes" to confirm.'


def _rules(script: Script) -> list[str]:
    return [each.guideline.rule for each in added_options.lessons(MinedSession.of(script.done()))]


def _refused(line: str = "till close north", said: str = ASKED) -> Script:
    return Script().runs(line, said, failed=True)


def test_the_option_that_a_refusal_names_and_that_helped_is_a_lesson() -> None:
    script = _refused("cd /shop && till close north").runs("cd /shop && till close north --yes", "closed")
    (lesson,) = added_options.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.rule == (
        "Call `till close` with `--yes` where it answers “Command 'till close' requires confirmation. "
        'Use option "--yes" to confirm”.'
    )
    assert lesson.guideline.title == "Give `till close` --yes"
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


def test_leaving_the_option_out_again_speaks_for_it() -> None:
    script = _refused("cd /shop && till close north").runs("cd /shop && till close north --yes", "closed")
    script.runs("cd /shop && till close north", ASKED, failed=True)
    (lesson,) = added_options.lessons(MinedSession.of(script.done()))
    assert grade_of(lesson.guideline, script.done()).contradiction == ""


def test_an_option_may_be_named_in_words_and_have_a_value() -> None:
    said = "ERROR: a branch is missing, so specifying is required."
    assert _rules(_refused(said=said).runs("till close north --branch=None", "closed")) == [
        "Call `till close` with `--branch=None` where it answers “a branch is missing, so specifying is required”."
    ]
    later = "till close north --mode quick"
    assert not _rules(_refused(said="--mode flag is mandatory").runs(later, "closed"))  # it may be an argument
    assert _rules(_refused(said="--mode <mode> is mandatory").runs(later, "closed")) == [
        "Call `till close` with `--mode <value>` where it answers “--mode ‹mode> is mandatory”."
    ]


@pytest.mark.parametrize(
    ("said", "later"),
    [
        ("Error: the till is open elsewhere", "till close north --yes"),  # not what was asked for
        ("error: use --force to close it all the same", "till close north --force"),  # overrules the refusal
        ("To close it as an administrator, add the `--admin` flag", "till close north --admin"),
        ("Use the --accept-data-loss flag to ignore the warnings", "till close north --accept-data-loss"),
        ("error: use --no-check to close it without verification", "till close north --no-check"),
        ("(use --stay to keep the till, or -f to close it)", "till close north --stay"),  # another thing than asked
        (ASKED, "till close south --yes"),
        (ASKED, "till open north --yes"),
        (ASKED, "till close north --yes --quick --mode a"),
    ],
)
def test_another_call_or_an_option_that_overrules_teaches_nothing(said: str, later: str) -> None:
    assert not _rules(_refused(said=said).runs(later, "closed"))


def test_a_program_that_another_runs_is_called_by_it() -> None:
    script = _refused("npx till close north", "Error: --region is required")
    assert _rules(script.runs("npx till close north --region=east", "closed")) == [
        "Call `npx till` with `--region=east` where it answers “--region is required”."
    ]


def test_an_option_with_which_it_fails_too_teaches_nothing() -> None:
    assert not _rules(_refused().runs("till close north --yes", "Error: no such till", failed=True))
