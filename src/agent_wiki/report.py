"""What a run did, as values; as lines for a person and as JSON for a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field, fields
from typing import TYPE_CHECKING, Any

from agent_wiki.errors import AgentWikiError, EmptyRecording, PartOfRecording, RecordingChanged, UnitError, located
from agent_wiki.spending import Totals, total_of
from agent_wiki.trajectory import HYGIENE, without_surrogates
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted

if TYPE_CHECKING:
    from agent_wiki.engine import Account

SHORT_DIGEST = 19
"""Characters of a digest as people see it: `sha256:` and 12 digits."""

_MOST_NAMED = 3
_SIGNALLED = 128  # added to a signal's number, as shells do
_MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with one unit, which cost that unit and no other.

    `kind` says what failed: recording, empty (a file with nothing in it), changed (since it was listed), page, answer,
    question (it has no answer yet), service, budget, stage, or bug.
    `unit` is the file, session, page or stage, and `place` the line or field in it; `recording` is the file of a
    session; `stage` and `request` are those of the question, where there was one. `str()` is one line.
    """

    kind: str
    unit: str
    reason: str
    place: int | str | None = None
    stage: str | None = None
    request: str | None = None
    recording: str | None = None

    @classmethod
    def of(cls, error: AgentWikiError, unit: str = "", *, stage: str = "", recording: str | None = None) -> Failure:
        """What an error says. Without a `unit` it is of what the error is about, else of its stage."""
        if not isinstance(error, UnitError):
            return cls("budget", unit or stage, str(error), stage=stage or None, recording=recording)
        stage = error.stage or stage
        unit = unit or ", ".join(error.about[:_MOST_NAMED]) or stage
        request = error.request or None
        return cls(error.kind, unit, error.reason, error.place, stage or None, request, recording)

    def __str__(self) -> str:
        request = f" (request {self.request[:SHORT_DIGEST]})" if self.request else ""
        if isinstance(self.place, int):
            parts = [self.recording, located(self.unit, self.place), self.stage]
        else:
            parts = [self.recording, self.unit, self.stage, self.place]
        return _line(*parts, f"{self.reason}{request}")


@dataclass(frozen=True, slots=True)
class Note:
    """What a reader of a report should know of one unit, though nothing failed. `str()` is one line."""

    unit: str
    reason: str
    place: str | None = None
    recording: str | None = None

    def __str__(self) -> str:
        return _line(self.recording, self.unit, self.place, self.reason)


