"""What is checked of a wiki before a person reviews it. Nothing here asks a model or opens a recording."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_wiki.changes.pages import Row
from agent_wiki.checks.links import links_in, target_of
from agent_wiki.engine import no_progress
from agent_wiki.errors import UnsafePath
from agent_wiki.pages.state import WikiView, view_of
from agent_wiki.pages.support import Joined
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.pipeline.report import Report, as_lines
from agent_wiki.retrieval.rows import index_fields
from agent_wiki.stages.order import CATALOG
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.index_file import index_bytes
from agent_wiki.wiki.layout import INDEX, QUARANTINE, kind_of
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import counted


@dataclass(frozen=True, slots=True)
class WikiCheck:
    """A check, what it looked at and what it found: each of `problems` is one line."""

    name: str
    looked_at: str
    problems: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {**asdict(self), "passed": not self.problems}


def checks_of(wiki: Path, changed: Iterable[str], *, archive_covered: bool) -> list[WikiCheck]:
    """All checks of the wiki in a folder. In: the files of it that were written. Raises `RunError`."""
    rows = list(index_fields(index_bytes(wiki))) if _is_file(wiki, INDEX) else []
    return wiki_checks(wiki, view_of(read_wiki(wiki, []).state), rows, changed, rendered_again(wiki, archive_covered))


def quarantined_in(wiki: Path) -> list[str]:
    """The paths of the files in quarantine, relative to it, sorted."""
    folder = wiki / QUARANTINE
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def rendered_again(wiki: Path, archive_covered: bool) -> Report:
    """What `wiki catalog` would do in a wiki as it is. Nothing is written."""
    options = Options(wiki, (CATALOG,), dry_run=True, archive_covered=archive_covered, new_pages="unlisted")
    return run([], options, Report(CATALOG, str(wiki)), no_progress)


def wiki_checks(
    wiki: Path, view: WikiView, rows: Sequence[Row], changed: Iterable[str], again: Report
) -> list[WikiCheck]:
    """All checks. In: the wiki as it is, the rows of its index, files of it that differ, and what catalog would do."""
    pages = [path for path in changed if kind_of(path) is not None]
    return [_of_pages(again), _of_index(wiki, rows), _of_links(wiki, pages), _of_citations(view)]


def _of_pages(again: Report) -> WikiCheck:
    """Whether all records and pages can be read, and the pages are what is rendered from the records."""
    command = f"wiki catalog{' --max-new-pages 0' * bool(again.pages_waiting)}"  # which leaves waiting what waits
    unlike = [f"{path}: not as it would be rendered; run `{command}`" for path in again.written]
    unlike += [f"{path}: no record supports it; run `{command}`" for path in again.removed]
    problems = (*as_lines(again.failures), *unlike)
    return WikiCheck("pages", f"{counted(sum(again.pages.values()), 'page')} against the records", problems)


def _of_index(wiki: Path, rows: Sequence[Row]) -> WikiCheck:
    links = list(dict.fromkeys(str(row["link"]) for row in rows))
    lost = (f"{link}: in the index, and no such file" for link in links if not _is_file(wiki, link))
    return WikiCheck("index", f"{counted(len(rows), 'row')} of the index lead to a page", tuple(lost))


def _of_links(wiki: Path, pages: Sequence[str]) -> WikiCheck:
    there = [path for path in pages if _is_file(wiki, path)]
    broken = [f"{path}: its link to {link} leads nowhere" for path in there for link in _broken_links(wiki, path)]
    return WikiCheck("links", f"the links on {counted(len(there), 'page')} that differ from the base", tuple(broken))


def _broken_links(wiki: Path, path: str) -> Iterator[str]:
    """The relative links of a page that lead to no file of the wiki. Code is not looked at."""
    for link in dict.fromkeys(link for _, link in links_in(text_of(wiki, path))):
        target = target_of(path, link)
        if target.startswith("..") or not (wiki / target).exists():
            yield link


def _of_citations(view: WikiView) -> WikiCheck:
    """Whether what lessons and workflows cite are turns of sessions of the wiki. Quotes were checked when mined."""
    pages: list[tuple[str, Joined[Any]]] = [*view.guidelines.items(), *view.skills.items()]
    cited = [(name, session, each) for name, joined in pages for session, each in joined.cited()]
    problems = tuple(
        f"{name}: cites turn {each.turn} of session {session.session_id}, which has {session.record.turns}"
        for name, session, each in cited
        if not session.record.has_turn(each.turn)
    )
    return WikiCheck("citations", f"{counted(len(cited), 'citation')}, whose quotes were checked when mined", problems)


def text_of(wiki: Path, path: str) -> str:
    """The text of a file of the wiki; "" for one that is not there or leads out of the wiki."""
    try:
        return WikiFolder(wiki).text_or_empty(path)
    except (UnsafePath, OSError):
        return ""


def _is_file(wiki: Path, path: str) -> bool:
    return os.path.isfile(f"{wiki}/{path}")  # noqa: PTH113 - of tens of thousands of rows
