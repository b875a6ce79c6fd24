"""`wiki forget`, `wiki redact`, `wiki keep`, `wiki restore`, `wiki reject`: what an owner takes out, or keeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_wiki.commands import completing
from agent_wiki.commands.show import finish, print_lines, progress_shown
from agent_wiki.commands.stages import AsJson, DryRun, ExistingWiki, Verbose
from agent_wiki.commands.unchanged import wiki_folder

if TYPE_CHECKING:
    from agent_wiki.pipeline.report import Report

Pages = Annotated[
    list[str],
    typer.Argument(
        help="Pages: a path in the wiki or from here, an id, a slug, a title, or the beginning of an id.",
        autocompletion=completing.pages,
    ),
]
Why = Annotated[str, typer.Option("--why", help="Why, in a few words; it is remembered.")]


def forget(
    sessions: Annotated[
        list[str],
        typer.Argument(
            help="Sessions, each by its id, the beginning of it, or its recording's file name.",
            autocompletion=completing.sessions,
        ),
    ],
    wiki: ExistingWiki = None,
    for_good: Annotated[
        bool, typer.Option("--for-good", help="No later run or join takes them in again, wherever they still lie.")
    ] = False,
    journal_store: Annotated[
        str, typer.Option("--journal-store", help="Also take them out of a journal in a bucket: s3://BUCKET/PREFIX.")
    ] = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take sessions out of the wiki, with their subagents and all that only they contained.

    What they alone supported is removed, what others support is rendered from the others. The journal and all else in
    `.wiki/` loses what is about them. A page of theirs that you edited goes as well, and is named. Files that still
    hold text of theirs, such as a page that you kept, are listed, and the exit code is 1. What git remembers, and the
    recordings themselves, are not touched: a recording that is read again, as by the next night over a bucket, brings
    its session back. With --for-good it does not: `forgotten:` in `_config.yaml` names the session by a digest of its
    id. Take the line out, and it may come again.
    """
    from agent_wiki.pipeline.forget import forget as made_forgotten
    from agent_wiki.pipeline.report import Report

    folder = wiki_folder(wiki)
    report = Report("forget", str(folder), is_dry_run=dry_run)
    with progress_shown(quiet=as_json) as progress:
        forgotten = made_forgotten(folder, sessions, report, progress, journal_store, for_good=for_good)
    finish(forgotten, as_json=as_json)


def keep(
    pages: Pages, wiki: ExistingWiki = None, dry_run: DryRun = False, verbose: Verbose = False, as_json: AsJson = False
) -> None:
    """Make pages yours for good: no run writes over them, none reports them.

    Also index pages, `AGENTS.md` and the scripts of skills. The pages are listed under `kept:` in `_config.yaml`.
    """
    from agent_wiki.pipeline.owners_pages import keep as decided

    _decide("keep", "kept", decided, pages, wiki, dry_run, verbose, as_json)


def restore(
    pages: Pages, wiki: ExistingWiki = None, dry_run: DryRun = False, verbose: Verbose = False, as_json: AsJson = False
) -> None:
    """Render pages again as the sessions have them, whoever edited them; they are no longer kept.

    Also index pages, `AGENTS.md` and the scripts of skills. A page that no session supports any more is removed.
    """
    from agent_wiki.pipeline.owners_pages import restore as decided

    _decide("restore", "restored", decided, pages, wiki, dry_run, verbose, as_json)


def reject(
    pages: Pages,
    why: Why = "",
    wiki: ExistingWiki = None,
    for_good: Annotated[
        bool, typer.Option("--for-good", help="Also delete pages that this program did not write.")
    ] = False,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Retire pages for good: they are removed, and no run brings back what they say, in whatever words.

    What goes with them is named too: guidelines that state the same rule, clusters that are left with one member,
    the files of skills. A guideline that states a wider rule stays. With --dry-run nothing goes, all is named.
    They are listed under `rejected:` in `_config.yaml`; take a line out there, and the page may come again. One that a
    person or another tool wrote may not, for it is in no record: without --for-good such a page is refused.
    """
    from agent_wiki.pipeline.owners_pages import reject as made_rejected

    def decided(folder: Path, paths: list[str], report: Report) -> Report:
        return made_rejected(folder, paths, why, report, for_good=for_good)

    _decide("reject", "rejected", decided, pages, wiki, dry_run, verbose, as_json)


def _decide(
    command: str,
    done: str,
    decided: Callable[[Path, list[str], Report], Report],
    pages: list[str],
    named: Path | None,
    dry_run: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Take a decision about the files that a person means, and say of which. Raises `UsageError`."""
    from agent_wiki.pipeline.report import Report
    from agent_wiki.retrieval.page_names import files_named
    from agent_wiki.retrieval.terminal import one_line

    wiki = wiki_folder(named)
    paths = files_named(wiki, pages, or_withheld=command == "reject")
    report = decided(wiki, paths, Report(command, str(wiki), is_dry_run=dry_run, is_verbose=verbose))
    if not as_json:
        would = "would be " if dry_run else ""
        print_lines(f"{would}{done}: {one_line(path)}" for path in paths)
        others = sorted(set(report.removed).difference(paths))
        print_lines(f"{'would also be' if dry_run else 'also'} removed: {one_line(path)}" for path in others)
    finish(report, as_json=as_json, extra={done: paths})


def redact(wiki: ExistingWiki = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Clean a wiki of secrets and personal data that an earlier version wrote: pages, records, journal, configuration.

    What changed is named by file, kind and place, never by its value. Pages are rendered again from the records, and
    sessions of the embedded engine whose recordings are here are mined again, which gives the bytes of a fresh
    ingestion. Killed in the middle, the same command finishes it. What git remembers, and the recordings themselves,
    are not touched: replace the keys. Exits with 1 when a secret is left somewhere.
    """
    from agent_wiki.pipeline.redact_wiki import redact_wiki
    from agent_wiki.pipeline.report import Report

    folder = wiki_folder(wiki)
    report = Report("redact", str(folder), is_dry_run=dry_run)
    with progress_shown(quiet=as_json) as progress:
        cleaned = redact_wiki(folder, report, progress)
    finish(cleaned, as_json=as_json)
