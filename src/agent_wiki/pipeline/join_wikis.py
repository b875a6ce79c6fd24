"""join: what the sessions of other wikis contributed, put into this one. For machines and branches that mined apart.

Joining is commutative, associative and idempotent: wikis joined in any order, and any order of batches, give the
bytes of one wiki that was built from all recordings. What people wrote in the other `_config.yaml` is not taken over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from agent_wiki.engines import one_round, opened_engine
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.ingest import ALL_STAGES, Options
from agent_wiki.pipeline.mine import order_on
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.session_stages import SESSION_STAGES
from agent_wiki.report import Progress, Report
from agent_wiki.stages import extract_guidelines, synthesize_skill
from agent_wiki.wiki.join import contributions_of
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.state import SessionContribution, WikiState, is_ours
from agent_wiki.wiki.store import WikiFolder


def join_wikis(others: Sequence[Path], options: Options, report: Report, progress: Progress) -> Report:
    """Put the contributions of every session of `others` into the wiki, then run the corpus stages.

    Of a session that both hold the larger version stands. Pages that other tools wrote are taken over where this
    wiki has none of that name. Raises `UsageError` for a folder that is no wiki.
    """
    for other in others:
        if not (other / CONFIG).is_file():
            raise UsageError(f"{other}: no wiki ({CONFIG} is missing)")
    folder = WikiFolder(options.wiki, is_dry_run=options.dry_run)
    with (
        opened_engine(options.engine, options.wiki, options.asking) as opened,
        folder.locked(options.lock_timeout_seconds),
        one_round(opened.engine),
    ):
        publisher = Publisher(folder, opened.engine, report)
        publisher.load()
        for position, other in enumerate(others):
            progress("join", position, len(others))
            theirs = _loaded(other, publisher, report)
            for contributed in session_contributions(theirs):
                report.sessions["joined" if publisher.take(contributed) else "older"] += 1
            _take_foreign(theirs, publisher.state)
        stages = [stage for stage in ALL_STAGES if stage not in SESSION_STAGES]
        publisher.finish(stages, progress, archive_covered=options.archive_covered)
        report.add_account(publisher.engine.account())
    return report


def _loaded(other: Path, publisher: Publisher, report: Report) -> WikiState:
    """Another wiki's pages; those that cannot be read are failures."""
    reader = Publisher(WikiFolder(other, is_dry_run=True), publisher.engine, Report("join", str(other)))
    reader.load()
    report.failures += [replace(each, unit=f"{other}/{each.unit}") for each in reader.report.failures]
    return reader.state


def session_contributions(state: WikiState) -> Iterator[SessionContribution]:
    """Take a wiki apart into what each session contributed, in the order of session ids."""
    guidelines = {
        guideline_id: contributions_of(page.fields, extract_guidelines.wording_of(page))
        for guideline_id, page in state.guidelines.items()
        if is_ours(page)
    }
    skills = {
        slug: contributions_of(page.fields, synthesize_skill.wording_of(page, state.scripts.get(slug, {})))
        for slug, page in state.skills.items()
        if is_ours(page)
    }
    by_session: dict[str, SessionContribution] = {}
    for session_id in state.session_ids():
        pages = state.pages_of_session(session_id)
        if is_ours(pages[0]):
            summaries = _paths(pages, state)
            by_session[session_id] = SessionContribution(session_id, order_on(pages[0]), summaries, {}, {})
    for guideline_id, contributions in guidelines.items():
        for session_id, contribution in contributions.items():
            contributed = by_session.get(session_id)
            if contributed is not None and contributed.guidelines is not None:
                contributed.guidelines[guideline_id] = contribution
    for slug, contributions in skills.items():
        for session_id, contribution in contributions.items():
            contributed = by_session.get(session_id)
            if contributed is not None and contributed.skills is not None:
                contributed.skills[slug] = contribution
    yield from by_session.values()


def _paths(pages: Sequence[Page], state: WikiState) -> dict[str, Page]:
    wanted = {id(page) for page in pages}
    return {path: page for path, page in state.summaries.items() if id(page) in wanted}


def _take_foreign(theirs: WikiState, ours: WikiState) -> None:
    """Pages that other tools wrote come along unless one of that name is here."""
    for path, page in theirs.summaries.items():
        if not is_ours(page):
            ours.summaries.setdefault(path, page)
    for guideline_id, page in theirs.guidelines.items():
        if not is_ours(page) and guideline_id not in ours.guidelines:
            ours.guidelines[guideline_id] = page
            ours.guideline_files[guideline_id] = theirs.guideline_files[guideline_id]
    for slug, page in theirs.skills.items():
        if not is_ours(page) and slug not in ours.skills:
            ours.skills[slug], ours.scripts[slug] = page, theirs.scripts.get(slug, {})
    for slug, page in theirs.subtasks.items():
        if not is_ours(page):
            ours.subtasks.setdefault(slug, page)
