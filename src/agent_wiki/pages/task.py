"""The task page, which compares the sessions that attempted one thing, and the subtask page of one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from agent_wiki.pages.cluster import entry_made_by
from agent_wiki.pages.model import BODY, front_matter, page_text
from agent_wiki.pages.pass_rates import rate_rows
from agent_wiki.pages.sessions import NotedTurn, Session
from agent_wiki.pages.tables import Table, table_of
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import text_or_none, texts_of

Contributed = Mapping[str, tuple[list[str], list[str]]]
"""Path of a summary → ids of guidelines and slugs of skills that come from it."""


_IN_DETAIL = ("Tool calls", "Errors", "Cost USD", "Wiki used", "Contributed guidelines")  # left out without a finding


@dataclass(frozen=True, slots=True)
class TaskPage:
    """What a task page stores; the fields in the order of its frontmatter."""

    id: str
    type: str
    slug: str
    title: str
    family: str
    tags: list[str]
    sessions: list[str]
    verified_at: str | None
    made_by: str
    intro: str = field(metadata=BODY)
    rates: Table = field(metadata=BODY)
    comparison: Table = field(metadata=BODY)
    findings: list[str] = field(metadata=BODY)

    trigger = ""
    support = None
    counted = None
    trust = None

    def text(self, templates: Templates) -> str:
        """The page as text."""
        body = templates.render(
            "task.md",
            title=self.title,
            intro=self.intro,
            rates=self.rates,
            comparison=self.comparison,
            findings=self.findings,
        )
        return page_text(front_matter(self), body)

    def index_row(self) -> dict[str, Any]:
        """What the index says of it besides what it says of every page."""
        return {"family": self.family, "findings": len(self.findings)}

    @property
    def gist(self) -> str:
        return self.intro


@dataclass(frozen=True, slots=True)
class SubtaskPage:
    """What a subtask page stores; the fields in the order of its frontmatter."""

    id: str
    type: str
    slug: str
    title: str
    tags: list[str]
    parent_session_id: str
    parent_summary: str
    verified_at: str | None
    made_by: str
    narrative: str = field(metadata=BODY)
    key_steps: tuple[NotedTurn, ...] = field(metadata=BODY)

    trigger = ""
    support = None
    counted = None
    trust = None

    def text(self, templates: Templates) -> str:
        """The page as text."""
        body = templates.render(
            "subtask.md",
            title=self.title,
            narrative=self.narrative,
            key_steps=self.key_steps,
            parent_session_id=plain_line(self.parent_session_id, 80),
            parent_summary=self.parent_summary,
        )
        return page_text(front_matter(self), body)

    def index_row(self) -> dict[str, Any]:
        """What the index says of it besides what it says of every page."""
        return {"parent_session_id": self.parent_session_id, "parent_summary": self.parent_summary}

    @property
    def gist(self) -> str:
        return self.narrative


def task_page(slug: str, config: Config, sessions: Sequence[Session], contributed: Contributed) -> TaskPage:
    """The page of one configured task with its sessions, in the order of its table."""
    entry = config.tasks[slug]
    findings = entry.get("findings")
    lines = findings if isinstance(findings, list) else str(findings or "").strip().splitlines()
    findings = [plain_line(str(line).removeprefix("- "), 500) for line in lines if str(line).strip()]
    rows = [_session_row(each, contributed, config) for each in sessions]
    groups: dict[tuple[str, str], list[Session]] = {}
    for each, row in zip(sessions, rows, strict=True):
        groups.setdefault((row["Condition"], row["Model"]), []).append(each)
    return TaskPage(
        id=f"task:{slug}",
        type="task-comparison",
        slug=slug,
        title=plain_line(str(entry.get("title") or slug), 120),
        family=str(entry.get("family") or slug),
        tags=texts_of(entry.get("tags")),
        sessions=[each.session_id for each in sessions],
        verified_at=max((each.record.date for each in sessions if each.record.date), default=None),
        made_by=entry_made_by(entry),
        intro=plain_line(str(entry.get("intro") or ""), 800),
        rates=table_of(rate_rows(groups)),
        comparison=table_of(rows, without=() if findings else _IN_DETAIL),
        findings=findings,
    )


def sessions_of_tasks(config: Config, sessions: Mapping[str, Session]) -> dict[str, list[str]]:
    """Task slug → its sessions: those it lists, those pinned to it, those whose goal matches.

    A session pinned to another family belongs there only.
    """
    return {slug: _sessions_of_task(config, slug, sessions) for slug in sorted(config.tasks)}


def _sessions_of_task(config: Config, slug: str, sessions: Mapping[str, Session]) -> list[str]:
    entry = config.tasks[slug]
    names = {slug, str(entry.get("family") or slug)}
    rule = entry.get("family_match")
    substrings = rule.get("goal_substring") if isinstance(rule, dict) else None
    wanted = [each.casefold() for each in texts_of(substrings) if each]
    found = {each for each in texts_of(entry.get("sessions")) if each in sessions}
    if wanted:
        found |= {
            name
            for name, session in sessions.items()
            if any(each in session.arcs[0].goal.casefold() for each in wanted)
        }
    found = {each for each in found if config.overrides.get(each, {}).get("family") is None}
    found |= {
        name
        for name, override in config.overrides.items()
        if name in sessions and override.get("family") is not None and str(override["family"]) in names
    }
    return sorted(found, key=lambda each: row_order(sessions[each], config))


def row_order(session: Session, config: Config) -> tuple[str, int, str, tuple[str, str]]:
    """The order of a session in tables: by condition, trial, date and id."""
    trial, condition = trial_and_condition(session, config)
    return (condition, int(trial) if trial.isdecimal() else 1 << 30, trial, session.record.rank)


def trial_and_condition(session: Session, config: Config) -> tuple[str, str]:
    """A session's trial and condition, "" when unknown; what the owner pinned wins."""
    pinned = config.overrides.get(session.session_id, {})
    trial = pinned.get("trial", session.record.trial)
    condition = pinned.get("condition", session.record.condition)
    return (text_or_none(trial) or "", text_or_none(condition) or "")


