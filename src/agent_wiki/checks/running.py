"""One run of `wiki check`: all checks over one wiki, and where it is asked for the mending of what is mechanical."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from agent_wiki.checks.check import Check, Fault
from agent_wiki.checks.mending import mend
from agent_wiki.checks.order import CHECKS
from agent_wiki.checks.subject import CheckedWiki
from agent_wiki.engine import Progress
from agent_wiki.pages.foreign import claims_of
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.kinds import LESSONS
from agent_wiki.wiki.layout import CONFIG, kind_of
from agent_wiki.wiki.missing import require_folder
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import counted
from agent_wiki.wiki.values import text_or_none

_ORDER = {"files": 0, "records": 1, "recordings": 2}


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """`recordings` are files and folders with recordings, besides those the wiki knows and those beside it.

    `is_fixing`: what is mechanical is mended; with `is_dry_run` it is only said what would be.
    """

    recordings: Sequence[RecordingPath] = ()
    archive_covered: bool = True
    is_fixing: bool = False
    is_dry_run: bool = False


@dataclass(slots=True)
class CheckReport:
    """What was found and mended. `mended` has a line a file; `faults` is what is left.

    `exceptions` counts what the owner lets pass, by the key of `_config.yaml` that has it. `of_others` are the pages
    in indexes that this program did not write, with their trust there; None where the owner trusts a page that does not
    say its own.
    """

    wiki: str
    is_dry_run: bool = False
    faults: list[Fault] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    pages: int = 0
    sessions: int = 0
    recordings: int = 0
    exceptions: dict[str, int] = field(default_factory=dict)
    of_others: dict[str, str | None] = field(default_factory=dict)
    left_out: str = ""
    bugs: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 when nothing is left to mend, 1 otherwise."""
        return int(bool(self.faults))

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, keys always the same."""
        return {
            "command": "check",
            "wiki": self.wiki,
            "findings": [asdict(each) for each in self.faults],
            "checks": dict(sorted(Counter(each.check for each in self.faults).items())),
            "mended": self.mended,
            "is_dry_run": self.is_dry_run,
            "pages": self.pages,
            "sessions": self.sessions,
            "recordings": self.recordings,
            "exceptions": self.exceptions,
            "of_others": [{"file": path, "trust": trust} for path, trust in self.of_others.items()],
            "left_out": self.left_out,
            "exit_code": self.exit_code,
        }

    def lines(self) -> list[str]:
        """A line a finding, then what was looked at."""
        would = "would be mended" if self.is_dry_run else "mended"
        lines = [f"{would}: {each}" for each in self.mended]
        lines += [" ".join(str(each).split()) for each in self.faults]
        if self.left_out:
            return [*lines, f"not checked any further: {self.left_out}"]
        external = sum(trust == "external" for trust in self.of_others.values())
        others = f" ({external} by others, so external)" if external else ""
        of = f"{counted(self.pages, 'page')}{others}, {counted(self.sessions, 'session')}"
        quotes = f"quotes held against the recordings of {self.recordings}"
        let_pass = "".join(f"; {number} in {key} of {CONFIG}" for key, number in self.exceptions.items() if number)
        return [*lines, f"{counted(len(self.faults), 'finding')} in {of}, {quotes}{let_pass}"]


def check(root: Path, options: CheckOptions, progress: Progress) -> CheckReport:
    """Check a wiki. Raises `UsageError` where there is none, and `RunError`."""
    require_folder(root)
    WikiFolder(root).check_place(may_be_new=False)
    wiki = CheckedWiki(root, options.recordings, archive_covered=options.archive_covered)
    report = CheckReport(str(root), options.is_dry_run)
    report.faults = faults_of(wiki, CHECKS, progress)
    if options.is_fixing and any(each.is_mechanical for each in report.faults):
        report.mended = mend(wiki, report.faults, is_dry_run=options.is_dry_run)
        if not options.is_dry_run:
            wiki = CheckedWiki(root, options.recordings, archive_covered=options.archive_covered)
            report.faults = faults_of(wiki, CHECKS, progress)
    _count(wiki, report)
    return report


def _count(wiki: CheckedWiki, report: CheckReport) -> None:
    report.pages = len(wiki.page_paths)
    report.left_out = wiki.why_not_loaded if wiki.records_elsewhere is None else "the records are not here"
    if not report.left_out:
        report.sessions, report.recordings = len(wiki.view.sessions), wiki.compared.sessions
        config = wiki.config
        report.exceptions = {"released": len(config.released), "allowed_secrets": len(config.allowed_secrets)}
        report.of_others = {
            path: text_or_none(claims_of(path, page.fields, config.trusted).get("trust"))
            for path, page in sorted(wiki.pages.foreign.items())
            if kind_of(path) in LESSONS and not path.startswith("_")
        }


def faults_of(wiki: CheckedWiki, checks: Iterable[Check], progress: Progress) -> list[Fault]:
    """What checks find in a wiki, by place. Of one that cannot be loaded only the files are looked at."""
    wanted = sorted(checks, key=lambda check: _ORDER[check.needs])
    found: list[Fault] = []
    for done, check in enumerate(wanted):
        progress(f"check {check.needs}", done, len(wanted))
        if check.needs == "files" or not wiki.why_not_loaded:
            found += [Fault.of(check, spot) for spot in check.find(wiki)]
    return sorted(dict.fromkeys(found), key=lambda fault: fault.rank)


def sarif_of(report: CheckReport) -> dict[str, Any]:
    """What was found as SARIF: a rule for each check, files as seen from the folder that the command ran in."""
    from agent_wiki.pipeline.sarif import SarifResult, sarif_log

    results = [
        SarifResult(each.check, f"{each.what} ({each.fix})", f"{report.wiki}/{each.file}", each.line)
        for each in report.faults
    ]
    failures = [report.left_out] if report.left_out else []
    return sarif_log({check.id: check.summary for check in CHECKS}, results, failures)
