"""A check that fails for what it runs in."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals.surroundings import lessons
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script

OLD = "file.js:3\nSyntaxError: Unexpected token '??='"


def _rules(script: Script) -> list[tuple[str, str]]:
    trajectory = script.done()
    found = [lesson.guideline for lesson in lessons(MinedSession.of(trajectory))]
    return [(each.rule, grade_of(each, trajectory).cause) for each in found]


def test_a_version_that_was_selected_before_the_tests_ran_is_the_rule_though_some_of_them_fail() -> None:
    script = Script().runs("npx vitest run", OLD, failed=True)
    script.runs("nvm use 20 && npx vitest run", "Tests  1 failed | 3 passed (4)", failed=True)
    (found,) = _rules(script)
    stops = "as the shell starts, it stops with `SyntaxError: Unexpected token '??='`."
    assert found == (f"Run `nvm use 20` before `npx vitest`: {stops}", "checked")


def test_an_edit_in_between_may_be_the_cause() -> None:
    script = Script().runs("npx vitest run", OLD, failed=True).edits("a ??= 1", "a = 1", "src/cart.js")
    ((_, cause),) = _rules(script.runs("nvm use 20 && npx vitest run", "Tests  4 passed (4)"))
    assert cause != "checked"


@pytest.mark.parametrize(
    ("folder", "is_found"), [("/c/Go/bin", True), ("~/.local/bin", True), ("/Users/kim/go/bin", False)]
)
def test_a_folder_on_the_path_is_the_rule_where_it_is_no_persons(folder: str, is_found: bool) -> None:
    script = Script().runs("go test ./cart", "bash: go: command not found", failed=True)
    script.runs(f'export PATH="$PATH:{folder}" && go test ./cart', "ok")
    assert bool(_rules(script)) is is_found


def test_what_the_failure_itself_says_to_run_is_no_page() -> None:
    asks = "error: please run nvm use 20\nSyntaxError: Unexpected token"
    script = Script().runs("npx vitest run", asks, failed=True)
    assert not _rules(script.runs("nvm use 20 && npx vitest run", "Tests  4 passed (4)"))


def test_a_path_that_is_only_assigned_counts_as_exported() -> None:
    script = Script().runs("go build ./cart", "zsh:1: command not found: go", failed=True)
    script.runs("PATH=$PATH:/usr/local/go/bin:/home/kim/go/bin && cd shop && go build ./cart", "ok")
    rule = "Put `/usr/local/go/bin` on the `PATH` before calling `go`: the shell does not find it otherwise."
    assert _rules(script) == [(rule, "checked")]
