"""Every page and index of a wiki, rendered from its state. No engine is asked, nothing is read or written.

A page is a function of the records, the configuration and the templates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from agent_wiki.pages import foreign
from agent_wiki.pages.cluster import FEWEST_MEMBERS, ClusterMember, cluster_members, cluster_of_members, cluster_page
from agent_wiki.pages.episodes import episode_row, rejected_turns
from agent_wiki.pages.guideline import guideline_page
from agent_wiki.pages.indexes import IndexEntry, entry_of, entry_of_foreign, entry_of_summary
from agent_wiki.pages.judged import part_of_subtask
from agent_wiki.pages.memo import Inputs, Known
from agent_wiki.pages.recalls import Recall, recalls_by_page, used_by_section
from agent_wiki.pages.rejected import is_rejected_subtask
from agent_wiki.pages.sessions import SUMMARIZE, NotedTurn, Session
from agent_wiki.pages.settled import SUBTASK, Settled
from agent_wiki.pages.skill import MOST_USES, skill_page
from agent_wiki.pages.state import WikiView
from agent_wiki.pages.summary import summary_pages
from agent_wiki.pages.support import Joined, counted_together, support_together
from agent_wiki.pages.task import SubtaskPage, comparison_rows, sessions_of_tasks, task_page
from agent_wiki.pages.withheld import Withheld, why_of_parts
from agent_wiki.wiki.config import is_stage_made
from agent_wiki.wiki.layout import (
    archived,
    cluster_path,
    guideline_path,
    is_quarantined,
    kind_of,
    page_id,
    page_title,
    skill_path,
    slug,
    subtask_path,
    task_path,
)
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import link_label, plain_line
from agent_wiki.wiki.values import entries_of, text_or_none, texts_of, whole_number

_MOST_TOPICS = 4

Archive = Mapping[str, tuple[str, str]]
"""Guideline id → (reason, id of the page that covers it)."""


@dataclass(slots=True)
class RenderedPage:
    """One page: its text, or the changed page where another tool wrote it; and what the indexes say of it.

    `text` is a function, for a page that a person keeps need not be rendered; None for one that lies on disk as it
    would be rendered. `inputs` is the digest of what it is rendered from. `moved_from` is the path that a foreign page
    had before it was archived.
    """

    path: str
    entry: IndexEntry | None
    text: Callable[[], str] | None = None
    foreign: Page | None = None
    moved_from: str | None = None
    inputs: str = ""


MorePages: TypeAlias = "Callable[[Catalog], Iterator[RenderedPage]]"


@dataclass
class Catalog:
    """What deriving looks up again and again. `warnings` are full sentences.

    `known` are the pages that lie on disk, by path: those that would be rendered from the same are passed over.
    `settled` are sessions that are not in the view: only the indexes need to know of them and their pages.
    """

    view: WikiView
    archive: Archive
    templates: Templates
    edited: Mapping[str, Page] = field(default_factory=dict)  # generated pages that a person changed, by path
    warnings: list[str] = field(default_factory=list)
    known: Mapping[str, Known] = field(default_factory=dict)
    settled: Sequence[Settled] = ()

    @cached_property
    def inputs(self) -> Inputs:
        return Inputs(self.view.sessions, self.view.state.digests, self.templates.digest())

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
        found = {page_id(path): path for path in self.summary_paths}
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

    @cached_property
    def numerous(self) -> list[str | Session]:
        """What a large wiki has tens of thousands of: guidelines by id, and sessions; those that others wrote not."""
        return [*self.view.guidelines, *(session for session in self.view.sessions.values() if session.page is None)]

    def pages_of(self, each: str | Session) -> Iterator[RenderedPage]:
        """The pages of one of the numerous."""
        return self._summaries(each) if isinstance(each, Session) else self._guideline(each)

    def pages(self, more: Iterable[MorePages] = ()) -> Iterator[RenderedPage]:
        """Every page. `more` renders the pages of further stages."""
        yield from self.other_pages(more)
        for each in self.numerous:
            yield from self.pages_of(each)

    def other_pages(self, more: Iterable[MorePages] = ()) -> Iterator[RenderedPage]:
        """Every page but those of the numerous, by kind; the last are those that only a person keeps."""
        made = {*self.guideline_paths.values(), *self.summary_paths}
        kinds = [self._foreign_guidelines(), self._skills(), self._clusters(), self._tasks(), self._subtasks()]
        for pages in (*kinds, *(render(self) for render in more), self._foreign_summaries()):
            for rendered in sorted(pages, key=lambda page: page.path):
                made.add(rendered.path)
                yield rendered
        yield from self._kept(made)
        for name, held in self.view.withheld_pages.items():
            if held.is_foreign:
                self.warnings.append(f"{held.path}: held back, and in no index: see `wiki review` ({name})")
        for path, page in self.view.duplicates.items():
            self.warnings.append(f"{path}: another page has its id; it is left alone and not indexed")
            yield RenderedPage(path, None, foreign=page)

    def look_up(self) -> None:
        """Work out what nearly every page needs, before this process is copied."""
        _ = (self.inputs, self.recalls, self.cluster_of, self.guideline_paths)
        _ = (self.contributed, self.links, self.task_of)

    def _guideline(self, name: str) -> Iterator[RenderedPage]:
        joined, path = self.view.guidelines[name], self.guideline_paths[name]
        used, tags = self.recalls.get(name, ()), self.tags_of(name)
        cluster, archive = self.cluster_of.get(name), self.archive.get(name)
        own_tags = None if tuple(tags) == joined.entry.tags else tags
        inputs = self.inputs.digest(joined.sessions, own_tags, used or None, cluster, archive)
        if (known := self._known("guideline", path, inputs, used)) is not None:
            yield known
            return
        used_by = used_by_section(used, "../")
        page = guideline_page(joined, tags=tags, used_by=used_by, cluster=cluster, archived=archive)
        yield RenderedPage(
            path, entry_of("guideline", path, page, used), partial(page.text, self.templates), inputs=inputs
        )

    def _foreign_guidelines(self) -> Iterator[RenderedPage]:
        for name, (former_path, page_of_others) in self.view.foreign_guidelines.items():
            path, used = self.guideline_paths[name], self.recalls.get(name, ())
            made = foreign.with_derived(
                page_of_others,
                cluster=self.cluster_of.get(name),
                tags=self.view.state.config.tags.get(name),
                archived=self.archive.get(name),
                related=foreign.related_summary(page_of_others, name, self.summary_paths, self.warnings),
                recalls=used,
            )
            moved_from = former_path if path != former_path else None
            entry = entry_of_foreign(path, made, used, self.view.state.config.trusted)
            yield RenderedPage(path, entry, foreign=made, moved_from=moved_from)

    def _skills(self) -> Iterator[RenderedPage]:
        for name, joined in self.view.skills.items():
            path, used = skill_path(name), self.recalls.get(f"skill:{name}", ())
            inputs = self.inputs.digest(joined.sessions, name, used)
            if (known := self._known("skill", path, inputs, used)) is not None:
                yield known
                continue
            page = skill_page(name, joined, used_by=used_by_section(used, "../../", MOST_USES))
            entry = entry_of("skill", path, page, used)
            yield RenderedPage(path, entry, partial(page.text, self.templates), inputs=inputs)
        yield from self._foreign("skill", "../../")

    def _clusters(self) -> Iterator[RenderedPage]:
        """One page a configured cluster of at least two members."""
        config, made = self.view.state.config, set()
        for name, entry in sorted(config.clusters.items()):
            ids = cluster_members(entry, self.guideline_paths)
            if len(ids) < FEWEST_MEMBERS:
                self.warnings.append(f"cluster {name}: {len(ids)} of its members exist, two are needed")
                continue
            path, used = cluster_path(name), self.recalls.get(f"cluster:{name}", ())
            made.add(path)
            members = [self.members[each] for each in ids]
            rules = [self.view.guidelines[each] for each in ids if each in self.view.guidelines]
            support = support_together(each.shown() for each in rules)
            page = cluster_page(name, entry, members, used_by_section(used, "../"), support, counted_together(rules))
            yield RenderedPage(path, entry_of("cluster", path, page, used), partial(page.text, self.templates))
        yield from (each for each in self._foreign("cluster", "../") if each.path not in made)

    def _tasks(self) -> Iterator[RenderedPage]:
        """One comparison page a configured task that has sessions."""
        config, made = self.view.state.config, set()
        for name, ids in self.task_sessions.items():
            if not ids:
                self.warnings.append(f"task {name}: no session matches it")
                continue
            path = task_path(name)
            made.add(path)
            page = task_page(name, config, [self.view.sessions[each] for each in ids], self.lessons_of)
            entry = entry_of("task", path, page, self.recalls.get(f"task:{name}", ()))
            entry.sessions = len(ids)
            yield RenderedPage(path, entry, partial(page.text, self.templates))
        yield from (each for each in self._foreign("task", "../") if each.path not in made)

    def _subtasks(self) -> Iterator[RenderedPage]:
        """The sessions worth a page of their own, as the answers over several pages say."""
        made = set()
        for page in subtask_pages(self):
            path = subtask_path(page.slug)
            made.add(path)
            entry = entry_of("subtask", path, page, self.recalls.get(f"subtask:{page.slug}", ()))
            yield RenderedPage(path, entry, partial(page.text, self.templates))
        yield from (each for each in self._foreign("subtask", "../") if each.path not in made)

    def _summaries(self, session: Session) -> Iterator[RenderedPage]:
        about = [self._taught(path) for path in session.paths]
        lessons = {path: [*chain(*self.lessons_of(path, "../"))] for path in session.paths}
        links = [self.links.get(each.id) for arc in session.arcs for each in arc.recalled]
        left_out = rejected_turns(self.view.rejected.values(), session.session_id)
        family = self.task_of.get(session.session_id)
        owners = None if family is None else family in self.owners_tasks
        inputs = self.inputs.digest([session], family, owners, about, lessons, links, left_out)
        known = [self._known("summary", path, inputs, (), title) for path, title in session.titles().items()]
        if None not in known:
            yield from filter(None, known)
            return
        pages = summary_pages(
            session,
            tags=self._summary_tags(session, family if owners else None),
            contributed=self.contributed,
            lessons=lessons,
            links=self.links,
            made_by=session.record.stages[SUMMARIZE].made_by.short,
        )
        for path, page in pages.items():
            if is_quarantined(path):
                continue  # `pages/quarantine` renders it, and the index has no row of it
            edited = self.edited.get(path)
            arc = page.content if edited is None else foreign.with_edited_dead_ends(page.content, edited)
            tags = list(dict.fromkeys([*([family] if family else ()), *page.tags]))
            row = episode_row(session, path, arc, tags, left_out)
            entry = entry_of_summary(path, session.record.date, row, page.aliases[0])
            yield RenderedPage(path, entry, partial(page.text, self.templates), inputs=inputs)

    def _known(
        self, kind: str, path: str, inputs: str, recalls: Sequence[Recall], title: str = ""
    ) -> RenderedPage | None:
        """The page as it lies on disk, where it was rendered from the same."""
        known = self.known.get(path)
        if known is None or not inputs or known.inputs != inputs:
            return None
        entry = IndexEntry(kind, path, known.line, known.date, recalls=recalls, title=title)
        return RenderedPage(path, entry, inputs=inputs)

    def _foreign_summaries(self) -> Iterator[RenderedPage]:
        sessions = [session for session in self.view.sessions.values() if session.page is not None]
        for session, path, arc in [
            (each, *own) for each in sessions for own in zip(each.paths, each.arcs, strict=True)
        ]:
            guidelines, skills = self.contributed.get(path, ([], []))
            page = self.view.state.foreign[path]
            row = episode_row(session, path, arc, texts_of(page.fields.get("tags")))
            page = page.with_fields({"contributed_guidelines": guidelines, "contributed_skills": skills})
            entry = entry_of_summary(path, session.record.date, row, session.titles()[path])
            yield RenderedPage(path, entry, foreign=page)

    def _kept(self, made: Collection[str]) -> Iterator[RenderedPage]:
        """Pages that a person changed and that no session supports any more: they are indexed by their own words."""
        for path, page in sorted(self.edited.items()):
            if path not in made and page_id(path) not in self.view.state.config.rejected:
                used = self.recalls.get(page_id(path), ())
                is_summary = kind_of(path) == "summary"
                yield RenderedPage(
                    path,
                    entry_of_summary(path, None, None, page.title)
                    if is_summary
                    else entry_of_foreign(path, page, used, self.view.state.config.trusted),
                )

    def _foreign(self, kind: str, up: str) -> Iterator[RenderedPage]:
        for path, page in self.view.foreign_pages(kind).items():
            used = self.recalls.get(str(page.fields.get("id") or page_id(path)), ())
            made = foreign.with_uses(page, used, up)
            entry = entry_of_foreign(path, made, used, self.view.state.config.trusted)
            yield RenderedPage(path, entry, foreign=made)

    def settled_entries(self) -> Iterator[IndexEntry]:
        """What the indexes say of the pages of settled sessions."""
        for each in self.settled:
            kind, title = "summary", each.facts.title
            for path, known in each.pages:
                yield IndexEntry(kind, path, known.line, known.date, title=title)
                kind, title = "guideline", ""

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
            joined.shown().date(), related, self._summary_title(related),
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

    def _summary_tags(self, session: Session, family: str | None) -> list[str]:
        """The task a person put a session into, what it taught is about, its condition and its trial."""
        record, topics = session.record, self._topics(session)
        tags = [family, *(topic for topic in topics if topic != family), record.condition]
        tags.append(f"trial-{record.trial}" if record.trial else None)
        return [tag for tag in tags if tag]

    def _topics(self, session: Session) -> list[str]:
        """At most four tags of what the session contributed, the most frequent first."""
        taught = [tags for path in session.paths for _, tags in self._taught(path)]
        counted = Counter(tag for tags in taught for tag in tags)
        return sorted(counted, key=lambda tag: (-counted[tag], tag))[:_MOST_TOPICS]

    def _taught(self, path: str) -> list[tuple[str, Sequence[str]]]:
        """What a summary's part of a session contributed: guidelines by id and skills by slug, each with its tags."""
        guidelines, skills = self.contributed.get(path, ([], []))
        own = self.view.skills
        return [
            *((name, self.tags_of(name)) for name in guidelines),
            *((name, own[name].entry.tags if name in own else ()) for name in skills),
        ]

    def lessons_of(self, path: str, up: str) -> tuple[list[str], list[str]]:
        """Links to the guidelines, and to the skills, that come from a summary; `up` is the way to the wiki's root."""
        guidelines, skills = self.contributed.get(path, ([], []))
        paths = {name: self.guideline_paths[name] for name in guidelines}
        of_skills = {f"skill:{name}": skill_path(name) for name in skills}
        return self._links(paths, up), self._links(of_skills, up)

    def _links(self, paths: Mapping[str, str], up: str) -> list[str]:
        return [f"[{link_label(self._title(name), 120)}]({up}{path})" for name, path in paths.items()]

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


