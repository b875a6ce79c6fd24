"""`wiki doctor`: what is installed and what is wrong, each with the line that mends it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from agent_wiki.commands.show import print_answer, print_lines
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder


def doctor(
    wiki: ExistingWiki = None,
    folder: Annotated[Path, typer.Option("--dir", help="The project's folder.")] = Path(),
    online: Annotated[
        bool, typer.Option("--online", help="Also ask the configured endpoint whether it can be reached.")
    ] = False,
    base_url: Annotated[str, typer.Option("--base-url", help="The endpoint to ask, instead of the configured.")] = "",
    as_json: AsJson = False,
) -> None:
    """Check Python, extras, the wiki, its lock and journal, hooks and permissions of agents. Exits with 1 at a problem.

    Each problem has the line that mends it. Nothing leaves this machine without --online, and nothing is written.
    """
    from agent_wiki.harness.doctor import checkups

    found = checkups(wiki_folder(wiki), folder, os.environ, is_online=online, base_url=base_url)
    code = int(any(each.state == "problem" for each in found))
    if as_json:
        checks = [each.to_json() for each in found]
        print_answer("doctor", {"checks": checks, "exit_code": code})
    else:
        print_lines(line for each in found for line in each.lines())
    raise typer.Exit(code)
