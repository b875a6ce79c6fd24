"""`wiki secrets`: where live-looking secrets stand in recordings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from agent_wiki.commands.files import write_bytes
from agent_wiki.commands.selecting import Exclude, Include, Paths, Since, paths_of, selection_of
from agent_wiki.commands.show import finish, progress_shown
from agent_wiki.commands.stages import AsJson
from agent_wiki.errors import UsageError


def secrets(
    paths: Paths = [],  # noqa: B006 - typer takes a default of an argument only so
    wiki: Annotated[
        Path | None,
        typer.Option("--wiki", help="A finished wiki: all its files but .wiki/, before it is pushed or published."),
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option("--sarif", help="Write what was found to this file, as SARIF 2.1.0.")
    ] = None,
    detector: Annotated[
        str, typer.Option("--detector", help="A second detector besides: kingfisher (the extra `secrets`).")
    ] = "",
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", help="With --wiki: what stands at FILE:LINE or FILE:LINE:COLUMN is no secret."),
    ] = None,
    why: Annotated[str, typer.Option("--why", help="With --allow: why it is none; it is remembered.")] = "",
    since: Since = "",
    include: Include = None,
    exclude: Exclude = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name each file that was read or passed over.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say where live-looking secrets stand in recordings: file, line, column, kind and length, never the value.

    Any file that can be ingested is read, other JSON too, and any text file that you name yourself. Strings of JSON are
    judged decoded; line and column are those in the file, decompressed where it is. With --wiki the files of a wiki are
    searched instead, their names too: the gate before it leaves the machine. Exits with 1 when something was found or a
    file could not be read.

    What is found by mistake, --allow puts under `allowed_secrets:` in `_config.yaml` by a digest of the value, with the
    reason: the gate, `wiki site` and `wiki check` let that value pass from then on, wherever it stands in this wiki.
    """
    if (wiki is None) == (not paths):
        raise UsageError("name recordings, or a finished wiki with --wiki")
    from agent_wiki.pipeline.second_detector import detector_named

    second = detector_named(detector)
    if allow:
        if wiki is None:
            raise UsageError("--allow is for a finished wiki: name it with --wiki")
        from agent_wiki.pipeline.allowed_secrets import allow_secrets

        allow_secrets(wiki, allow, why, second)
    if wiki is not None:
        from agent_wiki.pipeline.leaks import leaks_report

        report = leaks_report(wiki, second)
    else:
        from agent_wiki.pipeline.find_secrets import find_secrets

        with progress_shown(quiet=as_json) as progress:
            report = find_secrets(paths_of(paths), selection_of(since, include, exclude), progress, second)
    report.is_verbose = verbose
    if sarif is not None:
        from agent_wiki.pipeline.sarif import sarif_of

        write_bytes(sarif, f"{json.dumps(sarif_of(report), indent=2)}\n".encode())
    finish(report, as_json=as_json)
