"""Reading a wiki: its records, the answers over several pages, its configuration, and the pages others wrote."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from dataclasses import field
from pathlib import Path
from typing import NamedTuple

from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.judged import judged
from agent_wiki.pages.settled import Settled, disturbed
from agent_wiki.pages.state import WikiState, paths_of, view_of
from agent_wiki.pipeline.config_tags import tags_of_stages
from agent_wiki.pipeline.former_layout import converted, converted_answers
from agent_wiki.pipeline.judged_records import judged_records
from agent_wiki.pipeline.judging import all_judged
from agent_wiki.pipeline.pages_on_disk import INDEX_PAGES, Memory, PagesOnDisk, read_pages, remembered
from agent_wiki.pipeline.scripts_on_disk import ScriptFiles
from agent_wiki.pipeline.settling import but_the_newest, terms_of
from agent_wiki.stages.order import entry_types
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.config_merge import merged_config
from agent_wiki.wiki.corpus_records import FOLDER as CORPUS
from agent_wiki.wiki.corpus_records import CorpusRecord, is_without_blanks, parse_corpus_record
from agent_wiki.wiki.generated import has_conflict, origin_of
from agent_wiki.wiki.layout import CONFIG, SIDECAR, page_id
from agent_wiki.wiki.records import FOLDER as SESSIONS
from agent_wiki.wiki.records import (
    SessionRecord,
    content_digest,
    former_record_path,
    parse_record,
    record_path,
    record_text,
)
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import Templates

_CONFLICT = b"\n>>>>>>> "


@dataclass(slots=True)
class LoadedWiki:
    """A wiki as it is on disk. `unreadable` are records that are left unchanged until somebody repairs them.

    `unwritten` are records by path that the state has and the disk has not, or not in these bytes: made of pages of the
    former layout, without the blank lines of answers, of two versions between conflict markers, or under a name that is
    not theirs: those files are `misnamed`. `is_merged`: git merged what is generated, and no run has rendered it since.
    `settled` sessions are not in the state.
    """

    state: WikiState
    pages: PagesOnDisk
    config_text: str
    templates: Templates
    unreadable: set[str] = field(default_factory=set)
    unwritten: dict[str, SessionRecord | CorpusRecord] = field(default_factory=dict)
    misnamed: list[str] = field(default_factory=list)
    is_merged: bool = False
    settled: list[Settled] = field(default_factory=list)


class _Parsed(NamedTuple):
    """A record's file: its path, what it holds, by what it is known, and whether git left its markers in it."""

    path: str
    record: SessionRecord
    digest: str
    is_merged: bool


def load_wiki(
    folder: WikiFolder,
    problems: list[UnreadablePage],
    *,
    is_joined: bool = False,
    is_judged: bool = True,
    settled_but: Collection[str] | None = None,
) -> LoadedWiki:
    """Read a wiki; a new one is empty. A file that cannot be read is appended to `problems`, the others are read.

    Of a wiki that is joined to another no page is read that a record accounts for. Unless `is_judged`, records have
    the findings that are in their files, and whoever takes them judges them. With `settled_but`, ids of pages,
    the records of settled sessions are not read, but for those of which one of these is a page. Raises `RunError` for a
    configuration that cannot be read, and where records lie in a sidecar alone.
    """
    if SIDECAR in folder.files():
        from agent_wiki.pipeline.sidecar import require_records

        require_records(folder)
    templates = Templates(folder.root / "templates")
    loaded = LoadedWiki(WikiState(), PagesOnDisk(), "", templates)
    memory = Memory({}, set(), "", []) if is_joined else remembered(folder)
    if settled_but is not None:
        loaded.settled = but_the_newest(memory.settled)
    but = {each.record for each in loaded.settled}
    _load_records(folder, problems, loaded, but, is_judged=is_judged)
    _load_corpus(folder, problems, loaded)
    paths = paths_of(loaded.state.records.values()) if is_joined else ()
    loaded.pages = read_pages(folder, problems, memory, paths)
    text = folder.read_text(CONFIG) or templates.render("config.yaml")
    loaded.is_merged = has_conflict(text) or bool(loaded.pages.merged) or _has_merged_index(folder, loaded.pages)
    everyone = {each.facts.session_id for each in loaded.settled}
    if loaded.is_merged or loaded.pages.former or loaded.pages.foreign:
        _load_settled(folder, problems, loaded, everyone)
    if loaded.pages.former:
        _convert(folder, loaded)
    if loaded.is_merged:
        text = merged_config(text, tags_of_stages(loaded.state.records.values()))
    loaded.config_text, loaded.state.config = text, parse_config(text)
    _set_apart_kept(folder, problems, loaded)
    loaded.state.foreign = dict(loaded.pages.foreign)
    if loaded.settled:
        view = view_of(loaded.state)
        is_same = terms_of(view, text, folder.files(), templates.digest()) == memory.terms
        named = {*(settled_but or ()), *map(page_id, loaded.pages.edited)}
        _load_settled(folder, problems, loaded, disturbed(loaded.settled, view, named) if is_same else everyone)
    return loaded


