"""What supports a page: the sessions that contribute to it, joined in a fixed order, whatever order they came in.

A page is a set of contributions, one a session. The first session in the fixed order (by date, then id) gives the
page its words; the evidence is that of all, of which the page shows some. The set decides the page, so batches,
machines and branches may come in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from agent_wiki.pages.bearing import bears
from agent_wiki.pages.sessions import ENDINGS, Session
from agent_wiki.trajectory.evidence import Trust, least_trusted, most_trusted
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import plain_code, plain_line
from agent_wiki.wiki.thresholds import at_least

_MOST_QUOTED = 160  # characters
MOST_SOURCES = 10  # a page with more supporting sessions names the first ones; all are in their records
MOST_EVIDENCE = 20  # likewise for the quotes in the frontmatter


@dataclass(frozen=True, slots=True)
class Evidence:
    """A cited turn with a verbatim quote; `trust` says whose words it is."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    turn: int
    quote: str
    trust: Trust = "external"


class HasEvidence(Protocol):
    """What a session contributes to a page."""

    @property
    def evidence(self) -> tuple[Evidence, ...]: ...

    @property
    def claim(self) -> str:
        """What the evidence has to bear, in words."""

    @property
    def rule_id(self) -> str | None:
        """The rule of the embedded engine that chose the evidence; None where a model or a person did."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What the index says of a page that shows some of its sessions: over all of them."""

    support: Mapping[str, int] | None
    newest: str | None


EntryType = TypeVar("EntryType", bound=HasEvidence)


@dataclass(frozen=True, slots=True)
class Contribution(Generic[EntryType]):
    """What one session contributes to one page."""

    session: Session
    entry: EntryType


@dataclass(frozen=True, slots=True)
class Joined(Generic[EntryType]):
    """All contributions to one page in the fixed order; the first gives the page its words."""

    contributions: tuple[Contribution[EntryType], ...]

    @property
    def first(self) -> Contribution[EntryType]:
        return self.contributions[0]

    @property
    def entry(self) -> EntryType:
        return self.contributions[0].entry

    @property
    def sessions(self) -> Iterator[Session]:
        """The contributing sessions in the fixed order."""
        return (each.session for each in self.contributions)

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The contributing sessions, sorted."""
        return tuple(sorted(each.session.session_id for each in self.contributions))

    def shown(self) -> Joined[EntryType]:
        """What the page shows: the first 1, 2, 3, 5, 10 … contributions, and the one that is trusted most."""
        if len(self.contributions) == 1:
            return self  # as nearly all of fifty thousand pages do
        count = at_least(len(self.contributions))
        if count == len(self.contributions):
            return self
        first, rest, best = Joined(self.contributions[:count]), self.contributions[count:], self.trust()
        if first.trust() == best:
            return first
        return Joined((*first.contributions, next(each for each in rest if trust_of_entry(each.entry) == best)))

    def cited(self) -> list[tuple[Session, Evidence]]:
        """All evidence, those of the first contribution first, each session's by turn."""
        return [
            (each.session, cited)
            for each in self.contributions
            for cited in sorted(each.entry.evidence, key=lambda cited: (cited.turn, cited.quote))
        ]

    def trust(self) -> Trust:
        """The trust of the session whose evidence is trusted most: each bears the page by itself."""
        if len(self.contributions) == 1:
            return trust_of_entry(self.entry)
        return most_trusted([trust_of_entry(each.entry) for each in self.contributions])

    def support(self) -> dict[str, int]:
        """How many sessions contribute, and how many of them ended how; kin count once, by their best."""
        if len(self.contributions) > 1:
            return support_of(each.session for each in self.contributions)
        outcome = self.first.session.outcome  # as of most of fifty thousand pages
        return {"sessions": 1, **{name: int(outcome == name) for name in ENDINGS}}

    def counted(self) -> Counted | None:
        """What the index says of its support; None where the page shows all of it."""
        return None if self.shown() is self else Counted(self.support(), self.date())

    def date(self) -> str | None:
        """The date of the newest contributing session."""
        return max((each.session.record.date for each in self.contributions if each.session.record.date), default=None)

    def sources(self) -> list[str]:
        """The names of the recordings, of the first sessions."""
        found = [source for each in self.contributions[:MOST_SOURCES] for source in each.session.sources]
        return list(dict.fromkeys(found))

    def engines(self, stage: str) -> str:
        """Who made the contributions: an engine's or a model's name, several joined by commas."""
        made = (each.session.record.stages[stage].made_by.short for each in self.contributions)
        return ", ".join(dict.fromkeys(made))


def joined(contributions: Iterable[Contribution[EntryType]]) -> Joined[EntryType]:
    """Contributions (at least one) in the fixed order."""
    found = tuple(contributions)
    return Joined(found if len(found) == 1 else tuple(sorted(found, key=_order)))


