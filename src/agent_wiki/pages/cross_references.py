"""What the pages of a wiki say of each other: paths, links, tags, clusters, tasks, reads, and what a session taught."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agent_wiki.pages import foreign
from agent_wiki.pages.cluster import FEWEST_MEMBERS, ClusterMember, cluster_members, cluster_of_members
from agent_wiki.pages.recalls import Recall, recalls_by_page
from agent_wiki.pages.sessions import Session
from agent_wiki.pages.state import WikiView
from agent_wiki.pages.support import Joined
from agent_wiki.pages.task import comparison_rows, sessions_of_tasks
from agent_wiki.wiki.config import is_stage_made
from agent_wiki.wiki.layout import (
    archived,
    cluster_path,
    former_file_stem,
    guideline_path,
    kind_of,
    page_id,
    page_title,
    skill_path,
    task_path,
)
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import link_label
from agent_wiki.wiki.values import entries_of, text_or_none, texts_of, whole_number

_MOST_TOPICS = 4

Archive = Mapping[str, tuple[str, str]]
"""Guideline id → (reason, id of the page that covers it)."""


@dataclass
class CrossReferences:
    """What one page needs to know of the others, worked out once. `warnings` are full sentences."""

    view: WikiView
    archive: Archive
    templates: Templates
    edited: Mapping[str, Page] = field(default_factory=dict)  # generated pages that a person changed, by path
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def recalls(self) -> dict[str, list[Recall]]:
        return recalls_by_page(self.view.sessions.values())

    @cached_property
    def cluster_of(self) -> dict[str, str]:
        return cluster_of_members(self.view.state.config, self.guideline_paths)

    @cached_property
    def task_sessions(self) -> dict[str, list[str]]:
        return sessions_of_tasks(self.view.state.config, self.view.sessions)

    @cached_property
    def task_of(self) -> dict[str, str]:
        """Session id → the first task by slug that it belongs to."""
        found: dict[str, str] = {}
        for name, ids in self.task_sessions.items():
            for session_id in ids:
                found.setdefault(session_id, name)
        return found

    @cached_property
    def owners_tasks(self) -> set[str]:
        """The tasks that a person configured: unlike families that a stage found, they stay whatever sessions come."""
        return {name for name, entry in self.view.state.config.tasks.items() if not is_stage_made(entry)}

    @cached_property
    def guideline_paths(self) -> dict[str, str]:
        """Guideline id → path. A page that others wrote keeps its file name, one that a person changed its place."""
        paths = {name: guideline_path(joined.entry.title, name) for name, joined in self.view.guidelines.items()}
        paths |= {
            name: f"guidelines/{path.rpartition('/')[2]}" for name, (path, _) in self.view.foreign_guidelines.items()
        }
        paths = {name: archived(path) if name in self.archive else path for name, path in sorted(paths.items())}
        edited = {page_id(path): path for path in sorted(self.edited) if kind_of(path) == "guideline"}
        return paths | {name: path for name, path in edited.items() if name in self.view.guidelines}

    @cached_property
    def members(self) -> dict[str, ClusterMember]:
        """Every guideline that a configured cluster names, as clusters see it."""
        config = self.view.state.config
        wanted = {name for entry in config.clusters.values() for name in cluster_members(entry, self.guideline_paths)}
        return {name: self._member(name) for name in wanted}

    @cached_property
    def contributed(self) -> dict[str, tuple[list[str], list[str]]]:
        """Path of a summary → (ids of guidelines, slugs of skills) that come from it: the inversion of evidence."""
        found: dict[str, tuple[set[str], set[str]]] = {}
        kinds: tuple[Mapping[str, Joined[Any]], ...] = (self.view.guidelines, self.view.skills)
        for kind, pages in enumerate(kinds):
            for name, joined in pages.items():
                for each in joined.contributions:
                    for path in {each.session.path_of_turn(cited.turn) for cited in each.entry.evidence}:
                        found.setdefault(path, (set(), set()))[kind].add(name)
        for name, (_, page) in self.view.foreign_guidelines.items():
            for path in self._summaries_of(page, name):
                found.setdefault(path, (set(), set()))[0].add(name)
        for name, (_, page) in self.view.foreign_skills.items():
            for path in self._summaries_of(page, ""):
                found.setdefault(path, (set(), set()))[1].add(name)
        return {path: (sorted(guidelines), sorted(skills)) for path, (guidelines, skills) in found.items()}

    @cached_property
    def summary_paths(self) -> dict[str, Session]:
        """Every summary page's path and its session."""
        return {path: session for session in self.view.sessions.values() for path in session.paths}

    @cached_property
    def links(self) -> dict[str, str]:
        """Id of a page → its path, for every page that a session may have read."""
        config = self.view.state.config
        whole = (each for each in self.view.sessions.values() if len(each.paths) == 1 and each.page is None)
        found = {former_file_stem(each.session_id): each.paths[0] for each in whole}  # as long as none was like it
        found |= {page_id(path): path for path in self.summary_paths}
        found |= {page_id(path): path for path in self.view.state.foreign}
        found |= {f"task:{name}": task_path(name) for name, ids in self.task_sessions.items() if ids}
        found |= {
            f"cluster:{name}": cluster_path(name)
            for name, entry in config.clusters.items()
            if len(cluster_members(entry, self.guideline_paths)) >= FEWEST_MEMBERS
        }
        found |= {f"skill:{name}": skill_path(name) for name in self.view.skills}
        return found | self.guideline_paths

    def tags_of(self, guideline_id: str) -> list[str]:
        """A guideline's tags: the configured ones, else its own."""
        configured = self.view.state.config.tags.get(guideline_id)
        if configured is not None:
            return configured
        if guideline_id in self.view.guidelines:
            return list(self.view.guidelines[guideline_id].entry.tags)
        return texts_of(self.view.foreign_guidelines[guideline_id][1].fields.get("tags"))

    def _member(self, name: str) -> ClusterMember:
        path = self.guideline_paths[name]
        if name in self.view.foreign_guidelines:
            page = self.view.foreign_guidelines[name][1]
            fields = page.fields
            trigger, related = str(fields.get("trigger") or ""), text_or_none(fields.get("related_summary"))
            date = text_or_none(fields.get("verified_at"))
            trust = text_or_none(foreign.claims_of(path, fields, self.view.state.config.trusted).get("trust"))
            tags = tuple(self.tags_of(name))
            return ClusterMember(
                name, path, page.title, trigger, page.lead, tags, trust, date, related, self._summary_title(related)
            )
        joined = self.view.guidelines[name]
        entry, session = joined.entry, joined.first.session
        related = session.path_of_turn(joined.cited()[0][1].turn) if entry.evidence else session.paths[0]
        return ClusterMember(
            name, path, entry.title, entry.trigger, entry.rule, tuple(self.tags_of(name)), joined.trust(),
            None, related, self._summary_title(related),
        )  # fmt: skip

    def _summary_title(self, path: str | None) -> str:
        """What a link to a summary says."""
        session = self.summary_paths.get(path or "")
        return link_label(page_title(path or ""), 80) if session is None else session.titles()[path or ""]

    def _summaries_of(self, page: Page, name: str) -> set[str]:
        """The summaries that a foreign page comes from; `name` is a guideline's id, "" for a skill."""
        sessions = self.view.sessions
        paths = {
            sessions[str(entry["session_id"])].path_of_turn(whole_number(entry.get("turn"), 1))
            for entry in entries_of(page.fields.get("evidence"))
            if str(entry.get("session_id")) in sessions
        }
        related = text_or_none(page.fields.get("related_summary"))
        if name:
            related = foreign.related_summary(page, name, self.summary_paths, [])
        if related in self.summary_paths and not paths:
            paths.add(str(related))
        return paths

    def _summary_tags(self, session: Session, path: str, family: str | None) -> list[str]:
        """The task a person put a session into, what this part of it taught is about, its condition and its trial."""
        record, topics = session.record, self._topics(path)
        tags = [family, *(topic for topic in topics if topic != family), record.condition]
        tags.append(f"trial-{record.trial}" if record.trial else None)
        return [tag for tag in tags if tag]

    def _topics(self, path: str) -> list[str]:
        """At most four tags of what a part of a session contributed, the most frequent first."""
        counted = Counter(tag for _, tags in self._taught(path) for tag in tags)
        return sorted(counted, key=lambda tag: (-counted[tag], tag))[:_MOST_TOPICS]

    def _taught(self, path: str) -> list[tuple[str, Sequence[str]]]:
        """What a summary's part of a session contributed: guidelines by id and skills by slug, each with its tags."""
        guidelines, skills = self.contributed.get(path, ([], []))
        own = self.view.skills
        return [
            *((name, self.tags_of(name)) for name in guidelines),
            *((name, own[name].entry.tags if name in own else ()) for name in skills),
        ]

    def lessons_of(self, path: str) -> tuple[list[str], list[str]]:
        """Links to the guidelines, and to the skills, that come from a summary, for a page in a folder of the wiki."""
        guidelines, skills = self.contributed.get(path, ([], []))
        paths = {name: self.guideline_paths[name] for name in guidelines}
        of_skills = {f"skill:{name}": skill_path(name) for name in skills}
        return self._links(paths), self._links(of_skills)

    def _links(self, paths: Mapping[str, str]) -> list[str]:
        return [f"[{link_label(self._title(name), 120)}](../{path})" for name, path in paths.items()]

    def _title(self, name: str) -> str:
        """The title of a guideline or skill by its id."""
        skill = name.removeprefix("skill:")
        if skill != name:
            own = self.view.skills.get(skill)
            return own.entry.title if own else self.view.foreign_skills[skill][1].title
        joined = self.view.guidelines.get(name)
        return joined.entry.title if joined else self.view.foreign_guidelines[name][1].title

    def rows(self, session: Session) -> list[dict[str, str]]:
        """A session's rows in the table of summaries."""
        return comparison_rows(session, self.view.state.config, self.lessons_of)
