"""From a page to the turns that it is based on: page → evidence → session → summary → recording → turn.

What a page claims is not trusted: each quote is searched again in the recording, which also shows whose words it is.
The walk itself is pure; `recording_places` finds recordings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, Literal

from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.foreign import notes_of
from agent_wiki.pages.sessions import Session
from agent_wiki.pages.state import WikiView
from agent_wiki.pages.support import Joined
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.redaction.personal import is_verbatim_in_stand_ins
from agent_wiki.retrieval.page_names import WikiPages, pages_named
from agent_wiki.retrieval.recording_places import Places
from agent_wiki.retrieval.rule_records import rules_behind
from agent_wiki.stages.trust import trust_of
from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.evidence import as_trust, least_trusted, texts_in
from agent_wiki.trajectory.json_text import value_of
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import kind_of, page_id
from agent_wiki.wiki.missing import require_folder
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.values import entries_of, texts_of, whole_number

CONTEXT_CHARACTERS = 160

State = Literal["verified", "turn found", "quote not in turn", "no such turn", "recording not here", "unreadable"]
FAILED: tuple[State, ...] = ("quote not in turn", "no such turn", "unreadable")
"""States that contradict the page. A recording that is not available contradicts nothing."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A turn that a page cites for `claim`; `quote` and `trust` are empty if the page has none."""

    session_id: str
    turn: int
    claim: str
    quote: str = ""
    trust: str = ""


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """A citation checked against its recording. `before`, `quoted` and `after` are the turn's own text.

    `role` and `found_trust` come from the recording; `place` says where in the turn: content, thinking or a call.
    """

    state: State
    role: str = ""
    tool: str = ""
    place: str = ""
    found_trust: str = ""
    before: str = ""
    quoted: str = ""
    after: str = ""
    is_cut_before: bool = False
    is_cut_after: bool = False


@dataclass(slots=True)
class Cited:
    """A citation and the result of checking it."""

    citation: Citation
    shown: CheckedCitation = field(default_factory=lambda: CheckedCitation("recording not here"))

    @property
    def has_failed(self) -> bool:
        """Whether the recording contradicts what the page says about this turn. That it says too little is no fault."""
        found, claimed = self.shown.found_trust, self.citation.trust
        is_overstated = bool(found and claimed) and least_trusted([as_trust(found), as_trust(claimed)]) != claimed
        return self.shown.state in FAILED or is_overstated


@dataclass(slots=True)
class PageWhy:
    """A page, the turns it cites, and the pages it is based on (members of a cluster, sessions of a task).

    `rules`: the rules of the embedded engine that found it; `causes`: how sure its cause is, by session.
    """

    path: str
    id: str
    kind: str
    title: str
    cited: list[Cited] = field(default_factory=list)
    pages: list[PageWhy] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)

    def all_cited(self) -> Iterator[Cited]:
        """Its citations and those of the pages it is based on."""
        yield from self.cited
        for page in self.pages:
            yield from page.all_cited()

    def to_json(self) -> dict[str, Any]:
        """The page as JSON values."""
        cited = [{**asdict(each.citation), **asdict(each.shown), "has_failed": each.has_failed} for each in self.cited]
        below = [page.to_json() for page in self.pages]
        head = {"path": self.path, "id": self.id, "kind": self.kind, "title": self.title}
        return {**head, "rules": self.rules, "causes": self.causes, "notes": self.notes, "cited": cited, "pages": below}


@dataclass(slots=True)
class SessionPlace:
    """Where a cited session's summary and recording are. `file` is the name on the page, `recording` a local path."""

    session_id: str
    summaries: tuple[str, ...] = ()
    file: str | None = None
    recording: str | None = None
    has_changed: bool = False
    problem: str = ""


