"""catalog: all pages → derived fields, backlinks, archive, cluster and task pages, indexes. No engine is asked.

Everything here is a function of the pages and the configuration. Fields that a stage wrote stay; of pages that
other tools wrote only derived fields change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from agent_wiki.stages import summarize
from agent_wiki.stages.synthesize_skill import NOT_CATALOGUED
from agent_wiki.trajectory.evidence import as_trust, least_trusted
from agent_wiki.wiki import indexes
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.layout import (
    INDEX,
    archived,
    cluster_path,
    guideline_path,
    page_id,
    skill_path,
    subtask_path,
    task_path,
)
from agent_wiki.wiki.page import Page, split_body
from agent_wiki.wiki.recalls import NO_RECALLS, Recall, recalled_section, recalls_by_page, used_by_section
from agent_wiki.wiki.sessions import Session, entries_of, newest, sessions_of, text_or_none, texts_of, whole_number
from agent_wiki.wiki.state import WikiState, is_ours
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line

STAGE = "catalog"
_MOST_TOPICS = 4
_MOST_SOURCES = 10  # a page with more supporting sessions names the first ones; all stand in `evidence`


@dataclass(slots=True)
class Catalogued:
    """What the wiki should hold. `pages` by path; `files` are the indexes; `warnings` full sentences."""

    pages: dict[str, Page] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    archived: dict[str, tuple[str, str]] = field(default_factory=dict)  # guideline id → (reason, target page id)


@dataclass(slots=True)
class _Facts:
    """What deriving looks up again and again."""

    state: WikiState
    templates: Templates
    sessions: dict[str, Session]
    recalls: dict[str, list[Recall]]
    cluster_of: dict[str, str]
    guideline_paths: dict[str, str]
    warnings: list[str]


def catalog(state: WikiState, archive: Mapping[str, tuple[str, str]], templates: Templates) -> Catalogued:
    """Make every page and index. `archive`: guideline id → (reason, id of the page that covers it)."""
    made = Catalogued(archived=dict(archive))
    facts = _Facts(
        state=state,
        templates=templates,
        sessions=sessions_of(state.summaries),
        recalls=recalls_by_page(state.summaries),
        cluster_of=_cluster_of(state.config, state.guidelines),
        guideline_paths=_guideline_paths(state, archive),
        warnings=made.warnings,
    )
    for guideline_id, path in facts.guideline_paths.items():
        made.pages[path] = _guideline(guideline_id, facts, archive.get(guideline_id))
    for skill_slug, page in state.skills.items():
        made.pages[skill_path(skill_slug)] = _skill(skill_slug, page, facts)
    _add_clusters(made, facts)
    _add_summaries(made, facts)
    _add_tasks(made, facts)
    made.files = indexes.all_indexes(made.pages, state.config, facts.recalls, facts.sessions, templates)
    made.warnings.extend(indexes.broken_links(made.files[INDEX], made.pages))
    for path, page in state.doubles.items():
        made.pages.setdefault(path, page)
        made.warnings.append(f"{path}: another page has its id; it is left alone and not indexed")
    return made


def _guideline_paths(state: WikiState, archive: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Guideline id → path. A page that others wrote keeps its file name."""
    paths: dict[str, str] = {}
    for guideline_id in sorted(state.guidelines):
        page = state.guidelines[guideline_id]
        name = state.guideline_files.get(guideline_id)
        path = f"guidelines/{name}" if name and not is_ours(page) else guideline_path(page.title, guideline_id)
        paths[guideline_id] = archived(path) if guideline_id in archive else path
    return paths


def _cluster_of(config: Config, guidelines: Mapping[str, Page]) -> dict[str, str]:
    """Guideline id → the cluster that claims it; the first by slug when several do."""
    claimed: dict[str, str] = {}
    for cluster_slug in sorted(config.clusters):
        members = cluster_members(config.clusters[cluster_slug], guidelines)
        for guideline_id in members if len(members) >= 2 else []:
            claimed.setdefault(guideline_id, cluster_slug)
    return claimed


def cluster_members(entry: Mapping[str, Any], guidelines: Mapping[str, Page]) -> list[str]:
    """The members of a configured cluster that have pages, in their configured order."""
    return [each for each in dict.fromkeys(texts_of(entry.get("members"))) if each in guidelines]


