"""The indexes: `_index.jsonl` for agents, `index.md` pages for people, id maps. Made from the pages alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agent_wiki.wiki.config import Config
from agent_wiki.wiki.index_shards import shards
from agent_wiki.wiki.layout import INDEX, kind_of, page_id
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.recalls import TIERS, Recall, counts_by_status, tier
from agent_wiki.wiki.sessions import Session, entries_of, newest, text_or_none, texts_of
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line

_PREFERENCE = ("cluster", "skill", "guideline", "task", "subtask")
_MOST_SUMMARY_CHARACTERS = 240
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def all_indexes(
    pages: Mapping[str, Page],
    config: Config,
    recalls: Mapping[str, Sequence[Recall]],
    sessions: Mapping[str, Session],
    templates: Templates,
) -> dict[str, str]:
    """Every index file by path."""
    active = {path: page for path, page in pages.items() if not path.startswith("_")}
    by_kind: dict[str, list[tuple[str, Page]]] = {kind: [] for kind in ("summary", *_PREFERENCE)}
    for path in sorted(active):
        by_kind[kind_of(path) or "summary"].append((path, active[path]))
    rows = [index_row(path, page, recalls) for kind in _PREFERENCE for path, page in by_kind[kind]]
    newest_date = newest(text_or_none(page.fields.get("verified_at")) for page in pages.values())
    shared = {"verified_at": newest_date, "counts": {kind: len(found) for kind, found in by_kind.items()}}
    tags_of = {str(row["id"]): row["tags"] for row in rows}
    guidelines = _alphabetical(by_kind["guideline"])
    return {
        INDEX: "".join(f"{_ENCODE(row)}\n" for row in rows),
        **shards(rows),
        "guidelines/_id_index.json": _id_map(by_kind["guideline"]),
        "skills/_id_index.json": _id_map(by_kind["skill"]),
        "index.md": templates.render("index.md", **shared, usage=_usage(sessions)),
        "summaries/index.md": templates.render("summaries-index.md", **shared, groups=_groups(sessions, pages, config)),
        "guidelines/index.md": templates.render(
            "guidelines-index.md",
            **shared,
            clusters=[_entry(path, page) for path, page in by_kind["cluster"]],
            guidelines=guidelines,
            by_tag=_by_tag(guidelines, tags_of),
            roll_up=_roll_up(guidelines, recalls),
        ),
        "skills/index.md": templates.render(
            "skills-index.md", **shared, skills=[_entry(path, page) for path, page in by_kind["skill"]]
        ),
        "tasks/index.md": templates.render(
            "tasks-index.md",
            **shared,
            tasks=[_task_entry(path, page) for path, page in by_kind["task"]],
            subtasks=_by_parent(by_kind["subtask"]),
        ),
    }


def index_row(path: str, page: Page, recalls: Mapping[str, Sequence[Recall]]) -> dict[str, Any]:
    """One row of `_index.jsonl`; keys that a kind does not have are absent. `recalls`: page id → uses of it."""
    kind = kind_of(path) or "guideline"
    fields = page.fields
    row: dict[str, Any] = {
        "kind": kind,
        "id": str(fields.get("id") or page_id(path)),
        "title": page.title,
        "tags": texts_of(fields.get("tags")),
        "trigger": str(fields.get("trigger") or ""),
        "summary": plain_line(_gist(kind, page), _MOST_SUMMARY_CHARACTERS),
        "link": path,
    }
    if kind == "cluster":
        row["members"] = [str(each.get("id")) for each in entries_of(fields.get("members"))]
    if kind in ("cluster", "skill"):
        row["priority"] = "high"
    if kind == "guideline":
        row["cluster"] = fields.get("cluster")
        if fields.get("superseded_by"):
            row["superseded_by"] = fields["superseded_by"]
    for name in {"task": ("family",), "subtask": ("parent_session_id", "parent_summary")}.get(kind, ()):
        row[name] = fields.get(name)
    for name in ("support", "trust"):
        if fields.get(name) is not None:
            row[name] = fields[name]
    used = counts_by_status(recalls.get(row["id"], ()))
    if used:
        row["used"] = used
    return row


def _gist(kind: str, page: Page) -> str:
    if kind == "cluster":
        return page.section("Takeaway") or page.lead
    if kind == "skill":
        return str(page.fields.get("description") or page.section("Overview") or "")
    return page.lead


def broken_links(index: str, pages: Mapping[str, Page]) -> list[str]:
    """One sentence for each index row whose page does not exist."""
    links = (json.loads(line)["link"] for line in index.split("\n") if line)
    return [f"{INDEX}: {link} does not exist" for link in links if link not in pages]


def sessions_of_task(config: Config, task_slug: str, sessions: Mapping[str, Session]) -> list[str]:
    """The sessions of a configured task: those it lists, those pinned to it, those whose goal matches.

    A session pinned to another family belongs there only.
    """
    entry = config.tasks[task_slug]
    names = {task_slug, str(entry.get("family") or task_slug)}
    listed = set(texts_of(entry.get("sessions")))
    rule = entry.get("family_match")
    substrings = rule.get("goal_substring") if isinstance(rule, dict) else None
    wanted = [each.casefold() for each in texts_of(substrings) if each]
    found: list[str] = []
    for session_id, session in sessions.items():
        pinned = config.overrides.get(session_id, {}).get("family")
        goal = str(session.first.get("goal") or "").casefold()
        matches = session_id in listed or any(each in goal for each in wanted)
        if (pinned is None and matches) or (pinned is not None and str(pinned) in names):
            found.append(session_id)
    return sorted(found, key=lambda each: (*_trial_key(sessions[each], config), sessions[each].order))


def _trial_key(session: Session, config: Config) -> tuple[str, int, str]:
    trial, condition = trial_and_condition(session, config)
    return (condition, int(trial) if trial.isdecimal() else 1 << 30, trial)


def trial_and_condition(session: Session, config: Config) -> tuple[str, str]:
    """A session's trial and condition, "" when unknown; what the owner pinned wins."""
    pinned = config.overrides.get(session.session_id, {})
    trial = pinned.get("trial", session.first.get("trial"))
    condition = pinned.get("condition", session.first.get("condition"))
    return (text_or_none(trial) or "", text_or_none(condition) or "")


