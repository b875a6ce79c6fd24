"""`wiki rules`: what the embedded engine looks for, and what each rule made in this wiki."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from agent_wiki.commands.stages import Wiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.commands.why import visible


def rules(
    rule: Annotated[str | None, typer.Argument(help="A rule's id, or a family; without one, all rules.")] = None,
    wiki: Wiki = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """List the embedded engine's rules with what each made in this wiki; one rule with its examples."""
    from agent_wiki.retrieval.rules_used import rules_used

    found = rules_used(wiki_folder(wiki), rule)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
    else:
        is_one = rule is not None and len(found.rules) == 1
        for line in found.rules[0].lines() if is_one else (each.line() for each in found.rules):
            typer.echo(visible(line))
    for problem in found.problems:
        typer.echo(visible(problem), err=True)
    raise typer.Exit(found.exit_code)
