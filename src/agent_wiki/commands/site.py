"""`wiki site`, `wiki serve` and `wiki view`: the wiki as pages for a browser."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from agent_wiki.commands.selecting import paths_of
from agent_wiki.commands.show import print_answer, print_lines, progress_shown
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder

Recordings = Annotated[
    list[str] | None,
    typer.Option("--recordings", help="A file or folder with recordings, whose turns are shown; may be repeated."),
]
KnownRecordings = Annotated[
    list[str] | None,
    typer.Option(
        "--recordings",
        help="A file or folder with recordings, whose turns are shown; may be repeated.",
        show_default="those that the wiki was read from, as far as they are here",
    ),
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
        print_answer("site", report.to_json())
    else:
        print_lines(report.lines())
        if report.with_recording < report.sessions and not recordings:
            print_lines(_where(wiki_folder(wiki)))
    print_lines((f"wiki: {problem}" for problem in report.problems), err=True)
    raise typer.Exit(report.exit_code)


def _where(wiki: Path) -> list[str]:
    """Where the recordings are that a site was made without."""
    from agent_wiki.site.local import recordings_here, recordings_read

    known = recordings_read(wiki) or recordings_here(wiki)
    if not known:
        return []
    more = f" and {len(known) - 1} more" if len(known) > 1 else ""
    return [f"the wiki was read from {known[0]}{more}: with --recordings their turns are published, redacted"]


def serve(
    wiki: ExistingWiki = None,
    recordings: KnownRecordings = None,
    title: Title = "agent wiki",
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="The port; 0 picks a free one.")] = 8_765,
) -> None:
    """Show the wiki's site on this machine, made again whenever the wiki has changed.

    It listens on 127.0.0.1 alone and answers under no other name. The site lies in the wiki's `.wiki/`.
    """
    from agent_wiki.site.local import LocalSite, recordings_here, serve_site

    folder = wiki_folder(wiki)
    local = LocalSite(folder, paths_of(recordings) if recordings else recordings_here(folder), title)
    with suppress(KeyboardInterrupt):
        serve_site(local, port, lambda address: typer.echo(f"{address} (Ctrl-C ends it)", err=True))


def view(
    page: Annotated[str, typer.Argument(help="A page's path, id or slug, a session's id, or the beginning of an id.")],
    wiki: ExistingWiki = None,
    recordings: KnownRecordings = None,
    print_path: Annotated[bool, typer.Option("--print", help="Print the file's path; open no browser.")] = False,
) -> None:
    """Open one page of the wiki in a browser.

    The site that it is part of lies in the wiki's `.wiki/` and is brought up to date first.
    """
    import webbrowser

    from agent_wiki.site.local import file_of_page, recordings_here

    folder = wiki_folder(wiki)
    file, anchor = file_of_page(folder, page, paths_of(recordings) if recordings else recordings_here(folder))
    address = file.resolve().as_uri() + (f"#{anchor}" if anchor else "")
    if print_path or not webbrowser.open(address):
        print_lines([str(file)])