@dataclass(slots=True)
class Report:
    """Counts and reasons of one run. Lists are sorted when shown."""

    command: str
    wiki: str
    is_dry_run: bool = False
    recordings: int = 0
    recordings_unchanged: int = 0
    sessions: Counter[str] = field(default_factory=Counter)  # by status: mined, unchanged, older, left-out, failed
    formats: Counter[str] = field(default_factory=Counter)
    nothing_to_learn: int = 0
    guidelines_contributed: int = 0
    skills_contributed: int = 0
    hygiene: Counter[str] = field(default_factory=Counter)
    coverage: Counter[str] = field(default_factory=Counter)  # characters of the sessions that were mined in this run
    pages: Counter[str] = field(default_factory=Counter)  # by kind, what the wiki holds now
    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    pages_unchanged: int = 0
    pages_waiting: int = 0  # new ones that a later run publishes
    archived: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)  # pages that a person changed: they are left as they are
    failures: list[Failure] = field(default_factory=list)
    left_out: list[Note] = field(default_factory=list)
    passed_over: list[Failure] = field(default_factory=list)
    set_aside: list[Failure] = field(default_factory=list)  # objects of a bucket that failed too often
    dropped_claims: list[Note] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    bugs: list[str] = field(default_factory=list)
    batches: list[str] = field(default_factory=list)  # under way: id and number of requests
    waiting: list[Failure] = field(default_factory=list)  # questions that a batch will answer
    asked: dict[str, Any] = field(default_factory=dict)  # what asking a model came to: `total`, and by stage
    stopped: str = ""  # why the run ended before its end
    failed_on: list[str] | None = None  # why the run failed by the owner's conditions; None: where any unit failed
    signal: int = 0  # the number of the signal that ended it
    _covered: dict[str, dict[str, int]] = field(default_factory=dict)  # by session; what `coverage` sums

    @property
    def exit_code(self) -> int:
        """0 when all went well, 1 when some unit failed, 3 when the run was stopped, 128 and a signal that ended it.

        With conditions of the owner 1 when one of them is met, whatever else failed.
        """
        if self.signal:
            return _SIGNALLED + self.signal
        if self.stopped:
            return 3
        return 1 if (self.failures if self.failed_on is None else self.failed_on) else 0

    def begin_again(self) -> None:
        """Another round of the same run: what it finds replaces what the round before found.

        What was written, removed, archived, learnt, shown and paid adds up.
        """
        for each in (self.sessions, self.formats, self.hygiene, self.pages):
            each.clear()
        for entries in (
            self.failures,
            self.left_out,
            self.passed_over,
            self.set_aside,
            self.warnings,
            self.waiting,
            self.bugs,
        ):
            entries.clear()
        self.recordings = self.recordings_unchanged = self.pages_unchanged = 0

    def add_unread(self, failure: Failure, *, is_foreign: bool, is_named: bool) -> None:
        """Note a file that was not read to its end. Something else altogether is a failure only where it was named."""
        if is_named or not is_foreign:
            self.failures.append(failure)
        elif failure.kind in (EmptyRecording.kind, RecordingChanged.kind):
            self.warnings.append(str(failure))
        elif failure.kind != PartOfRecording.kind:
            self.passed_over.append(failure)

    def leave_unchanged(self, pages: Mapping[str, int]) -> None:
        """Count the pages of a wiki in which nothing changed, by kind."""
        self.pages.update(pages)
        self.pages_unchanged = sum(pages.values())

    def cover(self, session_id: str, coverage: dict[str, int]) -> None:
        """Count what a model was shown of a session, once however many rounds it took."""
        self.coverage.subtract(self._covered.get(session_id, {}))
        self.coverage.update(coverage)
        self._covered[session_id] = coverage

    def add_account(self, account: Account) -> None:
        """Note what an engine has to say of its asking at the end of the run."""
        if account.spent is not None:
            parts = {stage: totals.to_json() for stage, totals in account.spent.items()}
            self.asked = {"total": total_of(account.spent.values()).to_json(), "stages": parts}
        self.warnings += account.warnings
        self.batches = list(account.batches)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, keys always the same."""
        names = [each.name for each in fields(self) if not each.name.startswith("_")]
        values = {name: getattr(self, name) for name in names}  # `asdict` breaks a Counter
        for name, value in values.items():
            if isinstance(value, Counter):
                values[name] = dict(sorted(value.items()))
            elif isinstance(value, list):
                values[name] = sorted(value) if name == "bugs" else as_values(value)
        return {**values, "exit_code": self.exit_code}

    def lines(self, *, most: int = _MOST_LISTED) -> list[str]:
        """The report for a person; long lists are cut at `most` with a count of the rest."""
        would = "would be " if self.is_dry_run else ""
        lines = []
        if self.recordings:
            lines.append(self._sessions_line())
        if self.guidelines_contributed or self.nothing_to_learn:
            guidelines = counted(self.guidelines_contributed, "guideline")
            learnt = f"{guidelines}, {counted(self.skills_contributed, 'skill')} contributed"
            lines.append(f"learnt: {learnt}; {counted(self.nothing_to_learn, 'session')} had nothing to learn")
        unchanged = f"{counted(self.pages_unchanged, 'page')} unchanged"
        written = f"pages: {counted(len(self.written), 'file')} {would}written, {unchanged}"
        lines.append(f"{written}, {len(self.removed)} {would}removed, {len(self.archived)} archived")
        if self.pages_waiting:
            lines.append(f"wait:  {counted(self.pages_waiting, 'new page')}, for a later run to publish")
        if self.pages:
            lines.append("wiki:  " + ", ".join(f"{count} {kind}" for kind, count in sorted(self.pages.items())))
        if self.asked:
            lines.append("asked: " + Totals.from_json(self.asked["total"]).line())
        if self.coverage["elided_characters"]:
            lines.append(self._coverage_line())
        lines += [f"batch: {batch} under way; run again to collect it" for batch in self.batches]
        if self.hygiene:
            lines.append("tidied while reading:")
            lines += [f"  {count:>7,} {HYGIENE.get(name, name)}" for name, count in sorted(self.hygiene.items())]
        for title, entries in (
            ("left out", self.left_out),
            ("not recordings, passed over", self.passed_over),
            ("set aside after three failed runs: --retry-set-aside reads them again", self.set_aside),
            ("edited by a person, left as they are: `wiki review`", self.edited),
            ("claims dropped", self.dropped_claims),
            ("warnings", self.warnings),
            ("waiting for a batch", self.waiting),
            ("FAILED", self.failures),
        ):
            lines += _listed(title, as_lines(entries), most)
        lines += [f"RED: {_one_line(reason)}" for reason in self.failed_on or ()]
        if self.stopped:
            lines.append(f"STOPPED: {self.stopped}")
        return lines

    def _coverage_line(self) -> str:
        whole, elided = self.coverage["trajectory_characters"], self.coverage["elided_characters"]
        return f"seen:  {whole - elided:,} of {whole:,} characters ({1 - elided / whole:.1%}), {elided:,} elided"

    def _sessions_line(self) -> str:
        parts = [f"{count} {status}" for status, count in sorted(self.sessions.items())]
        unread = f", {self.recordings_unchanged} unchanged and not read" if self.recordings_unchanged else ""
        return f"read:  {counted(self.recordings, 'recording')}{unread}; sessions: {', '.join(parts) or 'none'}"


Entry = Failure | Note | str


def as_lines(entries: Iterable[Entry]) -> list[str]:
    """Entries of a report for a person, one line each, sorted."""
    return sorted(_one_line(str(entry)) for entry in entries)


def as_values(entries: Iterable[Entry]) -> list[Any]:
    """Entries of a report as JSON values, in the order of their lines."""
    return [_as_value(entry) for entry in sorted(entries, key=lambda entry: _one_line(str(entry)))]


def _as_value(entry: Entry) -> Any:
    if isinstance(entry, str):
        return _one_line(entry)
    return {name: _one_line(value) if isinstance(value, str) else value for name, value in asdict(entry).items()}


def _line(*parts: object) -> str:
    """What there is of the parts, each once, from the general to the particular."""
    return ": ".join(dict.fromkeys(str(part) for part in parts if part))


def _one_line(text: str) -> str:
    """An entry names files and sessions, whose names may hold anything."""
    return without_surrogates(" ".join(text.split()))


def listed_lines(title: str, entries: Sequence[str]) -> list[str]:
    """Each entry behind its title, on a line of its own; those beyond twenty are counted."""
    lines = [f"{title}: {entry}" for entry in entries[:_MOST_LISTED]]
    more = len(entries) - _MOST_LISTED
    return [*lines, f"{title}: … and {more} more (all with --json)"] if more > 0 else lines


def _listed(title: str, entries: Sequence[str], most: int) -> list[str]:
    if not entries:
        return []
    lines = [f"{title} ({len(entries)}):", *(f"  {entry}" for entry in entries[:most])]
    if len(entries) > most:
        lines.append(f"  … and {len(entries) - most} more (all with --json)")
    return lines
