"""`wiki check`: what is wrong with a finished wiki, a line a finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from agent_wiki.commands.files import write_bytes
from agent_wiki.commands.selecting import paths_of
from agent_wiki.commands.show import finish, progress_shown
from agent_wiki.commands.stages import ArchiveCovered, AsJson, DryRun, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder


def check(
    wiki: ExistingWiki = None,
    recordings: Annotated[
        list[str] | None,
        typer.Option("--recordings", help="A file or folder with recordings, also in a bucket; may be repeated."),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what follows from the records; say what was done.")] = False,
    sarif: Annotated[
        Path | None, typer.Option("--sarif", help="Write what was found to this file, as SARIF 2.1.0.")
    ] = None,
    archive_covered: ArchiveCovered = True,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Check a finished wiki: a line a finding, with file, line, the check's id, and what to do.

    Pages, records, links, ids, indexes, the configuration, skills, secrets, the way from each page to its turns, and
    whether the pages are what the records render. Quotes and causes are held against the recordings that are here.
    Nothing is written without --fix, which never touches a page that a person edited. Exits with 1 when something is
    left to mend.
    """
    from agent_wiki.checks.running import CheckOptions
    from agent_wiki.checks.running import check as checked

    named = paths_of(recordings or ())
    options = CheckOptions(named, archive_covered=archive_covered, is_fixing=fix, is_dry_run=dry_run)
    with progress_shown(quiet=as_json) as progress:
        report = checked(wiki_folder(wiki), options, progress)
    if sarif is not None:
        from agent_wiki.checks.running import sarif_of

        write_bytes(sarif, f"{json.dumps(sarif_of(report), indent=2)}\n".encode())
    finish(report, as_json=as_json)
