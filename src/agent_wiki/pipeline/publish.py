"""From a wiki in memory to a wiki on disk, and back. The pure modules decide; here their results are written.

Records are written as they come, pages after all of them: a killed run is continued from the records. Only what
differs from the disk is written, and what a person edited is left unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from agent_wiki.engine import Engine, Progress
from agent_wiki.engines import EMBEDDED
from agent_wiki.errors import NewerVersion, Queued, RunStopped, UnitError, UnreadablePage
from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.judged import judged
from agent_wiki.pages.merged import is_written_into
from agent_wiki.pages.quarantine import held_lessons
from agent_wiki.pages.rejected import remembered
from agent_wiki.pages.settled import Settled
from agent_wiki.pages.state import WikiState, WikiView, view_of
from agent_wiki.pages.summary_names import differing_by_case, moved_summaries
from agent_wiki.pages.waiting import lesson_pages, without
from agent_wiki.pipeline import audit, comparisons_cache, sidecar
from agent_wiki.pipeline.catalog_files import CatalogFiles
from agent_wiki.pipeline.collector import cycle_search_paused
from agent_wiki.pipeline.config_tags import ReplacedTags, tag_entries
from agent_wiki.pipeline.corpus import KeptAnswers, archived_guidelines
from agent_wiki.pipeline.git_sides import sides_of_merge
from agent_wiki.pipeline.judged_records import remember_judged
from agent_wiki.pipeline.load import load_wiki
from agent_wiki.pipeline.new_pages import NewPages, listed, waiting_pages
from agent_wiki.pipeline.newer_wiki import newer_files
from agent_wiki.pipeline.pages_on_disk import INDEX_PAGES, PagesOnDisk
from agent_wiki.pipeline.quarantine_files import QuarantineFiles
from agent_wiki.pipeline.redacted_sources import redacted_script
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.pipeline.scripts_on_disk import ScriptFiles
from agent_wiki.pipeline.session_stages import is_superseded, merged
from agent_wiki.stages.corpus_result import CorpusResult
from agent_wiki.stages.order import CORPUS_STAGES, page_renderers, stage_named
from agent_wiki.wiki.config import TAGS, forgotten_as, parse_config
from agent_wiki.wiki.config_edits import edit_config, edit_kept
from agent_wiki.wiki.corpus_records import CorpusRecord, corpus_text
from agent_wiki.wiki.generated import has_conflict, origin_of, with_one_mark
from agent_wiki.wiki.layout import AGENTS, CONFIG, kind_of, page_id
from agent_wiki.wiki.records import SessionRecord, content_digest, record_path, record_text
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import Templates

Ask = Callable[[], tuple[CorpusResult, dict[str, CorpusRecord]]]


class Publisher:
    """One run's hold on a wiki folder: loads it, accepts records, writes what changed."""

    def __init__(self, folder: WikiFolder, engine: Engine, report: Report, *, is_rewrite: bool = False) -> None:
        self.folder = folder
        self.report = report
        self.engine = engine
        self.is_rewrite = is_rewrite
        self.names_sidecar = False  # the run was given the place of the records, not only `_config.yaml`
        self.templates = Templates(folder.root / "templates")
        self.state = WikiState()
        self.pages = PagesOnDisk()
        self.is_unanswered = False  # a stage could not ask all its questions: what it made before is kept
        self.unreadable_records: set[str] = set()
        self.newer_files: list[NewerVersion] = []
        self.settled: list[Settled] = []  # sessions whose records were not read: their pages stay as they are
        self.is_merged = False  # git merged two branches of the wiki since the last run
        self._merged_sessions: set[str] = set()
        self.config_text = ""
        self.released: set[str] = set()
        self.rendered: set[str] = set()  # files that hold what was rendered in this run, and nothing else
        self._audit = audit.AuditLog(folder)
        self._replaced = ReplacedTags(folder)
        self._taken: set[str] = set()
        self._merged_edits: set[str] = set()  # index pages that git merged, edited on one of the branches

    @cycle_search_paused()
    def load(self, *, may_leave_settled: bool = False, may_be_newer: bool = False) -> None:
        """Read the wiki; create it when it does not exist. A file that cannot be read is a failure of that file.

        A run that only renders pages may leave unread the sessions that have no part in what changed. Raises `RunError`
        for a wiki that a newer version of this program wrote, unless it `may_be_newer`, as for who writes nothing.
        """
        problems: list[UnreadablePage] = []
        sidecar.fetch(self.folder)
        loaded = load_wiki(
            self.folder, problems, settled_but=self._replaced.by_guideline.keys() if may_leave_settled else None
        )
        self.newer_files = newer_files(problems, loaded.state.config.version, is_refused=not may_be_newer)
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
        for path in loaded.misnamed:
            self.folder.remove(path)
        self.report.failures += [Failure.of(problem) for problem in problems]

    def drop_forgotten(self) -> None:
        """Take out the sessions that stay out for good, where a branch or an older shard brought one back."""
        forgotten = self.state.config.forgotten
        for session_id, record in [*self.state.records.items()] if forgotten else ():
            if forgotten_as(forgotten, session_id, record.parent_session_id):
                self.forget(session_id)

    def on_trial(self) -> Publisher:
        """A dry run over the wiki as it is loaded here: it changes neither the wiki nor this run."""
        trial = Publisher(WikiFolder(self.folder.root, is_dry_run=True), self.engine, Report("trial", self.report.wiki))
        state = self.state
        trial.state = WikiState(
            state.config, dict(state.records), dict(state.corpus), dict(state.foreign), dict(state.digests)
        )
        trial.pages, trial.settled, trial.config_text = self.pages.copied(), list(self.settled), self.config_text
        trial.unreadable_records, trial.is_merged = set(self.unreadable_records), self.is_merged
        trial._merged_sessions = set(self._merged_sessions)
        return trial

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

    @property
    def is_embedded(self) -> bool:
        """Whether the embedded engine made all that the wiki holds: it costs nothing to ask it again."""
        return self.state.engines() <= {EMBEDDED, ""}

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
        view = self._renamed(view_of(self.state))
        self._keep_edits_of_merged_pages(view)
        self._report_merged_kept_files()
        self._remember_rejected(view)
        self._edit_tags(tag_entries(view, self._replaced.by_guideline))  # first, for other stages see them
        wanted = [stage for stage in CORPUS_STAGES if stage in stages or self._is_outdated_by_merge(stage)]
        quarantine = QuarantineFiles(self.folder, self.templates, self._audit)
        quarantine.write(held_lessons(view), meanwhile=partial(self._ask_all, wanted, view, progress))
        progress("catalog", 0, 1)
        view = self._published(view, new_pages)
        archive = archived_guidelines(view, archive_covered=archive_covered)
        edited, known, more = self.pages.edited, self.pages.known, page_renderers()
        made = Catalog(view, archive, self.templates, edited=edited, known=known, settled=self.settled, more=more)
        self.folder.write_text(CONFIG, self.config_text)
        self._replaced.clear()
        files = self._catalog_files(quarantine)
        files.write(made, may_settle=archive_covered)
        self.rendered |= files.rendered
        self.report.warnings += made.warnings
        sidecar.store(self.folder, self.state.config.sidecar, is_named=self.names_sidecar)
        remember_judged(self.folder, map(record_path, self.state.records))

    def _catalog_files(self, quarantine: QuarantineFiles) -> CatalogFiles:
        return CatalogFiles(
            self.folder,
            self.report,
            self.state,
            self.pages,
            self.templates,
            self._audit,
            quarantine,
            self.config_text,
            released=self.released,
            unreadable=self.unreadable,
            merged_edits=self._merged_edits,
            may_remove_all=not self.unreadable_records,
        )

    def _renamed(self, view: WikiView) -> WikiView:
        """Make room for summaries that are called otherwise, as another session is called alike; edited ones move."""
        moved = moved_summaries(self.pages.edited, view.sessions)
        for path, place in moved.items():
            self.folder.write_text(place, self.folder.text_or_empty(path))
            self.folder.remove(path)
            self.pages.keep(place, self.pages.edited.pop(path))
        kept = moved.keys() & set(self.state.config.kept)
        if kept:
            self.set_config(edit_kept(self.config_text, [moved[path] for path in kept], kept))
        for path in differing_by_case(self.pages.replaceable, view.sessions.values()):
            self.folder.remove(path)
            self.pages.forget(path)
        return view_of(self.state) if kept else view

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
        if not stages:
            return
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
            text = self.folder.text_or_empty(path)
            if has_conflict(text) or origin_of(text) == "merged":
                self.report.warnings.append(f"{path}: git merged it, and you keep it: take out what is there twice")

    def _keep_edits_of_merged_pages(self, view: WikiView) -> None:
        """A page that git merged may hold what a person wrote: then it is one that a person edited."""
        others = {*self.state.config.kept, *self.released, *self.pages.indexes}
        indexes = [
            path
            for path in INDEX_PAGES
            if path not in others and origin_of(self.folder.text_or_empty(path)) == "merged"
        ]
        sides = sides_of_merge(self.folder.root, [*self.pages.merged, *indexes])
        edited = {*sides.edited}
        self._merged_edits = edited.intersection(indexes)
        for path in sorted(edited):
            self.folder.write_text(path, with_one_mark(self.folder.text_or_empty(path)))
        for path in sorted(self.pages.merged):
            text = self.folder.text_or_empty(path)
            rendered = sides.rendered.get(path, ())
            merged_sessions = self._merged_sessions
            if path not in edited and not is_written_into(path, text, view, self.templates, merged_sessions, rendered):
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
