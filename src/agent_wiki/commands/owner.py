"""`wiki forget`, `wiki keep`, `wiki restore`, `wiki reject`: what an owner decides about sessions and pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_wiki.commands.show import finish, progress_shown
from agent_wiki.commands.stages import AsJson, DryRun, Wiki
from agent_wiki.commands.unchanged import wiki_folder

if TYPE_CHECKING:
    from agent_wiki.report import Report

Pages = Annotated[
    list[str], typer.Argument(help="Pages: a path in the wiki or from here, an id, a slug, or the beginning of an id.")
]
Why = Annotated[str, typer.Option("--why", help="Why, in a few words; it is remembered.")]


def forget(
    sessions: Annotated[
        list[str], typer.Argument(help="Sessions, each by its id, the beginning of it, or its recording's file name.")
    ],
    wiki: Wiki = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take sessions out of the wiki, with all that only they contained.

    What they alone supported is removed, what others support is rendered from the others. The journal and all else in
    `.wiki/` loses what is about them. Files that still hold text of theirs, such as a page that you edited, are listed,
    and the exit code is 1. What git remembers, and the recordings themselves, are not touched.
    """
    from agent_wiki.pipeline.forget import forget as made_forgotten
    from agent_wiki.report import Report

    folder = wiki_folder(wiki)
    report = Report("forget", str(folder), is_dry_run=dry_run)
    with progress_shown(quiet=as_json) as progress:
        forgotten = made_forgotten(folder, sessions, report, progress)
    finish(forgotten, as_json=as_json)


def keep(pages: Pages, wiki: Wiki = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Make pages yours for good: no run writes over them, none reports them.

    Also index pages, `AGENTS.md` and the scripts of skills. The pages are listed under `kept:` in `_config.yaml`.
    """
    from agent_wiki.pipeline.owners_pages import keep as made_kept
    from agent_wiki.report import Report

    folder = wiki_folder(wiki)
    paths = _named(folder, pages)
    report = made_kept(folder, paths, Report("keep", str(folder), is_dry_run=dry_run))
    _finish(report, "kept", paths, as_json=as_json)


def restore(pages: Pages, wiki: Wiki = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Render pages again as the sessions have them, whoever edited them; they are no longer kept.

    Also index pages, `AGENTS.md` and the scripts of skills. A page that no session supports any more is removed.
    """
    from agent_wiki.pipeline.owners_pages import restore as restored
    from agent_wiki.report import Report

    folder = wiki_folder(wiki)
    paths = _named(folder, pages)
    report = restored(folder, paths, Report("restore", str(folder), is_dry_run=dry_run))
    _finish(report, "restored", paths, as_json=as_json)


def reject(
    pages: Pages,
    why: Why = "",
    wiki: Wiki = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Retire pages for good: they are removed, and no run brings back what they say, in whatever words.

    They are listed under `rejected:` in `_config.yaml`; take a line out there, and the page may come again.
    """
    from agent_wiki.pipeline.owners_pages import reject as made_rejected
    from agent_wiki.report import Report

    folder = wiki_folder(wiki)
    paths = _named(folder, pages)
    report = made_rejected(folder, paths, why, Report("reject", str(folder), is_dry_run=dry_run))
    _finish(report, "rejected", paths, as_json=as_json)


def _named(wiki: Path, wanted: list[str]) -> list[str]:
    """The files that a person means, by path in the wiki. Raises `UsageError`."""
    from agent_wiki.retrieval.page_names import files_named

    return files_named(wiki, wanted)


def _finish(report: Report, what: str, paths: list[str], *, as_json: bool) -> None:
    from agent_wiki.retrieval.terminal import one_line

    if not as_json:
        would = "would be " if report.is_dry_run else ""
        for path in paths:
            typer.echo(f"{would}{what}: {one_line(path)}")
    finish(report, as_json=as_json, extra={what: paths})
