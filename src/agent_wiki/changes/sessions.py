"""What the sessions that are new or grown add: how they ended, by task and by model, and what is known of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, field
from math import fsum
from typing import Any

from agent_wiki.changes.revision import FileChange
from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.pass_rates import has_passed
from agent_wiki.pages.sessions import Session
from agent_wiki.pages.state import taught_nothing
from agent_wiki.spending import TOKEN_KINDS
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.records import FOLDER as SESSIONS
from agent_wiki.wiki.records import SessionRecord, former_record_path, record_path

NO_TASK = "no task"
NO_MODEL = "unknown model"


@dataclass(slots=True)
class OutcomeRow:
    """How sessions of one task or one model ended. Those of which nobody knows how they ended are apart.

    `passed` of `known`: by reward, by what resolved a session, else by its outcome; `before`: the same of all others.
    """

    name: str
    sessions: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    passed: int = 0
    known: int = 0
    passed_before: int = 0
    known_before: int = 0

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {**asdict(self), "outcomes": dict(sorted(self.outcomes.items()))}


@dataclass(slots=True)
class AddedSessions:
    """What records say of the sessions that are new or changed. `total`: sessions in the wiki.

    `measured`: a measure → its sum, and over how many sessions: of the others it is unknown. `nothing_to_learn` and
    `asked` count sessions that were asked for lessons, and those of them that had none.
    """

    total: int = 0
    new: int = 0
    changed: int = 0
    gone: int = 0
    by_task: list[OutcomeRow] = field(default_factory=list)
    by_model: list[OutcomeRow] = field(default_factory=list)
    measured: dict[str, tuple[float, int]] = field(default_factory=dict)
    characters: int = 0
    elided_characters: int = 0
    asked: int = 0
    nothing_to_learn: int = 0
    dropped_claims: int = 0

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        rows = {name: [each.to_json() for each in getattr(self, name)] for name in ("by_task", "by_model")}
        measured = {name: {"sum": total, "sessions": number} for name, (total, number) in self.measured.items()}
        own = {name: getattr(self, name) for name in _COUNTS}
        return {**own, **rows, "measured": measured}


_COUNTS = (
    "total", "new", "changed", "gone", "characters", "elided_characters", "asked", "nothing_to_learn",
    "dropped_claims",
)  # fmt: skip
_MEASURES = ("total_cost_usd", *TOKEN_KINDS, "duration_seconds")


def added_sessions(catalog: Catalog, files: Mapping[str, FileChange]) -> AddedSessions:
    """In: the wiki as it is, and the files of it that differ from the base."""
    records = catalog.view.state.records
    touched = {name: files[path] for name in records if (path := record_path(name)) in files}
    gone = {path for path, each in files.items() if each == "gone" and path.startswith(f"{SESSIONS}/")}
    for name in [name for name in touched if former_record_path(name) in gone]:
        gone.discard(former_record_path(name))
        del touched[name]  # only its record's name is another than that of an earlier version
    counts = Counter(touched.values())
    facts = AddedSessions(
        total=len(catalog.view.sessions), new=counts["new"], changed=counts["changed"], gone=len(gone)
    )
    _add_records([records[name] for name in touched], facts)
    titles = {name: str(entry.get("title") or name) for name, entry in catalog.view.state.config.tasks.items()}
    task_of = catalog.task_of
    facts.by_task = _rows(catalog, touched, lambda each: titles.get(task_of.get(each.session_id, ""), NO_TASK))
    facts.by_model = _rows(catalog, touched, lambda each: each.record.model or NO_MODEL)
    return facts


def _add_records(records: Iterable[SessionRecord], facts: AddedSessions) -> None:
    found = list(records)
    for name in _MEASURES:
        known = [value for each in found if (value := getattr(each, name)) is not None]
        if known:
            facts.measured[name] = (fsum(known), len(known))
    for record in found:
        facts.characters += record.characters
        facts.elided_characters += record.elided_characters
        facts.dropped_claims += sum(len(stage.dropped) for stage in record.stages.values())
        is_barren = taught_nothing(record)
        if is_barren is not None:
            facts.asked += 1
            facts.nothing_to_learn += is_barren


def _rows(catalog: Catalog, touched: Collection[str], name_of: Callable[[Session], str]) -> list[OutcomeRow]:
    """A row for each name that a touched session has, those of most sessions first."""
    rows: dict[str, OutcomeRow] = {}
    sessions = catalog.view.sessions
    for session in (sessions[name] for name in sorted(touched) if name in sessions):
        row = rows.setdefault(name_of(session), OutcomeRow(name_of(session)))
        row.sessions += 1
        row.outcomes[session.outcome] += 1
        passed = has_passed(session)
        row.known += passed is not None
        row.passed += passed is True
    for session_id, session in sessions.items():
        former = rows.get(name_of(session)) if session_id not in touched else None
        if former is not None and (passed := has_passed(session)) is not None:
            former.known_before += 1
            former.passed_before += passed
    return sorted(rows.values(), key=lambda row: (-row.sessions, row.name))
