"""Pages that this program did not write: other tools' and people's. They are catalogued and otherwise left unchanged.

A summary of another tool is read as a session, so that backlinks, tasks and recalls know it. Of the pages themselves
only derived fields and sections change.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from agent_wiki.pages.recalls import NO_RECALLS, STATUSES, Recall, used_by_section
from agent_wiki.pages.sessions import SUMMARIZE, Arc, NotedTurn, Outcome, RecallEntry, Session
from agent_wiki.wiki.layout import cluster_path, kind_of
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.records import MadeBy, RecordingIdentity, SessionRecord, StageRecord
from agent_wiki.wiki.values import (
    count_or_none,
    entries_of,
    mapping,
    number_or_none,
    text_or_none,
    texts_of,
    truth_or_none,
    whole_number,
)

_NOTE = re.compile(r"^- T(\d{1,9}): (.+)$", re.MULTILINE)

ENGINE = ""
"""The engine of a record that was made from a foreign page."""


def foreign_sessions(pages: Mapping[str, Page]) -> list[Session]:
    """The sessions that summary pages of other tools describe, each once, arcs in turn order."""
    found: dict[str, list[tuple[str, Page]]] = {}
    for path in sorted(pages):
        if kind_of(path) == "summary":
            page = pages[path]
            found.setdefault(str(page.fields.get("session_id") or path), []).append((path, page))
    return [_session(name, arcs) for name, arcs in sorted(found.items())]


def _session(session_id: str, pages: Sequence[tuple[str, Page]]) -> Session:
    ordered = sorted(
        ((arc_of(page), path, page) for path, page in pages), key=lambda each: (each[0].first_turn, each[1])
    )
    arcs = tuple(arc for arc, _, _ in ordered)
    first = ordered[0][2]
    record = record_of(session_id, first)
    record = record.with_stages({SUMMARIZE: StageRecord(MadeBy(SUMMARIZE, ENGINE), arcs)})
    return Session(record, session_id, tuple(path for _, path, _ in ordered), arcs, first)


def record_of(session_id: str, page: Page) -> SessionRecord:
    """What a summary page's frontmatter says of its session; no stage."""
    fields = page.fields
    date = text_or_none(fields.get("verified_at"))
    source = next(iter(texts_of(fields.get("sources"))), None)
    return SessionRecord(
        session_id=session_id,
        agent=text_or_none(fields.get("agent")),
        model=text_or_none(fields.get("model")),
        recording=RecordingIdentity(
            source, text_or_none(fields.get("source_format")) or "", text_or_none(fields.get("source_sha256"))
        ),
        parent_session_id=text_or_none(fields.get("parent_session_id")),
        forked_from=text_or_none(fields.get("forked_from")),
        lineage=text_or_none(fields.get("lineage")),
        date=date,
        task_id=text_or_none(fields.get("task_id")),
        trial=text_or_none(fields.get("trial")),
        condition=text_or_none(fields.get("condition")),
        reward=number_or_none(fields.get("reward")),
        resolved=truth_or_none(fields.get("resolved")),
        turns=whole_number(fields.get("turns"), 0),
        duration_seconds=number_or_none(fields.get("duration_seconds")),
        input_tokens=count_or_none(fields.get("input_tokens")),
        cache_creation_input_tokens=count_or_none(fields.get("cache_creation_input_tokens")),
        cache_read_input_tokens=count_or_none(fields.get("cache_read_input_tokens")),
        output_tokens=count_or_none(fields.get("output_tokens")),
        total_cost_usd=number_or_none(fields.get("total_cost_usd")),
        request_terms=tuple(texts_of(fields.get("request_terms"))),
        writes=tuple(texts_of(fields.get("writes"))),
    )


