"""`wiki connect`: adds a pointer to the wiki where an agent reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from agent_wiki.commands.show import print_json, print_lines
from agent_wiki.commands.stages import AsJson, DryRun

Agent = Annotated[str, typer.Argument(help="claude-code, codex or agents-md.")]
Folder = Annotated[Path, typer.Option("--dir", help="The project's folder.")]
Wiki = Annotated[
    Path | None,
    typer.Option("--wiki", help="The wiki to point at; it need not exist yet.", show_default="wiki, there or above"),
]
Remove = Annotated[bool, typer.Option("--remove", help="Remove the pointer; everything else stays byte for byte.")]


def connect(
    agent: Agent,
    folder: Folder = Path(),
    wiki: Wiki = None,
    remove: Remove = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Tell an agent to consult the wiki, in the files it reads: once, marked, removable.

    claude-code: CLAUDE.md, and hooks in .claude/settings.json. codex: AGENTS.md, and hooks in .codex/hooks.json.
    agents-md: AGENTS.md alone, for any agent. The hooks are `wiki hook start` and `wiki hook stop`.
    """
    from agent_wiki.harness.connecting import carry_out, plan

    planned = plan(agent, folder, wiki, is_removal=remove)
    if not dry_run:
        carry_out(planned)
    report: dict[str, Any] = {
        "command": "connect",
        "agent": agent,
        "folder": str(folder),
        "is_dry_run": dry_run,
        "written": planned.names("written"),
        "removed": planned.names("removed"),
        "unchanged": planned.names("unchanged"),
        "notes": planned.notes,
        "exit_code": 0,
    }
    if as_json:
        print_json(report)
    else:
        print_lines(_lines(report))


def _lines(report: dict[str, Any]) -> list[str]:
    would = "would be " if report["is_dry_run"] else ""
    states = {"written": f"{would}written", "removed": f"{would}removed", "unchanged": "unchanged"}
    lines = [f"{name}: {says}" for state, says in states.items() for name in report[state]]
    return lines + [f"note: {note}" for note in report["notes"]]
