"""Commands that only look: `wiki status`, `doctor`, `cost`, `models`; and `schema`, the form of what is printed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from agent_wiki.commands.show import print_answer, print_json, print_lines
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder


def cost(wiki: ExistingWiki = None, as_json: AsJson = False) -> None:
    """Show the cost of asking models, by run, stage and model."""
    from agent_wiki.asking.ledger import cost_report

    found = cost_report(wiki_folder(wiki))
    _print("cost", found, as_json=as_json)
    print_lines(found.warnings, err=True)


def models(wiki: ExistingWiki = None, as_json: AsJson = False) -> None:
    """Show which model each stage asks by default, and the price of each model that has one.

    `models.yaml` in the wiki's folder has your own; a model without a price is asked, and its cost is unknown.
    """
    from agent_wiki.asking.model_list import model_list

    _print("models", model_list(wiki_folder(wiki)), as_json=as_json)


def status(wiki: ExistingWiki = None, as_json: AsJson = False) -> None:
    """Show what is here, what changed since the last run, what waits for you, and what it costs to go on.

    Nothing is read but the wiki and the names, sizes and times of recordings; nothing is written. Where the wiki is not
    as the last run left it, as after a merge in git, its pages are rendered to see which are outdated.
    """
    from agent_wiki.harness.status import status_of

    _print("status", status_of(wiki_folder(wiki), Path.cwd()), as_json=as_json)


def _print(command: str, found: Any, *, as_json: bool) -> None:
    if as_json:
        print_answer(command, found.to_json())
    else:
        print_lines(found.lines())


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


def schema(
    name: Annotated[
        list[str] | None,
        typer.Argument(help="A command, such as why or config check, or one of the forms; without one, all."),
    ] = None,
) -> None:
    """Print the JSON Schema of what --json prints.

    There is one for each form: `report` of runs (ingest, the stages, catalog, join, …), `estimate` of --estimate, and
    one for each command with an answer of its own. Its version is in `schema_version` of what is printed, but for
    lists (of consult, dump, review and connect --list) and values (of config show KEY). Within a version keys are
    added, never taken out.
    """
    from agent_wiki.harness.schemas import schema_named

    print_json(schema_named(" ".join(name or ())))
