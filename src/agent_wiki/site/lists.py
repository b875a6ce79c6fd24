"""The lists of a site: lessons by kind and sessions, in pages of a size that a browser and a person take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from agent_wiki.pages.sessions import Session
from agent_wiki.pages.task import trial_and_condition
from agent_wiki.site.addresses import href, list_file, session_file
from agent_wiki.site.contents import SiteContents, SiteLesson, session_title
from agent_wiki.site.session_facts import all_tokens, dollars
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import plain_line

ListedType = TypeVar("ListedType")

_A_PAGE = 100
_MOST_ID = 12
_SECTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("guidelines", "Guidelines", ("cluster", "guideline")),
    ("skills", "Skills", ("skill",)),
    ("tasks", "Tasks", ("task", "subtask")),
)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in the list."""

    title: str
    href: str
    date: str | None
    agent: str
    model: str
    outcome: str
    turns: int
    tokens: int | None
    cost: str
    taught: int
    note: str


@dataclass(frozen=True, slots=True)
class ListShown:
    """One page of a list: lessons or sessions. `pages` are the addresses of all pages of the list."""

    section: str
    title: str
    total: int
    number: int
    pages: list[str]
    lessons: list[SiteLesson]
    sessions: list[SessionRow]

    @property
    def file(self) -> str:
        return list_file(self.section, self.number)

    @property
    def has_tokens(self) -> bool:
        """Whether any of its sessions has recorded them."""
        return any(each.tokens is not None for each in self.sessions)

    @property
    def has_cost(self) -> bool:
        """Likewise."""
        return any(each.cost for each in self.sessions)


def lists_of(contents: SiteContents) -> Iterator[ListShown]:
    """Every page of every list; of each at least one."""
    for section, title, kinds in _SECTIONS:
        found = [each for each in contents.lessons.values() if each.kind in kinds]
        found.sort(key=lambda each: each.is_archived)
        for number, lessons in _paged(found):
            yield ListShown(section, title, len(found), number, _addresses(section, len(found)), lessons, [])
    ordered = sorted(contents.sessions.values(), key=lambda each: each.session_id)
    ordered.sort(key=lambda each: each.record.date or "", reverse=True)
    for number, sessions in _paged(ordered):
        rows = _distinct([_row(each, contents) for each in sessions], sessions)
        yield ListShown("sessions", "Sessions", len(ordered), number, _addresses("sessions", len(ordered)), [], rows)


def _paged(found: Sequence[ListedType]) -> Iterator[tuple[int, list[ListedType]]]:
    for start in range(0, max(len(found), 1), _A_PAGE):
        yield start // _A_PAGE + 1, list(found[start : start + _A_PAGE])


def _addresses(section: str, count: int) -> list[str]:
    return [href(list_file(section, number + 1)) for number in range(max(-(-count // _A_PAGE), 1))]


def _row(session: Session, contents: SiteContents) -> SessionRow:
    record = session.record
    return SessionRow(
        title=session_title(session),
        href=href(session_file(session.session_id)),
        date=record.date,
        agent=plain_line(record.agent or "", 40),
        model=plain_line(record.model or "", 40),
        outcome=session.outcome,
        turns=record.turns,
        tokens=all_tokens(session),
        cost="" if record.total_cost_usd is None else dollars(record.total_cost_usd),
        taught=len(contents.taught.get(session.session_id, ())),
        note=_trial(session, contents),
    )


def _distinct(rows: Sequence[SessionRow], sessions: Sequence[Session]) -> list[SessionRow]:
    """Rows of which those with one title have the beginning of the session's id, where nothing else is noted."""
    seen = Counter(row.title for row in rows)
    return [
        replace(row, note=plain_line(session.session_id, _MOST_ID)) if seen[row.title] > 1 and not row.note else row
        for row, session in zip(rows, sessions, strict=True)
    ]


def _trial(session: Session, contents: SiteContents) -> str:
    """What tells the trials of one task apart."""
    trial, condition = trial_and_condition(session, contents.view.state.config)
    return plain_line(", ".join(filter(None, (f"trial {trial}" if trial else "", condition))), 60)
