"""`wiki schema`: the form of what `--json` prints."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_wiki.commands.show import print_json


def schema(
    name: Annotated[
        str, typer.Argument(help="report (of a run), status, doctor or config-check; without one, all.")
    ] = "",
) -> None:
    """Print the JSON Schema of what --json prints.

    There is one for the report of runs (ingest, the stages, catalog, join, …), for status, doctor and config check. Its
    version is in `schema_version` of what is printed. Within a version keys are added, never taken out.
    """
    from agent_wiki.harness.schemas import schema_named

    print_json(schema_named(name))
