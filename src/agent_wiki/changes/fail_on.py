"""What makes the job of a night red: conditions that its owner named, held against the report of the run.

Without any a run fails if one unit failed, and a bucket of real recordings has a damaged one each night.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from agent_wiki.changes.checks import checks_of, quarantined_in
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.report import Report
from agent_wiki.spending import Totals
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted

_WORDS = re.compile(r"(?P<name>[a-z]+)(?:=(?P<most>\d{1,12}(?:\.\d{1,6})?)(?P<percent>%)?)?")
_WIKI_FAILURES = frozenset({"page"})  # of the wiki, not of what was read
_NOT_CHECKED = "--fail-on check: a shard renders no pages, so that nothing was checked; give it to `wiki join`"


@dataclass(frozen=True, slots=True)
class FailCondition:
    """`name` is what is counted, `most` how much of it is no failure, in hundredths where `is_share`."""

    name: str
    most: float
    is_share: bool = False


Found = Callable[[FailCondition, Report, Options], str]


def conditions_of(words: Iterable[str]) -> list[FailCondition]:
    """The conditions that words name, several separated by commas: `failed=5%,check`. Raises `UsageError`."""
    return [_condition(each.strip()) for word in words for each in word.split(",")]


def _condition(word: str) -> FailCondition:
    found = _WORDS.fullmatch(word)
    name = found["name"] if found else ""
    if found is None or name not in _FOUND:
        raise UsageError(f"--fail-on {word!r}: name {', '.join(_FORMS)}")
    if found["percent"] and name != "failed":
        raise UsageError(f"--fail-on {word}: only `failed` is counted by its share")
    if found["percent"] and float(found["most"]) > 100:
        raise UsageError(f"--fail-on {word}: more than all can never fail; name a share of at most 100%")
    if found["most"] and name == "check":
        raise UsageError("--fail-on check: it takes no number")
    if name == "cost" and not found["most"]:
        raise UsageError("--fail-on cost: say how many US dollars, as in cost=5")
    return FailCondition(name, float(found["most"] or 0), bool(found["percent"]))


def reasons_to_fail(conditions: Iterable[FailCondition], report: Report, options: Options) -> list[str]:
    """Why the job is red, one line each; none where it is not. A bug of this program is always a reason."""
    found = (_FOUND[each.name](each, report, options) for each in conditions)
    bugs = [f"bug: {counted(len(report.bugs), 'bug')} of this program"] if report.bugs else []
    return [*bugs, *(reason for reason in found if reason)]


def warnings_of(conditions: Iterable[FailCondition], report: Report) -> list[str]:
    """What could not be judged: one job file may name the same conditions for shards and for the join of them."""
    return [_NOT_CHECKED] if report.is_shard and any(each.name == "check" for each in conditions) else []


def _failed(condition: FailCondition, report: Report, _options: Options) -> str:
    """Recordings and questions that failed, each once; as a share those that this run tried, of all that it did."""
    number = len({each.recording or each.unit for each in report.failures if each.kind not in _WIKI_FAILURES})
    tried = report.recordings_read - report.recordings_unchanged + report.failed_again
    if condition.is_share:
        number -= report.failed_before
    of = max(number, tried)
    share = f" ({number / of:.1%} of {counted(of, 'recording')})" if of else ""
    amount = 100 * number / of if condition.is_share and of else number
    most = f"{condition.most:g}{'%' * condition.is_share}"
    return f"failed: {number}{share}, more than {most}" if amount > condition.most else ""


def _quarantined(condition: FailCondition, report: Report, options: Options) -> str:
    """What was held back: pages in quarantine, and claims that a check dropped."""
    files, claims = len(quarantined_in(options.wiki)), len(report.dropped_claims)
    said = f"quarantine: {counted(files, 'file')}, {counted(claims, 'claim')} dropped by a check"
    return f"{said}, more than {condition.most:g}" if files + claims > condition.most else ""


def _cost(condition: FailCondition, report: Report, _options: Options) -> str:
    """What asking a model came to. Where an answer has no price, nobody knows that it was less."""
    asked = Totals.from_json(report.asked["total"]) if report.asked else Totals()
    if asked.unpriced:
        return f"cost: unknown, for {counted(asked.unpriced, 'answer')} have no price"
    return f"cost: ${asked.cost_usd:.2f}, more than ${condition.most:g}" if asked.cost_usd > condition.most else ""


def _checked(_condition: FailCondition, report: Report, options: Options) -> str:
    if report.is_shard:  # the pages of the wiki that it will be joined to are not its own, and may not exist yet
        return ""
    checks = checks_of(options.wiki, report.written, archive_covered=options.archive_covered)
    problems = [problem for check in checks for problem in check.problems]
    more = f" and {len(problems) - 1} more: `wiki report` lists them" if len(problems) > 1 else ""
    return f"check: {problems[0]}{more}" if problems else ""


_FOUND: Mapping[str, Found] = {"failed": _failed, "quarantine": _quarantined, "cost": _cost, "check": _checked}
_FORMS = ("failed", "failed=5%", "failed=3", "quarantine", "quarantine=10", "cost=USD", "check")