def subtask_pages(catalog: Catalog) -> list[SubtaskPage]:
    """A page for each answer that describes one session, in the order of the sessions."""
    return [
        _subtask_page(each.slug, each.session, each.answer, each.made_by, catalog)
        for each in _subtasks(catalog)
        if each.why is None
    ]


def withheld_subtasks(catalog: Catalog) -> Iterator[tuple[str, Mapping[str, Any], Withheld]]:
    """The answers that are held back: slug, answer, and why."""
    return ((each.slug, each.answer, each.why) for each in _subtasks(catalog) if each.why is not None)


class _Subtask(NamedTuple):
    slug: str
    session: Session
    answer: Mapping[str, Any]
    made_by: str
    why: Withheld | None


def _subtasks(catalog: Catalog) -> list[_Subtask]:
    state = catalog.view.state
    found: list[tuple[Session, dict[str, Any], str]] = []
    for record in state.corpus.values():
        for answer in record.answer["subtasks"] if record.kind == SUBTASK else ():
            session = catalog.view.sessions.get(str(answer["parent_session_id"]))
            if session is not None:
                found.append((session, answer, record.made_by.short))
    found.sort(key=lambda each: each[0].session_id)
    subtasks: dict[str, _Subtask] = {}
    for session, answer, made_by in found:
        name = str(answer["slug"])
        if name in subtasks:
            name = slug(f"{name}-{session.session_id}")
        turns = [each["turn"] for each in answer["key_steps"]]
        if is_rejected_subtask(name, session.session_id, turns, state.config.rejected, state.corpus):
            continue
        if f"{SUBTASK}:{name}" in catalog.view.waiting:
            continue
        release = state.config.released.get(f"{SUBTASK}:{name}")
        why = why_of_parts([part_of_subtask(answer)], release.texts if release else ())
        subtasks[name] = _Subtask(name, session, answer, made_by, why)
    return list(subtasks.values())


def _subtask_page(
    name: str, session: Session, answer: Mapping[str, Any], made_by: str, catalog: Catalog
) -> SubtaskPage:
    family = catalog.task_of.get(session.session_id)
    entry = catalog.view.state.config.tasks.get(family, {}) if family else {}
    condition = session.record.condition
    tags = {*texts_of(entry.get("tags")), *([slug(condition)] if condition and family else ())}
    return SubtaskPage(
        id=f"subtask:{name}",
        type="subtask",
        slug=name,
        title=plain_line(str(answer["title"]), 120),
        tags=sorted(tags),
        parent_session_id=session.session_id,
        parent_summary=session.paths[0],
        parent_title=session.titles()[session.paths[0]],
        verified_at=session.record.date,
        made_by=made_by,
        narrative=plain_line(str(answer["narrative"]), 2_000),
        key_steps=tuple(NotedTurn(each["turn"], plain_line(str(each["text"]), 300)) for each in answer["key_steps"]),
    )
