"""What saved reports of `wiki ingest --json` say of the runs behind a change, added up. None of it is trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from agent_wiki.errors import UsageError
from agent_wiki.pipeline.report import Entry, Failure, Note
from agent_wiki.spending import TOKEN_KINDS, Totals, total_of
from agent_wiki.trajectory.json_text import object_in
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.values import count_or_none, entries_of, number_or_none, text_or_none, texts_of

_LISTS = ("failures", "set_aside", "waiting", "passed_over", "left_out", "dropped_claims", "warnings")
_TEXTS = ("kind", "unit", "reason", "stage", "request", "recording")


@dataclass(slots=True)
class RunFacts:
    """The runs of one or more nights. `asked`: what asking models came to, None where no run says.

    `stopped`: why runs ended before their end; `failed_on`: which conditions of the owner they met. `unreadable`: files
    that hold no report.
    """

    reports: int = 0
    recordings: int = 0
    recordings_unchanged: int = 0
    recordings_left: int = 0  # which a run that stopped, or may read only so many, did not come to
    sessions: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    failures_tried: int = 0  # which a run met itself; of the others it knew, for their files are unchanged
    set_aside: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    dropped_claims: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    bugs: int = 0
    asked: Totals | None = None
    stopped: list[str] = field(default_factory=list)
    failed_on: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    @property
    def failed_earlier(self) -> int:
        """How many of the failures none of these runs met: their files are unchanged since an earlier one."""
        return max(0, len(self.failures) - self.failures_tried)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            "failed_earlier": self.failed_earlier,
            **{name: getattr(self, name) for name in (*_LISTS, "stopped", "failed_on", "unreadable")},
            "sessions": dict(sorted(self.sessions.items())),
            "asked": None if self.asked is None else self.asked.to_json(),
        }


_COUNTS = ("reports", "recordings", "recordings_unchanged", "recordings_left", "bugs")


def run_facts(files: Iterable[Path]) -> RunFacts | None:
    """The reports in these files, added up; None without any. Raises `UsageError` for a file that is not there."""
    facts = RunFacts()
    for file in files:
        facts.reports += 1
        try:
            values = object_in(file.read_bytes().decode("utf-8", "replace")) or {}
        except OSError as error:
            raise UsageError(f"--run {file}: {error.strerror}") from error
        if isinstance(values.get("failures"), list):
            _add(values, facts)
        else:
            facts.unreadable.append(file.name)
    return facts if facts.reports else None


def _add(values: Mapping[str, Any], facts: RunFacts) -> None:
    for name in ("recordings", "recordings_unchanged"):
        setattr(facts, name, getattr(facts, name) + (count_or_none(values.get(name)) or 0))
    listed, read = (count_or_none(values.get(name)) for name in ("recordings", "recordings_read"))
    facts.recordings_left += 0 if read is None else max(0, (listed or 0) - read)
    sessions = values.get("sessions")
    for status, count in sessions.items() if isinstance(sessions, dict) else ():
        facts.sessions[str(status)] += count_or_none(count) or 0
    unchanged = count_or_none(values.get("failures_unchanged")) or 0
    facts.failures_tried += max(0, len(_lines(values.get("failures"))) - unchanged)
    for name in _LISTS:
        known = getattr(facts, name)
        known += [line for line in _lines(values.get(name)) if line not in known]
    facts.bugs += len(texts_of(values.get("bugs")))
    facts.stopped += texts_of(values.get("stopped"))
    facts.failed_on += [each for each in texts_of(values.get("failed_on")) if each not in facts.failed_on]
    asked = values.get("asked")
    if isinstance(asked, dict) and isinstance(asked.get("total"), dict):
        facts.asked = total_of(each for each in (facts.asked, _totals(asked["total"])) if each is not None)


def _lines(entries: Any) -> list[str]:
    """Entries of a report as it shows them to a person."""
    return [*texts_of(entries), *(str(_entry(each)) for each in entries_of(entries))]


def _entry(values: Mapping[str, Any]) -> Entry:
    said = {name: text_or_none(values.get(name)) for name in _TEXTS}
    place = values.get("place")
    place = place if isinstance(place, int | str) else None
    unit, reason = said["unit"] or "", said["reason"] or ""
    if said["kind"] is None:
        return Note(unit, reason, None if place is None else str(place), said["recording"])
    return Failure(said["kind"], unit, reason, place, said["stage"], said["request"], said["recording"])


def _totals(values: Mapping[str, Any]) -> Totals:
    names = ("calls", "replayed", "unpriced", "uncounted", "by_agents")
    counts = {name: count_or_none(values.get(name)) or 0 for name in names}
    tokens = {kind: count_or_none(values.get(kind)) or 0 for kind in TOKEN_KINDS}
    return Totals(**counts, cost_usd=number_or_none(values.get("cost_usd")) or 0.0, tokens=tokens)