def _guideline(guideline_id: str, facts: _Facts, archive: tuple[str, str] | None) -> Page:
    page = former = facts.state.guidelines[guideline_id]
    cluster = facts.cluster_of.get(guideline_id)
    changes: dict[str, Any] = {
        "cluster": cluster,
        "superseded_by": cluster_path(cluster).partition("/")[2] if cluster else None,
    }
    changes.update(_tags(page, facts.state.config.tags.get(guideline_id)))
    if is_ours(page) or archive:
        changes["archived"] = {"reason": archive[0], "by": archive[1]} if archive else None
    if is_ours(page):
        changes.update(_support(page, facts))
        changes["made_by"] = _made_by(page, facts)
    else:
        changes["related_summary"] = _repaired(page, guideline_id, facts)
        page = _with_link(page, text_or_none(page.fields.get("related_summary")), changes["related_summary"])
    page = page.with_fields(changes)
    if is_ours(page):
        page = _with_sources(_ordered(page, GUIDELINE_FIELDS), former, "../", facts)
    return _with_sections(page, guideline_id, "../", facts)


def _tags(page: Page, configured: list[str] | None) -> dict[str, Any]:
    """Configured tags win; a stage's own tags are kept beside them, so that they can come back."""
    own = page.fields.get("stage_tags", page.fields.get("tags"))
    if configured is None:
        return {"tags": own, "stage_tags": None} if "stage_tags" in page.fields else {}
    if not is_ours(page):
        return {"tags": configured} if configured or own else {}
    return {"tags": configured, "stage_tags": own if own != configured else None}


def _support(page: Page, facts: _Facts) -> dict[str, Any]:
    """What the contributing sessions' own pages say: support, trust, dates, sources."""
    entries = entries_of(page.fields.get("evidence"))
    ids = list(dict.fromkeys(str(each.get("session_id")) for each in entries))
    known = [facts.sessions[each] for each in ids if each in facts.sessions]
    outcomes: dict[str, set[str]] = {}
    for session_id in ids:
        session = facts.sessions.get(session_id)
        root = session.root_id if session else session_id
        outcomes.setdefault(root, set()).add(session.outcome if session else "unknown")
    support = {
        "sessions": len(outcomes),
        "success": sum("success" in each for each in outcomes.values()),
        "failure": sum("failure" in each and "success" not in each for each in outcomes.values()),
    }
    speaker = known[0] if known else None
    sources = list(dict.fromkeys(source for session in known[:_MOST_SOURCES] for source in session.sources))
    return {
        "agent": text_or_none(speaker.first.get("agent")) if speaker else None,
        "sources": sources or None,
        "related_summary": speaker.path_of_turn(_turn(entries[0])) if speaker and entries else None,
        "support": support,
        "trust": least_trusted([as_trust(each.get("trust")) for each in entries]),
        "verified_at": newest(session.date for session in known),
    }


def _made_by(page: Page, facts: _Facts) -> dict[str, Any]:
    """The speaker's own answer made this page: its digest stands on that session's summary."""
    stage = page.fields["made_by"].get("stage")
    evidence = entries_of(page.fields.get("evidence")) or [{}]
    session = facts.sessions.get(str(evidence[0].get("session_id")))
    for each in entries_of(session.first.get("mined")) if session else []:
        if each.get("stage") == stage:
            return dict(each)
    return dict(page.fields["made_by"])


def _repaired(page: Page, guideline_id: str, facts: _Facts) -> str | None:
    """A related summary that is gone is replaced by the first page of the same session, with a warning."""
    related = text_or_none(page.fields.get("related_summary"))
    if related is None or related in facts.state.summaries:
        return related
    stem = related.rpartition("/")[2].removesuffix(".md").partition("__")[0]
    candidates = sorted(path for path in facts.state.summaries if path.startswith(f"summaries/{stem}__"))
    if not candidates:
        facts.warnings.append(f"guideline {guideline_id}: {related} does not exist")
        return related
    facts.warnings.append(f"guideline {guideline_id}: {related} does not exist; now {candidates[0]}")
    return candidates[0]


def _with_link(page: Page, former: str | None, now: str | None) -> Page:
    """The links of a page's body to a summary that was repaired lead where its field does."""
    if former is None or now is None or former == now:
        return page
    return replace(page, chunks=tuple(chunk.replace(f"](../{former})", f"](../{now})") for chunk in page.chunks))


def _skill(skill_slug: str, page: Page, facts: _Facts) -> Page:
    name, former = f"skill:{skill_slug}", page
    if is_ours(page):
        page = page.with_fields({**_support(page, facts), "made_by": _made_by(page, facts)})
        page = _with_sources(_ordered(page, SKILL_FIELDS), former, "../../", facts)
    return _with_sections(page, name, "../../", facts)