def comparison_rows(session: Session, pages: Mapping[str, Page], config: Config) -> list[dict[str, str]]:
    """A session's rows of a comparison table, one an arc."""
    trial, condition = trial_and_condition(session, config)
    rows: list[dict[str, str]] = []
    for path in session.paths:
        fields = pages[path].fields if path in pages else session.first
        rows.append(
            {
                "trial": _cell(trial),
                "condition": _cell(condition),
                "label": _cell(session.session_id[:36]),
                "link": f"../{path}",
                "arc": _cell(text_or_none(fields.get("arc")) or ""),
                "outcome": _cell(text_or_none(fields.get("outcome")) or ""),
                "tool_calls": _number(fields.get("tool_calls")),
                "errors": _number(fields.get("errors")),
                "cost": _cost(fields.get("total_cost_usd")),
                "wiki_used": _yes(fields.get("wiki_consulted")),
                "contributed": _codes(fields.get("contributed_guidelines")),
                "contributed_skills": _codes(fields.get("contributed_skills")),
            }
        )
    return rows


def _cell(text: str) -> str:
    return plain_line(text, 80).replace("|", "\\|") or "—"


def _codes(names: Any) -> str:
    return " ".join(f"`{_cell(each)}`" for each in texts_of(names)) or "—"


def _number(value: Any) -> str:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else "—"


def _cost(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, int | float) and not isinstance(value, bool) else "—"


def _yes(value: Any) -> str:
    return "yes" if value is True else "—"


def _id_map(found: Iterable[tuple[str, Page]]) -> str:
    ids = {str(page.fields.get("id") or page_id(path)): path for path, page in found}
    return json.dumps(dict(sorted(ids.items())), indent=2, ensure_ascii=False) + "\n"


def _entry(path: str, page: Page) -> dict[str, Any]:
    return {
        "title": plain_line(page.title, 160),
        "id": str(page.fields.get("id") or page_id(path)),
        "link": path.partition("/")[2],
        "gist": plain_line(_gist(kind_of(path) or "guideline", page), 160),
        "trigger": plain_line(str(page.fields.get("trigger") or ""), 160),
        "support": _supporting_sessions(page),
        "members": len(entries_of(page.fields.get("members"))),
    }


