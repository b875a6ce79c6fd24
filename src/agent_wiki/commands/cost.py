"""`wiki cost`: what asking models came to, from the journal."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from agent_wiki.commands.stages import Wiki, wiki_folder


def register(app: typer.Typer) -> None:
    """Add this module's command to `app`."""
    app.command("cost")(cost)


def cost(wiki: Wiki = None, as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False) -> None:
    """Show what asking models cost, by run, stage and model."""
    from agent_wiki.asking.ledger import cost_report

    told = cost_report(wiki_folder(wiki))
    if as_json:
        typer.echo(json.dumps(told.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in told.lines():
            typer.echo(line)
    for warning in told.warnings:
        typer.echo(warning, err=True)
