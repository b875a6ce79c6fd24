"""A whole wiki in memory: the records, the answers over several pages, the configuration, and pages others wrote.

All pages are rendered from this and from the templates alone. `view_of` joins what sessions contribute; nothing here
touches the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import partial
from typing import Any

from agent_wiki.pages.compare.likenesses import Compared
from agent_wiki.pages.foreign import foreign_sessions
from agent_wiki.pages.guideline import EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.ignored import IgnoredEntries, without_ignored
from agent_wiki.pages.rejected import KIND as REJECTED
from agent_wiki.pages.rejected import parted
from agent_wiki.pages.sessions import Session, sessions_of
from agent_wiki.pages.skill import SYNTHESIZE_SKILL, SkillEntry
from agent_wiki.pages.support import Contribution, Joined, by_page
from agent_wiki.pages.unverified import as_seen_here
from agent_wiki.pages.withheld import WithheldLesson, WithheldPage, divided, is_withheld_arc, without_withheld
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.corpus_records import CorpusRecord
from agent_wiki.wiki.layout import archived, guideline_path, kind_of, page_id
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.records import SessionRecord


@dataclass(slots=True)
class WikiState:
    """What a wiki's pages are rendered from. Records by session id, answers by path, foreign pages by path.

    `digests` are those of the records' text, by session id; a page of a session without one is always rendered.
    """

    config: Config = field(default_factory=Config)
    records: dict[str, SessionRecord] = field(default_factory=dict)
    corpus: dict[str, CorpusRecord] = field(default_factory=dict)
    foreign: dict[str, Page] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def engines(self) -> set[str]:
        """The names of the engines that answered what the wiki holds; what the owner rejected is no answer."""
        made = [stage.made_by for record in self.records.values() for stage in record.stages.values()]
        made += [answer.made_by for answer in self.corpus.values() if answer.kind != REJECTED]
        return {each.engine for each in made}


@dataclass(frozen=True, slots=True)
class WikiView:
    """A state with its contributions joined. Foreign guidelines by id and foreign skills by slug, as (path, page).

    `duplicates` are foreign pages whose id another page has: they are left unchanged. `rejected` are guidelines and
    skills by id that the owner retired, in whatever words a session says them. `waiting` are ids of pages that are not
    published yet (`pages/waiting`). `compared` only saves time. `withheld` are guidelines and skills by id that are
    held back, `withheld_pages` clusters, tasks and foreign pages by id; `ignored` is what rules found that the owner
    switched off: none of these are in what the others hold.
    """

    state: WikiState
    sessions: dict[str, Session]
    guidelines: dict[str, Joined[GuidelineEntry]]
    skills: dict[str, Joined[SkillEntry]]
    foreign_guidelines: dict[str, tuple[str, Page]]
    foreign_skills: dict[str, tuple[str, Page]]
    duplicates: dict[str, Page]
    rejected: dict[str, Joined[Any]]
    compared: Compared = field(default_factory=Compared)
    waiting: frozenset[str] = frozenset()
    withheld: Mapping[str, WithheldLesson] = field(default_factory=dict)
    withheld_pages: Mapping[str, WithheldPage] = field(default_factory=dict)
    ignored: IgnoredEntries = field(default_factory=dict)

    def foreign_pages(self, kind: str) -> dict[str, Page]:
        """The pages of one kind that others wrote, by path."""
        return {path: page for path, page in self.state.foreign.items() if kind_of(path) == kind}


def view_of(state: WikiState) -> WikiView:
    """Join what the sessions contribute. What the owner rejected is left out, in whatever words a session states it.

    So is what is held back, and what ignored rules found: no page, index or question to an engine knows of it.
    """
    config, foreign, withheld_pages = without_withheld(state.config, state.foreign)
    seen = (as_seen_here(record, config.trusted) for record in state.records.values())
    records, digests, ignored = without_ignored(seen, state.digests, config.ignored_rules)
    if withheld_pages or ignored:
        state = WikiState(config, state.records, state.corpus, foreign, digests)
    is_withheld = partial(is_withheld_arc, released=config.released)
    titled = config.are_summaries_titled
    foreign_ones = foreign_sessions(state.foreign)
    sessions = sessions_of(records, foreign_ones, are_titled=titled, is_withheld=is_withheld)
    own = [session for session in sessions.values() if session.page is None]
    rejected = state.config.rejected
    released = state.config.released
    guidelines, gone = parted(_joined(own, EXTRACT_GUIDELINES, lambda entry: str(entry.id)), rejected, state.corpus)
    guidelines, withheld = divided(guidelines, released)
    skills, gone_skills = parted(
        _joined(own, SYNTHESIZE_SKILL, lambda entry: str(entry.name)), rejected, state.corpus, "skill:"
    )
    skills, withheld_skills = divided(skills, released, "skill:")
    foreign_guidelines, duplicates = _foreign_guidelines(state.foreign, guidelines)
    foreign_skills = {
        path.split("/")[1]: (path, page) for path, page in state.foreign.items() if kind_of(path) == "skill"
    }
    for name in foreign_skills:
        skills.pop(name, None)
    gone |= gone_skills
    withheld |= withheld_skills
    joined = (guidelines, skills, foreign_guidelines, foreign_skills, duplicates, gone)
    return WikiView(state, sessions, *joined, withheld=withheld, withheld_pages=withheld_pages, ignored=ignored)


def taught_nothing(record: SessionRecord) -> bool | None:
    """Whether a session that was asked for lessons had neither a rule nor a workflow to teach; None if it was not."""
    lessons = record.answer(EXTRACT_GUIDELINES)
    return None if lessons is None else not lessons and not record.answer(SYNTHESIZE_SKILL)


def paths_of(records: Iterable[SessionRecord]) -> set[str]:
    """Every path at which a summary or guideline of these records may lie."""
    records = list(records)
    found = [sessions_of(records, are_titled=are_titled) for are_titled in (False, True)]
    paths = {path for sessions in found for session in sessions.values() for path in session.paths}
    for record in records:
        for guideline in record.answer(EXTRACT_GUIDELINES) or ():
            path = guideline_path(guideline.title, guideline.id)
            paths |= {path, archived(path)}
    return paths


def _joined(sessions: Iterable[Session], stage: str, key: Callable[[Any], str]) -> dict[str, Joined[Any]]:
    found: dict[str, list[Contribution[Any]]] = {}
    for session in sessions:
        for entry in session.record.answer(stage) or ():
            found.setdefault(key(entry), []).append(Contribution(session, entry))
    return by_page(found)


def _foreign_guidelines(
    foreign: Mapping[str, Page], ours: Mapping[str, Any]
) -> tuple[dict[str, tuple[str, Page]], dict[str, Page]]:
    found: dict[str, tuple[str, Page]] = {}
    duplicates: dict[str, Page] = {}
    for path in sorted(foreign, key=lambda path: (path.startswith("_"), path)):
        if kind_of(path) == "guideline":
            page = foreign[path]
            guideline_id = str(page.fields.get("id") or page_id(path))
            if guideline_id in ours or guideline_id in found:
                duplicates[path] = page
            else:
                found[guideline_id] = (path, page)
    return found, duplicates
