"""Reading a wiki: its records, the answers over several pages, its configuration, and the pages others wrote."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.state import WikiState
from agent_wiki.pipeline.former_layout import converted
from agent_wiki.pipeline.pages_on_disk import PagesOnDisk, read_pages
from agent_wiki.pipeline.scripts_on_disk import ScriptFiles
from agent_wiki.stages.order import entry_types
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.corpus_records import FOLDER as CORPUS
from agent_wiki.wiki.corpus_records import parse_corpus_record
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.records import FOLDER as SESSIONS
from agent_wiki.wiki.records import SessionRecord, parse_record
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import Templates


@dataclass(slots=True)
class LoadedWiki:
    """A wiki as it lies on disk. `unreadable` are records that are left alone until somebody mends them.

    `converted` are records made of pages of the former layout; they are in the state and not yet on disk.
    """

    state: WikiState
    pages: PagesOnDisk
    config_text: str
    templates: Templates
    unreadable: set[str] = field(default_factory=set)
    converted: list[SessionRecord] = field(default_factory=list)


def load_wiki(folder: WikiFolder, problems: list[UnreadablePage]) -> LoadedWiki:
    """Read a wiki; a new one is empty. A file that cannot be read is appended to `problems`, the others go on."""
    templates = Templates(folder.root / "templates")
    config_text = folder.read_text(CONFIG) or templates.render("config.yaml")
    state = WikiState(config=parse_config(config_text))
    unreadable: set[str] = set()
    for path, content in folder.files_of(SESSIONS, ".json"):
        try:
            record = parse_record(content, path, entry_types())
            state.records[record.session_id] = record
        except UnreadablePage as error:
            problems.append(error)
            unreadable.add(path)
    for path, content in folder.files_of(CORPUS, ".json"):
        try:
            state.corpus[path] = parse_corpus_record(content, path)
        except UnreadablePage as error:
            problems.append(error)
    pages = read_pages(folder, problems)
    state.foreign = dict(pages.foreign)
    former = converted(pages.former, ScriptFiles(folder).read) if pages.former else {}
    new = [record for session_id, record in former.items() if session_id not in state.records]
    state.records.update({record.session_id: record for record in new})
    return LoadedWiki(state, pages, config_text, templates, unreadable, new)


def read_wiki(wiki: Path, problems: list[UnreadablePage]) -> LoadedWiki:
    """The same for one who only reads. Raises `RunError` for a configuration that cannot be read."""
    return load_wiki(WikiFolder(wiki, is_dry_run=True), problems)
