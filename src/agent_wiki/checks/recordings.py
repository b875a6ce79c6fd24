"""Whether the recordings, where they are here, bear what the records and pages say of them.

Each recording is read once, redacted as it was when it was mined. One that is not here contradicts nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from agent_wiki.checks.check import Check, Spot
from agent_wiki.checks.subject import CheckedWiki, line_with
from agent_wiki.pages.guideline import CAUSES, EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.quotes import evidence_of, quotes_of
from agent_wiki.pages.sessions import Session
from agent_wiki.pages.support import Evidence
from agent_wiki.redaction.personal import is_verbatim_in_stand_ins
from agent_wiki.retrieval.recording_places import Places
from agent_wiki.stages.extract_guidelines import grade_of_turns, is_known_error
from agent_wiki.stages.trust import trust_of
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.evidence import least_trusted, why_not_verbatim
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import kind_of
from agent_wiki.wiki.records import record_path
from agent_wiki.wiki.values import entries_of, whole_number

_CHANGED = "; the recording has changed since"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What a recording says against the wiki: the id of the check, and where."""

    check: str
    spot: Spot


@dataclass(frozen=True, slots=True)
class AgainstRecordings:
    """What was found of all sessions, and of how many the recording is here."""

    found: Sequence[Contradiction]
    sessions: int
    of: int


def compared(wiki: CheckedWiki) -> AgainstRecordings:
    """Hold every record whose recording is here against it, and what others wrote on pages about its session."""
    places = Places(wiki.folder, wiki.recordings, is_local=True)
    found: list[Contradiction] = []
    claims, here = _claims_of_pages(wiki), 0
    sessions = sorted(wiki.view.sessions.values(), key=_file)
    for session in sessions:
        record = session.record
        at = places.find(session.session_id, record.recording.file, record.recording.sha256)
        if at.problem:
            found.append(Contradiction("unreadable", Spot(record_path(session.session_id), at.problem)))
        if at.trajectory is not None:
            here += 1
            case = _Case(wiki, session, at.trajectory)
            found += [*case.of_record(), *case.of_pages(claims.get(session.session_id, ()))]
    return AgainstRecordings(found, here, len(sessions))


def _file(session: Session) -> tuple[str, str]:
    """Sessions of one file one after another, for a file is kept until the next is asked for."""
    return session.record.recording.file or "", session.session_id


def _claims_of_pages(wiki: CheckedWiki) -> dict[str, list[tuple[str, int, str]]]:
    """Session id → (page, turn, quote) of what pages that are not as rendered cite of it."""
    claims: dict[str, list[tuple[str, int, str]]] = {}
    for path, page in wiki.worded_by_others.items():
        for entry in entries_of(page.fields.get("evidence")) if kind_of(path) == "guideline" else ():
            claim = (path, whole_number(entry.get("turn"), 0), str(entry.get("quote") or ""))
            claims.setdefault(str(entry.get("session_id") or ""), []).append(claim)
    return claims


class _Case:
    """One session before its recording."""

    def __init__(self, wiki: CheckedWiki, session: Session, trajectory: Trajectory) -> None:
        self.wiki, self.record, self.trajectory = wiki, session.record, trajectory
        self.path = record_path(session.session_id)
        known = self.record.recording.sha256
        self.since = _CHANGED if known and trajectory.source.sha256 not in (None, known) else ""

    def of_record(self) -> Iterator[Contradiction]:
        for quote in quotes_of(self.record):
            if not is_verbatim_in_stand_ins(self.trajectory, quote.turn, quote.words):
                why = why_not_verbatim(self.trajectory, quote.turn, quote.words)
                yield self._at("quote", quote.words, f"{quote.what}: {why}")
        for what, evidence in evidence_of(self.record):
            yield from self._overstated(what, evidence)
        for guideline in self.record.answer(EXTRACT_GUIDELINES) or ():
            yield from self._cause(guideline)

    def of_pages(self, claims: Sequence[tuple[str, int, str]]) -> Iterator[Contradiction]:
        for path, turn, quote in claims:
            if quote and not is_verbatim_in_stand_ins(self.trajectory, turn, quote):
                line = line_with(self.wiki.text(path), f"turn: {turn}")
                why = why_not_verbatim(self.trajectory, turn, quote)
                yield Contradiction("quote", Spot(path, f"{why} of {self.record.session_id}{self.since}", line))

    def _overstated(self, what: str, evidence: Evidence) -> Iterator[Contradiction]:
        if not 1 <= evidence.turn <= len(self.trajectory.messages):
            return
        found = trust_of(self.trajectory, evidence.turn, evidence.quote)
        if least_trusted([found, evidence.trust]) != evidence.trust:
            says = f"{what}: T{evidence.turn} counts as {evidence.trust}, and the recording says {found}"
            yield self._at("trust", evidence.quote, says)

    def _cause(self, guideline: GuidelineEntry) -> Iterator[Contradiction]:
        quotes = [(each.turn, each.quote) for each in guideline.evidence if self._has(each.turn)]
        turns = (guideline.event, guideline.remedy, guideline.confirmation, guideline.reason)
        named = (*turns[:3], guideline.reason or None)  # `NOBODY` is no turn
        if guideline.cause is None or not quotes or not all(each is None or self._has(each) for each in named):
            return
        grade = grade_of_turns(self.trajectory, turns, quotes, is_known_error(guideline.rule_id))
        if CAUSES.index(grade.cause) > CAUSES.index(guideline.cause):
            says = f"guideline {guideline.id}: its cause counts as {guideline.cause}, and the recording shows less"
            yield self._at("cause", guideline.id, f"{says}: {grade.cause} ({grade.reason})")

    def _has(self, turn: int) -> bool:
        return 1 <= turn <= len(self.trajectory.messages)

    def _at(self, check: str, words: str, what: str) -> Contradiction:
        line = line_with(self.wiki.text(self.path), json.dumps(words, ensure_ascii=False))
        return Contradiction(check, Spot(self.path, f"{what}{self.since}", line))


def _of(name: str) -> Callable[[CheckedWiki], Iterator[Spot]]:
    def find(wiki: CheckedWiki) -> Iterator[Spot]:
        return (each.spot for each in wiki.compared.found if each.check == name)

    return find


def _check(name: str, summary: str) -> Check:
    return Check(f"recordings/{name}", summary, "ingest the recording again with --rewrite", _of(name), "recordings")


RECORDINGS = (
    Check(
        "recordings/unreadable",
        "A recording that is here cannot be read.",
        "bring it back, or name the folder of another copy with --recordings",
        _of("unreadable"),
        "recordings",
    ),
    _check("quote", "A quote is not verbatim in the turn that it is cited from."),
    _check("trust", "A quote counts as more trusted than its turn in the recording is."),
    _check("cause", "The recording shows less of a lesson's cause than the record says."),
)
