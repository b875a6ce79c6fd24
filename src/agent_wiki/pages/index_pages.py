"""The index pages for people: where to start, and what each folder holds. Bounded however large the wiki grows."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import fsum
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from agent_wiki.pages.index_parts import IndexPart
from agent_wiki.pages.recalls import TIERS, Tier, shown_counts
from agent_wiki.pages.sessions import Session
from agent_wiki.pages.tables import Table, table_of
from agent_wiki.pages.task import row_order, trial_and_condition
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.layout import task_path
from agent_wiki.wiki.text import link_label, plain_line
from agent_wiki.wiki.thresholds import at_least

if TYPE_CHECKING:
    from agent_wiki.pages.catalog import Catalog
    from agent_wiki.pages.indexes import IndexEntry, IndexRows

MOST_LISTED = 500
"""Pages of a kind that a page for people lists: nobody reads more, and git keeps every version of it."""
_MOST_GIST_CHARACTERS = 160
_MOST_STARTED = 10
_MOST_NEW = 5
_AGAINST: tuple[Tier, ...] = ("disputed", "low")


def index_pages(
    catalog: Catalog, rows: IndexRows, parts: Mapping[str, Sequence[IndexPart]]
) -> dict[str, dict[str, Any]]:
    """What each index page shows, by path. In: the rows of the index; the pages that list all, by section."""
    listed = islice(_ranked(rows.guidelines, TIERS), MOST_LISTED)
    guidelines = [{**shown(entry, entry.row()), "tier": name} for name, entry in listed]
    guidelines.sort(key=lambda each: (each["title"].lower(), each["id"]))
    usage = _usage(catalog)
    return {
        "index.md": {
            "usage": usage,
            "best": list(_best(rows)),
            "newest": _newest_pages(rows),
            "disputed": list(_disputed(rows)),
        },
        "summaries/index.md": {
            "usage": usage,
            "groups": _groups(catalog),
            "sessions": len(catalog.view.sessions) + len(catalog.settled),
            "most_listed": MOST_LISTED,
            "parts": parts["summaries"],
        },
        "guidelines/index.md": {
            "clusters": rows.shown["cluster"][:MOST_LISTED],
            "guidelines": guidelines,
            "parts": parts["guidelines"],
            "tag_parts": parts["tags"],
            "by_tag": [] if parts["guidelines"] else _by_tag(guidelines),
            "tiers": {name: len(found) for name, found in rows.guidelines.items() if found},
            "roll_up": _roll_up(guidelines),
        },
        "skills/index.md": {"skills": rows.shown["skill"][:MOST_LISTED], "parts": parts["skills"]},
        "tasks/index.md": {
            "tasks": rows.shown["task"][:MOST_LISTED],
            "parts": parts["tasks"],
            "subtasks": [(_parent(each, catalog), rows.subtasks[each]) for each in sorted(rows.subtasks)[:MOST_LISTED]],
        },
    }


def _best(rows: IndexRows) -> Iterator[dict[str, Any]]:
    """What to read first: clusters, skills, then guidelines, those that use and sessions confirm before others."""
    found: list[dict[str, Any]] = [*rows.shown["cluster"], *rows.shown["skill"]]
    yield from found[:_MOST_STARTED]
    rest = _ranked(rows.guidelines, [each for each in TIERS if each not in _AGAINST])
    entries = (entry for _, entry in islice(rest, 2 * _MOST_STARTED))
    uncovered = ((entry, row) for entry in entries if "superseded_by" not in (row := entry.row()))
    for entry, row in islice(uncovered, max(0, _MOST_STARTED - len(found))):  # a cluster above leads to the others
        yield shown(entry, row)


def _ranked(
    guidelines: Mapping[Tier, Sequence[tuple[int, IndexEntry]]], tiers: Iterable[Tier]
) -> Iterator[tuple[Tier, IndexEntry]]:
    """The guidelines of these tiers with the tier: those that more sessions support before others of it."""
    for name in tiers:
        for _, entry in sorted(guidelines[name], key=lambda found: at_least(found[0]), reverse=True):
            yield name, entry


def _newest_pages(rows: IndexRows) -> list[dict[str, Any]]:
    """The guidelines with the latest date, which is that of the newest session that the page shows."""
    dated = [entry for found in rows.guidelines.values() for _, entry in found if entry.date]
    newest = heapq.nlargest(_MOST_NEW, dated, key=attrgetter("date", "path"))
    return [shown(entry, entry.row()) for entry in newest]


def _disputed(rows: IndexRows) -> Iterator[dict[str, Any]]:
    """The guidelines that sessions which read them speak against."""
    against = (entry for each in _AGAINST for _, entry in rows.guidelines[each])
    for entry in heapq.nsmallest(_MOST_STARTED, against, key=attrgetter("path")):
        counts = ", ".join(f"{status} {count}" for status, count in shown_counts(entry.recalls).items())
        yield {**shown(entry, entry.row()), "counts": counts}


def shown(entry: IndexEntry, row: Mapping[str, Any]) -> dict[str, Any]:
    """What an index page shows of a row of the index."""
    support = row.get("support")
    count = support.get("sessions") if isinstance(support, dict) else None
    return {
        "title": link_label(row["title"], 160),
        "id": row["id"],
        "path": entry.path,
        "link": entry.path.partition("/")[2],
        "date": entry.date,
        "gist": _gist(row),
        "trigger": plain_line(row["trigger"], 160),
        "tags": row["tags"],
        "support": at_least(count) if isinstance(count, int) else None,
        "members": len(row.get("members", ())),
        "recalls": entry.recalls,
    }


def _gist(row: Mapping[str, Any]) -> str:
    """What a page says, in short; when it applies, where the title says all of it."""
    gist = row["summary"] if _words(row["summary"]) != _words(row["title"]) else row["trigger"]
    return plain_line(gist, _MOST_GIST_CHARACTERS)


def _words(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _by_tag(entries: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Tags that at least two guidelines share."""
    by_tag: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        for tag in entry["tags"] or ["untagged"]:
            by_tag.setdefault(tag, []).append(entry)
    return [(plain_line(tag, 60), by_tag[tag]) for tag in sorted(by_tag) if len(by_tag[tag]) >= 2]


