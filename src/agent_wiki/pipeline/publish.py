"""From a wiki in memory to a wiki on disk, and back. The pure modules decide; here their results are written.

Records are written as they come, pages after all of them: a killed run is continued from the records. Only what
differs from the disk is written, and what a person edited is left unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from agent_wiki.engine import Engine, Progress
from agent_wiki.errors import Queued, RunStopped, UnitError, UnreadablePage
from agent_wiki.pages.catalog import Catalog, RenderedPage
from agent_wiki.pages.contract import contract, is_its_owners
from agent_wiki.pages.index_shards import FOLDER as SHARDS
from agent_wiki.pages.index_shards import is_shard
from agent_wiki.pages.indexes import IndexEntry, entry_of_foreign, indexes_of
from agent_wiki.pages.judged import judged
from agent_wiki.pages.memo import Known
from agent_wiki.pages.merged import is_written_into
from agent_wiki.pages.quarantine import quarantined_pages
from agent_wiki.pages.rejected import remembered
from agent_wiki.pages.settled import Settled, settled_sessions
from agent_wiki.pages.state import WikiState, WikiView, view_of
from agent_wiki.pages.waiting import lesson_pages, without
from agent_wiki.pipeline import audit, comparisons_cache, sidecar
from agent_wiki.pipeline.collector import cycle_search_paused
from agent_wiki.pipeline.config_tags import ReplacedTags, tag_entries
from agent_wiki.pipeline.corpus import KeptAnswers, archived_guidelines
from agent_wiki.pipeline.git_sides import edited_before_merge
from agent_wiki.pipeline.judged_records import remember_judged
from agent_wiki.pipeline.load import load_wiki
from agent_wiki.pipeline.new_pages import NewPages, listed, waiting_pages
from agent_wiki.pipeline.page_writers import written_pages
from agent_wiki.pipeline.pages_on_disk import INDEX_PAGES, PagesOnDisk, remember
from agent_wiki.pipeline.redacted_sources import redacted_script
from agent_wiki.pipeline.scripts_on_disk import ScriptFiles
from agent_wiki.pipeline.session_stages import is_superseded, merged
from agent_wiki.pipeline.settling import terms_of
from agent_wiki.report import Failure, Learnt, Report
from agent_wiki.stages.corpus_result import CorpusResult
from agent_wiki.stages.order import CORPUS_STAGES, STAGES, stage_named
from agent_wiki.wiki.config import TAGS, parse_config
from agent_wiki.wiki.config_edits import edit_config
from agent_wiki.wiki.corpus_records import CorpusRecord, corpus_text
from agent_wiki.wiki.generated import has_conflict, origin_of, with_one_mark
from agent_wiki.wiki.kinds import FOLDERS, LESSONS
from agent_wiki.wiki.layout import AGENTS, CONFIG, is_quarantined, kind_of, page_id, skill_path
from agent_wiki.wiki.records import SessionRecord, content_digest, record_path, record_text
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import Templates

GIT_ATTRIBUTES = ".gitattributes"

Ask = Callable[[], tuple[CorpusResult, dict[str, CorpusRecord]]]


class Publisher:
    """One run's hold on a wiki folder: loads it, accepts records, writes what changed."""

    def __init__(self, folder: WikiFolder, engine: Engine, report: Report, *, is_rewrite: bool = False) -> None:
        self.folder = folder
        self.report = report
        self.engine = engine
        self.is_rewrite = is_rewrite
        self.templates = Templates(folder.root / "templates")
        self.state = WikiState()
        self.pages = PagesOnDisk()
        self.is_unanswered = False  # a stage could not ask all its questions: what it made before is kept
        self.unreadable_records: set[str] = set()
        self.settled: list[Settled] = []  # sessions whose records were not read: their pages stay as they are
        self.is_merged = False  # git merged two branches of the wiki since the last run
        self._merged_sessions: set[str] = set()
        self.config_text = ""
        self.released: set[str] = set()
        self.rendered: set[str] = set()  # files that hold what was rendered in this run, and nothing else
        self._audit = audit.AuditLog(folder)
        self._replaced = ReplacedTags(folder)
        self._taken: set[str] = set()
        self._edited_files: set[str] = set()
        self._merged_edits: set[str] = set()  # index pages that git merged, edited on one of the branches

    @cycle_search_paused()
    def load(self, *, may_leave_settled: bool = False) -> None:
        """Read the wiki; create it when it does not exist. A file that cannot be read is a failure of that file.

        A run that only renders pages may leave unread the sessions that have no part in what changed.
        """
        problems: list[UnreadablePage] = []
        sidecar.fetch(self.folder)
        loaded = load_wiki(
            self.folder, problems, settled_but=self._replaced.by_guideline.keys() if may_leave_settled else None
        )
        self.settled = loaded.settled
        self.state, self.pages, self.unreadable_records = loaded.state, loaded.pages, loaded.unreadable
        self.config_text, self.is_merged = loaded.config_text, loaded.is_merged
        for path, record in loaded.unwritten.items():
            if isinstance(record, CorpusRecord):
                self.folder.write_text(path, corpus_text(path, record))
                continue
            if self.is_merged:
                self._merged_sessions.add(record.session_id)
            self.folder.write_text(path, record_text(record))
        self.report.failures += [Failure.of(problem) for problem in problems]

    def keep(self, paths: Iterable[str]) -> None:
        """These files are a person's from here on: they are not written."""
        for path in paths:
            if path in self.pages.replaceable:
                self.pages.keep(path, self.folder.read_page(path)[1])

    def release(self, paths: Iterable[str]) -> None:
        """These files are rendered again, or removed when nothing supports them, also where others edited them."""
        for path in paths:
            self.released.add(path)
            self.pages.release(path)
            self.state.foreign.pop(path, None)

    @property
    def unreadable(self) -> set[str]:
        """Files of the wiki that are left unchanged until somebody repairs them."""
        return self.pages.unreadable | self.unreadable_records

    def take(
        self, mined: SessionRecord, *, rewrite: bool = False, text: str | None = None, is_judged: bool = False
    ) -> bool:
        """Add one session's record, unless the wiki has a larger version of it; returns whether it was added.

        `text` is that of its file in another wiki. `is_judged`: this program has judged it in this run.
        """
        known = self.state.records.get(mined.session_id)
        if known is not None and known.joined_from is not None and mined.joined_from is None:
            self._replaced.add(known)
            known = None  # read here, or by a wiki that is trusted: nothing of the other version is kept
        if known is not None and self._is_superseded(mined, known, rewrite=rewrite):
            return False
        self._taken.add(mined.session_id)
        record = merged(known, mined)  # what is known was judged when it was read
        if not is_judged:
            record = judged(record)
        if known is not None:
            self._replaced.add(known)
        if record != known:
            self._audit.add(audit.uses_of(record))
            self._put_record(record, record_text(record) if text is None or record != mined else text)
        return True

    def _put_record(self, record: SessionRecord, text: str) -> None:
        self.state.records[record.session_id] = record
        self.state.digests[record.session_id] = content_digest(text.encode("utf-8", "replace"))
        self.folder.write_text(record_path(record.session_id), text)

    def _is_superseded(self, mined: SessionRecord, known: SessionRecord, *, rewrite: bool) -> bool:
        if mined.joined_from is not None and known.joined_from is None:
            return True
        if mined.session_id in self._taken:
            return mined.order < known.order
        files = (mined.recording.file, known.recording.file)
        return not rewrite and is_superseded(mined.order, files[0], known.order, files[1])

    def take_scripts(self, path: str, theirs: WikiFolder) -> None:
        """Copy the scripts of a skill that another tool wrote, redacted; its page is taken over."""
        if kind_of(path) == "skill":
            slug = path.split("/")[1]
            for name, text in ScriptFiles(theirs).read(slug).items():
                script = f"skills/{slug}/scripts/{name}"
                self.folder.write_text(script, redacted_script(text, script, self.report))

    def forget(self, session_id: str) -> SessionRecord | None:
        """Remove one session's record and return it; None when the wiki has none."""
        record = self.state.records.pop(session_id, None)
        if record is not None:
            self._replaced.add(record)
            self.folder.remove(record_path(session_id))
        return record

    @cycle_search_paused()
    def finish(
        self, stages: Sequence[str], progress: Progress, *, archive_covered: bool, new_pages: NewPages = "all"
    ) -> None:
        """Run the stages over all sessions that are asked for, then render the pages and write all that changed."""
        view = view_of(self.state)
        self._keep_edits_of_merged_pages(view)
        self._report_merged_kept_files()
        self._remember_rejected(view)
        self._edit_tags(tag_entries(view, self._replaced.by_guideline))  # first, for other stages see them
        wanted = [stage for stage in CORPUS_STAGES if stage in stages or self._is_outdated_by_merge(stage)]
        if wanted:
            self._ask_all(wanted, view, progress)
        progress("catalog", 0, 1)
        view = self._published(view, new_pages)
        archive = archived_guidelines(view, archive_covered=archive_covered)
        pages = self.pages
        made = Catalog(view, archive, self.templates, edited=pages.edited, known=pages.known, settled=self.settled)
        self.folder.write_text(CONFIG, self.config_text)
        self._replaced.clear()
        self._write_git_attributes()
        self._write_pages(made, archive_covered=archive_covered)
        self.report.warnings += made.warnings
        sidecar.store(self.folder, self.state.config.sidecar)
        remember_judged(self.folder, map(record_path, self.state.records))

    def _published(self, view: WikiView, new_pages: NewPages) -> WikiView:
        """The wiki without the pages that wait for a later run."""
        if new_pages == "all" or (new_pages == "unlisted" and not listed(self.folder)):
            waiting_pages(self.folder, (), (), new_pages)
            return view
        whole = Catalog(view, {}, self.templates, edited=self.pages.edited)
        waiting = waiting_pages(self.folder, lesson_pages(whole), set(map(page_id, self.pages.all())), new_pages)
        self.report.pages_waiting = len(waiting)
        return without(view, {page.id for page in waiting})

    def _ask_all(self, stages: Sequence[str], view: WikiView, progress: Progress) -> None:
        with comparisons_cache.remembered(self.folder, view.compared):
            for stage, ask in self._asked(stages, view).items():
                progress(stage.replace("-", " "), 0, 1)
                self._unless_unanswered(stage, ask)

    def _is_outdated_by_merge(self, stage: str) -> bool:
        """Whether git merged two wikis of which both hold answers over their own sessions alone, and asking is free."""
        if not self.is_merged:
            return False
        if self.state.engines() == {self.engine.name} and not self.engine.is_paid:
            return True
        self.report.warnings.append(
            f"git merged this wiki: run `wiki {stage}` with its engine, for it has new sessions"
        )
        return False

    def _report_merged_kept_files(self) -> None:
        """A page that the owner keeps is not written, also where git left both sides' lines in it."""
        own = (self.pages.edited, self.pages.foreign, self.pages.unreadable, INDEX_PAGES, [AGENTS])
        for path in sorted({path for path in self.state.config.kept if any(path in each for each in own)}):
            text = self._text(path)
            if has_conflict(text) or origin_of(text) == "merged":
                self.report.warnings.append(f"{path}: git merged it, and you keep it: take out what is there twice")

    def _keep_edits_of_merged_pages(self, view: WikiView) -> None:
        """A page that git merged may hold what a person wrote: then it is one that a person edited."""
        others = {*self.state.config.kept, *self.released, *self.pages.indexes}
        indexes = [path for path in INDEX_PAGES if path not in others and origin_of(self._text(path)) == "merged"]
        edited = edited_before_merge(self.folder.root, [*self.pages.merged, *indexes])
        self._merged_edits = edited.intersection(indexes)
        for path in sorted(edited):
            self.folder.write_text(path, with_one_mark(self._text(path)))
        for path in sorted(self.pages.merged):
            text = self._text(path)
            if path not in edited and not is_written_into(path, text, view, self.templates, self._merged_sessions):
                continue
            self.pages.merged.remove(path)
            try:
                self.pages.edited[path] = self.folder.read_page(path)[1]
            except UnreadablePage as error:
                self.pages.unreadable.add(path)
                self.report.failures.append(Failure.of(error))

    def _asked(self, stages: Sequence[str], view: WikiView) -> dict[str, Ask]:
        """For each stage a function that returns its result; in parallel where the engine waits for answers."""
        asks: dict[str, Ask] = {stage: self._ask(stage, view) for stage in stages}
        if len(asks) < 2 or self.engine.concurrency < 2:
            return asks
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(len(asks)) as threads:
            running = {stage: threads.submit(ask) for stage, ask in asks.items()}
        return {stage: each.result for stage, each in running.items()}

    def _ask(self, stage: str, view: WikiView) -> Ask:
        answers = KeptAnswers(self.engine, self.state.corpus, is_rewrite=self.is_rewrite)
        return lambda: (stage_named(stage).run(view, answers), answers.used)

    def _unless_unanswered(self, stage: str, ask: Ask) -> None:
        """Store what a stage found; what it made before is kept when the engine cannot answer now."""
        try:
            found, answers = ask()
        except RunStopped as reached:
            self.is_unanswered, self.report.stopped = True, str(reached)
            return
        except UnitError as failed:
            self.is_unanswered = True
            self.report.failures.append(Failure.of(failed, stage=stage))
            return
        self._keep_answers(stage, answers, found.waiting_for)
        self._edit(found.section, found.entries)
        self.report.warnings += found.warnings
        self.is_unanswered = self.is_unanswered or bool(found.unanswered)
        for error in found.unanswered:
            (self.report.waiting if isinstance(error, Queued) else self.report.failures).append(Failure.of(error))

    def _keep_answers(self, stage: str, answers: Mapping[str, CorpusRecord], waiting_for: frozenset[str]) -> None:
        """The stage's answers of this run replace those of earlier ones, but for those about what has none yet."""
        for path in sorted(self.state.corpus):
            record = self.state.corpus[path]
            if record.made_by.stage == stage and path not in answers and not waiting_for.intersection(record.about):
                self.put_corpus_record(path, None)
        for path, record in sorted(answers.items()):
            self.put_corpus_record(path, record)

    def _remember_rejected(self, view: WikiView) -> None:
        """Keep what rejected pages say, and nothing of pages that are no longer rejected."""
        changes = remembered(self.state.config.rejected, view.rejected, self.state.corpus)
        for path, record in sorted(changes.items()):
            self.put_corpus_record(path, record)

    def put_corpus_record(self, path: str, record: CorpusRecord | None) -> None:
        """Store an answer over several pages; None removes it."""
        if record is None:
            self.state.corpus.pop(path, None)
            self.folder.remove(path)
        else:
            self.state.corpus[path] = record
            self.folder.write_text(path, corpus_text(path, record))

    def _write_pages(self, made: Catalog, *, archive_covered: bool) -> None:
        entries: list[IndexEntry] = []
        before = self.pages.all()
        counts: Counter[str] = Counter()
        rendered: set[str] = set()
        known: dict[str, Known] = {}
        scripts = ScriptFiles(self.folder, self.state.config.kept, self.released)
        self._audit.add([*audit.new_skills(made.view, self.pages.all()), *self._archived(made)])
        for slug, joined in made.view.skills.items():
            versions = [each.entry.scripts for each in joined.contributions]
            is_page_edited = skill_path(slug) in self.pages.edited
            may_run = joined.first.session.record.joined_from is None  # else nobody here has seen where it comes from
            self._edited_files.update(scripts.write(slug, versions, is_page_edited=is_page_edited, may_run=may_run))
        others = {*self.pages.edited, *self.pages.foreign, *self.unreadable}
        changed = 0
        with closing(self._written_pages(made, others)) as pages:
            for page, is_written in pages:
                rendered.add(page.path)
                changed += is_written
                if page.entry is not None:
                    entries.append(page.entry)
                    self._note_learnt(page.entry, before)
                    if page.foreign is None and page.path not in others:
                        known[page.path] = Known(page.inputs, page.entry.date or "", page.entry.line)
                kind = page.entry.kind if page.entry else kind_of(page.path) or "other"
                counts["archived" if page.path.startswith("_archived/") else kind] += 1
        for entry in made.settled_entries():
            entries.append(entry)
            rendered.add(entry.path)
            counts[entry.kind] += 1
        self.report.pages_unchanged += len(rendered) - changed
        self._remove(rendered, scripts)
        self._write_quarantine(made)
        self._write_indexes(made, entries)
        self._remember(made, known, may_settle=archive_covered)
        self.rendered |= rendered - others
        self.report.edited = sorted({*self.pages.edited, *self._edited_files} - set(self.state.config.kept))
        self.report.written = sorted(set(self.folder.written))
        self.report.removed = list(self.folder.removed)
        self.report.pages = Counter({f"{kind} pages": count for kind, count in counts.items() if count})

    def _note_learnt(self, entry: IndexEntry, before: set[str]) -> None:
        """Name a page of a lesson that the wiki did not have `before`."""
        if entry.kind in LESSONS and entry.path not in before:
            row = entry.row()
            support = row.get("support")  # of a page that came from elsewhere it may be anything
            sessions = support.get("sessions") if isinstance(support, dict) else None
            self.report.learnt.append(Learnt(entry.kind, str(row["title"]), entry.path, sessions))

    def _remember(self, made: Catalog, known: Mapping[str, Known], *, may_settle: bool) -> None:
        """Remember for the next run what need not be read or rendered again."""
        settled, terms = list(made.settled), ""
        if may_settle and not any(stage.pages for stage in STAGES):
            settled += settled_sessions(made, known)
            terms = terms_of(made.view, self.config_text, self.folder.files(), self.templates.digest())
        remember(self.folder, known, self.rendered.intersection(INDEX_PAGES), terms, settled)

    def _written_pages(self, made: Catalog, others: set[str]) -> Generator[tuple[RenderedPage, bool]]:
        """Write all pages but `others`. Yields each, and whether it was written."""
        for page in made.other_pages([stage.pages for stage in STAGES if stage.pages is not None]):
            yield page, self._write(page, others)
        yield from written_pages(made, self.folder, lambda page: self._write(page, others))

    def _write(self, page: RenderedPage, others: set[str]) -> bool:
        """Write one page where it differs from what lies on disk; True if it was written. `others` are left alone."""
        if page.foreign is None:
            return page.text is not None and page.path not in others and self.folder.write_text(page.path, page.text())
        if page.path in self.unreadable:
            return False
        if has_changed := self._has_changed(page):
            self.folder.write_page(page.path, page.foreign, preserve=True)
        if page.moved_from is not None:
            self.folder.remove(page.moved_from)
        return has_changed

    def _has_changed(self, page: RenderedPage) -> bool:
        former = self.pages.foreign.get(page.path)
        assert page.foreign is not None
        return former is None or former != page.foreign or list(former.fields) != list(page.foreign.fields)

    def _remove(self, rendered: set[str], scripts: ScriptFiles) -> None:
        """Remove generated pages that are no longer rendered, unless an unreadable record may have made them."""
        gone = self.pages.replaceable - rendered
        for path in sorted(gone & self.released if self.unreadable_records else gone):
            if kind_of(path) == "skill":
                scripts.remove(path.split("/")[1])
            self.folder.remove(path)

    def _write_quarantine(self, made: Catalog) -> None:
        """Write what is held back, and remove what no longer is, unless an unreadable record may have made it."""
        pages = [page for page in quarantined_pages(made) if is_quarantined(page.path)]
        before = {path for path in self.folder.files() if is_quarantined(path)}
        new = [page for page in pages if page.path not in before]
        self._audit.add(audit.newly_quarantined(new))
        for page in pages:
            self.folder.write_text(page.path, page.text(self.templates))
        for path in sorted(before - {page.path for page in pages}) if not self.unreadable_records else ():
            self.folder.remove(path)
        self.report.quarantined += [page.path for page in new]

    def _archived(self, made: Catalog) -> Iterable[dict[str, Any]]:
        before = self.pages.all()
        records = audit.newly_archived(made, before)
        self.report.archived += [record["dst"] for record in records if record["src"] in before]
        return records

    def _write_indexes(self, made: Catalog, entries: Iterable[IndexEntry]) -> None:
        shown = [self._as_edited(entry) for entry in entries]
        indexes = indexes_of(made, shown, self.templates)
        paths: set[str] = set()
        for path, text in indexes.files:
            paths.add(path)
            if self._is_left(path):
                self._edited_files.add(path)
            else:
                self.folder.write_text(path, text)
                self.rendered.add(path)
        self._remove_shards_but(paths)
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
        text = self._text(path)
        return bool(text) and (path in {*self.state.config.kept, *self._merged_edits} or origin_of(text) == "edited")

    def _text(self, path: str) -> str:
        return self.folder.read_text(path, errors="replace") or ""

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

    def _edit(self, section: tuple[str, ...], entries: dict[str, Any]) -> None:
        self.set_config(edit_config(self.config_text, section, entries))

    def _edit_tags(self, entries: Mapping[str, list[str] | None]) -> None:
        """The same for tags, of which there are too many to parse all again."""
        self.config_text = edit_config(self.config_text, TAGS, entries)
        tags = {**self.state.config.tags, **entries}
        kept = {name: each for name, each in tags.items() if each is not None}
        self.state.config = replace(self.state.config, tags=kept)

    def set_config(self, text: str) -> None:
        """Continue with another text of the configuration."""
        if text != self.config_text:
            self.config_text = text
            self.state.config = parse_config(text)
