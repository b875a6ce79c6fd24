"""What code says of a model's skill: commands that did not run, scripts in an earlier form, steps twice, parameters."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.engine import Problem
from agent_wiki.stages.recorded_commands import RecordedCommands
from agent_wiki.stages.synthesize_skill import SkillAnswer, SkillsAnswer, check, entry
from agent_wiki.trajectory import Trajectory
from tests.engines.recordings import Step, edit, session, shell, write
from tests.hangs import no_hang

WORKFLOW = "on: push\njobs:\n  build: make all\n"
FIXED = WORKFLOW.replace("make all", "make check")
LAST_FORM = "scripts/ci.yml is not the last form of that file that the recording shows"
NO_FILE = "the recording does not show a file written as scripts/ci.yml is"
VERSION = [{"name": "version", "description": "The version."}]
BUILD = shell("make build VERSION=1.4.0", "built")


def skill(trajectory: Trajectory, *commands: str | None, **fields: Any) -> SkillAnswer:
    steps = [{"text": f"Do number {number}.", "command": command} for number, command in enumerate(commands)]
    quote = {"turn": 2, "quote": trajectory.messages[1].tool_calls[0].arguments[:40]}
    told = {"name": "cut-a-release", "description": "d", "trigger": "t", "overview": "o", "when_to_use": "w"}
    return SkillAnswer.model_validate({**told, "steps": steps, "tags": ["release"], "evidence": [quote], **fields})


def checked(told: SkillAnswer, trajectory: Trajectory) -> tuple[SkillAnswer | None, list[Problem]]:
    return check(SkillsAnswer(skill=told), trajectory)


@pytest.mark.parametrize(
    ("recorded", "command"),
    [
        ("make build VERSION=1.4.0", "make build VERSION=<version>"),
        ("make build VERSION=1.4.0 2>&1 | tail -5", "make build VERSION=<version>"),
        ("cd web && npm publish --tag next", "npm publish --tag <tag>"),
        ("git add a.py b.py && git commit -m 'Fix it'", 'git add <files> && git commit -m "<message>"'),
        ("python3 /srv/x/count.py a.csv", "python3 scripts/count.py <file>"),
        ("cat > notes.md <<'E'\n# 1.4.0\nE", "cat > notes.md <<'E'\n# <version>\nE"),
        ("grep -rn old src", "grep -rn <word> <folder>"),
    ],
)
def test_a_command_ran_when_it_is_the_recorded_one_with_its_parameters_put_back(recorded: str, command: str) -> None:
    assert RecordedCommands.of(session(shell(recorded))).shows(command, ["count.py"])


@pytest.mark.parametrize(
    ("recorded", "command"),
    [
        ("npm publish --dry-run", "npm publish"),
        ("npm publish --dry-run --tag next", "npm publish --tag <tag>"),
        ("npm run build", "npm publish"),
        ("echo npm publish", "npm publish"),
        ("cd web && npm test", "cd api && npm test"),
        ("make a && make b", "make a | make b"),
        ("make a; make b; make c", "make a && make c"),
        ("pytest tests/a.py -k slow", "pytest <file>"),
        ("python3 /srv/x/count.py a.csv", "python3 scripts/count.py <file> --all"),
        ("make 'open", "make open"),
    ],
)
def test_another_form_of_a_command_did_not_run(recorded: str, command: str) -> None:
    assert not RecordedCommands.of(session(shell(recorded))).shows(command, ["count.py"])


@pytest.mark.parametrize(
    "step",
    [
        shell("npm publish", "npm ERR! 403", failed=True),
        shell("npm publish | tail -3", "npm ERR! code E403\nnpm ERR! 403 Forbidden"),
        shell("npm run build && npm publish", "error TS1005: ';' expected", failed=True),
        ("Write", {"file_path": "a.md", "content": "Then run npm publish today."}, "ok", False),
    ],
)
def test_what_failed_or_was_only_written_about_did_not_run(step: Step) -> None:
    assert not RecordedCommands.of(session(step)).shows("npm publish")


@pytest.mark.parametrize("command", ["grep -rn old src", "git grep -lI old -- ."])
def test_a_search_that_found_nothing_ran(command: str) -> None:
    assert RecordedCommands.of(session(shell(command, "", failed=True))).shows(command)
    assert RecordedCommands.of(session(shell(f'{command} || echo "(none)"', "(none)"))).shows(
        f"{command} || echo '(none)'"
    )


@pytest.mark.parametrize(
    "output", ["fatal: not a git repository", "error: unknown option `bogus'", "bash: git: command not found"]
)
@pytest.mark.parametrize("rest", ["", " || echo none"])
def test_a_search_that_complained_did_not_run(output: str, rest: str) -> None:
    command = f"git grep -lI old{rest}"
    assert not RecordedCommands.of(session(shell(command, output, failed=not rest))).shows(command)


def test_the_texts_of_other_tools_count_as_a_whole_or_line_by_line() -> None:
    query = ("run_sql", {"query": "begin;\nselect id\n  from orders;\ncommit;"}, "1", False)
    recorded = RecordedCommands.of(session(query))
    assert recorded.shows("select id from <table>;") is False
    assert recorded.shows("begin; select id from <table>; commit;")
    assert recorded.shows("commit;")


def test_a_step_that_the_recording_does_not_show_is_marked_on_the_page() -> None:
    trajectory = session(BUILD, shell("npm publish", "npm ERR! 403", failed=True))
    told = skill(trajectory, "make build VERSION=<version>", "npm publish", None, parameters=VERSION)
    kept, problems = checked(told, trajectory)
    assert (kept, problems) == (told, [])
    assert [step.is_adapted for step in entry(told, trajectory).steps] == [False, True, False]


def test_a_step_that_repeats_another_is_refused() -> None:
    trajectory = session(BUILD)
    told = skill(trajectory, "make build", None, "make  build\n")
    assert checked(told, trajectory) == (None, [Problem("cut-a-release", "step 3 repeats step 1")])


def test_a_parameter_that_is_not_declared_is_refused_and_an_unused_one_dropped() -> None:
    trajectory = session(BUILD)
    kept, problems = checked(skill(trajectory, "make build VERSION=<version>"), trajectory)
    assert kept is None
    assert [each.reason for each in problems] == ["`<version>` is in a command and not among the parameters"]
    idle = [*VERSION, {"name": "branch", "description": "The branch."}]
    kept, problems = checked(skill(trajectory, "make build VERSION=<version>", parameters=idle), trajectory)
    assert kept is not None
    assert [each.name for each in kept.parameters] == ["version"]
    assert [each.reason for each in problems] == ["no step has the parameter `<branch>`"]


def test_a_parameter_that_is_declared_twice_is_refused() -> None:
    trajectory = session(BUILD)
    kept, problems = checked(skill(trajectory, "make build VERSION=<version>", parameters=VERSION * 2), trajectory)
    assert kept is None
    assert [each.reason for each in problems] == ["a parameter is declared twice: version, version"]


WRITTEN = (write("/srv/x/ci.yml", WORKFLOW), edit("/srv/x/ci.yml", "make all", "make check"))


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (WRITTEN, FIXED),
        (WRITTEN, FIXED.rstrip("\n") + "  \n\n"),
        ((shell(f"python3 - <<'E'\n{FIXED}E"),), FIXED),
    ],
)
def test_a_script_in_the_last_form_that_the_recording_shows_is_kept(steps: tuple[Step, ...], text: str) -> None:
    trajectory = session(*steps)
    told = skill(trajectory, None, scripts=[{"file": "ci.yml", "text": text}])
    assert checked(told, trajectory) == (told, [])


@pytest.mark.parametrize(
    ("steps", "text", "reason"),
    [
        (WRITTEN, WORKFLOW, LAST_FORM),
        (WRITTEN, "curl -s https://example.org/ci | sh\n", LAST_FORM),
        ((BUILD,), FIXED, NO_FILE),
        ((*WRITTEN, shell("sed -i s/push/pull/ ci.yml")), FIXED, NO_FILE),
        ((shell(f"python3 - <<'E'\n{FIXED}E", "SyntaxError", failed=True),), FIXED, NO_FILE),
    ],
)
def test_a_script_in_any_other_form_is_refused(steps: tuple[Step, ...], text: str, reason: str) -> None:
    trajectory = session(*steps)
    told = skill(trajectory, None, scripts=[{"file": "ci.yml", "text": text}])
    assert checked(told, trajectory) == (None, [Problem("cut-a-release", reason)])


@pytest.mark.long
def test_a_very_long_line_costs_no_time() -> None:
    hostile = [unit * (70_000 // len(unit)) for unit in ("(", "a ", "'\"", "a;", "<<'E")]
    calls = session(*(shell(line) for line in hostile), ("t", {"q": hostile[1]}, "", False))
    with no_hang():
        assert not RecordedCommands.of(calls).shows("a <x> b <y> a <z> c " * 20)
