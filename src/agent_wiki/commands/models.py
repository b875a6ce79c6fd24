"""`wiki models`: which model each stage asks, and what it costs."""

from __future__ import annotations

from agent_wiki.commands.show import print_answer, print_lines
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder


def models(wiki: ExistingWiki = None, as_json: AsJson = False) -> None:
    """Show which model each stage asks by default, and the price of each model that has one.

    `models.yaml` beside the wiki has your own; a model without a price is asked, and its cost is unknown.
    """
    from agent_wiki.asking.model_list import model_list

    found = model_list(wiki_folder(wiki))
    if as_json:
        print_answer("models", found.to_json())
    else:
        print_lines(found.lines())
