"""All that a pull request says, as values: gathered here, put into words in `sections.py`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from agent_wiki.changes.checks import WikiCheck, quarantined_in, rendered_again, text_of, wiki_checks
from agent_wiki.changes.pages import ChangedPage, CitedTurn, ComparedPages, compared_pages
from agent_wiki.changes.revision import FileChange, Revision, with_records
from agent_wiki.changes.runs import RunFacts
from agent_wiki.changes.sessions import AddedSessions, added_sessions
from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.guideline import CAUSES
from agent_wiki.pages.support import Joined
from agent_wiki.pages.waiting import LessonPage, in_order_of_publication, lesson_pages
from agent_wiki.pipeline.catalogs import catalog_of
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.pipeline.new_pages import listed
from agent_wiki.redaction.redact import redact_text
from agent_wiki.retrieval.rows import index_fields
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.index_file import index_bytes
from agent_wiki.wiki.kinds import INDEXED
from agent_wiki.wiki.layout import INDEX, SIDECAR, archived, kind_of
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import counted, plain_line

_MOST_CHARACTERS = 2_000  # of a text in the JSON


@dataclass(slots=True)
class ChangeFacts:
    """What a wiki has gained since a revision of it. `run` is None where no report of a run was given.

    `edited` are pages that a person edited, `kept` those that the owner keeps as they are: both are left alone. `seen`
    is a revision that somebody has looked at; pages that differ from it are marked.
    """

    revision: Revision
    pages: ComparedPages
    sessions: AddedSessions
    run: RunFacts | None = None
    edited: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    quarantined: list[str] = field(default_factory=list)
    waiting: list[LessonPage] = field(default_factory=list)  # to be published by later runs, in their order
    checks: list[WikiCheck] = field(default_factory=list)
    files: Mapping[str, FileChange] = field(default_factory=dict)
    seen: Revision | None = None

    @property
    def has_news(self) -> bool:
        """Whether there is something to review: a page or a session."""
        sessions = self.sessions
        return bool(self.pages.all() or sessions.new or sessions.changed or sessions.gone)

    @property
    def title(self) -> str:
        """One line for the title of a pull request."""
        if not self.has_news:
            return "Wiki: nothing new"
        pages = self.pages
        counts = (("new", pages.new), ("changed", pages.changed), ("retired", pages.retired))
        said = ", ".join(f"{len(found):,} {word}" for word, found in counts if found) or "no page changed"
        read = self.sessions.new + self.sessions.changed
        return f"Wiki: {said}, from {counted(read, 'session')}"

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values. Secrets that are recognized in a text are removed, and counted."""
        values = {
            "news": self.has_news,
            "title": self.title,
            "wiki": self.revision.folder.rstrip("/") or ".",
            "base": {"name": self.revision.name, "commit": self.revision.commit or None},
            "seen": self.seen.commit if self.seen is not None else None,
            "files": {change: sum(each == change for each in self.files.values()) for change in _FILE_CHANGES},
            "pages": self.pages.to_json(),
            "sessions": self.sessions.to_json(),
            "run": None if self.run is None else self.run.to_json(),
            "edited": self.edited,
            "kept": self.kept,
            "quarantined": self.quarantined,
            "waiting": [{"kind": each.kind, "id": each.id, "title": each.title} for each in self.waiting],
            "checks": [each.to_json() for each in self.checks],
        }
        secrets: list[int] = []
        return {**_cleaned(values, secrets), "secrets_removed": sum(secrets)}


_FILE_CHANGES: tuple[FileChange, ...] = ("new", "changed", "gone")


def _cleaned(value: Any, secrets: list[int]) -> Any:
    """JSON values with plain texts of bounded length, and without secrets."""
    if isinstance(value, str):
        text, found = redact_text(value[: 2 * _MOST_CHARACTERS])
        secrets.append(found)
        return plain_line(text, _MOST_CHARACTERS)
    if isinstance(value, Mapping):
        return {_cleaned(str(name), secrets): _cleaned(each, secrets) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(each, secrets) for each in value]
    return value


