"""Recordings named on the command line: paths and addresses of buckets, and which of the files below them count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from agent_wiki.commands.executing import MACHINES_PANEL

if TYPE_CHECKING:
    from agent_wiki.pipeline.inputs import Selection
    from agent_wiki.readers.recording_path import RecordingPath

Paths = Annotated[
    list[str],
    typer.Argument(help="Recordings, or folders of them (read recursively), also in a bucket: s3://BUCKET/PREFIX."),
]
PANEL = "Which recordings"
"""The heading of these options in `--help`."""
Since = Annotated[
    str,
    typer.Option(
        "--since", help="Only files that changed since this date or moment, such as 2026-01-31.", rich_help_panel=PANEL
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        help="Only files whose path below the named folder fits; * also matches /, and */NAME also fits NAME itself.",
        rich_help_panel=PANEL,
    ),
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", help="No files whose path fits.", rich_help_panel=PANEL)
]
MaxObjects = Annotated[
    int | None,
    typer.Option(
        "--max-objects",
        min=1,
        help="Read at most N new or changed files; the others wait.",
        rich_help_panel=PANEL,
    ),
]
ShardNumber = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N|auto[/N]",
        help="Only this share of the recordings, such as 1/4; auto: as the job of a cluster or a CI says.",
        show_default="all of them",
        rich_help_panel=MACHINES_PANEL,
    ),
]


def paths_of(named: Iterable[str]) -> list[RecordingPath]:
    """The paths that words name. Raises `UsageError`."""
    from agent_wiki.readers.buckets import path_of

    return [path_of(each) for each in named]


def selection_of(
    since: str, include: Sequence[str] | None, exclude: Sequence[str] | None, max_objects: int | None = None
) -> Selection:
    """Which files count."""
    from agent_wiki.pipeline.inputs import Selection

    return Selection(since, tuple(include or ()), tuple(exclude or ()), max_objects)
