"""The page of a lesson: the rule first, then when, why and how sure, then the walk to the turns that it rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.recalls import Recall
from agent_wiki.pages.sessions import Session
from agent_wiki.pages.support import Evidence
from agent_wiki.site.addresses import href, session_file
from agent_wiki.site.commands import CommandLine, commands_for
from agent_wiki.site.contents import SiteContents, SiteLesson, is_same_words, session_title
from agent_wiki.site.neighbours import Neighbourhood, neighbourhood
from agent_wiki.site.shown_text import quote_anchor, visible
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.page import Page, parse_body
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import entries_of

MOST_SESSIONS = 30
"""Sessions whose quotes a page shows, and uses that it lists."""

_MOST_QUOTE = 600
_SHOWN_ELSEWHERE = frozenset({"Used by", "Sources", "Scripts", "Cause"})
_NAMES = {"Rationale": "Why"}


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim quote, and where it leads."""

    turn: int
    text: str
    trust: str
    href: str


@dataclass(frozen=True, slots=True)
class Witness:
    """A session that a lesson rests on, with what it shows."""

    title: str
    href: str
    date: str | None
    agent: str | None
    outcome: str
    quotes: list[Quote]


@dataclass(frozen=True, slots=True)
class Use:
    """What a session that read the page did with it."""

    title: str
    href: str
    status: str
    quote: str


@dataclass(frozen=True, slots=True)
class ScriptShown:
    """A file of a skill's `scripts/`."""

    file: str
    text: str
    lines: int


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page's Markdown; without a heading it is what stands before the first one."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class LessonShown:
    """All that a lesson's page shows. `rest` are numbers of what is not listed, by what it is."""

    lesson: SiteLesson
    rule: str
    sections: list[Section]
    cause: str
    witnesses: list[Witness]
    uses: list[Use]
    rest: dict[str, int]
    scripts: list[ScriptShown]
    related: list[SiteLesson]
    neighbours: Neighbourhood
    commands: list[CommandLine]
    turns_at: str | None
    is_edited: bool
    links: dict[str, str]
    problem: str = ""


def lesson_shown(lesson: SiteLesson, contents: SiteContents) -> LessonShown:
    """What the page of a lesson shows."""
    page, problem = _page_of(lesson, contents)
    witnesses, more_sessions = _witnesses(lesson, contents)
    recalls = contents.catalog.recalls.get(lesson.id, ())
    is_known = contents.joined(lesson) is not None
    related = _related(lesson, page, contents)
    hidden = _SHOWN_ELSEWHERE if is_known else _SHOWN_ELSEWHERE - {"Sources"}
    hidden |= {"Members"} if related else set()
    return LessonShown(
        lesson=lesson,
        rule="" if is_same_words(page.lead, lesson.title) else page.lead or lesson.gist,
        sections=list(_sections(page, hidden)),
        cause=_without_grade((page.section("Cause") or "").strip(), lesson.cause),
        witnesses=witnesses,
        uses=[_use(each, contents) for each in recalls[:MOST_SESSIONS]],
        rest={"sessions": more_sessions, "uses": max(len(recalls) - MOST_SESSIONS, 0)},
        scripts=list(_scripts(lesson, contents)),
        related=related,
        neighbours=neighbourhood(lesson, contents),
        commands=commands_for(lesson),
        turns_at=_only_session(lesson, page, contents),
        is_edited=lesson.path in contents.loaded.pages.edited,
        links=contents.links_in(page.body, lesson.path),
        problem=problem,
    )


def _without_grade(cause: str, grade: str | None) -> str:
    """What a page says of its cause; the grade before it is shown by itself."""
    said = cause.removeprefix(f"{(grade or '').capitalize()}: ")
    return said[:1].upper() + said[1:]


def _page_of(lesson: SiteLesson, contents: SiteContents) -> tuple[Page, str]:
    """The page, and why it cannot be read. The fields of one whose sessions are known say nothing more."""
    try:
        if lesson.path in contents.loaded.pages.generated and contents.joined(lesson) is not None:
            return Page({}, parse_body(contents.folder.text_or_empty(lesson.path))), ""
        return contents.folder.read_page(lesson.path)[1], ""
    except UnreadablePage as error:
        return Page({}, ("",)), plain_line(str(error), 300)


def _sections(page: Page, hidden: Collection[str]) -> Iterator[Section]:
    for chunk in page.chunks[1:]:
        heading, _, text = chunk.partition("\n")
        name = heading[3:].strip()
        if name not in hidden:
            yield Section(_NAMES.get(name, name), text.strip())


def _witnesses(lesson: SiteLesson, contents: SiteContents) -> tuple[list[Witness], int]:
    """The sessions that contribute to a lesson, with their quotes, and how many are not listed."""
    joined = contents.joined(lesson)
    if joined is None:
        return [], 0
    quotes: dict[str, tuple[Session, list[Evidence]]] = {}
    for session, each in joined.cited():
        quotes.setdefault(session.session_id, (session, []))[1].append(each)
    shown = list(quotes.values())[:MOST_SESSIONS]
    return [_witness(session, cited) for session, cited in shown], len(quotes) - len(shown)


def _witness(session: Session, cited: Sequence[Evidence]) -> Witness:
    file = session_file(session.session_id)
    quotes = [
        Quote(each.turn, visible(each.quote[:_MOST_QUOTE]), each.trust, href(file, quote_anchor(each.turn, each.quote)))
        for each in cited
    ]
    record = session.record
    return Witness(session_title(session), href(file), record.date, record.agent, session.outcome, quotes)


def _use(recall: Recall, contents: SiteContents) -> Use:
    session = contents.sessions.get(recall.session_id)
    title = session_title(session) if session is not None else plain_line(recall.session_id, 80)
    return Use(title, contents.address_of(recall.path) or "", recall.status, visible(recall.quote[:_MOST_QUOTE]))


def _scripts(lesson: SiteLesson, contents: SiteContents) -> Iterator[ScriptShown]:
    if lesson.kind != "skill":
        return
    prefix = f"{lesson.path.rpartition('/')[0]}/scripts/"
    for path in sorted(contents.folder.files()):
        if path.startswith(prefix) and not path.endswith("/"):
            text = contents.folder.text_or_empty(path)
            yield ScriptShown(path.removeprefix(prefix), visible(text), len(text.splitlines()))


def _related(lesson: SiteLesson, page: Page, contents: SiteContents) -> list[SiteLesson]:
    """The members of a cluster; of a guideline the cluster that covers it."""
    if lesson.kind == "cluster":
        slug = lesson.id.partition(":")[2]
        entry = contents.view.state.config.clusters.get(slug, {})
        members = [str(each.get("id") or "") for each in entries_of(page.fields.get("members"))]
        names = dict.fromkeys([*members, *map(str, entry.get("members") or ())])
        return [contents.by_id[each] for each in names if each in contents.by_id]
    above = contents.by_id.get(f"cluster:{contents.catalog.cluster_of.get(lesson.id)}")
    return [above] if above is not None else []


def _only_session(lesson: SiteLesson, page: Page, contents: SiteContents) -> str | None:
    """The session whose turns the page's words name, where there is only one."""
    joined = contents.joined(lesson)
    names = [str(page.fields.get("parent_session_id") or "")] if joined is None else list(joined.session_ids)
    return href(session_file(names[0])) if len(names) == 1 and names[0] in contents.sessions else None
