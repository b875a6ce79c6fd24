"""The pages and indexes of a catalog, written to disk where they differ; what a person edited is left unchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agent_wiki.pages.catalog import Catalog, RenderedPage
from agent_wiki.pages.contract import contract, is_its_owners
from agent_wiki.pages.index_shards import FOLDER as SHARDS
from agent_wiki.pages.index_shards import is_shard
from agent_wiki.pages.indexes import IndexEntry, entry_of_foreign, indexes_of
from agent_wiki.pages.memo import Known
from agent_wiki.pages.quarantine import held_besides
from agent_wiki.pages.settled import settled_sessions
from agent_wiki.pages.state import WikiState, WikiView
from agent_wiki.pipeline import audit
from agent_wiki.pipeline.page_writers import has_use_for_two, write_texts, written_pages
from agent_wiki.pipeline.pages_on_disk import INDEX_PAGES, PagesOnDisk, remember, remember_indexes
from agent_wiki.pipeline.quarantine_files import QuarantineFiles
from agent_wiki.pipeline.report import Learnt, Note, Report
from agent_wiki.pipeline.scripts_on_disk import ScriptFiles
from agent_wiki.pipeline.settling import terms_of
from agent_wiki.wiki.generated import origin_of
from agent_wiki.wiki.kinds import FOLDERS, LESSONS
from agent_wiki.wiki.layout import AGENTS, ARCHIVE, kind_of, page_id, skill_path
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.two_processes import worked_beside

GIT_ATTRIBUTES = ".gitattributes"
_BLANK = "{0}: somebody emptied this page; `wiki restore {0}` renders it again, or removes it if nothing supports it"


@dataclass
class _Found:
    """What the pages of a catalog are: for the indexes, for the report, and for the next run to remember."""

    entries: list[IndexEntry] = field(default_factory=list)
    rendered: set[str] = field(default_factory=set)
    known: dict[str, Known] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    changed: int = 0

    def add(self, page: RenderedPage, is_written: bool) -> None:
        self.rendered.add(page.path)
        self.changed += is_written
        if page.entry is not None:
            self.entries.append(page.entry)
        kind = page.entry.kind if page.entry else kind_of(page.path) or "other"
        self.counts["archived" if page.path.startswith(f"{ARCHIVE}/") else kind] += 1


@dataclass
class CatalogFiles:
    """The files of one run's catalog.

    `released` are paths that are rendered again whatever lies there, `unreadable` those that nobody may write, and
    `merged_edits` index pages that git merged and a person had edited. The `quarantine` has the lessons that are held
    back. What was written is in the `report`; `rendered` are the files that hold what was rendered in this run, and
    nothing else.
    """

    folder: WikiFolder
    report: Report
    state: WikiState
    pages: PagesOnDisk
    templates: Templates
    audit_log: audit.AuditLog
    quarantine: QuarantineFiles
    config_text: str
    released: Collection[str]
    unreadable: Collection[str]
    merged_edits: Collection[str]
    may_remove_all: bool  # else an unreadable record may have made a page that is no longer rendered
    rendered: set[str] = field(default_factory=set)
    edited: set[str] = field(default_factory=set)  # files of no page that a person edited

    def write(self, made: Catalog, *, may_settle: bool) -> None:
        """Write what differs from the disk and remove what is no longer rendered.

        `may_settle`: the next run may leave unread the sessions that have no part in what changed.
        """
        self._write_git_attributes()
        before = self.pages.all()
        self.audit_log.add([*audit.new_skills(made.view, before), *self._archived(made, before)])
        scripts = self._write_scripts(made)
        found = self._write_pages(made, before)
        self.report.pages_unchanged += len(found.rendered) - found.changed
        self._remove(found.rendered, scripts, made.view)
        self._write_quarantine(made)
        remembering = partial(self._remember, made, found.known, may_settle=may_settle)
        if has_use_for_two(len(found.rendered), self.folder):
            with worked_beside(remembering, self.folder.copy_of_lock()):
                self._write_indexes(made, found.entries)
        else:
            self._write_indexes(made, found.entries)
            remembering()
        remember_indexes(self.folder, self.rendered.intersection(INDEX_PAGES))
        self.report.edited = sorted({*self.pages.edited, *self.edited} - set(self.state.config.kept))
        self.report.warnings += map(_BLANK.format, (path for path in self.report.edited if self._is_blank(path)))
        self.report.written = sorted(set(self.folder.written))
        self.report.removed = list(self.folder.removed)
        self.report.pages = Counter({f"{kind} pages": count for kind, count in found.counts.items() if count})

    def _is_blank(self, path: str) -> bool:
        page = self.pages.edited.get(path)
        return page is not None and page.is_blank

    def _write_scripts(self, made: Catalog) -> ScriptFiles:
        scripts = ScriptFiles(self.folder, self.state.config.kept, self.released)
        for slug, joined in made.view.skills.items():
            versions = [each.entry.scripts for each in joined.contributions]
            is_page_edited = skill_path(slug) in self.pages.edited
            may_run = joined.first.session.record.joined_from is None  # else nobody here has seen where it comes from
            self.edited.update(scripts.write(slug, versions, is_page_edited=is_page_edited, may_run=may_run))
        return scripts

    def _write_pages(self, made: Catalog, before: set[str]) -> _Found:
        """Write all pages but those that are not ours; `before` are the paths that the wiki had."""
        found = _Found()
        others = {*self.pages.edited, *self.pages.foreign, *self.unreadable}
        with closing(self._written_pages(made, others)) as pages:
            for page, is_written in pages:
                found.add(page, is_written)
                if page.entry is not None:
                    self._note_learnt(page.entry, before)
                    if page.foreign is None and page.path not in others:
                        found.known[page.path] = Known(page.inputs, page.entry.date or "", page.entry.line)
        for entry in made.settled_entries():
            found.entries.append(entry)
            found.rendered.add(entry.path)
            found.counts[entry.kind] += 1
        self.rendered |= found.rendered - others
        return found

    def _note_learnt(self, entry: IndexEntry, before: set[str]) -> None:
        """Name a page of a lesson that the wiki did not have `before`."""
        if entry.kind in LESSONS and entry.path not in before:
            title = entry.title or str(entry.row()["title"])
            self.report.learnt.append(Learnt(entry.kind, title, entry.path, entry.support))

    def _remember(self, made: Catalog, known: Mapping[str, Known], *, may_settle: bool) -> None:
        """Remember for the next run what need not be read or rendered again."""
        settled, terms = list(made.settled), ""
        if may_settle and not made.more:
            settled += settled_sessions(made, known, self.state.config)
            terms = terms_of(made.view, self.config_text, self.folder.files(), self.templates.digest())
        remember(self.folder, known, terms, settled)

    def _written_pages(self, made: Catalog, others: set[str]) -> Generator[tuple[RenderedPage, bool]]:
        """Write all pages but `others`. Yields each, and whether it was written."""
        for page in made.other_pages():
            yield page, self._write(page, others)
        yield from written_pages(made, self.folder, lambda page: self._write(page, others))

    def _write(self, page: RenderedPage, others: set[str]) -> bool:
        """Write one page where it differs from what lies on disk; True if it was written. `others` are left alone."""
        if page.foreign is None:
            return page.text is not None and page.path not in others and self.folder.write_text(page.path, page.text())
        if page.path in self.unreadable:
            return False
        if has_changed := self._has_changed(page):
            self.folder.write_page(page.path, page.foreign)
        if page.moved_from is not None:
            self.folder.remove(page.moved_from)
        return has_changed

    def _has_changed(self, page: RenderedPage) -> bool:
        former = self.pages.foreign.get(page.path)
        assert page.foreign is not None
        return former is None or former != page.foreign or list(former.fields) != list(page.foreign.fields)

    def _remove(self, rendered: set[str], scripts: ScriptFiles, view: WikiView) -> None:
        """Remove generated pages that are no longer rendered, unless an unreadable record may have made them."""
        gone = self.pages.replaceable - rendered
        for path in sorted(gone if self.may_remove_all else gone.intersection(self.released)):
            if kind_of(path) == "skill":
                scripts.remove(path.split("/")[1])
            self.folder.remove(path)
            name = page_id(path)
            if name in view.ignored and name not in view.guidelines:
                rules = sorted({str(each.rule_id) for each in view.ignored[name]})
                self.report.ignored.append(Note(path, ", ".join(rules)))

    def _write_quarantine(self, made: Catalog) -> None:
        """Write what else is held back, and remove what no longer is, unless an unreadable record may have made it."""
        self.quarantine.write(held_besides(made))
        if self.may_remove_all:
            self.quarantine.remove_others()
        self.report.quarantined += self.quarantine.new

    def _archived(self, made: Catalog, before: set[str]) -> Iterable[dict[str, Any]]:
        records = audit.newly_archived(made, before)
        self.report.archived += [record["dst"] for record in records if record["src"] in before]
        return records

    def _write_indexes(self, made: Catalog, entries: Iterable[IndexEntry]) -> None:
        shown = list(map(self._as_edited, entries) if self.pages.edited else entries)
        indexes = indexes_of(made, shown, self.templates)
        left = {path for path, _ in indexes.files if self._is_left(path)}
        files = [(path, text) for path, text in indexes.files if path not in left]
        is_large = has_use_for_two(len(shown), self.folder)
        write_texts(self.folder, [path for path, _ in files], lambda at: files[at][1](), is_large=is_large)
        self.edited |= left
        self.rendered.update(path for path, _ in files)
        self._remove_shards_but({*left, *(path for path, _ in files)})
        own = self.folder.read_text(AGENTS, errors="replace")
        is_left = own is not None and AGENTS not in self.released
        if is_left and AGENTS not in self.state.config.kept:
            is_left = is_its_owners(own or "", indexes.example, self.templates)
        if not is_left:
            self.folder.write_text(AGENTS, contract(indexes.example, self.templates, is_sharded=indexes.is_sharded))
            self.rendered.add(AGENTS)

    def _is_left(self, path: str) -> bool:
        """Whether an index page is a person's: kept, or edited."""
        if not path.endswith(".md") or path in self.released:
            return False
        if path in self.pages.indexes and path not in self.state.config.kept:
            return False
        text = self.folder.text_or_empty(path)
        return bool(text) and (path in {*self.state.config.kept, *self.merged_edits} or origin_of(text) == "edited")

    def _as_edited(self, entry: IndexEntry) -> IndexEntry:
        """An edited page is indexed by its own words."""
        page = self.pages.edited.get(entry.path)
        if page is None or not entry.line or entry.kind == "summary":
            return entry
        theirs = entry_of_foreign(entry.path, page, entry.recalls).row()
        own = {name: theirs[name] for name in ("title", "summary") if theirs[name]}
        return entry.with_row({**entry.row(), **own})

    def _remove_shards_but(self, wanted: Collection[str]) -> None:
        """Remove the shards of the index that the wiki no longer has."""
        folder = self.folder.root / SHARDS
        if not folder.is_dir() or folder.is_symlink():
            return
        for name in sorted(each.name for each in folder.iterdir()):
            if is_shard(name) and f"{SHARDS}/{name}" not in wanted:
                self.folder.remove(f"{SHARDS}/{name}")
        if not self.folder.is_dry_run and not any(folder.iterdir()):
            folder.rmdir()

    def _write_git_attributes(self) -> None:
        """Write a file only once, so that the owner may change it."""
        if self.folder.read_text(GIT_ATTRIBUTES, errors="replace") is None:
            self.folder.write_text(GIT_ATTRIBUTES, self.templates.render("gitattributes", folders=FOLDERS))