def _session_row(session: Session, contributed: Contributed, config: Config) -> dict[str, str]:
    """A session's row on a task page, over all its arcs: header → cell, empty where nothing is known."""
    record, arcs = session.record, session.arcs
    trial, condition = trial_and_condition(session, config)
    names = sorted({name for path in session.paths for name in contributed.get(path, ([], []))[0]})
    cells = {
        "Trial": trial,
        "Condition": condition,
        "Model": record.model or "",
        "Session": session.session_id[:36],
        "Outcome": session.outcome,
        "Reward": "" if record.reward is None else f"{record.reward:g}",
        "Tool calls": _total(arc.tool_calls for arc in arcs),
        "Errors": _total(arc.errors for arc in arcs),
        "Cost USD": "" if record.total_cost_usd is None else f"{record.total_cost_usd:.4f}",
        "Wiki used": "yes" if any(arc.wiki_consulted for arc in arcs) else "",
    }
    escaped = {header: plain_line(cell, 80).replace("|", "\\|") for header, cell in cells.items()}
    escaped["Session"] = f"[{escaped['Session'] or '—'}](../{session.paths[0]})"
    return escaped | {"Contributed guidelines": _codes(names) if names else ""}


def _total(values: Iterable[int | None]) -> str:
    known = [value for value in values if value is not None]
    return str(sum(known)) if known else ""


def comparison_rows(session: Session, contributed: Contributed, config: Config) -> list[dict[str, str]]:
    """A session's rows in the table of summaries, one an arc."""
    trial, condition = trial_and_condition(session, config)
    cost = session.record.total_cost_usd
    rows: list[dict[str, str]] = []
    for position, (path, arc) in enumerate(zip(session.paths, session.arcs, strict=True)):
        guidelines, skills = contributed.get(path, ([], []))
        rows.append(
            {
                "trial": _cell(trial),
                "condition": _cell(condition),
                "label": _cell(session.session_id[:36]),
                "link": f"../{path}",
                "arc": _cell(arc.slug),
                "outcome": _cell(arc.outcome),
                "tool_calls": _number(arc.tool_calls),
                "errors": _number(arc.errors),
                "cost": f"{cost:.4f}" if cost is not None and position == 0 else "—",
                "wiki_used": "yes" if arc.wiki_consulted else "—",
                "contributed": _codes(guidelines),
                "contributed_skills": _codes(skills),
            }
        )
    return rows


def _cell(text: str) -> str:
    return plain_line(text, 80).replace("|", "\\|") or "—"


def _codes(names: Sequence[str]) -> str:
    return " ".join(f"`{_cell(each)}`" for each in names) or "—"


def _number(value: int | None) -> str:
    return "—" if value is None else str(value)
