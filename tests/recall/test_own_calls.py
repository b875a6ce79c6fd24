"""How a session got along with the wiki itself is no lesson: its command, its server's tools, reads of its pages."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.commands.app import app
from agent_wiki.engine import Problem
from agent_wiki.engines.offline.summarize import answer as summarized
from agent_wiki.harness.mcp_server import WikiTools
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.recall.own_calls import is_own_command, own_turns
from agent_wiki.recall.wiki_commands import COMMANDS
from agent_wiki.recall.wiki_tools import TOOLS
from agent_wiki.stages.extract_guidelines import CitedQuote, GuidelineAnswer, GuidelinesAnswer
from agent_wiki.stages.extract_guidelines import check as check_guidelines
from agent_wiki.stages.summarize import SummarizeQuestion, TurnNote
from agent_wiki.stages.summarize import check as check_summary
from agent_wiki.stages.synthesize_skill import SkillAnswer, SkillsAnswer, SkillStep
from agent_wiki.stages.synthesize_skill import check as check_skill
from agent_wiki.trajectory import Source, Trajectory

PAGE = "guidelines/run-the-tests__0123456789ab.md"
_Step = tuple[str, dict[str, Any], str, bool]


def session(*steps: _Step, cwd: str = "/repo") -> Trajectory:
    builder = TrajectoryBuilder()
    builder.user("Run the tests.")
    for position, (name, arguments, result, failed) in enumerate(steps):
        builder.assistant(calls=[(f"c{position}", name, arguments)])
        builder.tool(f"c{position}", result, is_error=failed)
    return builder.finish("s", Source("claude-code", cwd=cwd))


def bash(command: str, result: str = "", *, failed: bool = False) -> _Step:
    return "Bash", {"command": command}, result, failed


def used(*steps: _Step) -> list[bool]:
    """Of each call, whether it only used the wiki."""
    own = own_turns(session(*steps))
    return [2 + 2 * at in own for at in range(len(steps))]


@pytest.mark.parametrize(
    "command",
    [
        "wiki consult 'run the tests'",
        "wiki consult --nope 'run the tests'",
        "cd /repo && .venv/bin/wiki consult tests | head -20",
        "python3 -m agent_wiki consult tests",
        "uvx --from agent-wiki wiki consult tests",
        "uvx agent-wiki consult tests",
        "uv run wiki why 0123456789ab",
        "uv run --project . wiki consult tests",
        f"cat wiki/{PAGE}",
        "cat wiki/guidelines/*__*.md | head -30",
        "grep -i test wiki/_index.jsonl || echo none",
        "ls wiki/guidelines",
        "wiki consult tests; ls wiki/skills",
    ],
)
@pytest.mark.parametrize("failed", [True, False])
def test_a_command_line_that_only_uses_the_wiki(command: str, *, failed: bool) -> None:
    assert used(bash(command, "Exit code 2\nerror: no" if failed else "1. x", failed=failed)) == [True]


@pytest.mark.parametrize(
    "command",
    [
        "make test",
        "wiki deploy --force",
        "wiki edit Home",
        "cat wiki/Home.md",
        "cat docs/guidelines/style.md",
        "python3 wiki/build.py",
        "wiki consult tests && make test",
        "git log -- wiki/guidelines",
        "python3 wiki/skills/count-lines/scripts/count.py",
        "echo wiki consult",
    ],
)
def test_a_command_line_that_does_other_things_too(command: str) -> None:
    assert used(bash(command, "Exit code 2\nmake: *** [test] Error 2", failed=True)) == [False]


def test_of_a_command_line_that_failed_the_step_that_failed_counts() -> None:
    usage = "Exit code 2\nUsage: wiki consult [OPTIONS] TASK\nError: No such option: --nope"
    assert used(bash("cat Makefile && wiki consult --nope tests", usage, failed=True)) == [True]


def test_an_unknown_command_is_ours_where_the_session_also_runs_a_known_one() -> None:
    unknown = bash("wiki search tests", "Exit code 2\nError: No such command 'search'.", failed=True)
    assert used(unknown, bash("make test")) == [False, False]
    assert used(unknown, bash("wiki consult tests", "1. x")) == [True, True]


@pytest.mark.parametrize(
    "server", ["mcp__wiki__", "mcp_wiki_", "wiki__", "wiki_", "wiki-", "mcp__plugin_team-wiki_wiki__"]
)
def test_the_tools_of_our_server_under_any_way_of_naming_it(server: str) -> None:
    calls: list[_Step] = [(f"{server}{tool}", {"id": "0123456789ab"}, "no such page", True) for tool in sorted(TOOLS)]
    assert used(*calls) == [True] * len(calls)


def test_a_server_of_another_name_is_ours_once_it_shows_pages() -> None:
    page: _Step = ("mcp__notes__read_page", {"link": PAGE}, "# Run the tests", False)
    origin: _Step = ("mcp__notes__provenance", {"id": "0123456789ab"}, "no such page", True)
    assert used(page, origin) == [True, True]
    assert used(("mcp__books__read_page", {"number": 3}, "wiki", False), ("mcp__books__provenance", {}, "", True)) == [
        False, False,
    ]  # fmt: skip
    foreign: _Step = ("mcp__wikipedia__search", {"query": "tests"}, "none", True)
    assert used(foreign) == [False]


def test_reads_by_other_tools_and_the_shipped_skills() -> None:
    assert used(
        ("Read", {"file_path": f"/repo/wiki/{PAGE}"}, "File does not exist.", True),
        ("Skill", {"skill": "wiki-consult"}, "Launching skill: wiki-consult", False),
        ("Skill", {"skill": "wiki:wiki-consult"}, "Launching skill: wiki-consult", False),
        ("Skill", {"skill": "wiki-gardening"}, "Launching skill: wiki-gardening", False),
        ("Read", {"file_path": "/repo/src/wiki.py"}, "File does not exist.", True),
    ) == [True, True, True, False, False]


def test_a_turn_with_another_call_beside_is_not_the_wikis() -> None:
    builder = TrajectoryBuilder()
    builder.user("Run the tests.")
    builder.assistant(calls=[("a", "Bash", {"command": "wiki consult tests"}), ("b", "Bash", {"command": "make test"})])
    builder.tool("a", "1. x", is_error=False)
    builder.tool("b", "OK", is_error=False)
    assert own_turns(builder.finish("s", Source("claude-code"))) == {3}


def test_the_names_are_those_of_the_program_and_its_server() -> None:
    registered = {
        *(each.name for each in app.registered_commands),
        *(each.name or each.typer_instance.info.name for each in app.registered_groups if each.typer_instance),
    }
    assert registered == COMMANDS
    assert {name for name in vars(WikiTools) if not name.startswith("_")} - {"wiki", "repository", "lock"} >= TOOLS


REFUSED = "Error: No such option: --nope"
MISUSE = session(
    bash("wiki consult --nope 'run tests'", f"Exit code 2\n{REFUSED}", failed=True),
    bash("wiki consult 'run tests'", "Nothing in the wiki applies.\n"),
    bash("make test", "OK"),
)


def lesson(event: int | None, remedy: int | None, quoted: int, quote: str) -> GuidelineAnswer:
    return GuidelineAnswer(
        title="Call wiki without --nope",
        rule="Run `wiki consult` without `--nope`.",
        rationale="It was refused.",
        trigger="About to consult the wiki.",
        tags=["wiki"],
        evidence=[CitedQuote(turn=quoted, quote=quote)],
        event_turn=event,
        remedy_turn=remedy,
        confirming_turn=remedy,
    )


@pytest.mark.parametrize(
    ("event", "remedy", "quoted", "quote"),
    [(2, 4, 3, REFUSED), (None, None, 3, REFUSED), (6, 4, 7, "OK"), (3, 6, 7, "OK")],
)
def test_a_models_lesson_about_the_wiki_is_dropped_and_counted(
    event: int | None, remedy: int | None, quoted: int, quote: str
) -> None:
    summary = summarized(SummarizeQuestion(MISUSE))
    kept, dropped = check_guidelines(
        GuidelinesAnswer(guidelines=[lesson(event, remedy, quoted, quote)]), MISUSE, summary
    )
    assert kept == []
    assert dropped == [
        Problem("Call wiki without --nope", "it is about using the wiki itself, not about the work"),
    ]


def test_a_dead_end_of_the_wiki_is_dropped_and_counted() -> None:
    summary = summarized(SummarizeQuestion(MISUSE))
    notes = [TurnNote(turn=2, text="The option was refused"), TurnNote(turn=6, text="Ran nothing")]
    arc = summary.arcs[0].model_copy(update={"dead_ends": notes})
    checked, dropped = check_summary(summary.model_copy(update={"arcs": [arc]}), MISUSE)
    assert [note.turn for note in checked.arcs[0].dead_ends] == [6]
    assert dropped == [Problem("dead_ends", "turn 2 is a use of the wiki itself")]


def test_a_skills_steps_that_run_the_wiki_are_dropped_and_counted() -> None:
    skill = SkillAnswer(
        name="run-tests",
        description="Runs the tests.",
        trigger="Tests are to be run.",
        overview="The tests ran.",
        when_to_use="Anywhere.",
        steps=[SkillStep(text="Ask.", command="wiki consult 'run tests'"), SkillStep(text="Run.", command="make test")],
        tags=["test"],
        evidence=[CitedQuote(turn=6, quote="make test")],
    )
    kept, dropped = check_skill(SkillsAnswer(skill=skill), MISUSE)
    assert kept is not None
    assert [step.command for step in kept.steps] == ["make test"]
    assert dropped == [Problem("run-tests", "a step uses the wiki itself: wiki consult 'run tests'")]
    nothing = skill.model_copy(update={"steps": skill.steps[:1]})
    assert check_skill(SkillsAnswer(skill=nothing), MISUSE)[0] is None


def test_commands_of_a_skill() -> None:
    assert is_own_command("cd /repo && wiki consult <task> | head")
    assert not is_own_command("make test")
    assert not is_own_command("wiki consult <task> && make test")
