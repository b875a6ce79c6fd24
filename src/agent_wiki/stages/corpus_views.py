"""What the stages over all sessions see: views made from what sessions contribute, never from pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent_wiki.pages.compare.views import GuidelineView, KeyTurn, SessionView, SkillView
from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.pages.sessions import Arc, Session
from agent_wiki.pages.skill import SkillEntry
from agent_wiki.pages.state import WikiView
from agent_wiki.pages.support import Evidence, Joined
from agent_wiki.shell.result_lines import complains, shows_failure
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.values import entries_of, texts_of


def guideline_views(view: WikiView) -> list[GuidelineView]:
    """Every guideline by id; its tags as configured, its sessions each counted as the one it belongs to."""
    tags = view.state.config.tags
    found = [_guideline(name, joined, tags) for name, joined in view.guidelines.items()]
    found += [_foreign_guideline(name, page, view) for name, (_, page) in view.foreign_guidelines.items()]
    return sorted(found, key=lambda each: each.id)


def _guideline(name: str, joined: Joined[GuidelineEntry], tags: Mapping[str, Sequence[str]]) -> GuidelineView:
    entry, contributions = joined.entry, joined.contributions
    roots = {each.session.root_id for each in contributions} if len(contributions) > 1 else ()
    sessions = tuple(sorted(roots)) or (contributions[0].session.root_id,)
    own = tuple(tags.get(name, entry.tags))
    failures = tuple(dict.fromkeys(cited.quote for each in contributions for cited in _failures(each.entry)))
    return GuidelineView(name, entry.title, entry.rule, entry.trigger, entry.rationale, own, sessions, failures)


def _failures(entry: GuidelineEntry) -> Iterator[Evidence]:
    for cited in entry.evidence:
        if cited.trust in ("tool", "external") and (shows_failure(cited.quote) or complains(cited.quote)):
            yield cited


def _foreign_guideline(name: str, page: Page, view: WikiView) -> GuidelineView:
    tags = view.state.config.tags.get(name)
    return GuidelineView(
        id=name,
        title=page.title,
        rule=page.lead,
        trigger=str(page.fields.get("trigger") or ""),
        rationale=page.section("Rationale") or "",
        tags=tuple(texts_of(page.fields.get("tags")) if tags is None else tags),
        sessions=tuple(sorted({_root(each, view) for each in sessions_of_page(page)})),
    )


def _root(session_id: str, view: WikiView) -> str:
    session = view.sessions.get(session_id)
    return session_id if session is None else session.root_id


def sessions_of_page(page: Page) -> tuple[str, ...]:
    """The sessions that a foreign page's evidence names, sorted."""
    return tuple(sorted({str(each.get("session_id")) for each in entries_of(page.fields.get("evidence"))}))


def skill_views(view: WikiView) -> list[SkillView]:
    """Every skill by slug, with its workflow's text."""
    found = [_skill(name, joined) for name, joined in view.skills.items()]
    found += [
        SkillView(
            slug=name,
            title=page.title,
            description=str(page.fields.get("description") or ""),
            trigger=str(page.fields.get("trigger") or ""),
            tags=tuple(texts_of(page.fields.get("tags"))),
            steps_text=page.body,
        )
        for name, (_, page) in view.foreign_skills.items()
    ]
    return sorted(found, key=lambda each: each.slug)


def _skill(name: str, joined: Joined[SkillEntry]) -> SkillView:
    entry = joined.entry
    return SkillView(name, entry.title, entry.description, entry.trigger, entry.tags, entry.words)


def session_views(view: WikiView) -> list[SessionView]:
    """Every session over all its arcs; what nothing recorded is None."""
    contributed: dict[str, list[str]] = {}
    for name, joined in view.guidelines.items():
        for each in joined.contributions:
            contributed.setdefault(each.session.session_id, []).append(name)
    for name, (_, page) in view.foreign_guidelines.items():
        for session_id in sessions_of_page(page):
            contributed.setdefault(session_id, []).append(name)
    return [_session(each, sorted(contributed.get(each.session_id, ()))) for each in view.sessions.values()]


def _session(session: Session, contributed: Sequence[str]) -> SessionView:
    record, arcs = session.record, session.arcs
    consulted = [arc.wiki_consulted for arc in arcs if arc.wiki_consulted is not None]
    return SessionView(
        session_id=session.session_id,
        goal=arcs[0].goal,
        root_session_id=session.root_id,
        outcome=session.outcome,
        agent=record.agent,
        model=record.model,
        source_format=record.recording.format or None,
        repository=record.repository,
        date=record.date,
        task_id=record.task_id,
        trial=record.trial,
        condition=record.condition,
        reward=record.reward,
        resolved=record.resolved,
        tool_calls=_sum(arc.tool_calls for arc in arcs),
        errors=_sum(arc.errors for arc in arcs),
        dead_ends=_sum(arc.dead_end_paths for arc in arcs),
        cost_usd=record.total_cost_usd,
        duration_seconds=record.duration_seconds,
        wiki_consulted=any(consulted) if consulted else None,
        contributed=tuple(contributed),
        is_side=record.parent_session_id is not None,
        request_terms=record.request_terms,
        first_terms=record.first_terms,
        writes=record.writes,
        look_ups=record.look_ups,
        failures=record.failures,
        narrative=arcs[0].narrative or None,
        notes=tuple(_key_turns(arcs)),
    )


def _sum(values: Iterator[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _key_turns(arcs: Sequence[Arc]) -> Iterator[KeyTurn]:
    for arc in arcs:
        yield from (KeyTurn(note.turn, note.text, note.kind) for note in arc.key_turns)
