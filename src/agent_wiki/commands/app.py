"""All commands, by group."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from agent_wiki import __version__
from agent_wiki.commands import (
    answers,
    check,
    config,
    connect,
    consult,
    cost,
    evaluate,
    hook,
    lock,
    mcp,
    owner,
    pages,
    plugin,
    recordings,
    report,
    rules,
    save,
    secrets,
    site,
    skills,
    stages,
    why,
)
from agent_wiki.commands.groups import line_of
from agent_wiki.commands.help_layout import HELP_OPTIONS, WikiCommand, WikiGroup

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


def _add(*commands: Callable[..., Any], to: typer.Typer = app) -> None:
    """Add commands by the names of their functions."""
    for command in commands:
        to.command(command.__name__, cls=WikiCommand, short_help=line_of(command.__name__) or None)(command)


def _add_group(name: str, says: str, *commands: Callable[..., Any]) -> None:
    group = typer.Typer(cls=WikiGroup, no_args_is_help=True)
    _add(*commands, to=group)
    app.add_typer(group, name=name, help=says)


_add(recordings.normalize)
for _name, _says, _command in stages.stage_commands():
    app.command(_name, cls=WikiCommand, help=_says, short_help=line_of(_name))(_command)
_add(stages.catalog, stages.join, pages.init, pages.dump)
_add(owner.forget, owner.keep, owner.restore, owner.reject)
_add(answers.worklist, answers.prompt, answers.apply)
_add_group("config", "The wiki's configuration, `_config.yaml`.", config.patch)
_add(cost.cost)
_add_group("skills", "The Agent Skills that show an agent how to build and read a wiki.", skills.install)
_add(consult.consult, consult.review)
_add_group("eval", "Measure sessions, and compare the arms of an experiment.", evaluate.metrics, evaluate.compare)
_add(site.site, site.serve, site.view)
_add(save.save, check.check, secrets.secrets, why.why, rules.rules, report.report)
_add_group("hook", "Commands that an agent's harness calls; `wiki connect` installs them.", hook.start, hook.stop)
_add(connect.connect, plugin.plugin, mcp.mcp, lock.lock)


def app_for(words: Sequence[str]) -> typer.Typer:
    """The app with the one command or group that `words` name; typer takes long to lay out them all.

    With all of them where `words` name none: it lists them, or says what is wrong.
    """
    commands = [each for each in app.registered_commands if [each.name] == [*words[:1]]]
    groups = [each for each in app.registered_groups if [each.name] == [*words[:1]]]
    if not commands and not groups:
        return app
    one = copy.copy(app)
    one.registered_commands, one.registered_groups = commands, groups
    return one