def arc_of(page: Page) -> Arc:
    """What a summary page says of its arc."""
    fields = page.fields
    span = fields.get("arc_turns")
    first, last = 1, max(1, whole_number(fields.get("turns"), 1))
    if isinstance(span, list) and len(span) == 2 and all(isinstance(turn, int) for turn in span):
        first, last = span
    outcomes: dict[Any, Outcome] = {each: each for each in get_args(Outcome)}
    shown = mapping(fields.get("outcome_evidence"))
    return Arc(
        goal=str(fields.get("goal") or ""),
        outcome=outcomes.get(str(fields.get("outcome")), "unknown"),
        slug=text_or_none(fields.get("arc")) or "",
        first_turn=first,
        last_turn=last,
        outcome_turn=count_or_none(shown.get("turn")),
        outcome_quote=text_or_none(shown.get("quote")),
        narrative=_narrative(page),
        key_turns=notes_of(page, "Key turns"),
        dead_ends=notes_of(page, "Dead ends"),
        recalled=tuple(_recalled(fields.get("recalled_guidelines"))),
        tool_calls=count_or_none(fields.get("tool_calls")),
        errors=count_or_none(fields.get("errors")),
        dead_end_paths=count_or_none(fields.get("dead_end_paths")),
        tools_used=tuple(texts_of(fields.get("tools_used"))),
        wiki_consulted=truth_or_none(fields.get("wiki_consulted")),
    )


def _narrative(page: Page) -> str:
    """The text below the title without the lines on request and outcome."""
    paragraphs = [each for each in page.lead.split("\n\n") if not each.startswith(("Outcome: ", "Request: "))]
    return "\n\n".join(paragraphs).strip()


def notes_of(page: Page, heading: str) -> tuple[NotedTurn, ...]:
    """The turns that a section of a page lists, and what it says of each."""
    return tuple(NotedTurn(int(turn), text.strip()) for turn, text in _NOTE.findall(page.section(heading) or ""))


def with_edited_dead_ends(arc: Arc, page: Page) -> Arc:
    """An arc with the dead ends that its page lists since a person edited it."""
    return replace(arc, dead_ends=notes_of(page, "Dead ends"))


def _recalled(entries: Any) -> Iterable[RecallEntry]:
    for entry in entries_of(entries):
        status = entry.get("status")
        if status in STATUSES:
            name = str(entry.get("id") or "")
            quote = text_or_none(entry.get("evidence"))
            title = str(entry.get("title") or name)
            yield RecallEntry(name, title, status, quote, count_or_none(entry.get("turn")))


def claims_of(path: str, fields: Mapping[str, Any], trusted: Collection[str]) -> dict[str, Any]:
    """The support and trust of a foreign page as indexes show them: as it says, where the owner trusts that path.

    No record shows either: any other page is strangers' word, whether it says something of itself or not.
    """
    if path not in trusted:
        return {"trust": "external"}
    return {key: fields[key] for key in ("support", "trust") if fields.get(key) is not None}


def related_summary(page: Page, guideline_id: str, summaries: Iterable[str], warnings: list[str]) -> str | None:
    """The page that a foreign guideline comes from; one that is gone is replaced by the first of the same session."""
    related = text_or_none(page.fields.get("related_summary"))
    known = set(summaries)
    if related is None or related in known:
        return related
    stem = related.rpartition("/")[2].removesuffix(".md").partition("__")[0]
    candidates = sorted(path for path in known if path.startswith(f"summaries/{stem}__"))
    if not candidates:
        warnings.append(f"guideline {guideline_id}: {related} does not exist")
        return related
    warnings.append(f"guideline {guideline_id}: {related} does not exist; now {candidates[0]}")
    return candidates[0]


def with_derived(
    page: Page,
    *,
    cluster: str | None,
    tags: list[str] | None,
    archived: tuple[str, str] | None,
    related: str | None,
    recalls: Sequence[Recall],
) -> Page:
    """A foreign guideline page with what is derived: cluster, configured tags, repaired links, uses."""
    changes: dict[str, Any] = {
        "cluster": cluster,
        "superseded_by": cluster_path(cluster).partition("/")[2] if cluster else None,
        "related_summary": related,
    }
    if tags is not None and (tags or page.fields.get("tags")):
        changes["tags"] = tags
    if archived:
        changes["archived"] = {"reason": archived[0], "by": archived[1]}
    former = text_or_none(page.fields.get("related_summary"))
    if former is not None and related is not None and former != related:
        page = replace(page, chunks=tuple(each.replace(f"](../{former})", f"](../{related})") for each in page.chunks))
    return with_uses(page.with_fields(changes), recalls, "../")


def with_uses(page: Page, recalls: Sequence[Recall], up: str) -> Page:
    """A foreign page whose section `Used by`, if it has one, says who recalled it."""
    used_by = page.section("Used by")
    if used_by is not None and (recalls or used_by.strip() != NO_RECALLS):
        return page.with_section("Used by", used_by_section(recalls, up))
    return page
