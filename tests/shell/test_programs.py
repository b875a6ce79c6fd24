"""Which commands only read: one table for judging calls, for mining them and for comparing trials of a task."""

from __future__ import annotations

import json

import pytest

from agent_wiki.engines.offline import shell
from agent_wiki.pages.compare.writes import write_of
from agent_wiki.shell.kinds import shell_kind
from agent_wiki.shell.programs import only_reads
from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.shell.tools import kind_of_name, tool_kind
from agent_wiki.trajectory.calls import Call

_READ = [
    "cat a.txt", "/usr/bin/grep -rn x .", "git --no-pager diff", "git -C lib log -1", "gh pr view 3",
    "gh -R a/b pr checks 3", "gh release view v2", "gh release list --limit 5",
    "kubectl -n shop get pods", "kubectl config get-contexts", "docker compose logs web", "docker image ls", "npm ls",
    "pip list", "go env GOPATH", "brew info jq", "cargo --version", "terraform show", "some-tool --help",
    "du -h",
]  # fmt: skip
_CHANGE = [
    "bin/test", "./show", "git push", "gh pr create", "gh release create v2",
    "gh issue close 3", "kubectl delete events x", "docker run ls",
    "npm install list", "helm upgrade status .", "psql -h localhost -c 'drop table x'", "unknown-tool",
]  # fmt: skip


@pytest.mark.parametrize("line", _READ)
def test_what_only_reads_is_the_same_for_all_that_ask(line: str) -> None:
    (command,) = simple_commands(line)
    call = Call(1, "Bash", {"command": line}, json.dumps({"command": line}), 2, "done")
    assert only_reads(command.words)
    assert shell_kind(command) == "look"
    assert shell.actions(line) == []
    assert list(write_of(call)) == []


@pytest.mark.parametrize("line", _CHANGE)
def test_what_may_change_something_does_not_only_read(line: str) -> None:
    (command,) = simple_commands(line)
    assert not only_reads(command.words)
    assert len(shell.actions(line)) == 1


def test_a_word_for_many_things_is_known_by_its_argument() -> None:
    def kind(name: str, **arguments: object) -> str:
        return tool_kind(Call(1, name, dict(arguments), ""))

    assert (kind("schedule", DurationSeconds="240"), kind("schedule", date="2026-01-05")) == ("look", "service")
    assert (kind("Batch", invocations=[]), kind("batch", orders=[])) == ("look", "service")
    assert (kind("process", action="poll", sessionId="a"), kind("process", order="17")) == ("look", "service")
    assert (kind("file_editor", command="view"), kind("file_editor", command="create")) == ("look", "edit")


def test_a_page_that_is_only_looked_at_is_not_changed() -> None:
    names = ("mcp__playwright__browser_snapshot", "mcp_Playwright_browser_take_screenshot", "browser_click")
    assert [kind_of_name(name) for name in names] == ["look", "look", "service"]


def test_what_only_leaves_a_loop_does_nothing() -> None:
    steps = simple_commands("for d in */; do [ -d $d/.git ] || continue; git -C $d status; done")
    assert [shell_kind(each) for each in steps if each.program == "continue"] == ["look"]
