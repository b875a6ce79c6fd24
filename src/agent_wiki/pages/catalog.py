"""Every page and index of a wiki, rendered from its state. No engine is asked, nothing is read or written.

A page is a function of the records, the configuration and the templates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import Any, TypeAlias

from agent_wiki.pages import foreign
from agent_wiki.pages.cluster import FEWEST_MEMBERS, cluster_members, cluster_page
from agent_wiki.pages.cross_references import CrossReferences
from agent_wiki.pages.episodes import episode_row, rejected_turns
from agent_wiki.pages.guideline import guideline_page
from agent_wiki.pages.indexes import IndexEntry, entry_of, entry_of_foreign, entry_of_summary
from agent_wiki.pages.memo import Inputs, Known
from agent_wiki.pages.recalls import Recall, used_by_section
from agent_wiki.pages.sessions import SUMMARIZE, Session
from agent_wiki.pages.settled import Settled
from agent_wiki.pages.skill import MOST_USES, skill_page
from agent_wiki.pages.subtasks import subtask_pages
from agent_wiki.pages.summary import summary_pages
from agent_wiki.pages.support import together
from agent_wiki.pages.task import task_page
from agent_wiki.pages.withheld import WithheldPage, withheld_text
from agent_wiki.wiki.config import is_stage_made
from agent_wiki.wiki.layout import cluster_path, is_quarantined, kind_of, page_id, skill_path, subtask_path, task_path
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.values import texts_of


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


_SAID_IN_INDEX = ("title", "tags", "trigger", "summary")

MorePages: TypeAlias = "Callable[[Catalog], Iterator[RenderedPage]]"


@dataclass
class Catalog(CrossReferences):
    """The pages of a wiki, each rendered when it is asked for.

    `known` are the pages that lie on disk, by path: those that would be rendered from the same are passed over.
    `settled` are sessions that are not in the view: only the indexes need to know of them and their pages. `more`
    renders the pages of further stages.
    """

    known: Mapping[str, Known] = field(default_factory=dict)
    settled: Sequence[Settled] = ()
    more: Sequence[MorePages] = ()

    @cached_property
    def inputs(self) -> Inputs:
        return Inputs(self.view.sessions, self.view.state.digests, self.templates.digest())

    @cached_property
    def numerous(self) -> list[str | Session]:
        """What a large wiki has tens of thousands of: guidelines by id, and sessions; those that others wrote not.

        Each session comes with the guidelines that have its words: what several pages say of it is then made once.
        """
        taught: dict[str, list[str]] = {}
        for name, joined in self.view.guidelines.items():
            taught.setdefault(joined.first.session.session_id, []).append(name)
        own = (session for session in self.view.sessions.values() if session.page is None)
        return [each for session in own for each in (*taught.get(session.session_id, ()), session)]

    def pages_of(self, each: str | Session) -> Iterator[RenderedPage]:
        """The pages of one of the numerous."""
        return self._summaries(each) if isinstance(each, Session) else self._guideline(each)

    def pages(self) -> Iterator[RenderedPage]:
        """Every page."""
        yield from self.other_pages()
        for each in self.numerous:
            yield from self.pages_of(each)

    @property
    def withheld_further(self) -> dict[str, WithheldPage]:
        """The pages of further stages that are held back, by id."""
        return self._further[1]

    @cached_property
    def _further(self) -> tuple[list[RenderedPage], dict[str, WithheldPage]]:
        """The pages of further stages that are published, and those that are held back.

        Each is judged as it is rendered, for nothing else here knows what is in the records of such a stage.
        """
        published: list[RenderedPage] = []
        held: dict[str, WithheldPage] = {}
        for page in (each for render in self.more for each in render(self)):
            name = page_id(page.path)
            if name in self.view.state.config.rejected:
                continue
            text = page.text() if page.text is not None else ""
            row = {} if page.entry is None else page.entry.row()
            indexed = "\n".join(str(row.get(key) or "") for key in _SAID_IN_INDEX)
            why = withheld_text(page.path, name, text, indexed, self.view.state.config.released)
            if why is None:
                page.text = partial(str, text) if page.text is not None else None
                published.append(page)
            else:
                held[page.path if name in held else name] = why
        return published, held

    def other_pages(self) -> Iterator[RenderedPage]:
        """Every page but those of the numerous, by kind; the last are those that only a person keeps."""
        made = {*self.guideline_paths.values(), *self.summary_paths}
        kinds = [self._foreign_guidelines(), self._skills(), self._clusters(), self._tasks(), self._subtasks()]
        for pages in (*kinds, self._further[0], self._foreign_summaries()):
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
                if not self._was_left_short(entry):
                    self.warnings.append(f"cluster {name}: {len(ids)} of its members exist, two are needed")
                continue
            path, used = cluster_path(name), self.recalls.get(f"cluster:{name}", ())
            made.add(path)
            members = [self.members[each] for each in ids]
            support = together(self.view.guidelines[each] for each in ids if each in self.view.guidelines)
            page = cluster_page(name, entry, members, used_by_section(used, "../"), support)
            yield RenderedPage(path, entry_of("cluster", path, page, used), partial(page.text, self.templates))
        yield from (each for each in self._foreign("cluster", "../") if each.path not in made)

    def _was_left_short(self, entry: Mapping[str, Any]) -> bool:
        """Whether a stage made a cluster and its owner took out members since: the stage's next run takes it out."""
        gone = self.view.rejected.keys() | self.view.ignored.keys()
        return is_stage_made(entry) and not gone.isdisjoint(texts_of(entry.get("members")))

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
            entry.attempts = len(ids)
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
        lessons = {path: [*chain(*self.lessons_of(path))] for path in session.paths}
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
            tags={path: self._summary_tags(session, path, family if owners else None) for path in session.paths},
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
            if not page.is_blank and path not in made and page_id(path) not in self.view.state.config.rejected:
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
