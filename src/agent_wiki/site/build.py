"""A wiki → its site on disk: everything is gathered, then each page is made whose content has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from agent_wiki.engine import Progress, no_progress
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.inputs import input_files
from agent_wiki.pipeline.leaks import refuse_leaks
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.site import addresses
from agent_wiki.site.contents import SiteContents, read_contents, require_wiki
from agent_wiki.site.lists import lists_of
from agent_wiki.site.memory import SiteMemory
from agent_wiki.site.output import SiteFolder
from agent_wiki.site.page_writer import PageWriter, write_pages
from agent_wiki.site.recorded import Recorded
from agent_wiki.site.review_page import review_groups
from agent_wiki.site.search_rows import MOST_ROWS, row_files, rows_of
from agent_wiki.site.start_page import start_shown
from agent_wiki.site.templates import SiteTemplates
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import MACHINERY
from agent_wiki.wiki.text import counted, plain_line

DEFAULT_TITLE = "agent wiki"


@dataclass(slots=True)
class SiteReport:
    """What a build did. `problems` are pages of the wiki and recordings that cannot be read, a line each."""

    out: Path
    files: int = 0
    written: int = 0
    removed: int = 0
    size_bytes: int = 0
    sessions: int = 0
    with_recording: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return 1 if self.problems else 0

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {**asdict(self), "out": str(self.out), "exit_code": self.exit_code}

    def standing(self) -> dict[str, int]:
        """What is so as long as nothing changes."""
        return {name: getattr(self, name) for name in ("files", "size_bytes", "sessions", "with_recording")}

    def lines(self) -> list[str]:
        """A person's report."""
        changed = (
            f"{self.written:,} written, {self.removed:,} removed" if self.written + self.removed else "nothing changed"
        )
        return [
            f"{self.out / addresses.START}",
            f"{counted(self.files, 'file')}, {self.size_bytes / 1e6:.1f} MB: {changed}",
            f"turns of {self.with_recording:,} of {counted(self.sessions, 'session')} are shown"
            + ("" if self.with_recording == self.sessions else "; name recordings with --recordings for the others"),
        ]


def build_site(
    wiki: Path,
    out: Path,
    recordings: Sequence[RecordingPath] = (),
    title: str = DEFAULT_TITLE,
    progress: Progress = no_progress,
    *,
    is_published: bool = True,
) -> SiteReport:
    """Make the site of a wiki, or bring it up to date. The same wiki gives the same bytes.

    In: the wiki's folder; the site's; recordings whose turns are shown; whether the site may leave this
    machine. Raises `UsageError` for a folder that is no wiki or that holds other things, and `RunError` for a wiki with
    secrets in it whose site may leave, and where the disk or a template of the owner's refuses.
    """
    _refuse_inside(wiki, out)
    require_wiki(wiki)
    memory = SiteMemory(wiki)
    named = [file.path for file in input_files(recordings)] if recordings else []
    templates = SiteTemplates(wiki)
    inputs = memory.digest(title, is_published, templates.digest, recordings=named)
    if (known := memory.report_of(out, inputs)) is not None:
        return SiteReport(out, **known)
    excused = refuse_leaks(wiki, "no site was made", memory.clean()) if is_published else frozenset[str]()
    report = build_site_of(read_contents(wiki), out, recordings, title, progress)
    inputs = "" if report.problems else inputs
    memory.remember(out, inputs, report.standing(), is_checked=is_published, excused=excused)
    return report


def build_site_of(
    contents: SiteContents,
    out: Path,
    recordings: Sequence[RecordingPath] = (),
    title: str = DEFAULT_TITLE,
    progress: Progress = no_progress,
) -> SiteReport:
    """The same of a wiki that was read, wherever its site lies."""
    templates = SiteTemplates(contents.folder.root)
    folder = SiteFolder.opened(out)
    writer = PageWriter(folder, templates, plain_line(title, 80) or DEFAULT_TITLE)
    report = SiteReport(out)
    for name, text in templates.assets().items():
        writer.text(name, text)
    report.with_recording = write_pages(writer, contents, Recorded(recordings, contents), progress)
    _write_top(writer, contents)
    folder.finish()
    report.files, report.written, report.removed = len(folder.made), folder.written, folder.removed
    report.size_bytes, report.sessions = folder.size, len(contents.sessions)
    report.problems += [str(problem) for problem in contents.problems]
    return report


def _refuse_inside(wiki: Path, out: Path) -> None:
    """A site among the pages would be read as part of the wiki; in its machinery it is out of the way."""
    inside = out.resolve()
    root = wiki.resolve()
    if inside == root or (root in inside.parents and root / MACHINERY not in inside.parents):
        raise UsageError(f"{out}: inside the wiki; name a folder beside it with --out")


def _write_top(writer: PageWriter, contents: SiteContents) -> None:
    """The start page, the lists, the search and the list of what waits."""
    groups = review_groups(contents)
    for listed in lists_of(contents):
        writer.page(listed.file, "list", listed.section, listed)
    rows = rows_of(contents)
    for file, text in row_files(rows):
        writer.text(file, text)
    shards = max(-(-len(rows) // MOST_ROWS), 1)
    writer.page(addresses.SEARCH, "search", "search", None, shards=shards, total=len(rows))
    writer.page(addresses.REVIEW, "review", "review", groups)
    writer.page(
        addresses.START, "start", "start", start_shown(contents, [(group.name, group.total) for group in groups])
    )