def _order(contribution: Contribution[Any]) -> tuple[bool, tuple[str, str]]:
    """By date; what another wiki says and nobody here has seen never speaks for a page that a session here taught."""
    record = contribution.session.record
    return record.joined_from is not None, record.rank


def trust_of_entry(entry: HasEvidence) -> Trust:
    """Whose words bear what one session contributes; nobody's, if none of its quotes has to do with it.

    What the user says bears it, whatever a tool confirms; else it is no better than its weakest source. Text of
    strangers never gets more trust for what is cited beside it. What a rule of the embedded engine cites is what the
    rule was found by, in whatever words; any other quote has to bear the claim.
    """
    sources: list[Trust] = []
    claim = "" if entry.rule_id else entry.claim
    for cited in entry.evidence:  # one quote of each trust decides
        if cited.trust == "external":
            return "external"
        if cited.trust not in sources and (entry.rule_id or bears(cited.quote, claim)):
            sources.append(cited.trust)
    return "user" if "user" in sources else least_trusted(sources)


def support_of(sessions: Iterable[Session]) -> dict[str, int]:
    """Support over sessions: kin (subagents, forks, copies) count as one session."""
    outcomes: dict[str, set[str]] = {}
    for session in sessions:
        outcomes.setdefault(session.root_id, set()).add(session.outcome)
    return {
        "sessions": len(outcomes),
        "success": sum("success" in each for each in outcomes.values()),
        "partial": sum("partial" in each and "success" not in each for each in outcomes.values()),
        "failure": sum("failure" in each and not each & {"success", "partial"} for each in outcomes.values()),
    }


@dataclass(frozen=True, slots=True)
class Together:
    """What the page of several others says of their sessions, each counted once: of the first 1, 2, 3, 5, 10 … of them.

    `newest` is the date of the newest session shown; `counted` is over all, None where all are shown.
    """

    support: dict[str, int] | None = None
    newest: str | None = None
    counted: Counted | None = None


def together(pages: Iterable[Joined[Any]]) -> Together:
    """The support of several pages together."""
    by_id = {each.session.session_id: each for page in pages for each in page.contributions}
    if not by_id:
        return Together()
    contributions = sorted(by_id.values(), key=_order)
    shown = contributions[: at_least(len(contributions))]
    support, newest = _support_and_newest(shown)
    return Together(support, newest, Counted(*_support_and_newest(contributions)) if shown != contributions else None)


def _support_and_newest(contributions: Sequence[Contribution[Any]]) -> tuple[dict[str, int], str | None]:
    dates = (each.session.record.date for each in contributions)
    return support_of(each.session for each in contributions), max(filter(None, dates), default=None)


def evidence_field(cited: Sequence[tuple[Session, Evidence]]) -> list[dict[str, Any]]:
    """The `evidence` of a page's frontmatter."""
    return [
        {"session_id": session.session_id, "turn": each.turn, "quote": each.quote, "trust": each.trust}
        for session, each in cited[:MOST_EVIDENCE]
    ]


def sources_section(cited: Sequence[tuple[Session, Evidence]], up: str) -> str:
    """The list under `## Sources`: each session's summary (of several arcs that of the first cited turn) and quotes."""
    sessions: dict[str, tuple[Session, int, list[str]]] = {}
    for session, each in cited:
        _, _, quotes = sessions.setdefault(session.session_id, (session, each.turn, []))
        quotes.append(f"T{each.turn} {_quoted(each.quote)}")
    rows = [
        f"- {_link(session, turn, up)}: {'; '.join(quotes)}"
        for session, turn, quotes in islice(sessions.values(), MOST_SOURCES)
    ]
    if len(sessions) > MOST_SOURCES:
        rows.append(f"- and at least {len(sessions) - MOST_SOURCES} more sessions")
    return "\n".join(rows) or "_(none)_"


def _quoted(quote: str) -> str:
    """A quote between quotation marks, or as code where it has signs that would be lost in plain words."""
    plain = plain_line(quote, _MOST_QUOTED)
    words = " ".join(quote.split())
    if plain == words or (plain.endswith("…") and words.startswith(plain[:-1].rstrip())) or "`" in quote:
        return f"“{plain}”"
    return f"`{plain_code(quote, _MOST_QUOTED)}`"


def _link(session: Session, turn: int, up: str) -> str:
    """The summary of a turn: what was asked for, by which agent and when, for a session's id says nothing."""
    path = session.path_of_turn(turn)
    link = f"[{session.titles()[path]}]({up}{path})"
    return f"{link} ({session.origin})" if session.origin else link


def by_page(found: Mapping[str, list[Contribution[EntryType]]]) -> dict[str, Joined[EntryType]]:
    """Key → the joined contributions, keys sorted."""
    return {key: joined(found[key]) for key in sorted(found)}
