"""A wiki as checks look at it: read once, and only as far as a check asks. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agent_wiki.asking.options import AskingOptions
from agent_wiki.engine import no_progress
from agent_wiki.engines import EMBEDDED, opened_engine
from agent_wiki.errors import NewerVersion, RunError, UnreadablePage, UnsafePath
from agent_wiki.pages.state import WikiView, view_of
from agent_wiki.pipeline import sidecar
from agent_wiki.pipeline.owners_pages import EditedFile, edited_files_of
from agent_wiki.pipeline.pages_on_disk import PagesOnDisk
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.stages.order import CATALOG
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.files import Signature
from agent_wiki.wiki.layout import CONFIG, kind_of, page_id
from agent_wiki.wiki.page import Page, parse_page
from agent_wiki.wiki.records import record_path
from agent_wiki.wiki.store import WikiFolder

if TYPE_CHECKING:
    from agent_wiki.checks.recordings import AgainstRecordings

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Rendering:
    """What `wiki catalog` would do in the wiki as it is: files to write, with their text, and to remove; warnings."""

    planned: Mapping[str, str]
    removed: frozenset[str]
    warnings: tuple[str, ...]


class CheckedWiki:
    """A wiki, its files, what is loaded of it and what would be rendered. Each is made when it is first asked for."""

    def __init__(self, root: Path, recordings: Sequence[RecordingPath] = (), *, archive_covered: bool = True) -> None:
        self.folder = WikiFolder(root, is_dry_run=True)
        self.recordings = recordings
        self.archive_covered = archive_covered
        self._texts: dict[str, str] = {}
        self._pages: dict[str, Page | UnreadablePage] = {}
        self._looked_up: dict[str, Any] = {}

    @cached_property
    def files(self) -> Mapping[str, Signature]:
        """Every file but machinery and audit log by path; the path of a symbolic link ends in a slash."""
        return self.folder.files()

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that has files."""
        found = {path.rpartition("/")[0] for path in self.files}
        while above := {path.rpartition("/")[0] for path in found} - found:
            found |= above
        return frozenset(found - {""})

    @cached_property
    def in_lower_case(self) -> Mapping[str, str]:
        """Each file by its path in lower case."""
        return {path.lower(): path for path in self.files}

    def text(self, path: str) -> str:
        """A file's text, bytes that are not UTF-8 replaced; "" where there is none, or a link leads there."""
        if path not in self._texts:
            try:
                self._texts[path] = self.folder.text_or_empty(path)
            except (UnsafePath, OSError):
                self._texts[path] = ""
        return self._texts[path]

    def page(self, path: str) -> Page | None:
        """A page as it is parsed; None where it cannot be."""
        found = self._parsed(path)
        return found if isinstance(found, Page) else None

    def _parsed(self, path: str) -> Page | UnreadablePage:
        if path not in self._pages:
            try:
                self._pages[path] = parse_page(self.text(path), path)
            except UnreadablePage as error:
                self._pages[path] = error
        return self._pages[path]

    def looked_up(self, name: str, look: Callable[[], Found]) -> Found:
        """What several checks of a family look for, looked for once."""
        if name not in self._looked_up:
            self._looked_up[name] = look()
        return cast("Found", self._looked_up[name])

    @cached_property
    def page_paths(self) -> list[str]:
        """Every page, sorted; those in `_archived/` too."""
        return self.folder.page_paths()

    @cached_property
    def markdown_paths(self) -> list[str]:
        """Every page and every index page, sorted."""
        own = set(self.page_paths)
        return sorted(path for path in self.files if path in own or path.rpartition("/")[2] == "index.md")

    @cached_property
    def _loaded(self) -> tuple[Publisher, Publisher]:
        """The wiki as a run loads it, without what the last run remembered of its pages; and the same with that.

        Raises `RunError`.
        """
        report = Report("check", str(self.folder.root), is_dry_run=True)
        with opened_engine(EMBEDDED, self.folder.root, AskingOptions()) as opened:
            publisher = Publisher(self.folder, opened.engine, report)
        publisher.load(may_be_newer=True)
        as_remembered = publisher.on_trial()
        publisher.pages.known.clear()
        return publisher, as_remembered

    @cached_property
    def why_not_loaded(self) -> str:
        """Why the wiki cannot be loaded, in one line; empty where it can."""
        try:
            _ = self._loaded
        except RunError as error:
            return str(error)
        return ""

    @cached_property
    def records_elsewhere(self) -> str | None:
        """Where the records of this wiki lie, if they are not here yet, as in a fresh clone with a sidecar."""
        try:
            return sidecar.records_elsewhere(self.folder)
        except RunError:
            return None  # the wiki cannot be loaded for another reason

    @cached_property
    def failures(self) -> list[Failure]:
        """The pages and records that cannot be read."""
        return list(self._loaded[0].report.failures)

    @cached_property
    def newer_records(self) -> list[NewerVersion]:
        """The records that a newer version of this program wrote."""
        return [each for each in self._loaded[0].newer_files if each.page != CONFIG]

    @cached_property
    def view(self) -> WikiView:
        """What the sessions contribute, joined."""
        return view_of(self._loaded[0].state)

    @cached_property
    def config(self) -> Config:
        return self.view.state.config

    @cached_property
    def pages(self) -> PagesOnDisk:
        """The pages by whose they are."""
        return self._loaded[0].pages

    @cached_property
    def rendering(self) -> Rendering:
        """What `wiki catalog` would do; of a newer version's wiki nothing. Other line ends are no difference."""
        if self._loaded[0].newer_files:
            return Rendering({}, frozenset(), ())
        _ = (self.failures, self.view)  # before the run below changes them
        publisher, _ = self._loaded
        publisher.finish((CATALOG,), no_progress, archive_covered=self.archive_covered, new_pages="unlisted")
        planned = {path: text for path, text in self.folder.planned.items() if not self._is_same(path, text)}
        return Rendering(planned, frozenset(self.folder.removed), tuple(publisher.report.warnings))

    @cached_property
    def compared(self) -> AgainstRecordings:
        """What the recordings that are here say against the wiki."""
        from agent_wiki.checks.recordings import compared

        return compared(self)

    @cached_property
    def edited(self) -> list[EditedFile]:
        """The generated files that a person changed and has not decided to keep."""
        _ = self.rendering
        publisher, as_remembered = self._loaded
        edited = publisher.report.edited
        return edited_files_of(as_remembered, edited) if edited else []

    def _is_same(self, path: str, text: str) -> bool:
        return self.text(path).replace("\r\n", "\n") == text.replace("\r\n", "\n") and path in self.files

    @cached_property
    def worded_by_others(self) -> dict[str, Page]:
        """The pages that are not as this program rendered them: of other tools, and those that a person edited."""
        return {**self.pages.foreign, **self.pages.former, **self.pages.edited}

    def path_of(self, guideline_id: str) -> str:
        """The page of a guideline of this program's own; its first record's where it has none."""
        if guideline_id in self._guideline_paths:
            return self._guideline_paths[guideline_id]
        return record_path(self.view.guidelines[guideline_id].first.session.session_id)

    @cached_property
    def _guideline_paths(self) -> dict[str, str]:
        return {page_id(path): path for path in self.page_paths if kind_of(path) == "guideline"}

    def published(self) -> Iterator[str]:
        """Every page that is not retired."""
        return (path for path in self.page_paths if not path.startswith("_"))


def fields_of(path: str, page: Page) -> Mapping[str, Any]:
    """The fields of a page that are this program's: of a skill those under `metadata`, where it has that."""
    metadata = page.fields.get("metadata")
    return metadata if kind_of(path) == "skill" and isinstance(metadata, dict) else page.fields


def line_of(text: str, position: int) -> int:
    """The 1-based line of a position in a text."""
    return text.count("\n", 0, position) + 1


def line_with(text: str, wanted: str) -> int | None:
    """The 1-based line in which some words first stand; None for nowhere."""
    position = text.find(wanted) if wanted else -1
    return None if position < 0 else line_of(text, position)
