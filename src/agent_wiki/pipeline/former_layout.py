"""A wiki of the former layout, in which the pages were the only storage: converted to records, once.

Fields that only served that (`variants`, `mined`, `stage_tags`, `wording`) are read here and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent_wiki.pages.foreign import arc_of, notes_of, record_of
from agent_wiki.pages.guideline import EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.sessions import SUMMARIZE
from agent_wiki.pages.settled import SUBTASK
from agent_wiki.pages.skill import SYNTHESIZE_SKILL, Script, SkillEntry
from agent_wiki.pages.support import Evidence
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.evidence import as_trust
from agent_wiki.wiki.corpus_records import CorpusRecord, corpus_path
from agent_wiki.wiki.layout import kind_of, page_id
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.records import MadeBy, SessionRecord, StageRecord
from agent_wiki.wiki.values import count_or_none, entries_of, mapping, text_or_none, texts_of, whole_number

ReadScripts = Callable[[str], Mapping[str, str]]


def converted(pages: Mapping[str, Page], scripts_of: ReadScripts) -> dict[str, SessionRecord]:
    """The records that pages of the former layout hold, by session id.

    In: the pages by path; what reads the scripts of a skill by its slug. A session without a summary page has none.
    """
    summaries: dict[str, list[Page]] = {}
    for path in sorted(pages):
        if kind_of(path) == "summary":
            summaries.setdefault(str(pages[path].fields.get("session_id") or path), []).append(pages[path])
    guidelines = _contributed(pages, "guideline", lambda path, page: _guideline_wording(path, page))
    skills = _contributed(pages, "skill", lambda path, page: _skill_wording(path, page, scripts_of))
    records: dict[str, SessionRecord] = {}
    for session_id, of_session in summaries.items():
        own_guidelines = [_guideline(wording, evidence) for wording, evidence in guidelines.get(session_id, ())]
        own_skills = [_skill(wording, evidence) for wording, evidence in skills.get(session_id, ())]
        records[session_id] = _record(session_id, of_session, own_guidelines, own_skills)
    return records


def converted_answers(pages: Mapping[str, Page]) -> dict[str, CorpusRecord]:
    """The answers that subtask pages of the former layout hold, by path. Those pages did not keep the request."""
    found: dict[str, CorpusRecord] = {}
    for path, page in sorted(pages.items()):
        if kind_of(path) == "subtask":
            session_id = str(page.fields.get("parent_session_id") or "")
            subtask = {
                "parent_session_id": session_id,
                "slug": str(page.fields.get("slug") or page_id(path).partition(":")[2]),
                "title": page.title,
                "narrative": page.lead,
                "key_steps": [{"turn": step.turn, "text": step.text} for step in notes_of(page, "Key steps")],
            }
            made_by = _made_by(page.fields.get("made_by"), "discover-tasks")
            digest = sha256_of(json.dumps(subtask, sort_keys=True))
            made_by = replace(made_by, request=made_by.request or f"sha256:{digest}")
            record = CorpusRecord(SUBTASK, (session_id,), made_by, {"subtasks": [subtask]})
            found[corpus_path(made_by.request)] = record
    return found


Contributed = tuple[dict[str, Any], tuple[Evidence, ...]]


def _record(
    session_id: str, pages: Sequence[Page], guidelines: Sequence[GuidelineEntry], skills: Sequence[SkillEntry]
) -> SessionRecord:
    arcs = sorted(((arc_of(page), page) for page in pages), key=lambda each: each[0].first_turn)
    first = arcs[0][1]
    coverage = mapping(first.fields.get("coverage"))
    record = replace(
        record_of(session_id, first),
        characters=whole_number(coverage.get("trajectory_characters"), 0),
        elided_characters=whole_number(coverage.get("elided_characters"), 0),
    )
    stages = {SUMMARIZE: StageRecord(_made_by(first.fields.get("made_by"), SUMMARIZE), tuple(arc for arc, _ in arcs))}
    made = {str(each.get("stage")): each for each in entries_of(first.fields.get("mined"))}
    for stage, entries in ((EXTRACT_GUIDELINES, guidelines), (SYNTHESIZE_SKILL, skills)):
        if stage in made or entries:
            ordered = tuple(sorted(entries, key=lambda entry: getattr(entry, "id", "")))
            stages[stage] = StageRecord(_made_by(made.get(stage), stage), ordered)
    return record.with_stages(stages)


def _made_by(value: Any, stage: str) -> MadeBy:
    signed = mapping(value)
    return MadeBy(
        stage=stage,
        engine=str(signed.get("engine") or ""),
        request=str(signed.get("request") or ""),
        model=text_or_none(signed.get("model")),
        prompt_version=count_or_none(signed.get("prompt_version")),
    )


def _contributed(
    pages: Mapping[str, Page], kind: str, wording_of: Callable[[str, Page], dict[str, Any]]
) -> dict[str, list[Contributed]]:
    """Session id → what it contributes to each page of a kind: wording and evidence."""
    found: dict[str, list[Contributed]] = {}
    for path, page in sorted(pages.items()):
        if kind_of(path) == kind:
            wording = wording_of(path, page)
            variants = {str(each.get("session_id")): each for each in entries_of(page.fields.get("variants"))}
            for session_id, evidence in _evidence(page).items():
                own = {name: each for name, each in variants.get(session_id, {}).items() if name != "session_id"}
                found.setdefault(session_id, []).append((wording | own, evidence))
    return found


def _evidence(page: Page) -> dict[str, tuple[Evidence, ...]]:
    found: dict[str, list[Evidence]] = {}
    for entry in entries_of(page.fields.get("evidence")):
        turn, quote = whole_number(entry.get("turn"), 1), str(entry.get("quote") or "")
        cited = Evidence(turn, quote, as_trust(entry.get("trust")))
        found.setdefault(str(entry.get("session_id")), []).append(cited)
    return {session_id: tuple(cited) for session_id, cited in found.items()}


def _guideline_wording(path: str, page: Page) -> dict[str, Any]:
    fields = page.fields
    shown: dict[str, Any] = {
        "id": str(fields.get("id") or page_id(path)),
        "type": str(fields.get("type") or "guideline"),
        "title": page.title,
        "rule": page.lead,
        "trigger": str(fields.get("trigger") or ""),
        "rationale": (page.section("Rationale") or "").strip(),
        "tags": fields.get("stage_tags", fields.get("tags")),
    }
    return shown | mapping(fields.get("wording"))


def _guideline(wording: Mapping[str, Any], evidence: tuple[Evidence, ...]) -> GuidelineEntry:
    return GuidelineEntry(
        id=str(wording["id"]),
        title=str(wording["title"]),
        rule=str(wording["rule"]),
        trigger=str(wording["trigger"]),
        rationale=str(wording["rationale"]),
        type=str(wording["type"]),
        tags=tuple(texts_of(wording["tags"])),
        evidence=evidence,
    )


def _skill_wording(path: str, page: Page, scripts_of: ReadScripts) -> dict[str, Any]:
    slug = path.split("/")[1]
    return {
        "name": slug,
        "description": page.fields.get("description", ""),
        "trigger": page.fields.get("trigger", ""),
        "tags": page.fields.get("tags", []),
        "body": page.body,
        "scripts": dict(scripts_of(slug)),
    }


def _skill(wording: Mapping[str, Any], evidence: tuple[Evidence, ...]) -> SkillEntry:
    scripts = mapping(wording["scripts"])
    return SkillEntry(
        name=str(wording["name"]),
        description=str(wording["description"]),
        trigger=str(wording["trigger"]),
        tags=tuple(texts_of(wording["tags"])),
        scripts=tuple(Script(name, str(text)) for name, text in sorted(scripts.items())),
        evidence=evidence,
        body=_workflow(str(wording["body"])),
    )


def _workflow(body: str) -> str:
    """The body of a skill page without its title and without the sections that are derived."""
    kept = body.partition("\n## Used by")[0].partition("\n## Sources")[0]
    return kept.partition("\n\n")[2].strip() if kept.lstrip().startswith("# ") else kept.strip()
