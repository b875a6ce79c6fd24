"""The sections of a pull request's body, in words: each with what is always shown and a list that may be cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from agent_wiki.changes.facts import ChangeFacts
from agent_wiki.changes.markdown import Links, inert
from agent_wiki.changes.pages import ChangedPage
from agent_wiki.changes.runs import RunFacts
from agent_wiki.changes.sessions import NO_TASK, OutcomeRow
from agent_wiki.pipeline.report.entries import with_left_out
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted

_MOST_TITLE = 200
_MOST_RULE = 400
_MOST_LINE = 500
_MOST_NAME = 120
_MOST_KINDS = 10  # of what a report counts, which anybody may have written
_HOW_TO_READ = """\
In brackets: how sure the cause is, whose words bear it, where it holds, how many sessions show it.
A page that is wrong: `wiki reject PAGE --why TEXT` on this branch.
"""
_NO_RUN = "unknown, for the report was written without `--run`."


@dataclass(frozen=True, slots=True)
class BodySection:
    """A section of the body. `head` is always shown; `items` are the lines of its list, those that matter most first.

    They are made when they are asked for: of ten thousand a hundred fit. `number` is how many there are. `rank` says
    how much they matter: of two sections that do not fit, the one with the higher number is cut first. `key` is where
    the JSON has the whole list.
    """

    title: str
    head: tuple[str, ...] = ()
    items: Iterator[str] = iter(())
    number: int = 0
    rank: int = 0
    key: str = ""


_LEFT_OUT_AS = {"older": "as the wiki holds a longer recording", "forgotten": "as forgotten for good"}


def sections_of(facts: ChangeFacts, links: Links) -> list[BodySection]:
    """All sections, in the order of the body."""
    pages = facts.pages
    minor = (f"{counted(pages.minor, 'more page')} changed in counts, tags or clusters alone.",) * bool(pages.minor)
    parts = (
        _pages("New", pages.new, links, 1, "pages.new", (_HOW_TO_READ,) * bool(pages.new)),
        _pages("Changed", pages.changed, links, 2, "pages.changed", minor),
        _pages("Retired", pages.retired, links, 3, "pages.retired"),
        _waiting(facts),
        _sessions(facts),
        _listed("Failed", facts.run.failures if facts.run else (), 4, "run.failures"),
        _listed("Set aside", facts.run.set_aside if facts.run else (), 8, "run.set_aside"),
        _outcomes("Outcomes by task", "Task", facts.sessions.by_task, 6, "sessions.by_task"),
        _outcomes("Outcomes by model", "Model", facts.sessions.by_model, 7, "sessions.by_model"),
        BodySection("Cost and tokens", tuple(_cost_lines(facts))),
        BodySection("Coverage", tuple(_coverage_lines(facts))),
        _quarantine(facts),
        _edits(facts, links),
        _checks(facts),
        _listed("Warnings", facts.run.warnings if facts.run else (), 11, "run.warnings"),
    )
    return [each for each in parts if each.head or each.number]


def _pages(
    title: str, pages: Sequence[ChangedPage], links: Links, rank: int, key: str, more: tuple[str, ...] = ()
) -> BodySection:
    lines = (_page_line(each, links) for each in pages)
    return BodySection(f"{title} ({len(pages)})", more, lines, len(pages), rank, key)


def to_look_at(facts: ChangeFacts) -> str:
    """What waits for a person, in one line: before all else, for it may stand far below."""
    run, problems = facts.run, sum(len(each.problems) for each in facts.checks)
    found = [
        *((counted(len(run.failures), "failure"), counted(run.bugs, "bug")) if run is not None else ()),
        counted(problems, "check finding"),
        counted(len(facts.quarantined), "quarantined file"),
        counted(len(facts.edited), "edited page"),
    ]
    named = [each for each in found if not each.startswith("0 ")]
    red = [f"**RED**: {inert(each, _MOST_LINE)}." for each in (run.failed_on if run is not None else ())[:_MOST_KINDS]]
    calm = "Nothing failed, and every check passed." if run is not None else "Every check passed."
    return " ".join([*red, f"**Look at**: {', '.join(named)}." if named else calm])


def _page_line(page: ChangedPage, links: Links) -> str:
    """`- **guideline** Title: rule (why; how sure) page, T12 of session`."""
    title, rule = inert(page.title, _MOST_TITLE), inert(page.rule, _MOST_RULE)
    said = title if not rule or rule in title or page.change == "retired" else f"{title}: {rule}"
    notes = [inert(why, _MOST_LINE) for why in page.why]
    if page.change != "retired":
        notes += [inert(grade, 60) for grade in (page.cause, page.trust and f"trust {page.trust}", page.scope) if grade]
        notes += [counted(page.support, "session")] if page.support is not None else []
    places = [] if page.change == "retired" else [links.to(page.link, "page")]
    if page.cited is not None and page.change != "retired":
        more = f" and {page.citations - 1} more" if page.citations > 1 else ""
        session = inert(page.cited.session_id, 80)
        turn = f"T{page.cited.turn}"
        places.append(f"{links.to(page.cited.summary, turn) if page.cited.summary else turn} of {session}{more}")
    shown = "; ".join(notes)
    kind = f"**unseen** {page.kind}" if page.is_unseen else f"**{page.kind}**"
    return f"- {kind} {said}{f' ({shown})' if shown else ''}{' · ' if places else ''}{' · '.join(places)}"


def _waiting(facts: ChangeFacts) -> BodySection:
    """Pages that a limit on new pages holds back."""
    items = (f"- **{page.kind}** {inert(page.title, _MOST_TITLE)}" for page in facts.waiting)
    return BodySection(f"Waiting for a later run ({len(facts.waiting)})", (), items, len(facts.waiting), 12, "waiting")


def _sessions(facts: ChangeFacts) -> BodySection:
    own, run = facts.sessions, facts.run
    taught = own.asked - own.nothing_to_learn
    lines = [
        f"- In the wiki: {counted(own.total, 'session')}; {own.new} new, {own.changed} changed, {own.gone} gone.",
        f"- Asked for lessons: {own.asked}; {taught} had some, {own.nothing_to_learn} had nothing to learn.",
    ]
    if run is None:
        lines.append(f"- Read, failed, set aside: {_NO_RUN}")
        return BodySection("Sessions", tuple(lines))
    files = counted(run.recordings - run.recordings_left, "file")
    read = f"{files}, {run.recordings_unchanged} of them unchanged and not read"
    read += f", {run.recordings_left} left for a later run" if run.recordings_left else ""
    ended = f"{_failed(run)}, {len(run.set_aside)} set aside, {len(run.passed_over)} no recordings"
    lines.append(f"- Read in {counted(run.reports, 'run')}: {read}; {ended}.")
    lines.append(f"- Sessions in them: {_by_status(run.sessions)}.")
    lines += [f"- {counted(len(run.waiting), 'question')} waiting for a batch."] * bool(run.waiting)
    lines += [f"- **Stopped**: {inert(each, _MOST_LINE)}" for each in run.stopped[:_MOST_KINDS]]
    lines += [f"- **{counted(run.bugs, 'bug')}** of this program: the run has tracebacks."] * bool(run.bugs)
    return BodySection("Sessions", tuple(lines))


def _failed(run: RunFacts) -> str:
    """How many units failed, and how many of them in an earlier night alone."""
    number, earlier = len(run.failures), run.failed_earlier
    if not earlier:
        return f"{number} failed"
    which = "" if earlier == number else f"{earlier} of them "
    return f"{number} failed ({which}in an earlier run; unchanged, so not tried again)"


def _by_status(sessions: Counter[str]) -> str:
    """Sessions by what became of them, mined ones first, and why some of them were left out."""
    counts = sorted(with_left_out(sessions).items(), key=lambda each: (each[0] != "mined", each[0]))
    why = ", ".join(f"{sessions[status]} {reason}" for status, reason in _LEFT_OUT_AS.items() if sessions.get(status))
    whys = {"left out": f" ({why})"} if why else {}
    parts = [f"{count} {inert(status, 40)}{whys.get(status, '')}" for status, count in counts[:_MOST_KINDS]]
    return ", ".join(parts) or "none"


def _outcomes(title: str, label: str, rows: Sequence[OutcomeRow], rank: int, key: str) -> BodySection:
    """A table of the sessions that are new or changed; those without a known outcome are apart."""
    rows = sorted(rows, key=lambda row: row.name == NO_TASK)
    if all(row.name == NO_TASK for row in rows):
        return BodySection(title)
    has_others = any(row.known_before for row in rows)
    names = [label, "sessions", "success", "partial", "failure", "unknown", "succeeded", *["all others"] * has_others]
    head = (f"| {' | '.join(names)} |", "|---" * len(names) + "|")
    lines = (_outcome_row(row, has_others=has_others) for row in rows)
    return BodySection(title, head, lines, len(rows), rank, key)


def _outcome_row(row: OutcomeRow, *, has_others: bool) -> str:
    counts = (row.outcomes[each] for each in ("success", "partial", "failure", "unknown"))
    cells = [inert(row.name, _MOST_NAME), row.sessions, *counts, _rate(row.passed, row.known)]
    cells += [_rate(row.passed_before, row.known_before)] * has_others
    return f"| {' | '.join(map(str, cells))} |"


def _rate(passed: int, known: int) -> str:
    return f"{passed} of {known} ({passed / known:.0%})" if known else "unknown"


def _cost_lines(facts: ChangeFacts) -> Iterator[str]:
    if facts.run is None:
        yield f"- Asking a model: {_NO_RUN}"
    elif facts.run.asked is None:
        yield "- Asking a model: nothing was asked."
    else:
        yield f"- Asking a model: {facts.run.asked.line()}."
    sessions = facts.sessions.new + facts.sessions.changed
    measured = facts.sessions.measured
    said: dict[int, list[str]] = {}  # of how many sessions it is known → what
    for name, unit in (("total_cost_usd", "$"), ("input_tokens", ""), ("output_tokens", "")):
        if name in measured:
            total, known = measured[name]
            shown = f"{unit}{total:,.2f}" if unit else f"{total:,.0f} {name.replace('_', ' ')}"
            said.setdefault(known, []).append(shown)
    parts = [f"{', '.join(shown)} (known of {known} of {sessions})" for known, shown in said.items()]
    if parts:
        yield f"- The sessions themselves: {'; '.join(parts)}."


def _coverage_lines(facts: ChangeFacts) -> Iterator[str]:
    whole, elided = facts.sessions.characters, facts.sessions.elided_characters
    if whole:
        yield (
            f"- {whole - elided:,} of {whole:,} characters of the new and changed sessions were looked at "
            f"({1 - elided / whole:.1%}), {elided:,} were not."
        )


def _quarantine(facts: ChangeFacts) -> BodySection:
    """What is held back: claims that a check dropped, and pages in quarantine."""
    dropped = facts.sessions.dropped_claims
    head = [f"- {counted(dropped, 'claim')} of the new and changed sessions were dropped by checks."] * bool(dropped)
    head += [f"- {counted(len(facts.quarantined), 'file')} in quarantine."] * bool(facts.quarantined)
    if not head:
        head = ["- Nothing was held back: no claim was dropped by a check, and no file is in quarantine."]
    named = (*facts.quarantined, *(facts.run.dropped_claims if facts.run else ()))
    items = (f"  - {inert(each, _MOST_LINE)}" for each in named)
    return BodySection("Quarantine", tuple(head), items, len(named), 10, "quarantined, run.dropped_claims")


def _edits(facts: ChangeFacts, links: Links) -> BodySection:
    named = [*(("edited", path) for path in facts.edited), *(("kept", path) for path in facts.kept)]
    items = (f"- {word}: {links.to(path)}" for word, path in named)
    head = f"Left as people wrote them: {counted(len(named), 'page')}; `wiki review` shows what they changed."
    return BodySection("Edits of people", (head,) * bool(named), items, len(named), 9, "edited, kept")


def _checks(facts: ChangeFacts) -> BodySection:
    lines = []
    for each in facts.checks:
        number = len(each.problems)
        verdict = f"**{counted(number, 'problem')}**" if number else "passed"
        lines.append(f"- {each.name}: {inert(each.looked_at, _MOST_LINE)}: {verdict}")
    unreadable = facts.run.unreadable if facts.run else ()
    lines += [f"- run: **{inert(each, _MOST_NAME)} is no report of a run**" for each in unreadable[:_MOST_KINDS]]
    problems = [(each.name, problem) for each in facts.checks for problem in each.problems]
    items = (f"  - {name}: {inert(problem, _MOST_LINE)}" for name, problem in problems)
    return BodySection("Checks", tuple(lines), items, len(problems), 5, "checks")


def _listed(title: str, entries: Sequence[str], rank: int, key: str) -> BodySection:
    items = (f"- {inert(each, _MOST_LINE)}" for each in entries)
    return BodySection(f"{title} ({len(entries)})", (), items, len(entries), rank, key)
