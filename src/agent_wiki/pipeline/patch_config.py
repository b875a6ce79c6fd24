"""Own entries merged into a wiki's `_config.yaml`, and the wiki updated accordingly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_wiki.engine import no_progress
from agent_wiki.errors import RunError
from agent_wiki.pipeline import sidecar
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.newer_wiki import newer_files, refuse_newer_wiki
from agent_wiki.pipeline.owners_pages import published
from agent_wiki.pipeline.redacted_sources import note_redacted
from agent_wiki.pipeline.report import Report
from agent_wiki.redaction.values import redact_value
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.config_edits import patched
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import Templates


def patch_config(wiki: Path, patch: Mapping[str, Any], report: Report) -> Report:
    """Merge `patch` into the configuration without its secrets, each of which is a warning, then run catalog.

    A dry run of `report` says what would be written.

    Raises `RunError`, and then nothing was written, when the configuration cannot be read, what comes of it is none, or
    records cannot lie where it says.
    """
    folder = WikiFolder(wiki, is_dry_run=report.is_dry_run)
    with folder.locked(with_runs=True):
        refuse_newer_wiki(folder)
        text = folder.read_text(CONFIG) or Templates(wiki / "templates").render("config.yaml")
        try:
            patch, found = redact_value(patch)
            edited = patched(text, patch)
            config = parse_config(edited)
            newer_files((), config.version)
            sidecar.check_place(folder, config.sidecar, is_named=False)
            folder.write_text(CONFIG, edited)
        except RecursionError as error:
            raise RunError("the patch is nested too deeply; nothing was changed") from error
        if not report.is_dry_run:
            run([], Options(wiki, ("catalog",), new_pages="unlisted"), report, no_progress)
    if report.is_dry_run:
        published(WikiFolder(wiki, is_dry_run=True), report, lambda publisher: publisher.set_config(edited))
    note_redacted(found, CONFIG, report)
    report.written = sorted({*folder.written, *report.written})
    return report
