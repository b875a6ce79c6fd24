"""What a site shows of a wiki, gathered once: its lessons, its sessions, who cites whom, and which page lies where."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.sessions import Session
from agent_wiki.pages.state import WikiView
from agent_wiki.pages.subtasks import subtask_pages
from agent_wiki.pages.support import Joined
from agent_wiki.pipeline.catalogs import catalog_of
from agent_wiki.pipeline.load import LoadedWiki, load_wiki
from agent_wiki.retrieval.rows import index_fields, tags_of
from agent_wiki.site.addresses import href, lesson_file, session_file
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.kinds import EPISODE
from agent_wiki.wiki.layout import ARCHIVE, INDEX, kind_of, page_id, page_title
from agent_wiki.wiki.missing import no_wiki
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import text_or_none, texts_of

_ADDRESS = re.compile(r"\]\(([^()\s]{1,400})\)")
_MOST_TITLE = 160
_MOST_GIST = 240
_MOST_TAGS = 20
_FROM_PAGE: tuple[str, ...] = ("id", "tags", "trigger", "trust", "cause", "scope", "support")


@dataclass(frozen=True, slots=True)
class SiteLesson:
    """A page about something learnt: a cluster, skill, guideline, task or subtask. What is not known is None.

    `support`: sessions, and how many ended how; `used`: status → number of sessions; `repositories`: where it was seen.
    """

    path: str
    file: str
    id: str
    kind: str
    title: str
    trigger: str
    gist: str
    tags: tuple[str, ...]
    support: Mapping[str, int]
    used: Mapping[str, int]
    trust: str | None
    cause: str | None
    scope: str | None
    date: str | None
    repositories: tuple[str, ...]
    is_archived: bool

    @property
    def href(self) -> str:
        return href(self.file)


@dataclass(frozen=True, slots=True)
class PageCitation:
    """A turn of a session that a page rests on, with a verbatim quote."""

    turn: int
    quote: str
    trust: str
    title: str
    href: str


@dataclass(slots=True)
class SiteContents:
    """A wiki as its site shows it. `lessons` by path in the wiki, in the index's order of preference.

    By session: what pages have `cited` of it, what it `taught`, its `children`, and the turns that pages name.
    """

    folder: WikiFolder
    loaded: LoadedWiki
    catalog: Catalog
    lessons: dict[str, SiteLesson]
    problems: list[UnreadablePage]
    by_id: dict[str, SiteLesson] = field(default_factory=dict)
    cited: dict[str, list[PageCitation]] = field(default_factory=dict)
    taught: dict[str, list[SiteLesson]] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)
    named_turns: dict[str, set[int]] = field(default_factory=dict)

    @property
    def view(self) -> WikiView:
        return self.catalog.view

    @property
    def sessions(self) -> Mapping[str, Session]:
        return self.view.sessions

    def joined(self, lesson: SiteLesson) -> Joined[Any] | None:
        """What sessions contribute to a guideline or skill; None for other pages and for those that others wrote."""
        if lesson.kind == "skill":
            return self.view.skills.get(lesson.id.removeprefix("skill:"))
        return self.view.guidelines.get(lesson.id) if lesson.kind == "guideline" else None

    def address_of(self, path: str) -> str | None:
        """Where a page of the wiki is in the site; None for what is not in it."""
        if path in self.lessons:
            return self.lessons[path].href
        session = self.catalog.summary_paths.get(path)
        if session is None:
            return None
        position = session.paths.index(path)
        return href(session_file(session.session_id), f"arc-{position + 1}" if position else "")

    def resolved(self, page: str, address: str) -> str | None:
        """A relative link of a page of the wiki as an address from the top of the site; None where it leads nowhere."""
        if "://" in address or address.startswith(("/", "#")):
            return None
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(address.partition("#")[0])))
        return self.address_of(target)

    def links_in(self, text: str, page: str) -> dict[str, str]:
        """The addresses in a page's Markdown that lead somewhere in the site, and where."""
        found = ((address, self.resolved(page, address)) for address in dict.fromkeys(_ADDRESS.findall(text)))
        return {address: target for address, target in found if target is not None}


def require_wiki(wiki: Path) -> None:
    """Raise `UsageError` for a folder that is no wiki."""
    if not (wiki / INDEX).is_file():
        raise no_wiki(wiki)


def read_contents(wiki: Path) -> SiteContents:
    """Read a wiki. Raises `UsageError` where there is none; a page that cannot be read is among the problems."""
    require_wiki(wiki)
    problems: list[UnreadablePage] = []
    folder = WikiFolder(wiki, is_dry_run=True)
    loaded = load_wiki(folder, problems)
    catalog = catalog_of(loaded)
    contents = SiteContents(folder, loaded, catalog, {}, problems)
    contents.lessons = {lesson.path: lesson for lesson in _lessons(contents)}
    contents.by_id = {lesson.id: lesson for lesson in contents.lessons.values()}
    _note_citations(contents)
    for step in subtask_pages(catalog):
        turns = {each.turn for each in step.key_steps}
        contents.named_turns.setdefault(step.parent_session_id, set()).update(turns)
    for session in contents.view.sessions.values():
        for parent in {session.record.parent_session_id, session.record.forked_from} - {None}:
            contents.children.setdefault(str(parent), []).append(session.session_id)
    return contents


