"""Lessons that wait to be published: of many new pages a run may publish those that are worth most, and no more.

The records hold all that sessions contributed, whether its page is published or not. A page that waits is nowhere: no
index, cluster or summary names it. Pure: which pages are published already, and how many more may be, is given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, get_args

from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.cluster import FEWEST_MEMBERS, cluster_members
from agent_wiki.pages.state import WikiState, WikiView
from agent_wiki.pages.subtasks import subtask_pages
from agent_wiki.pages.support import Joined, support_of
from agent_wiki.trajectory.evidence import Trust
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.kinds import INDEXED
from agent_wiki.wiki.text import plain_line

_MOST_TITLE = 120
_WORKED = "worked"
_GRADES = ("checked", _WORKED, "stated", "asserted", None)
"""How sure what a page says is, the surest first: of a lesson its cause. That a workflow `worked` is seen in a
recording, which does not show that it worked because of its steps; a comparison of sessions counts as stated."""
_TRUSTS = get_args(Trust)


@dataclass(frozen=True, slots=True)
class LessonPage:
    """A page that can be rendered: guideline, skill, cluster, task or subtask. `worth` orders them, the best first.

    `members` are the ids of a cluster's guidelines: it has no page before two of them have one.
    """

    id: str
    kind: str
    title: str
    worth: tuple[int, ...]
    members: frozenset[str] = frozenset()

    @property
    def rank(self) -> tuple[tuple[int, ...], int, str]:
        """By worth; among equals as the index prefers them."""
        return self.worth, INDEXED.index(self.kind), self.id

    def can_be_beside(self, published: Collection[str]) -> bool:
        """Whether the page can be rendered where these are published."""
        return not self.members or sum(each in published for each in self.members) >= FEWEST_MEMBERS


def lesson_pages(catalog: Catalog) -> list[LessonPage]:
    """Every lesson page of this program's own that a catalog would render, the best first."""
    found = [*_guidelines(catalog), *_skills(catalog), *_clusters(catalog), *_tasks(catalog), *_subtasks(catalog)]
    return sorted(found, key=lambda page: page.rank)


def in_order_of_publication(pages: Sequence[LessonPage], published: Collection[str]) -> Iterator[LessonPage]:
    """Those of `pages`, the best first, that can be published beside those that are, in the order in which runs do so.

    It is the order of worth, but a cluster follows the second of its members.
    """
    there = set(published)
    later: list[LessonPage] = []
    for page in pages:
        if not page.can_be_beside(there):
            later.append(page)
            continue
        there.add(page.id)
        yield page
        for cluster in [each for each in later if page.id in each.members and each.can_be_beside(there)]:
            later.remove(cluster)
            there.add(cluster.id)
            yield cluster


def chosen(pages: Sequence[LessonPage], published: Collection[str], most: int) -> set[str]:
    """The ids of at most so many `pages`, in their order, that are published beside those that are."""
    return {page.id for page in islice(in_order_of_publication(pages, published), most)}


def without(view: WikiView, waiting: Collection[str]) -> WikiView:
    """A view in which the pages with these ids do not exist."""
    if not waiting:
        return view
    state = view.state
    config = replace(
        state.config,
        clusters={name: entry for name, entry in state.config.clusters.items() if f"cluster:{name}" not in waiting},
        tasks={name: entry for name, entry in state.config.tasks.items() if f"task:{name}" not in waiting},
    )
    return replace(
        view,
        state=WikiState(config, state.records, state.corpus, state.foreign, state.digests),
        guidelines={name: each for name, each in view.guidelines.items() if name not in waiting},
        skills={name: each for name, each in view.skills.items() if f"skill:{name}" not in waiting},
        waiting=frozenset(waiting),
    )


def _worth(grade: str | None, support: Mapping[str, int], trust: str) -> tuple[int, ...]:
    """How sure it is, in how many sessions it was seen, in how many that succeeded, and whose words bear it."""
    return _GRADES.index(grade), -support["sessions"], -support["success"], _TRUSTS.index(trust)


def _grade(joined: Joined[Any]) -> str | None:
    causes: list[str | None] = [each.entry.cause for each in joined.contributions]
    return min(causes, key=_GRADES.index)


def _guidelines(catalog: Catalog) -> Iterator[LessonPage]:
    for name, joined in catalog.view.guidelines.items():
        worth = _worth(_grade(joined), joined.support(), joined.trust())
        yield _page(name, "guideline", joined.entry.title, worth)


def _skills(catalog: Catalog) -> Iterator[LessonPage]:
    for name, joined in catalog.view.skills.items():
        worth = _worth(_WORKED, joined.support(), joined.trust())
        yield _page(f"skill:{name}", "skill", joined.entry.title, worth)


def _clusters(catalog: Catalog) -> Iterator[LessonPage]:
    """A cluster is worth what the best of its members is, seen in the sessions of all."""
    guidelines = catalog.view.guidelines
    for name, entry in catalog.view.state.config.clusters.items():
        ids = cluster_members(entry, catalog.guideline_paths)
        own = [guidelines[each] for each in ids if each in guidelines]
        if len(ids) >= FEWEST_MEMBERS and own:
            support = support_of(session for joined in own for session in joined.sessions)
            best = min(own, key=lambda each: _GRADES.index(_grade(each)))
            worth = _worth(_grade(best), support, best.trust())
            page = _page(f"cluster:{name}", "cluster", entry.get("title") or name, worth)
            yield replace(page, members=frozenset(ids))


def _tasks(catalog: Catalog) -> Iterator[LessonPage]:
    view = catalog.view
    for name, ids in catalog.task_sessions.items():
        if ids:
            support = support_of(view.sessions[each] for each in ids)
            title = view.state.config.tasks[name].get("title") or name
            yield _page(f"task:{name}", "task", title, _worth("stated", support, _TRUSTS[0]))


def _subtasks(catalog: Catalog) -> Iterator[LessonPage]:
    for page in subtask_pages(catalog):
        support = support_of([catalog.view.sessions[page.parent_session_id]])
        yield _page(page.id, "subtask", page.title, _worth("stated", support, _TRUSTS[0]))


def _page(page_id: str, kind: str, title: object, worth: tuple[int, ...]) -> LessonPage:
    return LessonPage(page_id, kind, plain_line(str(title), _MOST_TITLE), worth)
