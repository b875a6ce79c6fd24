"""All commands, by group."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any

import typer

from agent_wiki import __version__
from agent_wiki.commands import (
    answers,
    check,
    config,
    connect,
    consult,
    evaluate,
    hook,
    lock,
    mcp,
    owner,
    pages,
    plugin,
    recordings,
    report,
    review,
    rules,
    save,
    secrets,
    site,
    skills,
    stages,
    state,
    tail,
    why,
)
from agent_wiki.commands.groups import line_of
from agent_wiki.commands.help_layout import HELP_OPTIONS, ShowingGroup, WikiCommand, WikiGroup

app = typer.Typer(
    name="wiki",
    help="Turn recorded agent sessions into a wiki that the next agent reads.",
    cls=WikiGroup,
    context_settings={"help_option_names": HELP_OPTIONS},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"agent-wiki {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Turn recorded agent sessions into a wiki that the next agent reads."""


_NAMES: dict[Callable[..., Any], str] = {config.set_value: "set"}


def _add(*commands: Callable[..., Any], to: typer.Typer = app) -> None:
    """Add commands by the names of their functions, but for those whose name Python itself has."""
    for command in commands:
        name = _NAMES.get(command, command.__name__)
        to.command(name, cls=WikiCommand, short_help=line_of(name) or None)(command)


_ALONE = {"config": ShowingGroup}
"""Groups of commands that do something without a word behind them."""


def _add_group(name: str, says: str, *commands: Callable[..., Any]) -> None:
    group = typer.Typer(cls=_ALONE.get(name, WikiGroup), no_args_is_help=True)
    _add(*commands, to=group)
    app.add_typer(group, name=name, help=says)


_add(recordings.normalize)
for _name, _says, _command in stages.stage_commands():
    app.command(_name, cls=WikiCommand, help=_says, short_help=line_of(_name))(_command)
_add(stages.catalog, stages.join, pages.init, pages.dump)
_add(owner.forget, owner.keep, owner.restore, owner.reject)
_add(answers.worklist, answers.prompt, answers.apply)
_CONFIG = (config.show, config.set_value, config.check, config.patch)
_add_group("config", "Show, set and check the wiki's configuration, `_config.yaml`.", *_CONFIG)
_add(state.cost, state.models, state.status, state.doctor, tail.tail, state.schema)
_add_group("skills", "The Agent Skills that show an agent how to build and read a wiki.", skills.install)
_add(consult.consult, review.review, review.release)
_add_group("eval", "Measure sessions, and compare the arms of an experiment.", evaluate.metrics, evaluate.compare)
_add(site.site, site.serve, site.view)
_add(save.save, check.check, secrets.secrets, owner.redact, why.why, rules.rules, report.report)
_add_group("hook", "Commands that an agent's harness calls; `wiki connect` installs them.", hook.start, hook.stop)
_add(connect.connect, plugin.plugin, mcp.mcp, lock.lock)


def command_for(words: Sequence[str]) -> Any:
    """What runs the one command or group that `words` name; typer takes long to lay out them all.

    With all of them where `words` name none: it lists them, or says what is wrong.
    """
    first = words[0] if words else ""
    known = {each.name for each in app.registered_commands} | {each.name for each in app.registered_groups}
    return _laid_out(first if first in known else None)


@cache  # a program that calls several commands has each laid out once
def _laid_out(name: str | None) -> Any:
    if name is None:
        return typer.main.get_command(app)
    one = copy.copy(app)
    one.registered_commands = [each for each in app.registered_commands if each.name == name]
    one.registered_groups = [each for each in app.registered_groups if each.name == name]
    return typer.main.get_command(one)