@dataclass(slots=True)
class Why:
    """The whole answer."""

    pages: list[PageWhy]
    sessions: dict[str, SessionPlace]
    problems: list[str] = field(default_factory=list)  # pages of the wiki that cannot be read

    @property
    def exit_code(self) -> int:
        """1 if a recording contradicts a page, or a page cannot be read."""
        return 1 if self.problems or any(each.has_failed for page in self.pages for each in page.all_cited()) else 0

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON values, always with the same keys."""
        return {
            "pages": [page.to_json() for page in self.pages],
            "sessions": [asdict(each) for each in self.sessions.values()],
            "problems": self.problems,
            "exit_code": self.exit_code,
        }


def why(wiki: Path, wanted: str, recordings: Sequence[RecordingPath] = (), context: int = CONTEXT_CHARACTERS) -> Why:
    """Walk from a page to its turns.

    In: the wiki's folder; a page's path (in the wiki or from here), id, slug or session id, or the beginning of an id;
    files and folders with recordings, besides those the wiki knows and those beside it; characters to show on
    either side of a quote. Raises `UsageError` for a wiki or page that does not exist, and for an ambiguous name.
    """
    require_folder(wiki)
    folder, problems = WikiFolder(wiki), list[UnreadablePage]()
    pages = WikiPages.read(folder, problems)
    sessions = pages.view.sessions
    walked = [_walk(path, pages) for path in pages_named(pages, wanted, wiki, to_read=True)]
    wanted_sessions = {each.citation.session_id for page in walked for each in page.all_cited()}
    wanted_sessions |= {pages.session_of(page.path) for page in _summaries(walked)}
    places = Places(folder, recordings)
    found = {name: _place(name, sessions.get(name)) for name in sorted(wanted_sessions)}
    for name, place in found.items():
        cited = [each for page in walked for each in page.all_cited() if each.citation.session_id == name]
        _look(place, sessions.get(name), cited, places, context)
    for page in walked:
        _name_rules(page, pages.view)
    return Why(walked, found, [str(problem) for problem in problems])


def _name_rules(page: PageWhy, view: WikiView) -> None:
    """Say of a page and of those it is based on which rules found them, and how sure their causes are."""
    if page.kind in ("guideline", "skill"):
        page.rules = rules_behind(view, page.id.removeprefix("skill:"))
    joined = view.guidelines.get(page.id)
    for each in joined.contributions if joined else ():
        if each.entry.cause is not None:
            page.causes.append(f"cause {each.entry.cause}: {each.entry.cause_shown} ({each.session.session_id})")
    for below in page.pages:
        _name_rules(below, view)


def _summaries(pages: Sequence[PageWhy]) -> Iterator[PageWhy]:
    for page in pages:
        if page.kind == "summary":
            yield page
        yield from _summaries(page.pages)


def _walk(path: str, pages: WikiPages, *, is_brief: bool = False) -> PageWhy:
    try:
        page = pages[path]
    except KeyError:
        return PageWhy(path, page_id(path), kind_of(path) or "", "", notes=["this page cannot be read"])
    kind = kind_of(path) or ""
    title = page.title or str(page.fields.get("title") or "")
    walked = PageWhy(path, next(iter(pages.names(path)[0]), page_id(path)), kind, title)
    if kind == "cluster":
        _walk_members(walked, page, pages)
    elif kind == "task":
        _walk_sessions(walked, texts_of(page.fields.get("sessions")), pages)
    elif kind == "subtask":
        parent = str(page.fields.get("parent_session_id") or "")
        walked.cited = [Cited(each) for each in _noted(path, parent, ("Key steps",), pages)]
        _walk_sessions(walked, [parent], pages)
    elif kind == "summary":
        walked.cited = [Cited(each) for each in _of_summary(path, pages, is_brief=is_brief)]
    else:
        walked.cited = [Cited(each) for each in _evidence(path, page, pages)]
        if not walked.cited:
            walked.notes.append("this page cites no turns")
            related = str(page.fields.get("related_summary") or "")
            walked.pages = [_walk(related, pages, is_brief=True)] if related in set(pages) else []
    return walked


def _walk_members(walked: PageWhy, page: Page, pages: WikiPages) -> None:
    by_id = {pages.names(path)[0][0]: path for path in pages if kind_of(path) == "guideline"}
    for member in entries_of(page.fields.get("members")):
        name = str(member.get("id") or "")
        path = by_id.get(name)
        if path is None:
            walked.notes.append(f"its member {name or '(without an id)'} has no page here")
        else:
            walked.pages.append(_walk(path, pages))


def _walk_sessions(walked: PageWhy, names: Sequence[str], pages: WikiPages) -> None:
    for name in names:
        session = pages.view.sessions.get(name)
        if session is None:
            walked.notes.append(f"its session {name or '(without an id)'} has no summary here")
        else:
            walked.pages += [_walk(path, pages, is_brief=True) for path in session.paths]


def _evidence(path: str, page: Page, pages: WikiPages) -> Iterator[Citation]:
    """The turns that a guideline or skill page rests on; what the page leaves out is in the records."""
    on_page = entries_of(page.fields.get("evidence"))
    for entry in on_page:
        turn = whole_number(entry.get("turn"), 0)
        quote, trust = str(entry.get("quote") or ""), str(entry.get("trust") or "")
        yield Citation(str(entry.get("session_id") or ""), turn, "evidence", quote, trust)
    listed = {str(entry.get("session_id") or "") for entry in on_page}
    joined: Joined[Any] | None
    joined = pages.view.skills.get(path.split("/")[1]) if kind_of(path) == "skill" else None
    joined = pages.view.guidelines.get(page_id(path)) if joined is None else joined
    for session, cited in joined.cited() if joined is not None else ():
        if session.session_id not in listed:
            yield Citation(session.session_id, cited.turn, "evidence", cited.quote, cited.trust)


def _of_summary(path: str, pages: WikiPages, *, is_brief: bool) -> Iterator[Citation]:
    """Outcome and recalls with their quotes; key turns and dead ends, too, unless the summary is one of many."""
    page, name = pages[path], pages.session_of(path)
    session = pages.view.sessions.get(name)
    arcs = dict(zip(session.paths, session.arcs, strict=True)) if session is not None else {}
    arc = arcs.get(path)
    if arc is not None and arc.outcome_turn is not None:
        yield Citation(name, arc.outcome_turn, f"outcome: {arc.outcome}", arc.outcome_quote or "")
    if is_brief:
        return
    for recall in entries_of(page.fields.get("recalled_guidelines")):
        if recall.get("turn") is not None:
            claim = f"{recall.get('status', 'recalled')}: {recall.get('id', '')}"
            yield Citation(name, whole_number(recall.get("turn"), 0), claim, str(recall.get("evidence") or ""))
    yield from _noted(path, name, ("Key turns", "Dead ends"), pages)


def _noted(path: str, session_id: str, headings: Sequence[str], pages: WikiPages) -> Iterator[Citation]:
    """The turns that a page's text names. Other tools count turns in a way of their own, so theirs are left alone."""
    for heading in headings if path not in pages.foreign else ():
        for note in notes_of(pages[path], heading):
            yield Citation(session_id, note.turn, f"{heading.removesuffix('s').lower()}: {note.text}")


