"""What a run did, as values; as lines for a person and as JSON for a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

from agent_wiki.errors import PartOfRecording, RecordingChanged
from agent_wiki.pipeline.report.entries import (
    NOT_IN_WIKI,
    SHORT_DIGEST,
    Entry,
    Failure,
    Learnt,
    Note,
    as_lines,
    as_values,
    listed_lines,
)
from agent_wiki.spending import total_of
from agent_wiki.trajectory.lazily import dataclass

if TYPE_CHECKING:
    from agent_wiki.engine import Account

__all__ = [
    "HIDDEN_FIELDS", "NOT_IN_WIKI", "SCHEMA_VERSION", "SHORT_DIGEST", "Entry", "Failure", "Learnt", "Note", "Report",
    "as_lines", "as_values", "listed_lines",
]  # fmt: skip

SCHEMA_VERSION = 1
"""Of what `--json` prints; `wiki schema` describes it. It changes when a key goes or means something else."""

HIDDEN_FIELDS = (
    "_covered", "failed_again", "failed_before", "is_shard", "is_verbose", "parts", "parts_unchanged",
    "recordings_refused",
)  # fmt: skip
"""Fields of a report that are not printed."""

_SIGNALLED = 128  # added to a signal's number, as shells do


@dataclass(slots=True)
class Report:
    """Counts and reasons of one run. Lists are sorted when shown."""

    command: str
    wiki: str
    is_dry_run: bool = False
    recordings: int = 0  # the files that were listed, whatever they are; `files` says what they are
    recordings_unchanged: int = 0  # of these
    recordings_read: int = 0  # to their ends, with those that are unchanged and those that were refused
    recordings_refused: int = 0  # of these, those that a store did not give
    recordings_waiting: int = 0  # files that are more than one run may read; what they hold nobody knows yet
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
    learnt: list[Learnt] = field(default_factory=list)  # pages of lessons that are new in the wiki
    archived: list[str] = field(default_factory=list)
    ignored: list[Note] = field(default_factory=list)  # pages that were removed, as the owner ignores their rules
    quarantined: list[str] = field(default_factory=list)  # pages that are held back since this run
    edited: list[str] = field(default_factory=list)  # pages that a person changed: they are left as they are
    failures: list[Failure] = field(default_factory=list)
    failed_again: int = 0  # of the failures, those of unchanged objects, which count each night until set aside
    failed_before: int = 0  # those of unchanged files, which an earlier run tried and this one did not
    left_out: list[Note] = field(default_factory=list)
    passed_over: list[Failure] = field(default_factory=list)
    passed_over_unchanged: int = 0  # of these, known from a run before
    parts: int = 0  # files that belong to a recording and are none, of which nothing is said
    parts_unchanged: int = 0
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
    is_shard: bool = False  # only records are written, for `wiki join`; no page is rendered
    is_verbose: bool = False  # how it is shown to a person; a program always gets all of it
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

    @property
    def files(self) -> dict[str, int]:
        """What the files are that were listed. All but `recordings_unchanged` add up to `recordings` of the report.

        `recordings`, of which `recordings_unchanged` were not read again; `parts` of a recording; `others`, which are
        none; `unread`, which a run that was stopped, or may read only so many, did not come to.
        """
        unread = self.recordings - self.recordings_read if self.stopped else self.recordings_waiting
        unchanged = self.recordings_unchanged - self.passed_over_unchanged - self.parts_unchanged
        return {
            "recordings": self.recordings - unread - len(self.passed_over) - self.parts,
            "recordings_unchanged": unchanged,
            "parts": self.parts,
            "others": len(self.passed_over),
            "unread": unread,
        }

    @property
    def failures_unchanged(self) -> int:
        """How many of the failures an earlier run found: their files are unchanged, and were not tried again."""
        return self.failed_again + self.failed_before

    @property
    def has_recordings(self) -> bool:
        """Whether anything that was read, or should have been, is a recording; a stopped run does not know."""
        known = (self.left_out, self.set_aside, self.failures, self.waiting, self.stopped)
        return sum(self.sessions.values()) > 0 or any(known)

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
        self.failed_again = self.failed_before = 0
        self.recordings = self.recordings_unchanged = self.recordings_read = self.recordings_refused = 0
        self.recordings_waiting = self.passed_over_unchanged = self.pages_unchanged = 0
        self.parts = self.parts_unchanged = 0

    def add_unread(self, failure: Failure, *, is_foreign: bool, is_named: bool, is_unchanged: bool = False) -> bool:
        """Note a file that was not read to its end. One that is empty, or something else altogether, is passed over.

        A part of a recording is no news, unless the user named it in place of the recording. Returns whether it is a
        failure.
        """
        if not is_foreign or (is_named and failure.kind == PartOfRecording.kind):
            self.failures.append(failure)
            return True
        if failure.kind == RecordingChanged.kind:
            self.warnings.append(str(failure))
        elif failure.kind == PartOfRecording.kind:
            self.parts += 1
            self.parts_unchanged += is_unchanged
        else:
            self.passed_over.append(failure)
            self.passed_over_unchanged += is_unchanged
        return False

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
        names = [each.name for each in fields(self) if each.name not in HIDDEN_FIELDS]
        values = {name: getattr(self, name) for name in names}  # `asdict` breaks a Counter
        for name, value in values.items():
            if isinstance(value, Counter):
                values[name] = dict(sorted(value.items()))
            elif isinstance(value, list):
                values[name] = sorted(value) if name == "bugs" else as_values(value)
        more = {"failures_unchanged": self.failures_unchanged, "files": self.files, "exit_code": self.exit_code}
        return {"schema_version": SCHEMA_VERSION, **values, **more}

    def lines(self) -> list[str]:
        """The report for a person: at most 25 lines, or every list to its end where it is verbose."""
        from agent_wiki.pipeline.report.lines import lines_of

        return lines_of(self)
