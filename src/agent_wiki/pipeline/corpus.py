"""The stages that look at all pages at once: views in, configuration entries and pages out.

Each is a function of the pages: what a stage found before and does not find now is taken out again, what a
person wrote stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from agent_wiki.compare.covered import GuidelineSubject, covered_guidelines
from agent_wiki.compare.families import FamilyRule, Override
from agent_wiki.engine import Engine
from agent_wiki.errors import Unanswered
from agent_wiki.pipeline.corpus_views import guideline_view, session_view, sessions_of_page, skill_view
from agent_wiki.stages import consolidate_clusters, discover_tasks, synthesize_skill
from agent_wiki.stages.catalog import cluster_members
from agent_wiki.stages.request import signature
from agent_wiki.wiki.config import Config, is_stage_made, signed
from agent_wiki.wiki.layout import slug
from agent_wiki.wiki.page import Page, split_body
from agent_wiki.wiki.sessions import Session, sessions_of, texts_of
from agent_wiki.wiki.state import WikiState, is_ours
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line


def cluster_entries(
    state: WikiState, engine: Engine, warnings: list[str], unanswered: list[Unanswered]
) -> dict[str, Any]:
    """Changes to `clusters:` in the configuration: entries to set, None for those to take out.

    What stands for a question that has no answer yet goes on standing.
    """
    sessions = sessions_of(state.summaries)
    guidelines = [guideline_view(each, state, sessions) for each in sorted(state.guidelines)]
    skills = [skill_view(each, state) for each in sorted(state.skills)]
    found = consolidate_clusters.consolidate_clusters(guidelines, skills, engine)
    warnings += found.rejected
    unanswered += [error for error, _ in found.unanswered]
    wanted = {
        cluster.slug: {
            "title": plain_line(cluster.title, 120),
            "description": plain_line(cluster.description, 600),
            "takeaway": plain_line(cluster.takeaway, 600),
            "members": list(cluster.members),
            "tags": list(cluster.tags),
        }
        for cluster in found.clusters
    }
    claimed = {
        member
        for entry in state.config.clusters.values()
        if not is_stage_made(entry)
        for member in cluster_members(entry, state.guidelines)
    }
    ours = {
        name: _with_retired_members(entry, state.config.clusters.get(name), engine)
        for name, entry in wanted.items()
        if claimed.isdisjoint(entry["members"])
    }
    kept = {
        name
        for name, entry in state.config.clusters.items()
        if any(asked.issuperset(texts_of(entry.get("members"))) for _, asked in found.unanswered)
    }
    return _changes(state.config.clusters, ours, consolidate_clusters.STAGE, engine, kept)


def _with_retired_members(entry: dict[str, Any], standing: Mapping[str, Any] | None, engine: Engine) -> dict[str, Any]:
    """The entry with `archive_members: true` where whoever answered said so.

    An engine whose answers never say so leaves it as it is in the entry that this one replaces.
    """
    retires = engine.retires_members(entry["members"])
    if retires is None:
        retires = standing is not None and is_stage_made(standing) and standing.get("archive_members") is True
    return {**entry, "archive_members": True} if retires else entry


def task_entries(
    state: WikiState, engine: Engine, templates: Templates, warnings: list[str], unanswered: list[Unanswered]
) -> tuple[dict[str, Any], dict[str, Page]]:
    """Changes to `tasks:` in the configuration, and the subtask pages by slug.

    What stands for a question that has no answer yet goes on standing.
    """
    sessions = sessions_of(state.summaries)
    contributed = _contributed(state)
    views = [session_view(session, contributed.get(session.session_id, ())) for session in sessions.values()]
    owned = {name: entry for name, entry in state.config.tasks.items() if not is_stage_made(entry)}
    found = discover_tasks.discover_tasks(views, _overrides(state.config), _rules(owned), engine)
    warnings += found.rejected
    unanswered += [error for error, _ in found.unanswered]
    kept = {about for _, about in found.unanswered}
    owners_names = {str(entry.get("family") or name) for name, entry in owned.items()}
    wanted = {
        task.slug: {
            "title": plain_line(task.answer.title, 120),
            "family": task.family.name or task.slug,
            "intro": plain_line(task.answer.intro, 800),
            "findings": [plain_line(finding, 500) for finding in task.answer.findings],
            "tags": list(task.answer.tags),
            "sessions": sorted(session.session_id for session in task.family.sessions),
        }
        for task in found.tasks
        if task.family.name not in owners_names
    }
    tags = {
        session.session_id: {*task.answer.tags, *([slug(session.condition)] if session.condition else ())}
        for task in found.tasks
        for session in task.family.sessions
    }
    subtasks = {
        name: page
        for name, page in state.subtasks.items()
        if not is_ours(page) or str(page.fields.get("parent_session_id")) in kept
    }
    for subtask in found.subtasks:
        if subtask.slug not in subtasks:
            session = sessions[subtask.parent_session_id]
            page = _subtask_page(subtask, session, engine, templates)
            subtasks[subtask.slug] = page.with_fields({"tags": sorted(tags.get(session.session_id, ()))})
    return _changes(state.config.tasks, wanted, discover_tasks.STAGE, engine, kept), subtasks


def _changes(
    standing: Mapping[str, dict[str, Any]],
    wanted: Mapping[str, dict[str, Any]],
    stage: str,
    engine: Engine,
    kept: Collection[str],
) -> dict[str, Any]:
    """What turns the stage's standing entries into the wanted ones; a person's entry and `kept` are not touched."""
    changes: dict[str, Any] = {}
    for name, entry in standing.items():
        if is_stage_made(entry) and name not in wanted and name not in kept:
            changes[name] = None
    for name, entry in wanted.items():
        made = signed(entry, **signature(stage, engine))
        if name not in standing or (is_stage_made(standing[name]) and standing[name] != made):
            changes[name] = made
    return changes


def _overrides(config: Config) -> dict[str, Override]:
    return {
        session_id: Override(
            *(None if entry.get(name) is None else str(entry[name]) for name in ("family", "trial", "condition"))
        )
        for session_id, entry in config.overrides.items()
    }


def _rules(owned: Mapping[str, dict[str, Any]]) -> list[FamilyRule]:
    """What people wrote of their families; what this stage wrote itself must not feed back."""
    rules: list[FamilyRule] = []
    for name, entry in owned.items():
        match = entry.get("family_match")
        substrings = match.get("goal_substring") if isinstance(match, dict) else None
        wanted = tuple(each for each in texts_of(substrings) if each)
        rules.append(FamilyRule(str(entry.get("family") or name), wanted))
    return rules


def _contributed(state: WikiState) -> dict[str, tuple[str, ...]]:
    """Session id → the guidelines whose evidence names it, from the pages and not from what catalog derives."""
    found: dict[str, list[str]] = {}
    for guideline_id in sorted(state.guidelines):
        for session_id in sessions_of_page(state.guidelines[guideline_id]):
            found.setdefault(session_id, []).append(guideline_id)
    return {session_id: tuple(ids) for session_id, ids in found.items()}


def _subtask_page(
    subtask: discover_tasks.SubtaskAnswer, session: Session, engine: Engine, templates: Templates
) -> Page:
    title = plain_line(subtask.title, 120)
    fields: dict[str, Any] = {
        "id": f"subtask:{subtask.slug}",
        "type": "subtask",
        "slug": subtask.slug,
        "title": title,
        "tags": [],
        "parent_session_id": subtask.parent_session_id,
        "parent_summary": session.paths[0],
        "verified_at": session.date,
        "made_by": signature(discover_tasks.STAGE, engine),
    }
    body = templates.render(
        "subtask.md",
        title=title,
        narrative=plain_line(subtask.narrative, 2_000),
        key_steps=[{"turn": step.turn, "text": plain_line(step.text, 300)} for step in subtask.key_steps],
        parent_session_id=plain_line(subtask.parent_session_id, 80),
        parent_summary=session.paths[0],
    )
    return Page({name: value for name, value in fields.items() if value is not None}, split_body(body))


def archive(
    state: WikiState, *, archive_covered: bool, standing: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """Guideline id → (reason, id of the page that covers it).

    Covered are what a skill covers, and the members of clusters whose entry says `archive_members: true`. `standing`
    are pages that were archived before by others; they stay.
    """
    archived = dict(standing)
    for cluster_slug in sorted(state.config.clusters):
        entry = state.config.clusters[cluster_slug]
        if entry.get("archive_members") is True:
            for guideline_id in cluster_members(entry, state.guidelines):
                archived.setdefault(guideline_id, ("covered_by_cluster", f"cluster:{cluster_slug}"))
    if archive_covered:
        for guideline_id, skill_slug in _covered_by_skills(state).items():
            archived.setdefault(guideline_id, ("covered_by_skill", f"skill:{skill_slug}"))
    return archived


def _covered_by_skills(state: WikiState) -> dict[str, str]:
    """Guideline id → the first skill by slug that covers it, among those that share a tag or a session."""
    if not state.skills:
        return {}
    tags = state.config.tags
    subjects = {
        guideline_id: _subject(guideline_id, page, tags.get(guideline_id))
        for guideline_id, page in state.guidelines.items()
    }
    by_word: dict[tuple[str, str], list[str]] = {}
    for guideline_id, subject in subjects.items():
        for key in [*(("tag", tag) for tag in subject.tags), *(("session", each) for each in subject.sessions)]:
            by_word.setdefault(key, []).append(guideline_id)
    covered: dict[str, str] = {}
    for skill_slug in sorted(state.skills):
        page = state.skills[skill_slug]
        skill = _subject(skill_slug, page)
        keys = [*(("tag", tag) for tag in skill.tags), *(("session", each) for each in skill.sessions)]
        near = sorted({guideline_id for key in keys for guideline_id in by_word.get(key, ())})
        wording = synthesize_skill.wording_of(page, {})  # what catalog fills in must not decide what catalog does
        words = f"{skill_slug} {wording['description']} {wording['body']}"
        for guideline_id in covered_guidelines(skill.tags, words, skill.sessions, [subjects[each] for each in near]):
            covered.setdefault(guideline_id, skill_slug)
    return covered


def _subject(page_id: str, page: Page, configured_tags: list[str] | None = None) -> GuidelineSubject:
    tags = texts_of(page.fields.get("tags")) if configured_tags is None else configured_tags
    return GuidelineSubject(page_id, page.title, page.lead, tuple(tags), sessions_of_page(page))
