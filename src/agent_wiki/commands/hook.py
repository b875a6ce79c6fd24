"""`wiki hook`: what an agent harness calls by itself. It never fails and never speaks where it would be obeyed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

Wiki = Annotated[
    Path | None,
    typer.Option("--wiki", help="The wiki, looked for from the session's folder upwards; made when it is nowhere."),
]


def register(app: typer.Typer) -> None:
    """Add this module's commands to `app`."""
    group = typer.Typer(no_args_is_help=True)
    group.callback()(hook)
    group.command("start")(start)
    group.command("stop")(stop)
    app.add_typer(group, name="hook")


def hook() -> None:
    """What an agent harness calls by itself; `wiki connect` installs it."""


def start(wiki: Wiki = None) -> None:
    """At the start of a session: print how this project's wiki is consulted; nothing where there is none to consult."""
    from agent_wiki.harness import connecting

    told = connecting.reminder(wiki, Path.cwd(), os.environ)
    if told:
        typer.echo(told.encode("utf-8", "replace"), nl=False)


def stop(
    payload: Annotated[str | None, typer.Argument(help="The harness's JSON; by default standard input.")] = None,
    wiki: Wiki = None,
    wait: Annotated[bool, typer.Option("--wait", help="Stay until all is done, however long it takes.")] = False,
) -> None:
    """At the end of a turn: save the session's trajectory, and mine it unless the turn was trivial.

    Always exits with 0 and prints nothing; problems go to `.evolve/hook.log`. Without --wiki only a wiki that is there
    already is mined into. After 0.9 seconds the harness is let go, and the work goes on by itself.
    """
    from agent_wiki.commands import harness

    harness.stop(harness.Words(payload, wiki, wait))
