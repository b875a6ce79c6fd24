"""A program that the shell does not find, and the name by which it is found."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals import other_names
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script
from tests.hangs import no_hang


def _lessons(script: Script) -> list[Lesson]:
    return other_names.lessons(MinedSession.of(script.done()))


def _rules(script: Script) -> list[str]:
    return [lesson.guideline.rule for lesson in _lessons(script)]


def test_another_call_of_the_same_message_is_not_in_between() -> None:
    script = Script().runs("mvn test -pl core", "bash: mvn: command not found", failed=True)
    script.builder.assistant(None, calls=[("a", "Bash", '{"command": "make clean"}')])
    script.builder.assistant(None, calls=[("b", "Bash", '{"command": "./mvnw test -pl core"}')])
    script.builder.tool("a", "cleaned", is_error=False)
    script.builder.tool("b", "3 passed", is_error=False)
    (lesson,) = _lessons(script)
    assert lesson.guideline.title == "Call `./mvnw` instead of `mvn`"
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


def test_the_same_rest_under_a_related_name_is_the_program_and_one_rule_for_all_its_uses() -> None:
    rules = set()
    for chosen in ("tests/test_a.py::test_one -x", "tests/test_a.py -k pay -v"):
        script = Script().runs(f"pytest {chosen} | tail -5", "bash: pytest: command not found", failed=True)
        script.runs(f"python3 -m pytest {chosen} | tail -9", "1 failed, 3 passed", failed=True)
        rules |= {lesson.guideline.rule for lesson in _lessons(script)}
    assert rules == {
        "Call `python3 -m pytest` instead of `pytest` where the shell does not find `pytest`.",
    }


def test_a_name_with_a_version_teaches_nothing() -> None:
    script = Script().runs("python -m pytest shop", "bash: python: command not found", failed=True)
    assert not _rules(script.runs("python3 -m pytest shop", "3 passed"))
    script = Script().runs("pip install -r a.txt", "bash: pip: command not found", failed=True)
    assert not _rules(script.runs("pip3 install -r a.txt", "Successfully installed flask"))


def test_forgetting_the_other_name_later_speaks_for_it() -> None:
    script = Script().runs("pip install -r a.txt | tail -2", "bash: pip: command not found", failed=True)
    script.runs("python3 -m pip install -r a.txt | tail -2", "Successfully installed flask")
    (lesson,) = _lessons(script.runs("pip install -r a.txt | tail -2", "bash: pip: command not found", failed=True))
    grade = grade_of(lesson.guideline, script.done())
    assert (grade.cause, grade.contradiction) == ("checked", "")


def test_another_program_on_other_things_and_one_of_this_session_stand_in_for_nothing() -> None:
    def missing() -> Script:
        return Script().runs("mvn test -pl core", "bash: mvn: command not found", failed=True)

    assert _rules(missing().runs("./mvnw test -pl core", "BUILD SUCCESS"))
    assert not _rules(missing().runs("./mvnw test -pl shop", "BUILD SUCCESS"))
    assert not _rules(missing().runs("ant test -pl core", "BUILD SUCCESS"))
    assert not _rules(missing().runs("/home/kim/maven/mvnw test -pl core", "BUILD SUCCESS"))


def test_the_line_number_that_zsh_puts_first_is_no_program() -> None:
    script = Script().runs("pytest shop", "(eval):1: command not found: pytest", failed=True)
    assert _rules(script.runs("python3 -m pytest shop", "3 passed")) == [
        "Call `python3 -m pytest` instead of `pytest` where the shell does not find `pytest`."
    ]


def test_a_program_that_only_the_project_has_is_called_through_its_runner() -> None:
    script = Script().runs("ruff check src", "zsh: command not found: ruff", failed=True)
    (lesson,) = _lessons(script.runs("mise exec -- ruff check src", "All checks passed!"))
    assert lesson.guideline.rule == (
        "Call `mise exec -- ruff` instead of `ruff` in this repository: the shell does not find `ruff` by itself."
    )
    assert lesson.guideline.title == "Run `ruff` through `mise exec`"
    other = Script().runs("ruff check src", "zsh: command not found: ruff", failed=True)
    assert not _lessons(other.runs("mise exec -- ruff format src", "ok"))


def test_a_part_that_is_not_found_either_makes_no_lesson() -> None:
    script = Script().runs("report make a.txt", "bash: line 1: report: command not found", failed=True)
    masked = script.runs("python -m report make a.txt | tail -5", "Command `report-make` not found.")
    assert not _rules(masked)


def test_a_program_that_is_found_and_then_refuses_is_no_stand_in() -> None:
    script = Script().runs("pip install shelf", "bash: pip: command not found", failed=True)
    assert not _rules(script.runs("uv pip install shelf", "error: externally-managed-environment", failed=True))


def test_the_line_that_says_what_is_missing_is_quoted_and_not_the_prompt_before_it() -> None:
    output = "kim@till shop % mvn test -pl core\nzsh: command not found: mvn"
    script = Script().runs("mvn test -pl core", output, failed=True).runs("./mvnw test -pl core", "BUILD SUCCESS")
    (lesson,) = _lessons(script)
    assert "stopped with `zsh: command not found: mvn`" in lesson.guideline.rationale


@pytest.mark.parametrize(
    ("refused", "said", "worked", "rule"),
    [
        ("till list --labels=fruit", "unknown flag: --labels", "till list --label=fruit", "--label"),
        ("till ready --epic=task-1", "unknown flag: --epic", "till ready --mol=task-1", "--mol"),
        ("till send -P a.md", "error: unexpected argument '-P' found", "till send --file a.md", "--file"),
        ("till pending", 'unknown command "pending" for "till"', "till trigger-pending", ""),
        ("till ready --gated", "unknown flag: --gated", "till ready --json", ""),
        ("till list --labels=fruit", "unknown flag: --labels", "till list --label=pears", "--label"),
        ("till list --open", "unknown flag: --labels", "till list --opened", ""),
        ("till list -a", "unknown shorthand flag: -a", "till list apples", ""),
        ("till show t", 'unknown command "t" for "till show"', "till show /tmp/cart.txt", ""),
        ("till run --procs 2 shop", "unknown flag: --procs", "till run --memory 2 shop", ""),
        ("till run --cwd . shop", "unknown flag: --cwd", "till run --output . shop", ""),
        ("pytest tests/a.py --labels=fruit", "no such option: --labels", "pytest tests/a.py --label=fruit", ""),
    ],
)
def test_a_word_that_is_not_known_is_replaced_by_one_for_the_same(
    refused: str, said: str, worked: str, rule: str
) -> None:
    found = [each.guideline for each in _lessons(Script().runs(refused, said, failed=True).runs(worked, "done"))]
    renamed = [each.rule.split("`")[3] for each in found if each.rule_id == "recoveries/renamed"]
    assert renamed == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("refused", "said", "worked", "title"),
    [
        (
            "gh pr diff 12 --stat",
            "unknown flag: --stat",
            "gh pr diff 12 --name-only",
            "Call `gh pr diff` without --stat",
        ),
        (
            "asc up --file a.ipa",
            "flag provided but not defined: -file",
            "asc up --app 6",
            "Call `asc up` without --file",
        ),
        ("till list --all", "error: unrecognized arguments: --all", "till list", "Call `till list` without --all"),
        ("till list --all", "unknown flag: --all", "till list --help", ""),
        ("till close --dry-run", "unknown flag: --dry-run", "till close", ""),
        ("till list --all", "unknown flag: --all", "till show", ""),
        ("till list --all", "unknown flag: --any", "till list", ""),
        ("till list --all", "unknown flag: --all", "till list --json --all", ""),
        ("npm run list -- --all", "unknown option '--all'", "npm run list", ""),
        ("till seed.tl --all", "unknown flag: --all", "till seed.tl", ""),
        ("till exec web -- list --all", "unknown flag: --all", "till exec web -- list", ""),
        ("till list --all", "eslint: unknown option '--all'", "till list", ""),
        ("till list --all", "unknown flag: --all", "till list -all", ""),
        ("till delete all --simulate", "unknown flag: --simulate", "till delete all", ""),
        ("till sum --all; till list --all", "unknown flag: --all", "till list; till sum --all", ""),
        ("pytest tests --timeout=9", "error: unrecognized arguments: --timeout=9", "pytest tests", ""),
        ("rg -n '--all|--any' src", "unrecognized flag --all|--any", "rg -n all src", ""),
    ],
)
def test_an_option_that_is_not_known_is_left_out(refused: str, said: str, worked: str, title: str) -> None:
    script = Script().runs(refused, said, failed=True).runs(worked, "done")
    found = [each.guideline for each in _lessons(script)]
    assert [each.title for each in found] == ([title] if title else [])
    assert {grade_of(each, script.done()).cause for each in found} <= {"checked"}


def test_that_the_option_is_refused_again_does_not_speak_against_it() -> None:
    script = Script().runs("till list --all", "unknown flag: --all", failed=True).runs("till list", "pears")
    script.runs("till list --all", "unknown flag: --all", failed=True)
    (lesson,) = _lessons(script)
    assert grade_of(lesson.guideline, script.done()).contradiction == ""


@pytest.mark.parametrize("makes_it_known", [True, False])
def test_an_option_that_the_session_shows_to_be_known_or_writes_is_none_to_leave_out(makes_it_known: bool) -> None:
    script = Script().runs("till list --all", "unknown flag: --all", failed=True).runs("till list", "pears")
    if makes_it_known:
        script.runs("brew upgrade till", "upgraded").runs("till list --all", "pears and plums")
    else:
        script.edits("pass", 'options.add("--all")', "till/options.py")
    assert not _rules(script)


def test_an_option_that_is_to_be_refused_teaches_nothing() -> None:
    script = Script("Make sure that an unknown flag such as --bogus is refused.")
    assert not _rules(script.runs("till list --bogus", "unknown flag: --bogus", failed=True).runs("till list", "pears"))


def test_a_call_of_many_steps_is_not_read_again_for_each_of_them() -> None:
    steps = " && ".join(["shop"] * 5_000)
    script = Script().runs("pytest", "bash: pytest: command not found", failed=True)
    session = MinedSession.of(script.runs(steps, f"error: {steps}", failed=True).done())
    with no_hang():
        assert other_names.lessons(session) == []
