"""redact: a wiki cleaned of secrets and personal data that were written before there was a rule for them.

First the configuration, the answers over several pages and the journal, then the records, then what others wrote; pages
are rendered from the records. Where the embedded engine made all, sessions whose recordings are here are mined again:
that gives the bytes of a fresh ingestion. Where there is nothing to clean, nothing is mined. Each step finds its own
work again, so a run that is killed is finished by the same command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_wiki.asking.options import AskingOptions
from agent_wiki.engine import Progress, no_progress
from agent_wiki.engines import EMBEDDED, opened_engine
from agent_wiki.errors import RunError, UnreadablePage, UnreadableRecording, UsageError
from agent_wiki.pages.quotes import quotes_of
from agent_wiki.pipeline import audit, finished, recordings_cache
from agent_wiki.pipeline.cleaning import Cleaning
from agent_wiki.pipeline.export_parts import NO_EXPORT, files_of_exports
from agent_wiki.pipeline.forget_machinery import cached_files
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.leaks import leaks
from agent_wiki.pipeline.mine import redacted_of
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.pipeline.taken_out import CleanedFile, CleanedWiki
from agent_wiki.readers.recording import Recording
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.redaction.numbers import Numbers
from agent_wiki.redaction.personal import is_verbatim_in_stand_ins
from agent_wiki.redaction.values import Redacted
from agent_wiki.stages import extract_guidelines
from agent_wiki.stages.order import CATALOG, CORPUS_STAGES, entry_types
from agent_wiki.trajectory import Trajectory
from agent_wiki.wiki.corpus_records import RECORD_FOLDERS, parse_corpus_record
from agent_wiki.wiki.generated import origin_of
from agent_wiki.wiki.layout import AUDIT_LOG, CONFIG, INDEX, MACHINERY, content_id, kind_of
from agent_wiki.wiki.records import SessionRecord, parse_record, plain, record_path
from agent_wiki.wiki.replacing import replacing
from agent_wiki.wiki.store import WikiFolder

_TAG_LINE = re.compile(r"^ +[0-9a-f]{12}: \[", re.MULTILINE)
_UNDER_WAY = "redacting.json"
"""What lies in `.wiki/` as long as a run has not ended: one that was killed may have cleaned what the next renders."""
_DERIVED = (INDEX, "_id_index.json")


def redact_wiki(wiki: Path, report: Report, progress: Progress) -> CleanedWiki:
    """Clean a wiki; a dry run of `report` says what would be changed. Raises `UsageError` where there is no wiki."""
    if not (wiki / CONFIG).is_file():
        raise UsageError(f"{wiki}: no wiki ({CONFIG} is missing)")
    folder = WikiFolder(wiki, is_dry_run=report.is_dry_run)
    with opened_engine(EMBEDDED, wiki, AskingOptions()) as opened, folder.locked(with_runs=True):
        publisher = Publisher(folder, opened.engine, report)
        publisher.load()
        cleaning = _Cleaning(publisher, CleanedWiki(report))
        if folder.is_dry_run:
            cleaning.clean()
            return cleaning.cleaned
        was_killed = folder.read_machinery(_UNDER_WAY) is not None
        folder.write_machinery(_UNDER_WAY, {})
        cleaning.clean()
        if cleaning.cleaned.files or was_killed:
            finished.forget(folder)
            cleaning.render(progress)
        else:
            publisher.finish((CATALOG,), no_progress, archive_covered=True, new_pages="unlisted")
        cleaning.check()
        (wiki / MACHINERY / _UNDER_WAY).unlink()
    return cleaning.cleaned


class _Cleaning:
    """One run."""

    def __init__(self, publisher: Publisher, cleaned: CleanedWiki) -> None:
        self.publisher, self.cleaned = publisher, cleaned
        self.folder, self.state = publisher.folder, publisher.state
        self.clean_one = Cleaning(self.state.config.keeps_personal_data)
        self.is_embedded = publisher.is_embedded
        self.recordings = _recordings_here(self.folder)
        self.numbers: dict[str, Numbers] = {}
        self.trajectories: dict[str, Trajectory] = {}
        self.changed: set[str] = set()

    def clean(self) -> None:
        """All but the pages that are rendered."""
        records = dict(self._dirty_records())
        self._read_again(set(records))
        values = {name: self._cleaned_record(record) for name, record in records.items()}
        ids = {old: new for each in values.values() for old, new in each[1].items()}
        self._clean_configuration(ids)
        self._clean_corpus(ids)
        self._clean_journal()
        self._clean_caches()
        for name, (value, _) in sorted(values.items()):
            self._put_record(name, value)
        self._clean_others()

    def render(self, progress: Progress) -> None:
        """The pages, and once more what the embedded engine makes of recordings that are here."""
        stages = (*CORPUS_STAGES, CATALOG) if self.is_embedded else (CATALOG,)
        is_mined = bool(self.is_embedded and self.recordings)  # which goes through the same stages again
        shown = no_progress if is_mined else progress
        self.publisher.finish(stages, shown, archive_covered=True, new_pages="unlisted")
        if is_mined:
            run(
                self.recordings,
                Options(self.folder.root, rewrite=True, new_pages="unlisted"),
                self.cleaned.report,
                progress,
            )
        if self.cleaned.files:
            audit.AuditLog(self.folder).add([{"action": "redact", "files": len(self.cleaned.files)}])

    def check(self) -> None:
        """What is left, and quotes that are not in their turns any more."""
        self.cleaned.remaining = sorted({f"{each.file} ({each.kind})" for each in leaks(self.folder.root)})
        for name in sorted(self.changed & self.trajectories.keys()):
            path = record_path(name)
            record = parse_record((self.folder.read_text(path) or "").encode(), path, entry_types())
            for quote in quotes_of(record):
                if not is_verbatim_in_stand_ins(self.trajectories[name], quote.turn, quote.words):
                    self.cleaned.unverified.append(f"{path}: turn {quote.turn} ({quote.what})")

    def _note(self, path: str, found: list[Redacted]) -> None:
        self.cleaned.files += [CleanedFile(path, each.kind, each.place) for each in found]

    def _dirty_records(self) -> Iterator[tuple[str, SessionRecord]]:
        for name, record in sorted(self.state.records.items()):
            if self.clean_one.of_value(plain(record))[1]:
                yield name, record

    def _read_again(self, names: set[str]) -> None:
        """The recordings that are here of sessions whose records change: they know the numbers of the secrets."""
        exports = files_of_exports(self.recordings, recordings_cache.load(self.folder)) if names else NO_EXPORT
        for path in self.recordings if names else ():
            recording = Recording(path, path.name, part=exports.part(path))
            keeps = self.state.config.keeps_personal_data
            try:
                for trajectory, numbers in redacted_of(recording, recording.sha256(), keeps_personal_data=keeps):
                    if trajectory.session_id in names:
                        self.numbers[trajectory.session_id] = numbers
                        self.trajectories[trajectory.session_id] = trajectory
            except (UnreadableRecording, OSError):
                continue  # its sessions get no numbers; an ingestion reports what is wrong with it

    def _cleaned_record(self, record: SessionRecord) -> tuple[Any, dict[str, str]]:
        """The values of a record, and the former ids of guidelines, which are digests of what they say."""
        path = record_path(record.session_id)
        before = json.loads(json.dumps(plain(record)))
        value, found = self.clean_one.of_value(before, self.numbers.get(record.session_id))
        self._note(path, found)
        trajectory = self.trajectories.get(record.session_id)
        if trajectory is not None and trajectory.source.sha256 == record.recording.sha256:
            value |= {"characters": trajectory.characters(), "hygiene": dict(trajectory.source.hygiene)}
        ids: dict[str, str] = {}
        old, new = (each["stages"].get(extract_guidelines.STAGE, {}).get("answer") or [] for each in (before, value))
        for was, entry in zip(old, new, strict=True):
            if was["rule"] != entry["rule"]:
                entry["id"] = content_id(entry["rule"])
                ids[was["id"]] = entry["id"]
        return value, ids

    def _put_record(self, name: str, value: Any) -> None:
        path = record_path(name)
        try:
            record = parse_record(json.dumps(value).encode(), path, entry_types())
        except UnreadablePage as error:
            self.cleaned.report.failures.append(Failure.of(error, path))
            self.cleaned.files = [each for each in self.cleaned.files if each.file != path]  # it stays as it was
            return
        if record.session_id != name:
            self.publisher.forget(name)
        self.publisher.take(record, rewrite=True)
        self.changed.add(record.session_id)

    def _clean_configuration(self, ids: dict[str, str]) -> None:
        text, found = self.clean_one.of_text(self.publisher.config_text, CONFIG)
        lines = (line if _TAG_LINE.match(line) else _with_ids(line, ids) for line in text.splitlines(keepends=True))
        try:
            self.publisher.set_config("".join(lines))
        except RunError as error:
            self.cleaned.report.failures.append(Failure("configuration", CONFIG, f"not cleaned: {error}"))
            return
        self._note(CONFIG, found)
        self.folder.write_text(CONFIG, self.publisher.config_text)

    def _clean_corpus(self, ids: dict[str, str]) -> None:
        for path, answer in sorted(self.state.corpus.items()):
            before = json.loads(json.dumps(plain(answer)))
            value, found = self.clean_one.of_value(before)
            text = _with_ids(json.dumps(value), ids)
            if found or json.loads(text) != before:
                self._note(path, found)
                self.publisher.put_corpus_record(path, parse_corpus_record(text.encode(), path))

    def _clean_journal(self) -> None:
        for file in sorted((self.folder.root / MACHINERY / "journal").glob("*.jsonl")):
            content, found = self.clean_one.of_journal(file.read_bytes(), self.numbers)
            self._note(f"{MACHINERY}/journal/{file.name}", found)
            if found and not self.folder.is_dry_run:
                with replacing(file, 0o600) as stream:
                    stream.write(content)

    def _clean_caches(self) -> None:
        """Texts that were shown shortened, and caches of words of pages, go; a run writes what it needs of them."""
        root = self.folder.root
        kept = (path.relative_to(root).as_posix() for path in (root / MACHINERY / "tool-results").glob("*.txt"))
        for path in sorted({*cached_files(root), *kept}):
            found = self.clean_one.of_text((root / path).read_text(encoding="utf-8", errors="replace"), path)[1]
            self._note(path, found)
            if found and not self.folder.is_dry_run:
                (root / path).unlink()

    def _clean_others(self) -> None:
        """What is not rendered from records: edited pages, those of other tools, their scripts, templates, logs."""
        pages = self.publisher.pages
        for path in sorted([*self.folder.files(), AUDIT_LOG]):
            if path == CONFIG or path.startswith(RECORD_FOLDERS) or path.endswith(("/", *_DERIVED)):
                continue
            text = self.folder.read_text(path, errors="replace")
            cleaned, found = self.clean_one.of_text(text or "", path)
            if text is None or not found:
                continue
            self._note(path, found)
            skill = "/".join((*path.split("/")[:2], "SKILL.md"))
            is_ours = origin_of(text) in ("generated", "merged") or path in pages.replaceable
            if is_ours or (path.startswith("skills/") and skill in pages.replaceable and kind_of(path) is None):
                self.publisher.release([path])
            else:
                self.folder.write_text(path, cleaned)
                if path in pages.foreign or path in pages.edited:
                    page = self.folder.read_page(path)[1] if not self.folder.is_dry_run else None
                    self._replace_page(path, page)

    def _replace_page(self, path: str, page: Any) -> None:
        pages = self.publisher.pages
        if page is not None and path in pages.edited:
            pages.edited[path] = page
        elif page is not None:
            pages.foreign[path] = self.state.foreign[path] = page


def _recordings_here(folder: WikiFolder) -> list[RecordingPath]:
    """The files on this machine that the wiki was made of."""
    cache = recordings_cache.load(folder)
    known = (recordings_cache.known_path(key, entry) for key, entry in sorted(cache.items()) if entry["sessions"])
    return [path for path in known if isinstance(path, Path) and path.is_file()]


def _with_ids(text: str, ids: dict[str, str]) -> str:
    return re.sub(rf"\b(?:{'|'.join(ids)})\b", lambda match: ids[match.group()], text) if ids else text
