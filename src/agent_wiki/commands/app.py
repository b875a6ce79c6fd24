"""All commands, by group."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_wiki import __version__
from agent_wiki.commands import (
    answers,
    config,
    connect,
    consult,
    cost,
    evaluate,
    hook,
    mcp,
    owner,
    pages,
    recordings,
    rules,
    save,
    skills,
    stages,
    why,
)

app = typer.Typer(
    name="wiki",
    help="Turn recorded agent sessions into a wiki that the next agent reads.",
    no_args_is_help=True,
    add_completion=False,
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
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Turn recorded agent sessions into a wiki that the next agent reads."""


recordings.register(app)
stages.register(app)
pages.register(app)
owner.register(app)
answers.register(app)
config.register(app)
cost.register(app)
skills.register(app)
consult.register(app)
evaluate.register(app)
save.register(app)
why.register(app)
rules.register(app)
hook.register(app)
connect.register(app)
mcp.register(app)