def _with_sections(page: Page, name: str, up: str, facts: _Facts) -> Page:
    """Fill in the derived sections that the page has."""
    recalls = facts.recalls.get(name, ())
    used_by = page.section("Used by")
    if used_by is not None and (recalls or used_by.strip() != NO_RECALLS):
        page = page.with_section("Used by", used_by_section(recalls, up))
    return page


def _with_sources(page: Page, former: Page, up: str, facts: _Facts) -> Page:
    """Fill in `## Sources`, unless the evidence and what is said of it are what they were when it was made."""
    section = page.section("Sources")
    if section is None:
        return page
    if section.strip() != NOT_CATALOGUED and page.fields == former.fields and _links_stand(page, section, up, facts):
        return page
    return page.with_section("Sources", _sources_section(page, up, facts))


def _links_stand(page: Page, section: str, up: str, facts: _Facts) -> bool:
    """The summaries that a page's sources link to still lie where the links point."""
    first = {str(each.get("session_id")): each for each in reversed(entries_of(page.fields.get("evidence")))}
    ids = list(dict.fromkeys(str(entry.get("session_id")) for entry in entries_of(page.fields.get("evidence"))))
    known = [each for each in ids[:_MOST_SOURCES] if each in facts.sessions]
    return all(f"({up}{facts.sessions[each].path_of_turn(_turn(first[each]))})" in section for each in known)


def _sources_section(page: Page, up: str, facts: _Facts) -> str:
    """Each supporting session's summary (of several arcs that of the first cited turn), its cited turns and quotes."""
    quotes: dict[str, list[str]] = {}
    turns: dict[str, int] = {}
    for entry in entries_of(page.fields.get("evidence")):
        turns.setdefault(str(entry.get("session_id")), _turn(entry))
        shown = f"T{entry.get('turn')} “{plain_line(str(entry.get('quote', '')), 160)}”"
        quotes.setdefault(str(entry.get("session_id")), []).append(shown)
    rows: list[str] = []
    for session_id in list(quotes)[:_MOST_SOURCES]:
        session = facts.sessions.get(session_id)
        label = plain_line(session_id, 60)
        head = f"[{label}]({up}{session.path_of_turn(turns[session_id])})" if session else label
        rows.append(f"- {head}: {'; '.join(quotes[session_id])}")
    if len(quotes) > _MOST_SOURCES:
        rows.append(f"- and {len(quotes) - _MOST_SOURCES} more sessions, in `evidence` above")
    return "\n".join(rows) or "_(none)_"


def _add_clusters(made: Catalogued, facts: _Facts) -> None:
    """One page a configured cluster of at least two members."""
    config, guidelines = facts.state.config, facts.state.guidelines
    for cluster_slug in sorted(config.clusters):
        entry = config.clusters[cluster_slug]
        members = cluster_members(entry, guidelines)
        if len(members) < 2:
            facts.warnings.append(f"cluster {cluster_slug}: {len(members)} of its members exist, two are needed")
            continue
        page = _cluster_page(cluster_slug, entry, members, made, facts)
        made.pages[cluster_path(cluster_slug)] = _with_unknown(page, facts.state.clusters.get(cluster_slug))
    for cluster_slug, page in facts.state.clusters.items():
        if not is_ours(page):
            made.pages.setdefault(cluster_path(cluster_slug), page)


def _cluster_page(
    cluster_slug: str, entry: Mapping[str, Any], members: list[str], made: Catalogued, facts: _Facts
) -> Page:
    pages = {each: made.pages[facts.guideline_paths[each]] for each in members}
    links = {each: _from_guidelines(facts.guideline_paths[each]) for each in members}
    title = plain_line(str(entry.get("title") or cluster_slug), 120)
    fields = {
        "id": f"cluster:{cluster_slug}",
        "type": "cluster",
        "slug": cluster_slug,
        "title": title,
        "tags": texts_of(entry.get("tags")) or _shared_tags(pages.values()),
        "members": [{"id": each, "link": links[each]} for each in members],
        "priority": "high",
        "support": _union_support(pages.values(), facts),
        "trust": least_trusted([as_trust(page.fields.get("trust")) for page in pages.values()]),
        "verified_at": newest(text_or_none(page.fields.get("verified_at")) for page in pages.values()),
        "made_by": _entry_made_by(entry),
    }
    body = facts.templates.render(
        "cluster.md",
        title=title,
        description=plain_line(str(entry.get("description") or ""), 600),
        takeaway=plain_line(str(entry.get("takeaway") or ""), 600),
        members=[_member_view(each, pages[each], links[each]) for each in members],
    )
    page = Page({name: value for name, value in fields.items() if value is not None}, split_body(body))
    return _with_sections(page, f"cluster:{cluster_slug}", "../", facts)