def _set_apart_kept(folder: WikiFolder, problems: list[UnreadablePage], loaded: LoadedWiki) -> None:
    """Pages that the owner keeps count as edited, whatever is in them."""
    pages = loaded.pages
    for path in set(loaded.state.config.kept) & (pages.replaceable | pages.foreign.keys()):
        try:
            pages.keep(path, folder.read_page(path)[1])
        except UnreadablePage as error:
            problems.append(error)
            pages.generated.discard(path)
            pages.merged.discard(path)
            pages.unreadable.add(path)


def _load_settled(
    folder: WikiFolder, problems: list[UnreadablePage], loaded: LoadedWiki, session_ids: Collection[str]
) -> None:
    """Read the records of settled sessions after all."""
    if session_ids:
        loaded.settled = [each for each in loaded.settled if each.facts.session_id not in session_ids]
        _load_records(folder, problems, loaded, folder.files().keys() - set(map(record_path, session_ids)))


def _load_records(
    folder: WikiFolder,
    problems: list[UnreadablePage],
    loaded: LoadedWiki,
    but: Container[str],
    *,
    is_judged: bool = True,
) -> None:
    found = list(_parsed_records(folder, problems, loaded, but))
    known = judged_records(folder) if is_judged else ()
    unknown = [each for each in found if is_judged and (each.path not in known or each.is_merged)]
    judged = dict(zip([each.path for each in unknown], all_judged([each.record for each in unknown]), strict=True))
    for path, record, digest, is_merged in found:
        place = record_path(record.session_id)
        is_misnamed = _is_misnamed(path, place, record, folder, loaded)
        other = loaded.state.records.get(record.session_id)
        if other is not None and path != place and not (is_misnamed and record.order > other.order):
            continue  # a copy of a record under another name
        own = judged.get(path, record)
        loaded.state.records[record.session_id] = own
        loaded.state.digests[record.session_id] = digest
        if is_merged or own is not record or is_misnamed:
            loaded.unwritten[place if is_misnamed else path] = own


def _parsed_records(
    folder: WikiFolder, problems: list[UnreadablePage], loaded: LoadedWiki, but: Container[str]
) -> Iterator[_Parsed]:
    for path, content in folder.files_of(SESSIONS, ".json", but):
        try:
            record = parse_record(content, path, entry_types())
        except UnreadablePage as error:
            problems.append(error)
            loaded.unreadable.add(path)
            continue
        yield _Parsed(path, record, content_digest(content), _CONFLICT in content)


def _is_misnamed(path: str, place: str, record: SessionRecord, folder: WikiFolder, loaded: LoadedWiki) -> bool:
    """Whether a record belongs at a `place` where another version of it, if any, can be replaced; then it is noted."""
    is_copy = place in folder.files() and path != former_record_path(record.session_id)
    if path == place or is_copy or place in loaded.unreadable:
        return False
    loaded.misnamed.append(path)
    return True


def _load_corpus(folder: WikiFolder, problems: list[UnreadablePage], loaded: LoadedWiki) -> None:
    for path, content in folder.files_of(CORPUS, ".json"):
        try:
            loaded.state.corpus[path] = parse_corpus_record(content, path)
        except UnreadablePage as error:
            problems.append(error)
            continue
        if _CONFLICT in content or is_without_blanks(content):
            loaded.unwritten[path] = loaded.state.corpus[path]


def _convert(folder: WikiFolder, loaded: LoadedWiki) -> None:
    """Take what pages of the former layout hold; an existing record takes precedence."""
    state, former = loaded.state, loaded.pages.former
    for session_id, made in converted(former, ScriptFiles(folder).read).items():
        if session_id not in state.records:
            path = record_path(session_id)
            as_read = parse_record(record_text(made).encode("utf-8", "replace"), path, entry_types())
            state.records[session_id] = loaded.unwritten[path] = judged(as_read)
    for path, answer in converted_answers(former).items():
        if path not in state.corpus:
            state.corpus[path] = loaded.unwritten[path] = answer


def _has_merged_index(folder: WikiFolder, pages: PagesOnDisk) -> bool:
    looked_at = (path for path in INDEX_PAGES if path not in pages.indexes)
    return any(origin_of(folder.text_or_empty(path)) == "merged" for path in looked_at)


def read_wiki(wiki: Path, problems: list[UnreadablePage]) -> LoadedWiki:
    """The same for a reader. Raises `RunError` for a configuration that cannot be read."""
    return load_wiki(WikiFolder(wiki, is_dry_run=True), problems)
