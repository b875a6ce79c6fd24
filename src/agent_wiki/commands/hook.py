"""`wiki hook`: called by an agent's harness. It never fails, and never prints where its output would be obeyed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_WHERE = "The wiki, searched from the session's folder upwards"
Wiki = Annotated[Path | None, typer.Option("--wiki", help=f"{_WHERE}; created if not found.")]
CallsADay = Annotated[
    int | None,
    typer.Option("--calls-a-day", min=0, help="Requests to that engine on one day (UTC).", show_default="20"),
]
UsdADay = Annotated[
    float | None,
    typer.Option("--usd-a-day", min=0, help="Dollars for that engine on one day (UTC).", show_default="no cap"),
]


def start(
    wiki: Annotated[Path | None, typer.Option("--wiki", help=f"{_WHERE}.")] = None,
    agent: Annotated[
        str, typer.Option("--agent", help="Answer as the hooks of this agent do.", show_default="plain text")
    ] = "",
) -> None:
    """At the start of a session: print how to consult this project's wiki; nothing if there is none.

    Always exits with 0.
    """
    from agent_wiki.commands import harness

    harness.start(harness.Words(wiki=wiki, agent=agent))


def stop(
    payload: Annotated[str | None, typer.Argument(help="The harness's JSON; by default standard input.")] = None,
    wiki: Wiki = None,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            help="Have a model mine sessions that have ended: claude-code, codex, gemini or anthropic.",
            show_default="the embedded engine",
        ),
    ] = "",
    calls_a_day: CallsADay = None,
    usd_a_day: UsdADay = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until everything is done, however long it takes.")] = False,
) -> None:
    """At the end of a turn: save the session's trajectory, and mine it unless the turn was trivial.

    Always exits with 0 and prints nothing; problems go to `.evolve/hook.log`. Without --wiki, only an existing wiki is
    updated. After 0.9 seconds the harness is released, and the work continues in the background.
    """
    from agent_wiki.commands import harness

    harness.stop(harness.Words(payload, wiki, wait, engine, calls_a_day, usd_a_day))
