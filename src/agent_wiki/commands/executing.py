"""Who reads the recordings of a run: processes of this machine, or a Ray cluster."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_wiki.errors import UsageError

if TYPE_CHECKING:
    from agent_wiki.pipeline.workers import RayOptions

LOCAL, RAY = "local", "ray"
MACHINES_PANEL = "Several machines"
"""The heading of these options in `--help`."""
_OF_A_TASK = ("num_cpus", "num_gpus", "memory", "resources", "max_retries", "runtime_env", "scheduling_strategy")

Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        help="Who reads the recordings: local (this machine) or ray (a Ray cluster).",
        rich_help_panel=MACHINES_PANEL,
    ),
]
RayAddress = Annotated[
    str,
    typer.Option(
        "--ray-address",
        help="The cluster; else that of RAY_ADDRESS, else one started on this machine.",
        rich_help_panel=MACHINES_PANEL,
    ),
]
RayOption = Annotated[
    list[str] | None,
    typer.Option(
        "--ray-option",
        metavar="NAME=VALUE",
        help="An option of each Ray task, such as num_cpus=2 or max_retries=10.",
        rich_help_panel=MACHINES_PANEL,
    ),
]


def ray_options(executor: str, address: str, options: Sequence[str] | None) -> RayOptions | None:
    """The cluster that was asked for; None for this machine. Raises `UsageError`."""
    if executor not in (LOCAL, RAY):
        raise UsageError(f"--executor {executor}: there is {LOCAL} and {RAY}")
    if executor == LOCAL:
        if address or options:
            raise UsageError(f"--ray-address and --ray-option need --executor {RAY}")
        return None
    from agent_wiki.pipeline.workers import RayOptions

    return RayOptions(address, dict(map(_task_option, options or ())))


def _task_option(text: str) -> tuple[str, Any]:
    """Name and value; a value is JSON where it can be read so."""
    name, _, value = text.partition("=")
    if name not in _OF_A_TASK or not value:
        raise UsageError(f"--ray-option {text}: give NAME=VALUE; there is {', '.join(_OF_A_TASK)}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
