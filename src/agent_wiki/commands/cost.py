"""`wiki cost`: the cost of asking models, from the journal."""

from __future__ import annotations

from agent_wiki.commands.show import print_answer, print_lines
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder


def cost(wiki: ExistingWiki = None, as_json: AsJson = False) -> None:
    """Show the cost of asking models, by run, stage and model."""
    from agent_wiki.asking.ledger import cost_report

    found = cost_report(wiki_folder(wiki))
    if as_json:
        print_answer("cost", found.to_json())
    else:
        print_lines(found.lines())
    print_lines(found.warnings, err=True)
