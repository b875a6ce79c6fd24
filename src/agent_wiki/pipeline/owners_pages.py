"""What an owner decides about pages: keep an edited one for good, render it again, or retire it for good.

The decisions are lines of `_config.yaml`, and the wiki is brought up to date with them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from agent_wiki.asking.options import AskingOptions
from agent_wiki.engine import no_progress
from agent_wiki.engines import EMBEDDED, opened_engine
from agent_wiki.errors import UsageError
from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.rejected import record_of_rejected
from agent_wiki.pages.state import view_of
from agent_wiki.pages.subtasks import subtask_pages
from agent_wiki.pages.task import sessions_of_tasks
from agent_wiki.pipeline import finished
from agent_wiki.pipeline.catalogs import withheld_pages_of
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.report import Report
from agent_wiki.stages.order import CATALOG
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import CLUSTERS, TASKS, is_stage_made
from agent_wiki.wiki.config_edits import edit_config, edit_kept, edit_rejected
from agent_wiki.wiki.layout import AGENTS, QUARANTINE, kind_of, page_id
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import text_or_none, texts_of

_MOST_WHY = 500

Decide = Callable[[Publisher], None]


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A generated file that a person changed: its text, and what would be rendered; None where nothing would be."""

    path: str
    text: str
    rendered: str | None


def _refuse_foreign(publisher: Publisher, paths: Sequence[str], consequence: str) -> None:
    for path in paths:
        if path in publisher.pages.foreign:
            raise UsageError(f"{path}: this program did not write it; {consequence}")


def keep(wiki: Path, paths: Sequence[str], report: Report) -> Report:
    """Make files the owner's for good: no run writes over them. Raises `UsageError` for pages that others wrote."""

    def decide(publisher: Publisher) -> None:
        _refuse_foreign(publisher, paths, "it is yours already")
        publisher.set_config(edit_kept(publisher.config_text, add=paths))
        publisher.keep(paths)

    return published(WikiFolder(wiki, is_dry_run=report.is_dry_run), report, decide)


def restore(wiki: Path, paths: Sequence[str], report: Report) -> Report:
    """Render files again, whoever edited them; one that nothing supports any more is removed. Raises `UsageError`."""

    def decide(publisher: Publisher) -> None:
        _refuse_foreign(publisher, paths, "there is nothing to restore")
        publisher.set_config(edit_kept(publisher.config_text, take_out=paths))
        publisher.release(paths)

    return published(WikiFolder(wiki, is_dry_run=report.is_dry_run), report, decide)


def reject(wiki: Path, paths: Sequence[str], why: str, report: Report, *, for_good: bool = False) -> Report:
    """Retire pages for good: they are removed, and no run brings back what they say.

    `for_good`: also pages that others wrote, which no record renders again. Raises `UsageError`.
    """

    def decide(publisher: Publisher) -> None:
        if not for_good:
            _refuse_foreign(publisher, paths, "its file is all there is of it, and --for-good deletes it")
        ids = {path: _id_of(path, publisher) for path in paths}
        for path, name in ids.items():
            _remember(path, name, publisher)
        publisher.set_config(edit_kept(publisher.config_text, take_out=paths))
        entries = dict.fromkeys(ids.values(), plain_line(why, _MOST_WHY))
        publisher.set_config(edit_rejected(publisher.config_text, entries))
        publisher.release(paths)

    return published(WikiFolder(wiki, is_dry_run=report.is_dry_run), report, decide)


def edited_files_of(publisher: Publisher, known: Collection[str] = ()) -> list[EditedFile]:
    """Every generated file of a loaded wiki that a person changed and has not decided to keep, by path.

    `known`: what a run over it found edited, index pages and scripts included.
    """
    found = {*publisher.pages.edited.keys() - set(publisher.state.config.kept), *known}
    trial = _rendered_again(publisher, found)
    if trial.report.edited:  # index pages and scripts are looked at when they are written
        found.update(trial.report.edited)
        trial = _rendered_again(publisher, found)
    texts = {path: trial.folder.text_or_empty(path) for path in sorted(found)}
    return [EditedFile(path, text, trial.folder.planned.get(path)) for path, text in texts.items()]