def _roll_up(entries: Iterable[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Guidelines by priority tier, with their counts by status."""
    tiers: dict[str, list[dict[str, Any]]] = {name: [] for name in TIERS}
    for entry in entries:
        counts = shown_counts(entry["recalls"]).items()
        entry["counts"] = ", ".join(f"{status} {count}" for status, count in counts)
        tiers[entry["tier"]].append(entry)
    return [(name, found) for name, found in tiers.items() if found]


def _parent(session_id: str, catalog: Catalog) -> str:
    """The session that subtasks belong to, with a link to it where it is here."""
    session = catalog.view.sessions.get(session_id)
    if session is None:
        return link_label(session_id, 80)
    return f"[{session.titles()[session.paths[0]]}](../{session.paths[0]})"


def _groups(catalog: Catalog) -> list[tuple[str, int, Table]]:
    """Sessions grouped by task and condition, as a heading, how many rows, and their table; arcs stay together."""
    config, sessions = catalog.view.state.config, catalog.view.sessions
    settled = {each.facts.session_id: each.facts for each in catalog.settled if each.facts.row is not None}
    dates = {**dates_of(sessions), **{name: each.date for name, each in settled.items()}}
    groups: dict[tuple[str, str], list[str]] = {}
    for session_id in newest(dates):
        condition = "" if session_id in settled else trial_and_condition(sessions[session_id], config)[1]
        groups.setdefault((catalog.task_of.get(session_id, ""), condition), []).append(session_id)
    ordered: list[tuple[str, int, Table]] = []
    for (task, condition), ids in sorted(groups.items(), key=lambda each: (not each[0][0], each[0])):
        if task or condition:
            ids.sort(key=lambda each: row_order(sessions[each], config))
        rows: list[dict[str, str]] = []
        for each in ids:
            row = settled[each].row if each in settled else None
            rows += catalog.rows(sessions[each]) if row is None else [row]
        ordered.append((_heading(task, condition, config), len(rows), table_of(rows, without=("Condition",))))
    return ordered


def _heading(task: str, condition: str, config: Config) -> str:
    """What the sessions of a group have in common."""
    if not task:
        return f"Other sessions / {plain_line(condition, 60)}" if condition else "Other sessions"
    title = link_label(str(config.tasks[task].get("title") or task), 120)
    link = f"[{title}](../{task_path(task)})"
    return f"{link} / {plain_line(condition, 60)}" if condition else link


def dates_of(sessions: Mapping[str, Session]) -> dict[str, str]:
    """The date of each session by id, "" for none."""
    return {session_id: each.record.date or "" for session_id, each in sessions.items()}


def newest(dates: Mapping[str, str]) -> list[str]:
    """The ids of the sessions that the table of all summaries lists, the newest first. In: the date of each, by id."""
    return heapq.nlargest(MOST_LISTED, dates, key=lambda each: (dates[each], each))


def _usage(catalog: Catalog) -> dict[str, str]:
    """Totals over all summaries that have a figure, with how many have."""
    sessions, settled = catalog.view.sessions.values(), [each.facts for each in catalog.settled]
    costs = [*(each.record.total_cost_usd for each in sessions), *(each.total_cost_usd for each in settled)]
    tokens = [*(each.record.output_tokens for each in sessions), *(each.output_tokens for each in settled)]
    calls = [*(arc.tool_calls for each in sessions for arc in each.arcs), *(each.tool_calls for each in settled)]
    totals: dict[str, str] = {}
    figures: tuple[tuple[str, Sequence[float | None], str], ...]
    figures = (("cost", costs, "$"), ("output tokens", tokens, ""), ("tool calls", calls, ""))
    for label, values, unit in figures:
        known = [value for value in values if value is not None]
        if known:
            shown = f"${fsum(known):,.2f}" if unit else f"{sum(known):,}"
            totals[label] = f"{shown} over {len(known)} of {len(calls)} summaries"
    return totals