def is_same_words(one: str, other: str) -> bool:
    """Whether two texts differ in marks alone, so that one beside the other says nothing more."""
    return one.replace("`", "").strip(" .").casefold() == other.replace("`", "").strip(" .").casefold()


def session_title(session: Session) -> str:
    """What a person calls a session: the title of its first arc, else its id."""
    return session.titles()[session.paths[0]] or "session"


def _lessons(contents: SiteContents) -> Iterator[SiteLesson]:
    """Every lesson that has a page: first as the index lists them, then those that it does not list.

    What is held back has none, also where the page of another tool lies in its place, or a former one of ours.
    """
    folder, view = contents.folder, contents.view
    held = {page.path for page in view.withheld_pages.values()}
    shown = {*view.guidelines, *(f"skill:{name}" for name in view.skills)}
    there = {path for path in folder.files() if path not in held and lesson_file(path) is not None}
    content = folder.text_or_empty(INDEX).encode("utf-8", "replace")
    seen: set[str] = set()
    for row in index_fields(content):
        path = row["link"]
        is_held = row.get("id") in view.withheld and row.get("id") not in shown
        if row["kind"] != EPISODE and path in there and path not in seen and not is_held:
            seen.add(path)
            yield _lesson(path, row, contents)
    pages = contents.loaded.pages
    for path in sorted(there - seen):
        if path.startswith(f"{ARCHIVE}/") or path in pages.edited or path in pages.foreign:
            yield _lesson(path, _row_of_page(path, contents), contents)


def _row_of_page(path: str, contents: SiteContents) -> dict[str, Any]:
    """What the page of a lesson says of itself, where the index has no row."""
    try:
        page = contents.folder.read_page(path)[1]
    except UnreadablePage:
        return {}  # it is among the problems already
    fields = page.fields
    named = {name: fields[name] for name in _FROM_PAGE if name in fields}
    return {**named, "title": page.title, "summary": page.lead, "verified_at": fields.get("verified_at")}


def _lesson(path: str, row: Mapping[str, Any], contents: SiteContents) -> SiteLesson:
    name = str(row.get("id") or page_id(path))
    kind = kind_of(path) or "guideline"
    sessions = _sessions_behind(name, kind, contents)
    dates = [each.record.date for each in sessions if each.record.date]
    title = plain_line(str(row.get("title") or ""), _MOST_TITLE) or page_title(path)
    gist = plain_line(str(row.get("summary") or ""), _MOST_GIST)
    return SiteLesson(
        path=path,
        file=lesson_file(path) or "",
        id=name,
        kind=kind,
        title=title,
        trigger=plain_line(str(row.get("trigger") or ""), _MOST_GIST),
        gist="" if is_same_words(gist, title) else gist,
        tags=tuple(plain_line(tag, 40) for tag in tags_of(row)[:_MOST_TAGS]),
        support=_counts(row.get("support")),
        used=_counts(row.get("used")),
        trust=text_or_none(row.get("trust")),
        cause=text_or_none(row.get("cause")),
        scope=text_or_none(row.get("scope")),
        date=text_or_none(row.get("verified_at")) or max(dates, default=None),
        repositories=tuple(
            sorted({plain_line(each.record.repository, 60) for each in sessions if each.record.repository})
        ),
        is_archived=path.startswith(f"{ARCHIVE}/"),
    )


def _counts(value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    return {str(name): count for name, count in value.items() if isinstance(count, int)}


def _sessions_behind(name: str, kind: str, contents: SiteContents) -> Sequence[Session]:
    view, catalog = contents.view, contents.catalog
    slug = name.partition(":")[2]
    if kind in ("guideline", "skill"):
        joined: Joined[Any] | None = view.guidelines.get(name) if kind == "guideline" else view.skills.get(slug)
        return [] if joined is None else list(joined.sessions)
    if kind == "task":
        return [view.sessions[each] for each in catalog.task_sessions.get(slug, ())]
    if kind == "cluster":
        members = texts_of(view.state.config.clusters.get(slug, {}).get("members"))
        return [session for each in members if each in view.guidelines for session in view.guidelines[each].sessions]
    return []


def _note_citations(contents: SiteContents) -> None:
    """NotedLine with each session which pages rest on which of its turns."""
    for lesson in contents.lessons.values():
        joined = contents.joined(lesson)
        if joined is None:
            continue
        for each in joined.contributions:
            contents.taught.setdefault(each.session.session_id, []).append(lesson)
            names = (getattr(each.entry, name, None) for name in ("event", "remedy", "confirmation"))
            contents.named_turns.setdefault(each.session.session_id, set()).update(turn for turn in names if turn)
        for session, cited in joined.cited():
            citation = PageCitation(cited.turn, cited.quote, cited.trust, lesson.title, lesson.href)
            contents.cited.setdefault(session.session_id, []).append(citation)
