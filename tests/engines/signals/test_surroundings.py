"""A check that fails for what it runs in."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals.surroundings import lessons
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script


def _rules(script: Script) -> list[tuple[str, str]]:
    trajectory = script.done()
    found = [lesson.guideline for lesson in lessons(MinedSession.of(trajectory))]
    return [(each.rule, grade_of(each, trajectory).cause) for each in found]


def test_another_change_in_between_may_be_the_cause() -> None:
    script = Script().runs("go test ./cart", "bash: go: command not found", failed=True).edits("a", "b", "cart.go")
    ((_, cause),) = _rules(script.runs("export PATH=$PATH:/usr/local/go/bin && go test ./cart", "ok"))
    assert cause != "checked"


@pytest.mark.parametrize(
    ("folder", "is_found"), [("/c/Go/bin", True), ("~/.local/bin", True), ("/Users/kim/go/bin", False)]
)
def test_a_folder_on_the_path_is_the_rule_where_it_is_no_persons(folder: str, is_found: bool) -> None:
    script = Script().runs("go test ./cart", "bash: go: command not found", failed=True)
    script.runs(f'export PATH="$PATH:{folder}" && go test ./cart', "ok")
    assert bool(_rules(script)) is is_found


def test_a_path_that_is_only_assigned_counts_as_exported() -> None:
    script = Script().runs("go build ./cart", "zsh:1: command not found: go", failed=True)
    script.runs("PATH=$PATH:/usr/local/go/bin:/home/kim/go/bin && cd shop && go build ./cart", "ok")
    rule = "Put `/usr/local/go/bin` on the `PATH` before calling `go`: the shell does not find it otherwise."
    assert _rules(script) == [(rule, "checked")]