def gathered(
    revision: Revision, run: RunFacts | None, seen: Revision | None = None, *, archive_covered: bool = True
) -> ChangeFacts:
    """Compare a wiki on disk with a revision of it; what differs from one that was `seen` is marked.

    Raises `RunError` for a configuration that cannot be read.
    """
    wiki, problems = revision.wiki, list[UnreadablePage]()
    loaded = read_wiki(wiki, problems)
    catalog = catalog_of(loaded, archive_covered=archive_covered)
    unknown: list[str] = []
    files = with_records(revision, revision.changed_files(), unknown)
    rows = list(index_fields(index_bytes(wiki)))
    kept = sorted(path for path in loaded.state.config.kept if path in loaded.pages.edited or (wiki / path).is_file())
    again, waiting = rendered_again(wiki, archive_covered), listed(WikiFolder(wiki))
    facts = ChangeFacts(
        revision,
        _pages(revision, rows, files, catalog, seen),
        added_sessions(catalog, files),
        run,
        again.edited,
        kept,
        quarantined_in(wiki),
        _in_order_of_publication(catalog, waiting, rows) if waiting else [],
        wiki_checks(wiki, catalog.view, rows, [path for path, change in files.items() if change != "gone"], again),
        files,
        seen,
    )
    if unknown:
        facts.checks.append(WikiCheck("sessions", "which sessions are new", tuple(unknown)))
    return facts


def _in_order_of_publication(
    catalog: Catalog, waiting: Collection[str], rows: Iterable[Mapping[str, Any]]
) -> list[LessonPage]:
    """The pages that wait, as later runs will publish them."""
    pages = [page for page in lesson_pages(catalog) if page.id in waiting]
    return list(in_order_of_publication(pages, {str(row["id"]) for row in rows}))


def _pages(
    revision: Revision,
    rows: Sequence[Mapping[str, Any]],
    files: Mapping[str, FileChange],
    catalog: Catalog,
    seen: Revision | None,
) -> ComparedPages:
    """The pages that differ, each kind in its order, with what they cite and why they are gone."""
    wiki, rejected = revision.wiki, catalog.view.state.config.rejected
    found = _compared(revision, rows, files)
    if seen is not None:
        since = {(each.kind, each.id, each.change == "retired") for each in _compared(seen, rows).all()}
        for pages in (found.new, found.changed, found.retired):
            pages[:] = [
                replace(each, is_unseen=(each.kind, each.id, each.change == "retired") in since) for each in pages
            ]
    has_summaries = not (wiki / SIDECAR).is_file()
    for pages in (found.new, found.changed):
        pages[:] = _in_order(_with_evidence(each, catalog, has_summaries=has_summaries) for each in pages)
    found.retired = _in_order(replace(each, why=(_why_gone(wiki, each, rejected),)) for each in found.retired)
    return found


def _compared(
    revision: Revision, rows: Sequence[Mapping[str, Any]], files: Mapping[str, FileChange] | None = None
) -> ComparedPages:
    """The pages that differ from a revision. In: their rows now, and the files that differ, where they are known."""
    files = revision.changed_files() if files is None else files
    before = revision.texts([INDEX]).get(INDEX, "")
    changed = [path for path, change in files.items() if change == "changed" and kind_of(path) in INDEXED]
    texts = {path: (old, text_of(revision.wiki, path)) for path, old in revision.texts(changed).items()}
    return compared_pages(index_fields(before.encode("utf-8", "replace")), rows, texts)


def _with_evidence(page: ChangedPage, catalog: Catalog, *, has_summaries: bool) -> ChangedPage:
    """The page with the first turn that it cites; as it is where it cites none."""
    joined: Joined[Any] | None = None
    if page.kind == "guideline":
        joined = catalog.view.guidelines.get(page.id)
    elif page.kind == "skill":
        joined = catalog.view.skills.get(page.id.removeprefix("skill:"))
    cited = [] if joined is None else joined.cited()
    if not cited:
        return page
    session, first = cited[0]
    summary = session.path_of_turn(first.turn) if has_summaries else ""
    turn = CitedTurn(session.session_id, first.turn, summary)
    return replace(page, cited=turn, citations=len(cited))


def _why_gone(wiki: Path, page: ChangedPage, rejected: Mapping[str, str]) -> str:
    if page.id in rejected:
        return f"retired by its owner: {rejected[page.id]}" if rejected[page.id] else "retired by its owner"
    if page.kind == "guideline" and (wiki / archived(page.link)).is_file():
        return "archived: another page covers it"
    return "no session supports it any more"


def _in_order(pages: Iterable[ChangedPage]) -> list[ChangedPage]:
    """Those that nobody has seen first, then by kind, how sure the cause is, and how many sessions support it."""
    causes = [*CAUSES, None]
    kinds = list(INDEXED)

    def order(page: ChangedPage) -> tuple[bool, int, int, int, str]:
        cause = causes.index(page.cause) if page.cause in causes else len(causes)
        return (page.is_unseen is False, kinds.index(page.kind), cause, -(page.support or 0), page.link)

    return sorted(pages, key=order)
