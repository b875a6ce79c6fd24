"""What `wiki check --fix` does: only what follows from the records. A page that a person edited is never written."""

from __future__ import annotations

from collections.abc import Iterable

from agent_wiki.asking.options import AskingOptions
from agent_wiki.checks.check import Fault
from agent_wiki.checks.rendering import is_damaged
from agent_wiki.checks.subject import CheckedWiki
from agent_wiki.engine import no_progress
from agent_wiki.engines import EMBEDDED, opened_engine
from agent_wiki.pipeline import finished
from agent_wiki.pipeline.newer_wiki import refuse_newer_wiki
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.report import Report
from agent_wiki.stages.order import CATALOG
from agent_wiki.wiki.layout import MACHINERY
from agent_wiki.wiki.left_behind import left_behind
from agent_wiki.wiki.store import GIT_IGNORE, WikiFolder

_IGNORE = f"{MACHINERY}/.gitignore"


def mend(wiki: CheckedWiki, faults: Iterable[Fault], *, is_dry_run: bool) -> list[str]:
    """Mend what is mechanical, and say what was done, a line a file. Raises `RunError`."""
    folder = WikiFolder(wiki.folder.root, is_dry_run=is_dry_run)
    wanted = {each.check for each in faults if each.is_mechanical}
    with folder.locked(with_runs=True):
        refuse_newer_wiki(folder)
        done = [f"{path}: removed" for path in _removed(folder)] if "files/left-behind" in wanted else []
        if "files/gitignore" in wanted:
            folder.write_text(_IGNORE, GIT_IGNORE)
            done.append(f"{_IGNORE}: written")
        if wiki.why_not_loaded:
            return done
        folder.written.clear()
        folder.removed.clear()
        damaged = [each.path for each in wiki.edited if is_damaged(each)]
        _render(folder, damaged, archive_covered=wiki.archive_covered)
    written = [f"{path}: {_said(path, damaged)}" for path in sorted(set(folder.written))]
    return [*done, *written, *(f"{path}: removed" for path in sorted(set(folder.removed)))]


def _said(path: str, damaged: Iterable[str]) -> str:
    return "its digest written again" if path in damaged else "written as it is rendered"


def _removed(folder: WikiFolder) -> list[str]:
    """Take away what killed runs left: nobody else writes while the wiki is held."""
    found = left_behind(folder.root)
    for path in found:
        folder.remove(path)
    return found


def _render(folder: WikiFolder, damaged: Iterable[str], *, archive_covered: bool) -> None:
    """Bring all generated files up to date, as `wiki catalog` does, and those whose digest alone is wrong."""
    report = Report("check", str(folder.root), is_dry_run=folder.is_dry_run)
    with opened_engine(EMBEDDED, folder.root, AskingOptions()) as opened:
        publisher = Publisher(folder, opened.engine, report)
        publisher.load()
        publisher.pages.known.clear()
        publisher.release(damaged)
        if not folder.is_dry_run:
            finished.forget(folder)
        publisher.finish((CATALOG,), no_progress, archive_covered=archive_covered, new_pages="unlisted")