def _member_view(guideline_id: str, page: Page, link: str) -> dict[str, str]:
    related = text_or_none(page.fields.get("related_summary"))
    return {
        "id": guideline_id,
        "title": plain_line(page.title, 120),
        "trigger": plain_line(str(page.fields.get("trigger") or ""), 200),
        "link": link,
        "source": f"[{related.rpartition('/')[2].removesuffix('.md')}](../{related})" if related else "",
        "snippet": plain_line(page.lead, 300),
    }


def _entry_made_by(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What made a page of the configuration: the stage that made the entry, or catalog for a person's."""
    made_by = entry.get("made_by")
    if not isinstance(made_by, dict):
        return {"stage": STAGE}
    return {name: made_by[name] for name in ("stage", "engine") if name in made_by}


def _union_support(pages: Iterable[Page], facts: _Facts) -> dict[str, int] | None:
    """Support over all members, each session once."""
    entries = [entry for page in pages for entry in entries_of(page.fields.get("evidence"))]
    if not entries:
        return None
    support: dict[str, int] = _support(Page({"evidence": entries}, ("",)), facts)["support"]
    return support


def _shared_tags(pages: Iterable[Page]) -> list[str]:
    shared: list[str] | None = None
    for page in pages:
        tags = texts_of(page.fields.get("tags"))
        shared = tags if shared is None else [tag for tag in shared if tag in tags]
    return shared or []


def _from_guidelines(path: str) -> str:
    """A guideline's path as seen from `guidelines/`."""
    return path.removeprefix("guidelines/") if path.startswith("guidelines/") else f"../{path}"


def _with_unknown(page: Page, former: Page | None) -> Page:
    if former is None:
        return page
    unknown = {name: value for name, value in former.fields.items() if name not in _CLUSTER_AND_TASK_FIELDS}
    return page.with_fields(unknown) if unknown else page


def _add_summaries(made: Catalogued, facts: _Facts) -> None:
    """Backlinks and tags on every summary."""
    contributed = _contributed(made, facts)
    links = {page_id(path): path for path in made.pages}
    families = _family_of_sessions(facts)
    for path, page in facts.state.summaries.items():
        guidelines, skills = contributed.get(path, ([], []))
        changes: dict[str, Any] = {"contributed_guidelines": guidelines, "contributed_skills": skills}
        if is_ours(page):
            topics = _topics(guidelines, skills, facts)
            changes["tags"] = _summary_tags(page, families.get(str(page.fields.get("session_id"))), topics)
        changed = page.with_fields(changes)
        if is_ours(page):
            changed = _ordered(changed, summarize.FIELDS)
            section = recalled_section(entries_of(page.fields.get("recalled_guidelines")), links)
            if section is not None:
                changed = changed.with_section("Recalled guidelines", section, before="Sources")
        made.pages[path] = changed


def _contributed(made: Catalogued, facts: _Facts) -> dict[str, tuple[list[str], list[str]]]:
    """Summary path → (guideline ids, skill slugs) that come from it: the inversion of evidence and related_summary."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for guideline_id, path in facts.guideline_paths.items():
        for summary in _summaries_of(made.pages[path], facts):
            found.setdefault(summary, (set(), set()))[0].add(guideline_id)
    for skill_slug in facts.state.skills:
        for summary in _summaries_of(made.pages[skill_path(skill_slug)], facts):
            found.setdefault(summary, (set(), set()))[1].add(skill_slug)
    return {path: (sorted(guidelines), sorted(skills)) for path, (guidelines, skills) in found.items()}


def _summaries_of(page: Page, facts: _Facts) -> set[str]:
    paths = {
        facts.sessions[str(entry["session_id"])].path_of_turn(_turn(entry))
        for entry in entries_of(page.fields.get("evidence"))
        if str(entry.get("session_id")) in facts.sessions
    }
    related = text_or_none(page.fields.get("related_summary"))
    if related in facts.state.summaries and not paths:
        paths.add(str(related))
    return paths


def _turn(entry: Mapping[str, Any]) -> int:
    """The turn that a piece of evidence cites."""
    return whole_number(entry.get("turn"), 1)


def _topics(guidelines: list[str], skills: list[str], facts: _Facts) -> list[str]:
    """What a session was about, told by the tags of what it taught: at most four, the most frequent first."""
    state = facts.state
    pages = [*(state.guidelines[each] for each in guidelines), *(state.skills[each] for each in skills)]
    configured = [state.config.tags.get(each) for each in guidelines] + [None] * len(skills)
    counted = Counter(
        tag
        for page, own in zip(pages, configured, strict=True)
        for tag in (texts_of(page.fields.get("tags")) if own is None else own)
    )
    return sorted(counted, key=lambda tag: (-counted[tag], tag))[:_MOST_TOPICS]


def _summary_tags(page: Page, family: str | None, topics: list[str]) -> list[str]:
    tags = [family, *(topic for topic in topics if topic != family), text_or_none(page.fields.get("condition"))]
    trial = text_or_none(page.fields.get("trial"))
    tags.append(f"trial-{trial}" if trial else None)
    tags.append("wiki-consulted" if page.fields.get("wiki_consulted") is True else None)
    return [tag for tag in tags if tag]


def _family_of_sessions(facts: _Facts) -> dict[str, str]:
    """Session id → the slug of the task it belongs to."""
    found: dict[str, str] = {}
    for task_slug in sorted(facts.state.config.tasks):
        for session_id in indexes.sessions_of_task(facts.state.config, task_slug, facts.sessions):
            found.setdefault(session_id, task_slug)
    return found


def _add_tasks(made: Catalogued, facts: _Facts) -> None:
    """One comparison page a configured task; subtask pages stay as their stage made them."""
    config = facts.state.config
    for task_slug in sorted(config.tasks):
        ids = indexes.sessions_of_task(config, task_slug, facts.sessions)
        former = facts.state.tasks.get(task_slug)
        if not ids:
            facts.warnings.append(f"task {task_slug}: no session matches it")
            continue
        page = _task_page(task_slug, config, ids, made, facts)
        made.pages[task_path(task_slug)] = _with_unknown(page, former)
    for task_slug, page in facts.state.tasks.items():
        if not is_ours(page):
            made.pages.setdefault(task_path(task_slug), page)
    for subtask_slug, page in facts.state.subtasks.items():
        made.pages[subtask_path(subtask_slug)] = page


def _task_page(task_slug: str, config: Config, ids: list[str], made: Catalogued, facts: _Facts) -> Page:
    entry = config.tasks[task_slug]
    title = plain_line(str(entry.get("title") or task_slug), 120)
    findings = entry.get("findings")
    lines = findings if isinstance(findings, list) else str(findings or "").strip().splitlines()
    fields = {
        "id": f"task:{task_slug}",
        "type": "task-comparison",
        "slug": task_slug,
        "title": title,
        "family": str(entry.get("family") or task_slug),
        "tags": texts_of(entry.get("tags")),
        "sessions": ids,
        "verified_at": newest(facts.sessions[each].date for each in ids),
        "made_by": _entry_made_by(entry),
    }
    body = facts.templates.render(
        "task.md",
        title=title,
        intro=plain_line(str(entry.get("intro") or ""), 800),
        rows=[row for each in ids for row in indexes.comparison_rows(facts.sessions[each], made.pages, config)],
        findings=[plain_line(str(line).removeprefix("- "), 500) for line in lines if str(line).strip()],
    )
    return Page({name: value for name, value in fields.items() if value is not None}, split_body(body))


def _ordered(page: Page, order: tuple[str, ...]) -> Page:
    """Fields of our own pages in one order, unknown ones last in theirs: the same set gives the same bytes."""
    rank_of = _ranks(order)
    ranks = [rank_of.get(name, len(order)) for name in page.fields]
    if ranks == sorted(ranks):
        return page
    known = {name: page.fields[name] for name in order if name in page.fields}
    known.update({name: value for name, value in page.fields.items() if name not in known})
    return Page(known, page.chunks)


@lru_cache(maxsize=8)
def _ranks(order: tuple[str, ...]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(order)}


GUIDELINE_FIELDS = (
    "id", "type", "trigger", "agent", "tags", "stage_tags", "sources", "related_summary", "cluster", "superseded_by",
    "archived", "support", "trust", "verified_at", "evidence", "variants", "wording", "made_by",
)  # fmt: skip
SKILL_FIELDS = (
    "name", "description", "id", "type", "trigger", "agent", "tags", "sources", "related_summary",
    "support", "trust", "verified_at", "evidence", "variants", "made_by",
)  # fmt: skip
_CLUSTER_AND_TASK_FIELDS = frozenset(
    {"id", "type", "slug", "title", "family", "tags", "members", "sessions", "priority", "support", "trust",
     "verified_at", "made_by"}
)  # fmt: skip