def _place(name: str, session: Session | None) -> SessionPlace:
    if session is None:
        return SessionPlace(name)
    return SessionPlace(name, session.paths, next((Path(each).name for each in session.sources), None))


def _look(place: SessionPlace, session: Session | None, cited: Sequence[Cited], places: Places, context: int) -> None:
    """Find a session's recording and hold each citation against it."""
    digest = session.record.recording.sha256 if session is not None else None
    found = places.find(place.session_id, place.file, digest)
    place.recording, place.problem = str(found.path) if found.path else None, found.problem
    trajectory = found.trajectory
    if trajectory is None:
        for each in cited:
            each.shown = CheckedCitation("unreadable" if found.problem else "recording not here")
        return
    place.has_changed = digest is not None and trajectory.source.sha256 not in (None, digest)
    for each in cited:
        each.shown = shown(trajectory, each.citation, context)


def shown(trajectory: Trajectory, citation: Citation, context: int = CONTEXT_CHARACTERS) -> CheckedCitation:
    """Check one citation against its recording. Pure.

    The quote must be verbatim in that turn, as when the page was made; without a quote the turn's beginning is shown.
    The text is unfiltered: escape it before it reaches a terminal.
    """
    if not 1 <= citation.turn <= len(trajectory.messages):
        return CheckedCitation("no such turn")
    message = trajectory.messages[citation.turn - 1]
    passages = list(_passages(message))
    place, text, start = _where(passages, citation.quote)
    quote = citation.quote if start >= 0 else ""
    state: State = "turn found"
    if citation.quote:
        is_there = is_verbatim_in_stand_ins(trajectory, citation.turn, citation.quote)
        state = "verified" if is_there else "quote not in turn"
    start = max(start, 0)
    end = start + len(quote)
    first, last = max(start - context, 0), end + (context if quote else 2 * context)
    return CheckedCitation(
        state,
        role=message.role if message.mark is None else f"{message.role}, {message.mark}",
        tool=_tool(trajectory, message),
        place=place,
        found_trust=trust_of(trajectory, citation.turn, quote),
        before=text[first:start],
        quoted=quote,
        after=text[end:last],
        is_cut_before=first > 0,
        is_cut_after=last < len(text),
    )


def _where(passages: Sequence[tuple[str, str]], quote: str) -> tuple[str, str, int]:
    """Place, text and position of the quote; the turn's first passage and -1 if it is not there."""
    for place, text in passages if quote else ():
        position = text.find(quote)
        if position >= 0:
            return place, text, position
    place, text = passages[0] if passages else ("", "")
    return place, text, -1


def _passages(message: Message) -> Iterator[tuple[str, str]]:
    """The passages of a turn: content, thinking, and the values and the JSON of each call."""
    if message.content:
        yield "content", message.content
    if message.thinking:
        yield "thinking", message.thinking
    for call in message.tool_calls:
        with suppress(ValueError, RecursionError):
            yield from ((f"call of {call.name}", text) for text in texts_in(value_of(call.arguments)))
        yield f"call of {call.name}", call.arguments


def _tool(trajectory: Trajectory, message: Message) -> str:
    """The tool whose result a turn is."""
    if message.role != "tool" or message.name:
        return message.name or ""
    calls = (call for each in trajectory.messages for call in each.tool_calls)
    return next((call.name for call in calls if call.id == message.tool_call_id), "")
