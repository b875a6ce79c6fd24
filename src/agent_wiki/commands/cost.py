"""`wiki cost`: the cost of asking models, from the journal."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from agent_wiki.commands.stages import Wiki
from agent_wiki.commands.unchanged import wiki_folder


def cost(wiki: Wiki = None, as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False) -> None:
    """Show the cost of asking models, by run, stage and model."""
    from agent_wiki.asking.ledger import cost_report

    found = cost_report(wiki_folder(wiki))
    if as_json:
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in found.lines():
            typer.echo(line)
    for warning in found.warnings:
        typer.echo(warning, err=True)
