"""Answers over several pages that a wiki keeps, and the guidelines that its skills and clusters cover."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from agent_wiki.engine import AnswerType, BaseEngine, Engine, MadeWith, Question, ask
from agent_wiki.pages.cluster import cluster_members
from agent_wiki.pages.compare.covered import Subject, covered_guidelines
from agent_wiki.pages.state import WikiView
from agent_wiki.stages.order import kinds_of_answers
from agent_wiki.stages.request import by_whom, made_by
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.wiki.corpus_records import CorpusRecord, corpus_path
from agent_wiki.wiki.layout import ARCHIVE
from agent_wiki.wiki.records import plain
from agent_wiki.wiki.values import mapping


class KeptAnswers(BaseEngine):
    """An engine whose answers are kept in the wiki: what the wiki holds is not asked again, unless `is_rewrite`.

    `used` are the answers that were given, by path.
    """

    def __init__(self, engine: Engine, kept: Mapping[str, CorpusRecord], *, is_rewrite: bool) -> None:
        self._engine, self._kept = engine, {} if is_rewrite else kept
        self.name, self.version = engine.name, engine.version
        self.concurrency, self.is_judge = engine.concurrency, engine.is_judge
        self.used: dict[str, CorpusRecord] = {}

    def made_with(self, stage: str) -> MadeWith:
        return self._engine.made_with(stage)

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        """The answer that is kept, else the engine's. Raises what the engine raises."""
        if not self._engine.answers_are_kept:
            return self._engine.answer(question)
        fields = json.dumps(plain(question.fields()), sort_keys=True, ensure_ascii=False)
        digest = sha256_of(fields)
        made = made_by(question.stage, self._engine, question.answer_type.__name__, digest)
        path = corpus_path(made.request)
        record = self._kept.get(path)
        if record is not None and record.made_by.request == made.request:
            self.used[path] = record
            return question.answer_type.model_validate(record.answer)
        answer = ask(self._engine, question)
        about = _about(question.fields())
        retires = self._engine.retires_members(about) is True
        values = answer.model_dump(mode="json")
        whom = by_whom(made, self._engine, about)
        self.used[path] = CorpusRecord(kinds_of_answers()[question.answer_type], about, whom, values, retires)
        return answer

    def answered_with(self, stage: str, about: Collection[str]) -> MadeWith | None:
        """What gave the answer, of those that were used, on all of these guidelines or sessions."""
        members = set(about)
        made = (each.made_by for each in self.used.values() if each.made_by.stage == stage and members <= {*each.about})
        return next((MadeWith("", each.model, each.prompt_version, each.question) for each in made), None)

    def retires_members(self, members: Collection[str]) -> bool | None:
        """Whether an answer that was used said that a cluster of these members replaces them."""
        if self._engine.retires_members(members) is None:
            return None
        return any(each.archive_members and set(members) <= set(each.about) for each in self.used.values())


def _about(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids of the guidelines or sessions that a question is about."""
    if "guidelines" in fields:
        return tuple(each.id for each in fields["guidelines"])
    sessions = [fields["session"]] if "session" in fields else fields["sessions"]
    return tuple(each.session_id for each in sessions)


def archived_guidelines(view: WikiView, *, archive_covered: bool) -> dict[str, tuple[str, str]]:
    """Guideline id → (reason, id of the page that covers it).

    Covered are what a skill covers, and the members of clusters whose entry says `archive_members: true`. What others
    archived stays archived.
    """
    archived = _archived_by_others(view)
    known = dict.fromkeys([*view.guidelines, *view.foreign_guidelines])
    for name, entry in sorted(view.state.config.clusters.items()):
        if entry.get("archive_members") is True:
            for guideline_id in cluster_members(entry, known):
                archived.setdefault(guideline_id, ("covered_by_cluster", f"cluster:{name}"))
    if archive_covered:
        for guideline_id, skill_slug in _covered_by_skills(view).items():
            archived.setdefault(guideline_id, ("covered_by_skill", f"skill:{skill_slug}"))
    return archived


def _archived_by_others(view: WikiView) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for name, (path, page) in view.foreign_guidelines.items():
        if path.startswith(f"{ARCHIVE}/"):
            why = mapping(page.fields.get("archived"))
            found[name] = (str(why.get("reason") or "archived"), str(why.get("by") or "owner"))
    return found


def _covered_by_skills(view: WikiView) -> dict[str, str]:
    """Guideline id → the first skill by slug that covers it."""
    skills = [Subject(name, joined.entry.words, joined.entry.trigger) for name, joined in view.skills.items()]
    for name, (_, page) in view.foreign_skills.items():
        said = f"{page.fields.get('description') or ''} {page.body}"
        skills.append(Subject(name, said, str(page.fields.get("trigger") or "")))
    if not skills:
        return {}
    guidelines = [Subject(name, joined.entry.rule, joined.entry.trigger) for name, joined in view.guidelines.items()]
    for name, (_, page) in view.foreign_guidelines.items():
        guidelines.append(Subject(name, page.lead, str(page.fields.get("trigger") or "")))
    return covered_guidelines(skills, guidelines)
