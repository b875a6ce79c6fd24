"""Whether the way from each page back to its sessions is whole, as far as records tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_wiki.checks.check import Check, Spot
from agent_wiki.checks.subject import CheckedWiki, fields_of, line_with
from agent_wiki.pages.sessions import Session
from agent_wiki.trajectory.evidence import as_trust, least_trusted
from agent_wiki.wiki.layout import kind_of, page_id
from agent_wiki.wiki.page import Page, line_of_field
from agent_wiki.wiki.values import entries_of, text_or_none, texts_of, whole_number

_LESSONS = ("guideline", "skill")


def _lessons(wiki: CheckedWiki) -> Iterator[tuple[str, Page]]:
    """The lesson pages that are not as rendered; those that are have their evidence from the records."""
    pages = wiki.worded_by_others
    return ((path, page) for path, page in pages.items() if kind_of(path) in _LESSONS)


def _unsupported(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, page in _lessons(wiki):
        fields = fields_of(path, page)
        if path in wiki.pages.foreign:
            continue  # what somebody wrote rests on no session; indexes call it external
        if not entries_of(fields.get("evidence")) and not fields.get("related_summary"):
            yield Spot(path, "it names neither a turn nor a summary that it rests on")
    for name, joined in wiki.view.guidelines.items():
        if not joined.cited():
            yield Spot(wiki.path_of(name), "no session that states it cites a turn")


def _no_session(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, _, session_id in _cited(wiki):
        if session_id not in wiki.view.sessions:
            line = line_with(wiki.text(path), session_id)
            what = f"it cites the session {session_id or '(without an id)'}, which is not here"
            yield _spot(wiki, path, what, line)


def _no_turn(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, entry, session_id in _cited(wiki):
        session = wiki.view.sessions.get(session_id)
        turn = whole_number(entry.get("turn"), 0)
        if session is not None and not session.record.has_turn(turn):
            line = line_with(wiki.text(path), f"turn: {entry.get('turn')}")
            what = f"it cites turn {entry.get('turn')} of {session_id}, which has {session.record.turns}"
            yield _spot(wiki, path, what, line)


def _not_recorded(wiki: CheckedWiki) -> Iterator[Spot]:
    """Quotes that a person or a tool put on a page of this program: the records do not have them."""
    for path, entry, session_id in _cited(wiki):
        if path in wiki.pages.edited and session_id in wiki.view.sessions:
            quote = str(entry.get("quote") or "")
            if quote not in _quotes(wiki, path, wiki.view.sessions[session_id]):
                shown = line_with(wiki.text(path), f"quote: {quote}") or line_with(wiki.text(path), session_id)
                yield Spot(path, f"no record has the quote that it cites of {session_id}", shown)


def _quotes(wiki: CheckedWiki, path: str, session: Session) -> set[str]:
    joined = wiki.view.guidelines.get(page_id(path))
    cited = joined.cited() if joined is not None else []
    return {each.quote for by, each in cited if by.session_id == session.session_id}


def _cited(wiki: CheckedWiki) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    for path, page in _lessons(wiki):
        for entry in entries_of(fields_of(path, page).get("evidence")):
            yield path, entry, str(entry.get("session_id") or "")


def _overstated(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, page in wiki.pages.edited.items():
        joined = wiki.view.guidelines.get(page_id(path))
        claimed = text_or_none(page.fields.get("trust"))
        if joined is not None and claimed is not None:
            found = joined.trust()
            if least_trusted([as_trust(claimed), found]) != as_trust(claimed):
                line = line_of_field(wiki.text(path), "trust")
                yield Spot(path, f"it says trust: {claimed}, and the records say {found}", line)


def _members(wiki: CheckedWiki) -> Iterator[Spot]:
    known = {page_id(path) for path in wiki.page_paths if kind_of(path) == "guideline"}
    known |= set(wiki.view.foreign_guidelines)
    for path, page in wiki.worded_by_others.items():
        for entry in entries_of(page.fields.get("members")) if kind_of(path) == "cluster" else ():
            name = str(entry.get("id") or "")
            if name not in known:
                yield _spot(wiki, path, f"its member {name} is no guideline here", line_with(wiki.text(path), name))


def _sessions(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, page in wiki.worded_by_others.items():
        field = {"task": "sessions", "subtask": "parent_session_id"}.get(kind_of(path) or "", "")
        for name in texts_of(page.fields.get(field)) if field else ():
            if name not in wiki.view.sessions:
                yield _spot(wiki, path, f"its session {name} is not here", line_with(wiki.text(path), name))


def _spot(wiki: CheckedWiki, path: str, what: str, line: int | None) -> Spot:
    """A spot on a page; one that this program did not write cannot be rendered again."""
    return Spot(path, what, line, _BY_HAND if path in wiki.pages.foreign else "")


_BY_HAND = "somebody else wrote the page: correct it by hand"
_RESTORE = "wiki restore PAGE renders it again as the sessions have it"

PROVENANCE = (
    Check("provenance/no-evidence", "A lesson names no turn and no summary that it rests on.", _RESTORE, _unsupported),
    Check("provenance/no-such-session", "A page cites a session that the wiki does not have.", _RESTORE, _no_session),
    Check("provenance/no-such-turn", "A page cites a turn that its session does not have.", _RESTORE, _no_turn),
    Check("provenance/not-recorded", "A page cites a quote that no record has.", _RESTORE, _not_recorded),
    Check("provenance/overstated", "A page claims more trust than the records give it.", _RESTORE, _overstated),
    Check("provenance/no-such-member", "A cluster names a member that is no page here.", _RESTORE, _members),
    Check("provenance/session-gone", "A task names a session that the wiki does not have.", _RESTORE, _sessions),
)