def _rendered_again(publisher: Publisher, paths: Collection[str]) -> Publisher:
    trial = publisher.on_trial()
    trial.release(paths)
    trial.finish((CATALOG,), no_progress, archive_covered=True, new_pages="unlisted")
    return trial


def owners_files(wiki: Path) -> list[str]:
    """The generated files that are no pages: index pages, `AGENTS.md`, the scripts of skills. Sorted."""
    patterns = ("index.md", "*/index.md", AGENTS, "skills/*/scripts/*")
    found = (path for pattern in patterns for path in wiki.glob(pattern) if path.is_file() and not path.is_symlink())
    return sorted(path.relative_to(wiki).as_posix() for path in found)


def published(folder: WikiFolder, report: Report, decide: Decide) -> Report:
    """Load the wiki, take a decision, and write what follows from it."""
    with opened_engine(EMBEDDED, folder.root, AskingOptions()) as opened, folder.locked():
        publisher = Publisher(folder, opened.engine, report)
        publisher.load()
        decide(publisher)
        if not folder.is_dry_run:
            finished.forget(folder)
        publisher.finish((CATALOG,), no_progress, archive_covered=True, new_pages="unlisted")
    return report


def _id_of(path: str, publisher: Publisher) -> str:
    kind = kind_of(path.removeprefix(f"{QUARANTINE}/"))
    if kind is None:
        for page in withheld_pages_of(view_of(publisher.state), publisher.templates):
            if page.path == path:
                return page.id
        raise UsageError(f"{path}: only pages can be rejected")
    if kind == "summary":
        raise UsageError(f"{path}: a session is taken out with `wiki forget`")
    theirs = publisher.pages.foreign.get(path)
    return (text_or_none(theirs.fields.get("id")) if theirs is not None else None) or page_id(path)


def _remember(path: str, name: str, publisher: Publisher) -> None:
    """Store by what a rejected cluster, task, subtask or foreign guideline is recognised under another name.

    What sessions say of guidelines and skills is kept with each run. A cluster or task that a stage made is taken out
    of the configuration; one that a person wrote stays there, unused.
    """
    kind, _, slug = name.rpartition(":")
    answer, about = _recognised_by(path, kind, slug, publisher)
    if answer:
        place, record = record_of_rejected(name, answer, about)
        publisher.put_corpus_record(place, record)
    config, section = publisher.state.config, {"cluster": CLUSTERS, "task": TASKS}.get(kind)
    entry = {"cluster": config.clusters, "task": config.tasks}.get(kind, {}).get(slug)
    if section is not None and entry is not None and is_stage_made(entry):
        publisher.set_config(edit_config(publisher.config_text, section, {slug: None}))


def _recognised_by(path: str, kind: str, slug: str, publisher: Publisher) -> tuple[dict[str, Any], Iterable[str]]:
    view, config = view_of(publisher.state), publisher.state.config
    if kind == "cluster" and slug in config.clusters:
        members = texts_of(config.clusters[slug].get("members"))
        return {"members": members}, members
    if kind == "task" and slug in config.tasks:
        sessions = sessions_of_tasks(config, view.sessions)[slug]
        return {"sessions": sessions}, sessions
    if kind == "subtask":
        for page in subtask_pages(Catalog(view, {}, publisher.templates)):
            if page.slug == slug:
                turns = [step.turn for step in page.key_steps]
                return {"parent_session_id": page.parent_session_id, "turns": turns}, [page.parent_session_id]
    page_of_others = publisher.pages.foreign.get(path)
    if not kind and page_of_others is not None:
        return {"title": page_of_others.title, "rule": page_of_others.lead}, ()
    return {}, ()
