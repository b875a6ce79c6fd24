"""forget: sessions taken out of a wiki, with all that only they contained.

What they alone supported is removed, what others support is rendered from the others. Journal, stored texts and caches
lose what is about them, and at the end the whole wiki is searched for strings that only they contained.

The records go last, just before pages are rendered: a run killed before that is finished by the same command, one
killed later by any run that renders the pages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agent_wiki.asking.forgetting import forget_in_journal, forget_in_store
from agent_wiki.asking.journal_lines import Record
from agent_wiki.asking.options import AskingOptions
from agent_wiki.engine import Progress
from agent_wiki.engines import EMBEDDED, opened_engine
from agent_wiki.errors import UsageError
from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.guideline import EXTRACT_GUIDELINES
from agent_wiki.pages.skill import SYNTHESIZE_SKILL
from agent_wiki.pages.state import WikiState, WikiView, view_of
from agent_wiki.pages.task import sessions_of_tasks
from agent_wiki.pipeline import audit, finished
from agent_wiki.pipeline.bucket_state import is_in_bucket
from agent_wiki.pipeline.forget_config import without_sessions
from agent_wiki.pipeline.forget_machinery import KNOWN_FILES, cached_files, forget_recordings, remember_forgotten
from agent_wiki.pipeline.own_strings import OwnStrings, found_in, texts_in
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.pipeline.taken_out import Forgotten
from agent_wiki.stages import discover_tasks
from agent_wiki.stages.order import CATALOG, CORPUS_STAGES
from agent_wiki.trajectory.json_text import object_in
from agent_wiki.trajectory.subagents import descendants
from agent_wiki.wiki.config import forgotten_name
from agent_wiki.wiki.config_edits import edit_list
from agent_wiki.wiki.corpus_records import CorpusRecord
from agent_wiki.wiki.layout import AUDIT_LOG, CONFIG, MACHINERY, kind_of, page_id
from agent_wiki.wiki.records import SessionRecord, former_record_path, plain, record_path
from agent_wiki.wiki.short_names import LEAST_PREFIX, too_short
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import shipped_folder, shipped_names
from agent_wiki.wiki.text import lines_of

_MOST_NAMED = 6
_WHAT_THEN = "take it from git, or read its recording again with `wiki ingest`, and then forget the session"


def forget(
    wiki: Path,
    wanted: Sequence[str],
    report: Report,
    progress: Progress,
    journal_store: str = "",
    *,
    for_good: bool = False,
) -> Forgotten:
    """Take sessions out of a wiki, by id, its beginning, or the name of a recording that holds no other session.

    What their subagents did is part of them, and goes with them, on all levels.

    With the address of a `journal_store` also out of that. A dry run of `report` says what would go. `for_good`: no run
    and no join brings them back, for `_config.yaml` names them by digests of their ids.

    The stages over several pages run again where the embedded engine made all that is there; another engine is not
    asked, the next run with it asks what is open. Raises `UsageError` for a session that is not there.
    """
    if not (wiki / CONFIG).is_file():
        raise UsageError(f"{wiki}: no wiki ({CONFIG} is missing)")
    folder = WikiFolder(wiki, is_dry_run=report.is_dry_run)
    with opened_engine(EMBEDDED, wiki, AskingOptions()) as opened, folder.locked():
        publisher = Publisher(folder, opened.engine, report)
        publisher.load()
        named = sessions_named(publisher.state, wanted, report.failures)
        parents = [(name, each.parent_session_id) for name, each in publisher.state.records.items()]
        subagents = sorted(descendants(parents, named))
        sessions = sorted([*named, *subagents])
        run = _Forgetting(publisher, sessions, Forgotten(report, sessions, subagents, is_for_good=for_good))
        if not folder.is_dry_run:
            finished.forget(folder)
        if journal_store:
            run.forget_stored(journal_store)
        run.forget_machinery()
        run.forget_pages()
        stages = (*CORPUS_STAGES, CATALOG) if publisher.is_embedded else (CATALOG,)
        publisher.finish(stages, progress, archive_covered=True, new_pages="unlisted")
        audit.AuditLog(folder).add([{"action": "forget", "id": forgotten_name(each)} for each in sessions])
        run.look_again()
    return run.forgotten


def sessions_named(state: WikiState, wanted: Sequence[str], failures: Sequence[Failure] = ()) -> list[str]:
    """The ids of the sessions that a person means, sorted. Raises `UsageError`; `failures` are unreadable files."""
    found: set[str] = set()
    for each in wanted:
        named, how = _named(state, each)
        if len(named) != 1:
            shown = ", ".join(named[:_MOST_NAMED]) + (", …" if len(named) > _MOST_NAMED else "")
            why = f"{len(named)} sessions {how}: {shown}" if named else _why_none(state, each, failures)
            raise UsageError(f"{each}: {why}")
        found.add(named[0])
    return sorted(found)


def _named(state: WikiState, wanted: str) -> tuple[list[str], str]:
    """The sessions with that id, from that recording, or with an id that begins so; and which of these it is."""
    if wanted in state.records:
        return [wanted], "have this id"
    from_file = sorted(name for name, record in state.records.items() if record.recording.file == wanted)
    if from_file or len(wanted) < LEAST_PREFIX:
        return from_file, "are from this recording"
    return sorted(name for name in state.records if name.startswith(wanted)), "begin so"


def _why_none(state: WikiState, wanted: str, failures: Sequence[Failure]) -> str:
    """Why no session is meant: none is called so, too little of an id was given, or its record cannot be read."""
    paths = (record_path(wanted), former_record_path(wanted))
    begun = tuple(path.removesuffix(".json") for path in paths)
    for failure in failures:
        if failure.unit in paths or (len(wanted) >= LEAST_PREFIX and failure.unit.startswith(begun)):
            return f"its record cannot be read ({failure}); {_WHAT_THEN}"
    names = sorted(name for name in state.records if wanted and name.startswith(wanted))
    return too_short(names, "session") if names else "no session has this id"


class _Forgetting:
    """One run: what the sessions contributed, and what is removed."""

    def __init__(self, publisher: Publisher, sessions: list[str], forgotten: Forgotten) -> None:
        self.publisher, self.sessions, self.forgotten = publisher, set(sessions), forgotten
        self.folder = publisher.folder
        state = publisher.state
        self.before = view_of(state)
        left = {name: each for name, each in state.records.items() if name not in self.sessions}
        self.after = view_of(WikiState(state.config, left, state.corpus, state.foreign))
        self.gone = _page_ids(self.before) - _page_ids(self.after)
        records = [state.records[name] for name in sessions]
        self.about = self.sessions | {name for each in records for name in pages_of(each)}
        self.kin = _kin(self.before, self.sessions)
        self.strings = OwnStrings(text for each in records for text in texts_in(plain(each)))
        for other in left.values():
            self._discard(texts_in(plain(other)))
        self._discard(text for text in _shipped_texts())
        self._discard(text for link in Catalog(self.after, {}, publisher.templates).links.items() for text in link)

    def _discard(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.strings.discard(text)

    def forget_stored(self, address: str) -> None:
        """The journal that is kept in a bucket."""
        is_dry_run = self.folder.is_dry_run
        self.forgotten.cut.update(forget_in_store(address, self._is_forgotten, is_dry_run=is_dry_run))

    def forget_machinery(self) -> None:
        """Journal, kept texts, what is known of recordings, caches, and the lines of the audit log."""
        is_dry_run = self.folder.is_dry_run
        for path, count in forget_in_journal(self.folder.root, self._is_forgotten, is_dry_run=is_dry_run).items():
            self._note(path, count)
        self._forget_recordings()
        self._forget_caches()
        self._forget_audit_lines()

    def forget_pages(self) -> None:
        """Answers over several pages, the configuration, edited pages, and last the records."""
        publisher = self.publisher
        dropped = self._answers_about()
        for path in sorted(dropped):
            publisher.put_corpus_record(path, None)
        for answer in publisher.state.corpus.values():
            self._discard(texts_in(plain(answer)))
        gone = self.before.guidelines.keys() - self.after.guidelines.keys() - self.after.foreign_guidelines.keys()
        gone |= self.before.rejected.keys() - self.after.rejected.keys()
        compared = [each.about for each in dropped.values()]
        publisher.set_config(without_sessions(publisher.config_text, self.sessions, gone, compared))
        if self.forgotten.is_for_good:
            names = map(forgotten_name, self.sessions)
            publisher.set_config(edit_list(publisher.config_text, "forgotten", add=sorted(names)))
        self.folder.write_text(CONFIG, publisher.config_text)
        self.forgotten.edited = sorted(
            path for path in publisher.pages.edited if path not in publisher.state.config.kept and self._is_theirs(path)
        )
        gone_paths = {path for path in publisher.pages.replaceable if self._is_theirs(path)}
        publisher.release([*self.forgotten.edited, *gone_paths])
        for path in self.forgotten.edited:
            self.folder.remove(path)
        for session_id in sorted(self.sessions):
            publisher.forget(session_id)

    def _answers_about(self) -> Mapping[str, CorpusRecord]:
        answers = self.publisher.state.corpus
        return {path: each for path, each in answers.items() if self._is_about(each.made_by.stage, each.about)}

    def look_again(self) -> None:
        """Search the wiki and `.wiki/` for what only the sessions contained.

        Pages that this run has rendered can only hold what the other records, the configuration, the templates and
        pages of persons say, and all these are searched. A dry run searches what would stay as it is.
        """
        passed = self.publisher.rendered | {record_path(each) for each in self.publisher.state.records}
        if self.folder.is_dry_run:
            passed |= {*self.folder.written, *self.folder.removed, *self.forgotten.cut}
            passed |= {f"{MACHINERY}/{name}" for name in KNOWN_FILES}
        self.forgotten.remaining = found_in(self.folder.root, self.strings, passed)
        report = self.forgotten.report
        report.removed = sorted(set(report.removed) - set(report.written))

    def _is_forgotten(self, record: Record) -> bool:
        return self._is_about(str(record.get("stage") or ""), [str(each) for each in record["about"]])

    def _is_about(self, stage: str, about: Collection[str]) -> bool:
        """Whether an answer is about the sessions; what is said of one session of a task rests on the others too."""
        names = self.about | self.kin if stage == discover_tasks.STAGE else self.about
        return not names.isdisjoint(about)

    def _is_theirs(self, path: str) -> bool:
        """Whether only these sessions support a page."""
        kind, name = kind_of(path), page_id(path)
        if kind == "summary":
            before = self.before.sessions
            return any(path in before[name].paths for name in self.sessions if name in before)
        if kind == "subtask":
            page = self.publisher.pages.edited.get(path)
            return page is not None and page.fields.get("parent_session_id") in self.sessions
        if kind == "guideline":
            return name in self.before.guidelines and name not in self.after.guidelines
        slug = name.partition(":")[2]
        return kind == "skill" and slug in self.before.skills and slug not in self.after.skills

    def _note(self, path: str, count: int) -> None:
        if count:
            self.forgotten.cut[path] = count
        else:
            self.folder.removed.append(path)

    def _forget_recordings(self) -> None:
        """What `.wiki/` knows of the files that the sessions were read from."""
        names = {self.publisher.state.records[each].recording.file for each in self.sessions} - {None}
        files, others = forget_recordings(self.folder, self.sessions, names)
        self.forgotten.recordings = sorted(path for path in files if is_in_bucket(path) or Path(path).is_file())
        remember_forgotten(self.folder, (path for path in self.forgotten.recordings if not is_in_bucket(path)))
        self._discard(others)

    def _forget_caches(self) -> None:
        """The retrieval index is made again; files of killed runs are removed."""
        for path in cached_files(self.folder.root):
            self.folder.removed.append(path)
            if not self.folder.is_dry_run:
                with suppress(FileNotFoundError):
                    (self.folder.root / path).unlink()

    def _forget_audit_lines(self) -> None:
        text = self.folder.text_or_empty(AUDIT_LOG)
        lines = lines_of(text)
        kept = [line for line in lines if not self._is_audit_of(line)]
        if len(kept) < len(lines):
            self.folder.write_text(AUDIT_LOG, "".join(kept))
            self._note(AUDIT_LOG, len(lines) - len(kept))

    def _is_audit_of(self, line: str) -> bool:
        entry = object_in(line) or {}
        if entry.get("session_id") in self.sessions or entry.get("id") in self.gone:
            return True
        return any(self.strings.first_in(each) is not None for each in (line, *texts_in(entry)))


def pages_of(record: SessionRecord) -> Iterator[str]:
    """The ids of the guidelines and skills that a session contributes to."""
    yield from (str(each.id) for each in record.answer(EXTRACT_GUIDELINES) or ())
    yield from (f"skill:{each.name}" for each in record.answer(SYNTHESIZE_SKILL) or ())


def _page_ids(view: WikiView) -> set[str]:
    return view.guidelines.keys() | {f"skill:{each}" for each in view.skills}


def _kin(view: WikiView, sessions: Collection[str]) -> set[str]:
    """The sessions that a task compares with one of these."""
    tasks = sessions_of_tasks(view.state.config, view.sessions).values()
    return {each for ids in tasks if not set(sessions).isdisjoint(ids) for each in ids}


def _shipped_texts() -> Iterator[str]:
    for name in shipped_names("templates"):
        yield (shipped_folder("templates") / name).read_text(encoding="utf-8")