def _supporting_sessions(page: Page) -> int | None:
    support = page.fields.get("support")
    count = support.get("sessions") if isinstance(support, dict) else None
    return count if isinstance(count, int) else None


def _task_entry(path: str, page: Page) -> dict[str, Any]:
    return {**_entry(path, page), "sessions": len(texts_of(page.fields.get("sessions")))}


def _alphabetical(found: Iterable[tuple[str, Page]]) -> list[dict[str, Any]]:
    return sorted((_entry(path, page) for path, page in found), key=lambda each: (each["title"].lower(), each["id"]))


def _by_tag(
    entries: Sequence[dict[str, Any]], tags_of: Mapping[str, list[str]]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Tags that at least two guidelines share."""
    by_tag: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        for tag in tags_of.get(entry["id"]) or ["untagged"]:
            by_tag.setdefault(tag, []).append(entry)
    return [(plain_line(tag, 60), by_tag[tag]) for tag in sorted(by_tag) if len(by_tag[tag]) >= 2]


def _roll_up(
    entries: Iterable[dict[str, Any]], recalls: Mapping[str, Sequence[Recall]]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Guidelines by priority tier, with their counts by status; the unvalidated ones are only counted."""
    tiers: dict[str, list[dict[str, Any]]] = {name: [] for name in TIERS}
    for entry in entries:
        of_page = recalls.get(entry["id"], ())
        counts = counts_by_status(of_page)
        entry["counts"] = ", ".join(f"{status} {count}" for status, count in counts.items())
        tiers[tier(of_page, entry["support"] or 0)].append(entry)
    return [(name, found) for name, found in tiers.items() if found]


def _by_parent(found: Iterable[tuple[str, Page]]) -> list[tuple[str, list[dict[str, Any]]]]:
    parents: dict[str, list[dict[str, Any]]] = {}
    for path, page in found:
        parents.setdefault(str(page.fields.get("parent_session_id") or ""), []).append(_entry(path, page))
    return [(plain_line(parent, 80), parents[parent]) for parent in sorted(parents)]


def _groups(
    sessions: Mapping[str, Session], pages: Mapping[str, Page], config: Config
) -> list[tuple[str, list[dict[str, str]]]]:
    """Comparison rows grouped by task and condition; a split session's arcs stand together."""
    task_of: dict[str, str] = {}
    for task_slug in sorted(config.tasks):
        for session_id in sessions_of_task(config, task_slug, sessions):
            task_of.setdefault(session_id, task_slug)
    groups: dict[tuple[str, str], list[str]] = {}
    for session_id, session in sessions.items():
        condition = trial_and_condition(session, config)[1]
        groups.setdefault((task_of.get(session_id, "other"), condition), []).append(session_id)
    ordered: list[tuple[str, list[dict[str, str]]]] = []
    for (task_slug, condition), ids in sorted(groups.items(), key=lambda each: (each[0][0] == "other", each[0])):
        ids.sort(key=lambda each: (*_trial_key(sessions[each], config), sessions[each].order))
        rows = [row for each in ids for row in comparison_rows(sessions[each], pages, config)]
        label = f"{task_slug} / {condition}" if condition else task_slug
        ordered.append((plain_line(label, 120), [{**row, "link": row["link"].rpartition("/")[2]} for row in rows]))
    return ordered


def _usage(sessions: Mapping[str, Session]) -> dict[str, str]:
    """Totals over all sessions that recorded a figure, with how many did."""
    totals: dict[str, str] = {}
    for name, label in (("total_cost_usd", "cost"), ("output_tokens", "output tokens"), ("tool_calls", "tool calls")):
        pages = [page for session in sessions.values() for page in session.pages]
        known = [page.fields[name] for page in pages if isinstance(page.fields.get(name), int | float)]
        if known:
            total = sum(known)
            shown = f"${total:,.2f}" if name == "total_cost_usd" else f"{total:,}"
            totals[label] = f"{shown} over {len(known)} of {len(pages)} summaries"
    return totals
