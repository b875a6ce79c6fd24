"""The stages that look at all sessions at once: views in, answers and configuration entries out.

Each is a function of what the sessions contribute: what a stage found before and does not find now is taken out again,
what a person wrote stays. An answer that the wiki holds is not asked for again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_wiki.compare.covered import GuidelineSubject, covered_guidelines
from agent_wiki.compare.families import FamilyRule, Override
from agent_wiki.engine import AnswerType, BaseEngine, Engine, MadeWith, Question
from agent_wiki.errors import Unanswered
from agent_wiki.pages.catalog import SUBTASK
from agent_wiki.pages.cluster import cluster_members
from agent_wiki.pages.state import WikiView
from agent_wiki.pipeline.corpus_views import (
    guideline_views,
    session_views,
    sessions_of_page,
    skill_views,
)
from agent_wiki.stages import consolidate_clusters, discover_tasks
from agent_wiki.stages.order import STAGES
from agent_wiki.stages.request import made_by
from agent_wiki.wiki.config import CLUSTERS, TASKS, Config, Section, is_stage_made, signed
from agent_wiki.wiki.corpus_records import CorpusRecord, corpus_path
from agent_wiki.wiki.records import plain
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import texts_of

_KINDS = {answer_type: kind for stage in STAGES for kind, answer_type in stage.questions.items()}


@dataclass(slots=True)
class CorpusResult:
    """What a stage found: changes to a section of the configuration (None takes an entry out), and its answers.

    `warnings` are full sentences on answers that a check refused; `unanswered` is what an engine said of questions that
    have no answer yet: what was made of earlier answers to those is kept.
    """

    section: Section
    entries: dict[str, Any]
    answers: dict[str, CorpusRecord]
    warnings: tuple[str, ...] = ()
    unanswered: tuple[Unanswered, ...] = ()


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
        fields = json.dumps(plain(question.fields()), sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(fields.encode("utf-8", "replace")).hexdigest()
        made = made_by(question.stage, self._engine, question.answer_type.__name__, digest)
        path = corpus_path(made.request)
        record = self._kept.get(path)
        if record is not None and record.made_by == made:
            self.used[path] = record
            return question.answer_type.model_validate(record.answer)
        answer = self._engine.answer(question)
        about = _about(question.fields())
        retires = self._engine.retires_members(about) is True
        values = answer.model_dump(mode="json")
        self.used[path] = CorpusRecord(_KINDS[question.answer_type], about, made, values, retires)
        return answer

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


def consolidate(view: WikiView, engine: KeptAnswers) -> CorpusResult:
    """Group guidelines that state one rule. A cluster that a person configured is not touched, nor its members."""
    found = consolidate_clusters.consolidate_clusters(guideline_views(view), skill_views(view), engine)
    config = view.state.config
    known = view.guidelines.keys() | view.foreign_guidelines.keys()
    wanted = {
        cluster.slug: {
            "title": plain_line(cluster.title, 120),
            "description": plain_line(cluster.description, 600),
            "takeaway": plain_line(cluster.takeaway, 600),
            "members": list(cluster.members),
            "tags": list(cluster.tags),
        }
        for cluster in found.clusters
        if f"cluster:{cluster.slug}" not in config.rejected
    }
    claimed = {
        member
        for entry in config.clusters.values()
        if not is_stage_made(entry)
        for member in cluster_members(entry, dict.fromkeys(known))
    }
    ours = {
        name: _with_retired_members(entry, config.clusters.get(name), engine)
        for name, entry in wanted.items()
        if claimed.isdisjoint(entry["members"])
    }
    kept = {
        name
        for name, entry in config.clusters.items()
        if any(asked.issuperset(texts_of(entry.get("members"))) for _, asked in found.unanswered)
    }
    changes = _changes(config.clusters, ours, consolidate_clusters.STAGE, engine, kept)
    return CorpusResult(
        CLUSTERS, changes, dict(engine.used), found.rejected, tuple(error for error, _ in found.unanswered)
    )


def _with_retired_members(entry: dict[str, Any], former: Mapping[str, Any] | None, engine: Engine) -> dict[str, Any]:
    """The entry with `archive_members: true` where whoever answered said so.

    An engine whose answers never say so leaves it as it is in the entry that this one replaces.
    """
    retires = engine.retires_members(entry["members"])
    if retires is None:
        retires = former is not None and is_stage_made(former) and former.get("archive_members") is True
    return {**entry, "archive_members": True} if retires else entry


def discover(view: WikiView, engine: KeptAnswers) -> CorpusResult:
    """Compare sessions that attempted one thing. A task that a person configured is not touched."""
    config = view.state.config
    owned = {name: entry for name, entry in config.tasks.items() if not is_stage_made(entry)}
    found = discover_tasks.discover_tasks(session_views(view), _overrides(config), _rules(owned), engine)
    unanswered = {about for _, about in found.unanswered}
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
        if task.family.name not in owners_names and f"task:{task.slug}" not in config.rejected
    }
    answers = dict(engine.used)
    for path, record in view.state.corpus.items():
        if record.kind == SUBTASK and unanswered.intersection(record.about):
            answers.setdefault(path, record)
    changes = _changes(config.tasks, wanted, discover_tasks.STAGE, engine, unanswered)
    return CorpusResult(TASKS, changes, answers, found.rejected, tuple(error for error, _ in found.unanswered))


RUNS: dict[str, Callable[[WikiView, KeptAnswers], CorpusResult]] = {
    consolidate_clusters.STAGE: consolidate,
    discover_tasks.STAGE: discover,
}


def _changes(
    configured: Mapping[str, dict[str, Any]],
    wanted: Mapping[str, dict[str, Any]],
    stage: str,
    engine: Engine,
    kept: Collection[str],
) -> dict[str, Any]:
    """What turns the stage's entries into the wanted ones; a person's entry and `kept` are not touched."""
    made = made_by(stage, engine)
    signature = {name: value for name, value in plain(made).items() if name != "request"}
    changes: dict[str, Any] = {}
    for name, entry in configured.items():
        if is_stage_made(entry) and name not in wanted and name not in kept:
            changes[name] = None
    for name, entry in wanted.items():
        complete = signed(entry, **signature)
        if name not in configured or (is_stage_made(configured[name]) and configured[name] != complete):
            changes[name] = complete
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
        if path.startswith("_archived/"):
            why = page.fields.get("archived")
            why = why if isinstance(why, dict) else {}
            found[name] = (str(why.get("reason") or "archived"), str(why.get("by") or "owner"))
    return found


@dataclass(slots=True)
class _Near:
    """Guidelines by the tags and sessions they share with a skill."""

    by_key: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, subject: GuidelineSubject) -> None:
        for key in _keys(subject.tags, subject.sessions):
            self.by_key.setdefault(key, []).append(subject.id)

    def of(self, tags: Iterable[str], sessions: Iterable[str]) -> list[str]:
        return sorted({name for key in _keys(tags, sessions) for name in self.by_key.get(key, ())})


def _keys(tags: Iterable[str], sessions: Iterable[str]) -> list[tuple[str, str]]:
    return [*(("tag", tag) for tag in tags), *(("session", each) for each in sessions)]


def _covered_by_skills(view: WikiView) -> dict[str, str]:
    """Guideline id → the first skill by slug that covers it, among those that share a tag or a session."""
    skills = _skill_subjects(view)
    if not skills:
        return {}
    subjects = {each.id: each for each in _guideline_subjects(view)}
    near = _Near()
    for subject in subjects.values():
        near.add(subject)
    covered: dict[str, str] = {}
    for skill in sorted(skills, key=lambda each: each.id):
        candidates = [subjects[each] for each in near.of(skill.tags, skill.sessions)]
        words = f"{skill.id} {skill.rule}"
        for guideline_id in covered_guidelines(skill.tags, words, skill.sessions, candidates):
            covered.setdefault(guideline_id, skill.id)
    return covered


def _skill_subjects(view: WikiView) -> list[GuidelineSubject]:
    found = [
        GuidelineSubject(name, joined.entry.title, joined.entry.words, joined.entry.tags, joined.session_ids)
        for name, joined in view.skills.items()
    ]
    for name, (_, page) in view.foreign_skills.items():
        words = f"{page.fields.get('description') or ''} {page.body}"
        found.append(
            GuidelineSubject(name, page.title, words, tuple(texts_of(page.fields.get("tags"))), sessions_of_page(page))
        )
    return found


def _guideline_subjects(view: WikiView) -> list[GuidelineSubject]:
    tags = view.state.config.tags
    found = [
        GuidelineSubject(
            name, joined.entry.title, joined.entry.rule, tuple(tags.get(name, joined.entry.tags)), joined.session_ids
        )
        for name, joined in view.guidelines.items()
    ]
    for name, (_, page) in view.foreign_guidelines.items():
        own = tuple(tags.get(name, texts_of(page.fields.get("tags"))))
        found.append(GuidelineSubject(name, page.title, page.lead, own, sessions_of_page(page)))
    return found
