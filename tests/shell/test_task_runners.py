"""Which words of a task runner's call say which task it runs."""

from __future__ import annotations

import pytest

from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand, simple_commands
from agent_wiki.shell.task_runners import task_words
from agent_wiki.shell.verdict import judged


def only(line: str) -> SimpleCommand:
    [command] = simple_commands(line)
    return command


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("npm run -w web build", ["run", "build"]),
        ("npm.cmd run --workspace web build", ["run", "build"]),
        ("npm --workspace=web run build", ["run", "build"]),
        ("npm --prefix apps/web test", ["test"]),
        ("npm run build -- --mode test", ["run", "build"]),
        ("pnpm --filter @acme/web build", ["build"]),
        ("pnpm -w build", ["build"]),
        ("pnpm -C apps/web -s run build", ["run", "build"]),
        ("yarn workspace web build", ["build"]),
        ("yarn --cwd apps/web build", ["build"]),
        ("make -C docs -j4 html", ["html"]),
        ("git -C docs status --short", ["status"]),
        ("docker compose up", ["compose", "up"]),
        ("npm -w", []),
    ],
)
def test_options_and_their_values_name_no_task(line: str, words: list[str]) -> None:
    assert task_words(line.split()) == words


def test_no_words_name_no_task() -> None:
    assert task_words([]) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("npm.cmd run -w backend test", True),
        ("pnpm --filter web --reporter silent -C apps run typecheck", True),
        ("yarn workspace web lint", True),
        ("VITE_KEY=1 pnpm build", True),
        ("npm run -w test-utils start", False),
        ("pnpm --filter build-tools dev", False),
        ("yarn workspace lint-rules dev", False),
        ("make", True),
        ("make -j8 all", True),
        ("make run", False),
        ("npm t", True),
    ],
)
def test_the_task_decides_what_is_a_check_and_not_where_it_runs(line: str, expected: bool) -> None:
    assert is_check(only(line)) is expected


def test_a_variable_before_a_piped_check_hides_nothing() -> None:
    verdict = judged("✓ built in 3s", None, "Bash", "CI=1 pnpm build 2>&1 | tail -5")
    assert (verdict.state, verdict.line) == ("passed", "✓ built in 3s")


def test_another_task_is_no_check_of_the_same_on_windows_either() -> None:
    assert not is_same_check(only("npm.cmd run build"), only("npm.cmd run test"))
    assert is_same_check(only("npm.cmd run build"), only("npm run build"))


def test_a_list_of_the_tests_runs_none() -> None:
    assert not is_check(only("npx jest --testPathPattern=cap --listTests"))
    assert is_check(only("npx jest --testPathPattern=cap"))
