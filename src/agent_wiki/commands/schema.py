"""`wiki schema`: the form of what `--json` prints."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_wiki.commands.show import print_json


def schema(
    name: Annotated[
        list[str] | None,
        typer.Argument(help="A command, such as why or config check, or one of the forms; without one, all."),
    ] = None,
) -> None:
    """Print the JSON Schema of what --json prints.

    There is one for each form: `report` of runs (ingest, the stages, catalog, join, …), `estimate` of --estimate, and
    one for each command with an answer of its own. Its version is in `schema_version` of what is printed, but for the
    lists of consult, review and connect --list. Within a version keys are added, never taken out.
    """
    from agent_wiki.harness.schemas import schema_named

    print_json(schema_named(" ".join(name or ())))
