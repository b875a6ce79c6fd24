"""`wiki normalize`: recordings of any format as envelopes of one format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_wiki.commands.selecting import Exclude, Include, Paths, Since, paths_of, selection_of
from agent_wiki.commands.show import finish, print_lines, progress_shown
from agent_wiki.commands.stages import AsJson, DryRun, Verbose
from agent_wiki.wiki.text import counted


def normalize(
    paths: Paths,
    out: Annotated[Path, typer.Option("--out", help="The folder for the envelopes, one file per trajectory.")],
    label: Annotated[str | None, typer.Option("--label", help="Write to OUT/LABEL/items/.")] = None,
    user_prompt: Annotated[
        str | None, typer.Option("--user-prompt", help="The request, for recordings that do not have it.")
    ] = None,
    trial_prefix: Annotated[str | None, typer.Option("--trial-prefix", help="A file PREFIX<n>.… is trial <n>.")] = None,
    condition: Annotated[
        str | None, typer.Option("--condition", help="The condition of these sessions; @parent: the folder's name.")
    ] = None,
    since: Since = "",
    include: Include = None,
    exclude: Exclude = None,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Write each recorded session as a normalized trajectory."""
    from dataclasses import asdict

    from agent_wiki.pipeline.normalize import NormalizeOptions
    from agent_wiki.pipeline.normalize import normalize as normalize_all
    from agent_wiki.pipeline.report import Report

    report = Report("normalize", str(out), is_dry_run=dry_run, is_verbose=verbose)
    selection = selection_of(since, include, exclude)
    options = NormalizeOptions(out, label, user_prompt, trial_prefix, condition, dry_run, selection)
    with progress_shown(quiet=as_json) as progress:
        written = normalize_all(paths_of(paths), options, report, progress)
    if not as_json:
        for each in written:
            counts = [counted(each.turns, "turn"), counted(each.tool_calls, "tool call"), counted(each.errors, "error")]
            print_lines([f"{each.file}: {', '.join([each.source_format, *counts])}"])
    finish(report, as_json=as_json, extra={"trajectories": [asdict(each) for each in written]})
