"""Sessions that no other has to do with: as long as nothing touches them, their pages stay as they are, unread.

Nothing that another session, a cluster, a task or a skill says depends on such a session, and its pages depend on its
record, the templates and its lines of the configuration alone. Most sessions of a large wiki are of this kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from agent_wiki.pages.cluster import cluster_members
from agent_wiki.pages.guideline import EXTRACT_GUIDELINES
from agent_wiki.pages.index_pages import dates_of, newest
from agent_wiki.pages.memo import Known
from agent_wiki.pages.recalls import recalls_by_page
from agent_wiki.pages.sessions import Session, kin_names
from agent_wiki.pages.skill import SYNTHESIZE_SKILL
from agent_wiki.pages.state import WikiView
from agent_wiki.pages.task import sessions_of_tasks, trial_and_condition
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.layout import page_id, summary_path
from agent_wiki.wiki.records import record_path

if TYPE_CHECKING:
    from agent_wiki.pages.catalog import Catalog

SUBTASK = "subtask"


class Facts(NamedTuple):
    """What the rest of the wiki needs to know of a settled session.

    `names` are those by which another session would be its kin; `ids` those of its pages, that of its summary first;
    `tags` those of its guidelines; `title` what a link to its summary says; `row` what the table of all summaries says
    of it, None where it was too old to be in there or is in a table of its own.
    """

    session_id: str
    date: str
    title: str
    names: list[str]
    ids: list[str]
    tags: list[list[str]]
    total_cost_usd: float | None
    output_tokens: int | None
    tool_calls: int | None
    row: dict[str, str] | None = None


class Settled(NamedTuple):
    """A settled session, the path of its record, and its pages as they lie on disk: path, and what is known of it.

    `remembered` is the text by which the last run remembered all this, "" if it did not.
    """

    facts: Facts
    record: str
    pages: Sequence[tuple[str, Known]]
    remembered: str = ""


def settled_sessions(made: Catalog, known: Mapping[str, Known], config: Config) -> Iterator[Settled]:
    """The settled ones of a catalog's sessions.

    In: the pages that lie on disk as they were rendered; the wiki's configuration, which also has the clusters and
    tasks whose pages wait: without their members and sessions a later run would not find that these wait.
    """
    view = made.view
    if view.state.foreign:
        return
    in_clusters = chain.from_iterable(cluster_members(entry, view.guidelines) for entry in config.clusters.values())
    in_tasks = chain.from_iterable(sessions_of_tasks(config, view.sessions).values())
    elsewhere = {*made.recalls, *in_clusters, *made.archive, *map(page_id, made.edited)}
    apart = {*in_tasks, *config.overrides, *_parents_of_subtasks(view)}
    named = Counter(name for session in view.sessions.values() for name in kin_names(session.record))
    listed = {*newest(dates_of(view.sessions))}
    for session in view.sessions.values():
        if session.session_id not in apart and _is_simple(session):
            facts = _facts(session)
            paths = [session.paths[0], *(made.guideline_paths.get(name, "") for name in facts.ids[1:])]
            pages = [(path, known[path]) for path in paths if path in known and known[path].inputs]
            if (
                len(pages) == len(facts.ids) == len(set(facts.ids))
                and elsewhere.isdisjoint(facts.ids)
                and all(named[name] == 1 for name in facts.names)
                and all(len(view.guidelines[name].contributions) == 1 for name in facts.ids[1:])
                and _has_own_tags(facts, view.state.config.tags)
                and paths[0].endswith(summary_path(session.session_id).partition("/")[2])
            ):
                if session.session_id in listed and not trial_and_condition(session, view.state.config)[1]:
                    facts = facts._replace(row=made.rows(session)[0])
                yield Settled(facts, record_path(facts.session_id), pages)


def _parents_of_subtasks(view: WikiView) -> Iterator[str]:
    for record in view.state.corpus.values():
        for answer in record.answer["subtasks"] if record.kind == SUBTASK else ():
            yield str(answer["parent_session_id"])


def _is_simple(session: Session) -> bool:
    """Whether a session has one page of its own name, comes from no other, read no page and taught no skill."""
    record = session.record
    return (
        [arc.slug for arc in session.arcs] == [""]
        and not (record.parent_session_id or record.forked_from or session.arcs[0].recalled)
        and not record.answer(SYNTHESIZE_SKILL)
    )


def _facts(session: Session) -> Facts:
    record, guidelines = session.record, session.record.answer(EXTRACT_GUIDELINES) or ()
    return Facts(
        session_id=session.session_id,
        date=record.date or "",
        title=session.titles()[session.paths[0]],
        names=sorted(kin_names(record)),
        ids=[page_id(session.paths[0]), *(each.id for each in guidelines)],
        tags=[list(each.tags) for each in guidelines],
        total_cost_usd=record.total_cost_usd,
        output_tokens=record.output_tokens,
        tool_calls=session.arcs[0].tool_calls,
    )


def _has_own_tags(facts: Facts, configured: Mapping[str, list[str]]) -> bool:
    return [configured.get(name) for name in facts.ids[1:]] == facts.tags


def disturbed(settled: Collection[Settled], view: WikiView, named: Collection[str]) -> set[str]:
    """The ids of sessions that are no longer settled beside the other sessions of the wiki.

    In: those of the last run; the view of all others; ids of pages that something else is said of.
    """
    sessions = view.sessions.values()
    ids = {*recalls_by_page(sessions), *view.guidelines, *view.rejected, *named}
    names = {name for record in view.state.records.values() for name in kin_names(record)}
    paths = {summary_path(session.session_id, arc.slug).lower() for session in sessions for arc in session.arcs}
    tags = view.state.config.tags
    return {
        facts.session_id
        for facts, *_ in settled
        if not ids.isdisjoint(facts.ids)
        or not names.isdisjoint(facts.names)
        or summary_path(facts.session_id).lower() in paths
        or not _has_own_tags(facts, tags)
    }
