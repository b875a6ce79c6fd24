"""`wiki status`: what is here, what changed since, what waits, and what it costs to go on."""

from __future__ import annotations

from pathlib import Path

from agent_wiki.commands.show import print_answer, print_lines
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder


def status(wiki: ExistingWiki = None, as_json: AsJson = False) -> None:
    """Show what is here, what changed since the last run, what waits for you, and what it costs to go on.

    Nothing is read but the wiki and the names, sizes and times of recordings; nothing is written.
    """
    from agent_wiki.harness.status import status_of

    found = status_of(wiki_folder(wiki), Path.cwd())
    if as_json:
        print_answer("status", found.to_json())
    else:
        print_lines(found.lines())
