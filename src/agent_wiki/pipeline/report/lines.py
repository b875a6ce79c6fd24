"""A report as a person reads it at the end of a run: what is new first, then what needs a look, counts last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_wiki.pipeline.report.entries import Entry, Learnt, as_lines, one_line, with_left_out
from agent_wiki.spending import Totals
from agent_wiki.trajectory import HYGIENE
from agent_wiki.wiki.text import counted

if TYPE_CHECKING:
    from agent_wiki.pipeline.report import Report

MOST_LINES = 25
"""Of a report that is not verbose."""
_MOST_FAILURES = 3
_MOST_REASONS = 3
_MOST_CONDITIONS = 2
_MOST_TITLES = 8
_FEWEST_TITLES = 2
_FIRST_TO_GO = ("tidied:", "seen:", "learnt:", "wiki:", "wait:")  # counts that make room for what needs a look
_MOST_TITLE = 70
_KINDS = ("skill", "cluster", "guideline", "task", "subtask")
_EMPTY = "empty"
_SECRETS = "redactions"


def lines_of(report: Report) -> list[str]:
    """The lines; at most `MOST_LINES` of them unless the report is verbose."""
    if report.is_verbose:
        return [*_learnt(report, None), *_lists(report), *_counts(report, is_verbose=True), *_end(report, None)]
    looks, counts, end = _looks(report), _counts(report, is_verbose=False), _end(report, _MOST_CONDITIONS)
    of_learnt = min(len(report.learnt), _FEWEST_TITLES) + 2 if report.learnt else 0  # a heading, and what was cut
    for first_to_go in _FIRST_TO_GO:
        if of_learnt + len(looks) + len(counts) + len(end) > MOST_LINES:
            counts = [line for line in counts if not line.startswith(first_to_go)]
    room = MOST_LINES - len(looks) - len(counts) - len(end) - 2
    return [*_learnt(report, max(_FEWEST_TITLES, min(room, _MOST_TITLES))), *looks, *counts, *end]


def _learnt(report: Report, most: int | None) -> list[str]:
    """The titles of new pages, skills first, then what most sessions support."""
    if not report.learnt:
        return []
    found = sorted(report.learnt, key=_rank)
    kinds = Counter(each.kind for each in found)
    what = ", ".join(counted(kinds[kind], kind) for kind in _KINDS if kind in kinds)
    lines = [f"{'would be new' if report.is_dry_run else 'new'} in {report.wiki}: {what}"]
    lines += [f"  {each.kind:9}  {_title(each)}" for each in found[:most]]
    more = len(found) - len(lines) + 1
    return [*lines, f"  … and {more} more"] if more else lines


def _rank(page: Learnt) -> tuple[int, int, str]:
    kind = _KINDS.index(page.kind) if page.kind in _KINDS else len(_KINDS)
    return kind, -(page.sessions or 0), page.title


def _title(page: Learnt) -> str:
    title = one_line(page.title)
    cut = title if len(title) <= _MOST_TITLE else f"{title[: _MOST_TITLE - 1].rstrip()}…"
    sessions = page.sessions or 0
    return f"{cut} ({counted(sessions, 'session')})" if sessions > 1 else cut


def _looks(report: Report) -> list[str]:
    """What needs a look: failures by name, all else in a line a kind."""
    lines = _listed("FAILED", as_lines(report.failures), _MOST_FAILURES)
    if report.warnings:
        first, *others = as_lines(report.warnings)
        more = f" (and {len(others)} more)" if others else ""
        lines.append(f"warning: {first}{more}")
    if report.quarantined:
        lines.append(f"held back: {counted(len(report.quarantined), 'page')} that may mislead an agent: `wiki review`")
    if report.ignored:
        rules = _tally(Counter(one_line(note.reason) for note in report.ignored))
        pages = counted(len(report.ignored), "page")
        would = "would be " if report.is_dry_run else ""
        lines.append(f"ignored: {pages} {would}removed, as `rules.ignore` names the rule: {rules}")
    if report.edited:
        lines.append(f"edited: {counted(len(report.edited), 'page')} by a person, left as they are: `wiki review`")
    if report.dropped_claims:
        lines.append(f"checked: {counted(len(report.dropped_claims), 'claim')} dropped for lack of evidence")
    if report.set_aside:
        aside = counted(len(report.set_aside), "recording")
        lines.append(f"aside: {aside} set aside after three failed runs: --retry-set-aside reads them again")
    if report.waiting:
        lines.append(f"waiting: {counted(len(report.waiting), 'question')} for a batch")
    if report.left_out:
        reasons = _tally(Counter(one_line(note.reason) for note in report.left_out))
        lines.append(f"left out: {counted(len(report.left_out), 'session')}: {reasons}")
    if report.passed_over and (report.sessions or report.left_out or report.recordings_waiting):
        lines.append(f"passed over: {_passed_over(report)}")
    return lines


def _passed_over(report: Report) -> str:
    """Empty files, and others: a few by name, many by the ending of their names."""
    empty = [each.unit for each in report.passed_over if each.kind == _EMPTY]
    others = [each.unit for each in report.passed_over if each.kind != _EMPTY]
    parts = [f"{counted(len(empty), 'empty file')}"] * bool(empty)
    if others:
        noun = "file that is no recording" if len(others) == 1 else "files that are no recordings"
        parts.append(f"{len(others)} {noun}: {endings(others)}")
    return ", ".join(parts)


def endings(names: Sequence[str]) -> str:
    """What a few files are called; of many what their names say of their formats, as in `.pdf (30), .txt (2)`."""
    if len(names) < _MOST_REASONS:
        return ", ".join(sorted(one_line(PurePosixPath(name).name) for name in names))
    return _tally(Counter(one_line(PurePosixPath(name).suffix.lower())[:12] or "without an ending" for name in names))


def _tally(found: Counter[str]) -> str:
    """`.md (3), .txt (2)`: the most frequent first."""
    ordered = sorted(found.items(), key=lambda each: (-each[1], each[0]))
    parts = [f"{name} ({count})" for name, count in ordered[:_MOST_REASONS]]
    return ", ".join([*parts, "others"] if len(ordered) > _MOST_REASONS else parts)


def _lists(report: Report) -> list[str]:
    """Every list to its end."""
    lists: tuple[tuple[str, Sequence[Entry]], ...] = (
        ("left out", report.left_out),
        ("not recordings, passed over", report.passed_over),
        ("set aside after three failed runs: --retry-set-aside reads them again", report.set_aside),
        ("held back, as they may mislead an agent: `wiki review`", report.quarantined),
        ("edited by a person, left as they are: `wiki review`", report.edited),
        ("claims dropped for lack of evidence", report.dropped_claims),
        ("warnings", report.warnings),
        ("waiting for a batch", report.waiting),
        ("FAILED", report.failures),
        ("written", report.written),
        ("removed", report.removed),
        ("archived", report.archived),
        ("removed, as `rules.ignore` names their rules", report.ignored),
    )
    return [line for title, entries in lists for line in _listed(title, as_lines(entries), None)]


def _listed(title: str, entries: Sequence[str], most: int | None) -> list[str]:
    if not entries:
        return []
    shown = entries[:most]
    lines = [f"{title} ({len(entries)}):", *(f"  {entry}" for entry in shown)]
    more = len(entries) - len(shown)
    return [*lines, f"  … and {more} more"] if more else lines


def _counts(report: Report, *, is_verbose: bool) -> list[str]:
    lines = []
    if report.recordings and not (report.stopped and not report.sessions):
        lines.append(_sessions_line(report))
    if report.guidelines_contributed or report.skills_contributed or report.nothing_to_learn:
        lines.append(_lessons_line(report))
    lines += _tidied(report.hygiene, is_verbose=is_verbose)
    if report.coverage["elided_characters"]:
        lines.append(_coverage_line(report.coverage))
    lines.append(_pages_line(report))
    if report.pages_waiting:
        lines.append(f"wait:  {counted(report.pages_waiting, 'new page')}, for a later run to publish")
    if report.pages:
        lines.append("wiki:  " + ", ".join(_pages(count, kind) for kind, count in sorted(report.pages.items())))
    if report.asked:
        lines.append("asked: " + Totals.from_json(report.asked["total"]).line())
    hidden = (report.left_out, report.passed_over, report.dropped_claims, report.hygiene, report.learnt[_MOST_TITLES:])
    return lines if is_verbose or not any(hidden) else [*lines, "more:  -v prints every list to its end"]


def _lessons_line(report: Report) -> str:
    """What sessions taught: several may teach one page, so that these are more than the new pages."""
    counts = {"guideline": report.guidelines_contributed, "skill": report.skills_contributed}
    taught = ", ".join(counted(count, kind) for kind, count in counts.items() if count)
    parts = [f"{taught} taught by sessions"] * bool(taught)
    parts += [f"{counted(report.nothing_to_learn, 'session')} had nothing to teach"] * bool(report.nothing_to_learn)
    return f"learnt: {'; '.join(parts)}"


def _pages_line(report: Report) -> str:
    would = "would be " if report.is_dry_run else ""
    parts = [f"{counted(len(report.written), 'file')} {would}written" if report.written else "nothing written"]
    parts += ["no page: `wiki join` renders them"] * report.is_shard
    parts += [f"{counted(report.pages_unchanged, 'page')} unchanged"] * bool(report.pages_unchanged)
    parts += [f"{len(report.removed)} {would}removed"] * bool(report.removed)
    parts += [f"{len(report.archived)} {would}archived"] * bool(report.archived)
    return f"{'shard' if report.is_shard else 'pages'}: {', '.join(parts)}"


def _pages(count: int, kind: str) -> str:
    return counted(count, kind.removesuffix("s"))


def _tidied(hygiene: Counter[str], *, is_verbose: bool) -> list[str]:
    if not hygiene:
        return []
    if is_verbose:
        found = (f"  {HYGIENE.get(name, name)}: {count:,}" for name, count in sorted(hygiene.items()))
        return ["tidied while reading:", *found]
    secrets = hygiene.get(_SECRETS, 0)
    others = sum(hygiene.values()) - secrets
    parts = [f"{counted(secrets, 'secret')} redacted"] * bool(secrets)
    parts += [f"{others:,} odd place{'s' * (others != 1)} mended while reading"] * bool(others)
    return [f"tidied: {', '.join(parts)}"]


def _coverage_line(coverage: Counter[str]) -> str:
    whole, elided = coverage["trajectory_characters"], coverage["elided_characters"]
    return f"seen:  {whole - elided:,} of {whole:,} characters ({1 - elided / whole:.1%}), {elided:,} elided"


def _sessions_line(report: Report) -> str:
    parts = [f"{count} {status}" for status, count in sorted(with_left_out(report.sessions).items())]
    files = report.files
    recordings, unchanged = files["recordings"], files["recordings_unchanged"]
    unread = f", {unchanged} unchanged and not read" if unchanged else ""
    left = report.recordings_waiting
    unread += f", {counted(left, 'file')} left for a later run" if left else ""
    return f"read:  {counted(recordings, 'recording')}{unread}; sessions: {', '.join(parts) or 'none'}"


def _end(report: Report, most: int | None) -> list[str]:
    """Why the run ended as it did, last, where a person looks first."""
    lines = [f"batch: {batch} under way; run again to collect it" for batch in report.batches[:most]]
    if more := len(report.batches) - len(lines):
        lines = [f"{lines[0]} (and {more + len(lines) - 1} more)"]
    lines += [f"RED: {one_line(reason)}" for reason in (report.failed_on or ())[:most]]
    if report.stopped:
        given = report.recordings_read - report.recordings_refused
        read = f"{given} of {counted(report.recordings, 'file')}"
        kept = (
            f"what was learnt so far is in the {'shard' if report.is_shard else 'wiki'}"
            if report.sessions
            else "nothing was learnt yet"
        )
        lines += [f"kept:  {read} read; {kept}"] * bool(report.recordings)
        lines.append(f"STOPPED: {report.stopped}")
    return lines
