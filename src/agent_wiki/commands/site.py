"""`wiki site`, `wiki serve` and `wiki view`: the wiki as pages for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_wiki.commands.selecting import paths_of
from agent_wiki.commands.show import print_json, print_lines, progress_shown
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder

Recordings = Annotated[
    list[str] | None,
    typer.Option("--recordings", help="A file or folder with recordings, whose turns are shown; may be repeated."),
]
Title = Annotated[str, typer.Option("--title", help="What the site is called.")]


def site(
    out: Annotated[Path, typer.Option("--out", help="The site's folder; made, or brought up to date.")],
    wiki: ExistingWiki = None,
    recordings: Recordings = None,
    title: Title = "agent wiki",
    as_json: AsJson = False,
) -> None:
    """Make a web site of the wiki: a folder that opens from disk and from any static host.

    It shows what the wiki knows, searches as you type, and leads from each claim to the turn that it rests on. With
    --recordings a session's page shows all its turns, redacted; without, what the wiki's record holds of it. Nothing
    is loaded from elsewhere. Pages that have not changed are not made again; of the folder only files of the site are
    ever removed.
    """
    from agent_wiki.site.build import build_site

    with progress_shown(quiet=as_json) as progress:
        report = build_site(wiki_folder(wiki), out, paths_of(recordings or ()), title, progress)
    if as_json:
        print_json(report.to_json())
    else:
        print_lines(report.lines())
    print_lines((f"wiki: {problem}" for problem in report.problems), err=True)
    raise typer.Exit(report.exit_code)
