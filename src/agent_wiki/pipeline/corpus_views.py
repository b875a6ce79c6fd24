"""From pages to what the corpus stages see of them. Only what a stage wrote counts, never what catalog derives."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent_wiki.compare.views import GuidelineView, SessionView, SkillView
from agent_wiki.stages import synthesize_skill
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.sessions import Session, entries_of, text_or_none, texts_of
from agent_wiki.wiki.state import WikiState

_KEY_TURN = re.compile(r"- T(\d{1,9}): (.+)")


def guideline_view(guideline_id: str, state: WikiState, sessions: Mapping[str, Session]) -> GuidelineView:
    """One guideline; its tags as configured, its sessions from its evidence, each counted as its root."""
    page = state.guidelines[guideline_id]
    tags = state.config.tags.get(guideline_id)
    return GuidelineView(
        id=guideline_id,
        title=page.title,
        rule=page.lead,
        trigger=str(page.fields.get("trigger") or ""),
        rationale=page.section("Rationale") or "",
        tags=tuple(texts_of(page.fields.get("tags")) if tags is None else tags),
        sessions=tuple(sorted({_root(each, sessions) for each in sessions_of_page(page)})),
    )


def _root(session_id: str, sessions: Mapping[str, Session]) -> str:
    session = sessions.get(session_id)
    return session_id if session is None else session.root_id


def skill_view(skill_slug: str, state: WikiState) -> SkillView:
    """One skill with its workflow's text."""
    page = state.skills[skill_slug]
    return SkillView(
        slug=skill_slug,
        title=page.title,
        description=str(page.fields.get("description") or ""),
        trigger=str(page.fields.get("trigger") or ""),
        tags=tuple(texts_of(page.fields.get("tags"))),
        steps_text=str(synthesize_skill.wording_of(page, {})["body"]),
    )


def sessions_of_page(page: Page) -> tuple[str, ...]:
    """The sessions that a page's evidence names, sorted."""
    return tuple(sorted({str(each.get("session_id")) for each in entries_of(page.fields.get("evidence"))}))


def session_view(session: Session, contributed: Sequence[str]) -> SessionView:
    """One session over all its arcs; what no page says is None."""
    first = session.first
    return SessionView(
        session_id=session.session_id,
        goal=str(first.get("goal") or ""),
        root_session_id=session.root_id,
        outcome=session.outcome,
        agent=text_or_none(first.get("agent")),
        model=text_or_none(first.get("model")),
        source_format=text_or_none(first.get("source_format")),
        date=session.date,
        task_id=text_or_none(first.get("task_id")),
        trial=text_or_none(first.get("trial")),
        condition=text_or_none(first.get("condition")),
        tool_calls=_sum(session, "tool_calls"),
        errors=_sum(session, "errors"),
        dead_ends=_sum(session, "dead_end_paths"),
        cost_usd=_number(first.get("total_cost_usd")),
        duration_seconds=_number(first.get("duration_seconds")),
        wiki_consulted=_any(session, "wiki_consulted"),
        contributed=tuple(contributed),
        request_terms=_texts(first.get("request_terms")),
        writes=_texts(first.get("writes")),
        narrative=_narrative(session.pages[0]),
        key_turns=tuple(each for page in session.pages for each in _key_turns(page)),
    )


def _sum(session: Session, name: str) -> int | None:
    values = [page.fields.get(name) for page in session.pages]
    known = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return sum(known) if known else None


def _any(session: Session, name: str) -> bool | None:
    known = [page.fields[name] for page in session.pages if isinstance(page.fields.get(name), bool)]
    return any(known) if known else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _narrative(page: Page) -> str | None:
    """What stands under the title but the line on the outcome."""
    paragraphs = [each for each in page.lead.split("\n\n") if not each.startswith("Outcome: ")]
    return "\n\n".join(paragraphs).strip() or None


def _key_turns(page: Page) -> list[tuple[int, str]]:
    lines = (page.section("Key turns") or "").splitlines()
    matches = (_KEY_TURN.fullmatch(line.strip()) for line in lines)
    return [(int(match[1]), match[2]) for match in matches if match]
