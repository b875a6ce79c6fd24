"""`wiki plugin`: the wiki's folder as a plugin of Claude Code and Codex, and an extension of Gemini CLI."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from agent_wiki.commands.show import print_answer, print_lines
from agent_wiki.commands.stages import AsJson, DryRun, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.wiki.text import counted

_EXIT_LEFT_ALONE = 1

Remove = Annotated[bool, typer.Option("--remove", help="Take the plugin's files out of the wiki again.")]
Force = Annotated[bool, typer.Option("--force", help="Also overwrite, or remove, files with other content.")]


def plugin(
    wiki: ExistingWiki = None,
    remove: Remove = False,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Make the wiki's folder a plugin: its skills, the hooks and the MCP server in one install.

    Four small files are added to it, the same for every wiki; what to run in each program is printed.
    """
    from agent_wiki.harness.plugin import change, notes

    folder = wiki_folder(wiki)
    done = change(folder, is_removal=remove, is_forced=force, is_dry_run=dry_run)
    code = _EXIT_LEFT_ALONE if done.left_alone else 0
    said = [] if remove else notes(folder)
    if as_json:
        about = {"wiki": str(folder), "is_dry_run": dry_run}
        install = {} if remove else _install(folder)
        print_answer("plugin", {**about, **asdict(done), "install": install, "notes": said, "exit_code": code})
    else:
        print_lines(_lines(asdict(done), folder, is_removal=remove, is_dry_run=dry_run))
        print_lines(f"note: {note}" for note in said)
    raise typer.Exit(code)


def _install(wiki: Path) -> dict[str, str]:
    """What installs it in each program."""
    from agent_wiki.harness.plugin import MARKETPLACE, NAME

    named = shlex.quote(str(wiki))
    local = named if named.startswith(("/", "'", ".")) else f"./{named}"
    return {
        "Claude Code, for a session": f"claude --plugin-dir {named}",
        "Claude Code, to stay": f"claude plugin marketplace add {local} && "
        f"claude plugin install {NAME}@{MARKETPLACE} --scope project",
        "Codex, a copy of the skills": f"codex plugin marketplace add {local} && codex plugin add {NAME}@{MARKETPLACE}",
        "Gemini CLI, without hooks": f"gemini extensions link {named}",
    }


def _lines(done: dict[str, Any], wiki: Path, *, is_removal: bool, is_dry_run: bool) -> list[str]:
    would = "would be " if is_dry_run else ""
    counts = [f"{counted(len(done['written']), 'file')} {would}written", f"{len(done['unchanged'])} unchanged"]
    if is_removal:
        counts = [f"{counted(len(done['removed']), 'file')} {would}removed"]
    lines = [f"plugin: {', '.join(counts)}, {len(done['left_alone'])} left alone"]
    lines += [f"  {wiki / path}" for path in (*done["written"], *done["removed"])]
    if done["left_alone"]:
        lines.append("left alone because they have other content (--force does not):")
        lines += [f"  {wiki / path}" for path in done["left_alone"]]
    if not is_removal:
        lines += [f"{program}: {command}" for program, command in _install(wiki).items()]
    return lines
