"""`wiki mcp`: the wiki for agents that speak the Model Context Protocol."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from agent_wiki.commands.stages import ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder


def mcp(
    wiki: ExistingWiki = None,
    http: Annotated[
        int | None,
        typer.Option(
            "--http",
            min=0,
            max=65_535,
            help="Serve HTTP on this port of 127.0.0.1; 0 picks a free one.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve the wiki over the Model Context Protocol: on standard input and output, or on a port of this machine."""
    from agent_wiki.harness.mcp_server import serve_http, serve_stdio

    folder = wiki_folder(wiki)
    with suppress(KeyboardInterrupt):
        if http is None:
            serve_stdio(folder)
        else:
            serve_http(folder, http, lambda address: typer.echo(f"{folder}: {address}", err=True))
