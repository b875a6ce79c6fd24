"""`wiki redact`: a wiki cleaned of what was written before there was a rule for it."""

from __future__ import annotations

from agent_wiki.commands.show import finish, progress_shown
from agent_wiki.commands.stages import AsJson, DryRun, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder


def redact(wiki: ExistingWiki = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Clean a wiki of secrets and personal data that an earlier version wrote: pages, records, journal, configuration.

    What changed is named by file, kind and place, never by its value. Pages are rendered again from the records, and
    sessions of the embedded engine whose recordings are here are mined again, which gives the bytes of a fresh
    ingestion. Killed in the middle, the same command finishes it. What git remembers, and the recordings themselves,
    are not touched: replace the keys. Exits with 1 when a secret is left somewhere.
    """
    from agent_wiki.pipeline.redact_wiki import redact_wiki
    from agent_wiki.report import Report

    folder = wiki_folder(wiki)
    report = Report("redact", str(folder), is_dry_run=dry_run)
    with progress_shown(quiet=as_json) as progress:
        cleaned = redact_wiki(folder, report, progress)
    finish(cleaned, as_json=as_json)
