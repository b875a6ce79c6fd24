"""`wiki skills`: the Agent Skills that tell an agent how to build and read a wiki."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

_EXIT_LEFT_ALONE = 1

Folder = Annotated[
    Path, typer.Option("--to", help="The folder that an agent takes its skills from; made when it is not there.")
]
Force = Annotated[bool, typer.Option("--force", help="Also write over files with other content.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; write nothing.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


def register(app: typer.Typer) -> None:
    """Add this module's commands to `app`."""
    group = typer.Typer(no_args_is_help=True)
    group.callback()(skills)
    group.command("install")(install)
    app.add_typer(group, name="skills")


def skills() -> None:
    """The Agent Skills that tell an agent how to build and read a wiki."""


def install(folder: Folder, force: Force = False, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Copy the package's Agent Skills into a folder; files with other content are left alone and told."""
    from agent_wiki.harness.skills_folder import plan, shipped_skills, states, write

    shipped = shipped_skills()
    planned = plan(states(folder, shipped), is_forced=force)
    if not dry_run:
        write(folder, shipped, planned.to_write)
    told: dict[str, Any] = {
        "command": "skills install",
        "folder": str(folder),
        "is_dry_run": dry_run,
        "written": list(planned.to_write),
        "unchanged": list(planned.unchanged),
        "left_alone": list(planned.left_alone),
        "exit_code": _EXIT_LEFT_ALONE if planned.left_alone else 0,
    }
    for line in [json.dumps(told, ensure_ascii=False, indent=2)] if as_json else _lines(told):
        typer.echo(line)
    raise typer.Exit(told["exit_code"])


def _lines(told: dict[str, Any]) -> list[str]:
    would = "would be " if told["is_dry_run"] else ""
    folder = told["folder"]
    counts = f"{len(told['written'])} files {would}written, {len(told['unchanged'])} unchanged"
    lines = [f"skills: {counts}, {len(told['left_alone'])} left alone"]
    lines += [f"  {folder}/{path}" for path in told["written"]]
    if told["left_alone"]:
        lines.append("left alone, for they have other content (--force writes over them):")
        lines += [f"  {folder}/{path}" for path in told["left_alone"]]
    return lines
