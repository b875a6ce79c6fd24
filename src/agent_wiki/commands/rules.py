"""`wiki rules`: what the embedded engine looks for, and what each rule made in this wiki."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_wiki.commands.show import print_answer, print_lines
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder


def rules(
    rule: Annotated[str | None, typer.Argument(help="A rule's id, or a family; without one, all rules.")] = None,
    wiki: ExistingWiki = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also list what each rule made in this wiki.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the embedded engine's rules, those that made most in this wiki first; one rule with its examples."""
    from agent_wiki.retrieval.rules_used import rules_used

    found = rules_used(wiki_folder(wiki), rule)
    if as_json:
        print_answer("rules", found.to_json(), is_ascii=True)
    else:
        is_one = rule is not None and len(found.rules) == 1
        print_lines(found.rules[0].lines() if is_one else found.lines(is_whole=verbose))
    print_lines(found.problems, err=True)
    raise typer.Exit(found.exit_code)
