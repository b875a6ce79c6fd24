"""Help as a person reads it in a terminal of 80 columns; docs/commands.md is the golden of all of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from typer.core import TyperGroup

from agent_wiki.commands import main
from agent_wiki.commands.app import command_for
from agent_wiki.commands.examples import EXAMPLES
from agent_wiki.commands.groups import GROUPS
from agent_wiki.recall.wiki_commands import COMMANDS

_WIDTH = 80


def _root() -> TyperGroup:
    root = command_for(())
    assert isinstance(root, TyperGroup)
    return root


def _commands(group: Any, path: str = "wiki") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        if isinstance(command, TyperGroup):
            yield from _commands(command, f"{path} {name}")


def test_every_command_is_in_one_group_and_known_as_the_wikis_own() -> None:
    grouped = [name for lines in GROUPS.values() for name in lines]
    assert sorted(grouped) == sorted(_root().commands)
    assert sorted(COMMANDS) == sorted(grouped)


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"]])
def test_wiki_alone_prints_its_groups_and_ends_with_0(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line[:-1] for line in shown if line.endswith(":")] == [*GROUPS, "Options", "Examples"]


def test_each_command_has_one_line_that_a_terminal_of_80_columns_does_not_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(_WIDTH))
    main([])
    shown = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    for lines in GROUPS.values():
        for name, says in lines.items():
            assert [name, says] in shown


@pytest.mark.parametrize("words", [["eval"], ["hook"], ["skills"]])
def test_a_group_of_commands_alone_prints_its_help_and_ends_with_0(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    assert "Commands:\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["igest"], "Did you mean 'ingest'?"),
        (["eval", "metric"], "Did you mean 'metrics'?"),
        (["ingest", "x", "--enginee", "y"], "Did you mean '--engine'?"),
        (["why", "x", "--context-size", "3"], "Did you mean '--context'?"),
        (["search", "tests"], "Did you mean 'wiki consult'?"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_nearest_one(
    words: list[str], nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(nearest)


def test_a_missing_argument_is_named_by_what_goes_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest"]) == 2
    assert "'PATH'" in capsys.readouterr().err


def test_what_goes_into_each_argument_and_option_is_said() -> None:
    silent = [
        f"{path} {each.name}"
        for path, command in _commands(_root())
        for each in command.params
        if each.metavar is None and not getattr(each, "is_flag", False)
    ]
    assert silent == []


def test_every_command_has_examples_that_its_own_parser_takes() -> None:
    commands = dict(_commands(_root()))
    assert sorted(EXAMPLES) == sorted(["wiki", *commands])
    for path, lines in EXAMPLES.items():
        for line in lines:
            assert len(line) <= _WIDTH - 4, line
            words = shlex.split(line.partition("  ")[0].partition(" < ")[0].partition(" > ")[0])
            called = max((each for each in commands if f"{' '.join(words)} ".startswith(f"{each} ")), key=len)
            assert path == "wiki" or called.startswith(path)
            commands[called].make_context(called, words[len(called.split()) :])


def test_every_command_prints_json_but_those_that_serve_follow_or_print_it_anyway() -> None:
    without = {
        path.removeprefix("wiki ")
        for path, command in _commands(_root())
        if not isinstance(command, TyperGroup) and not any("--json" in each.opts for each in command.params)
    }
    assert without <= {"dump", "schema", "tail", "mcp", "lock", "hook start", "hook stop", "serve", "view"}


@pytest.mark.parametrize(("command", "says"), [("rules", "wiki: stopped by Ctrl-C"), ("tail", "")])
def test_ctrl_c_ends_with_130_and_says_what_becomes_of_the_work(
    command: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_words: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"agent_wiki.commands.{command}.wiki_folder", interrupted)
    assert main([command]) == 130
    assert capsys.readouterr().err.partition(";")[0] == says
