"""What an owner decides about pages that are held back: let one go, with a reason that is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from agent_wiki.errors import UsageError
from agent_wiki.pages.quarantine import QuarantinedPage, unreleased_edits, unreleased_scripts
from agent_wiki.pages.state import WikiView, view_of
from agent_wiki.pipeline import audit
from agent_wiki.pipeline.catalogs import withheld_pages_of
from agent_wiki.pipeline.owners_pages import published
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.report import Report
from agent_wiki.wiki.config import Release, parse_config
from agent_wiki.wiki.config_edits import edit_released
from agent_wiki.wiki.layout import CONFIG, is_script
from agent_wiki.wiki.missing import require_folder
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import plain_line

_MOST_WHY = 500
_LEAST_PREFIX = 4


def _unreleased_files(publisher: Publisher, view: WikiView) -> list[QuarantinedPage]:
    """What a person wrote and the judge would hold back: edited pages, and scripts that no record has."""
    folder = publisher.folder
    scripts = {path: folder.text_or_empty(path) for path in folder.files() if is_script(path)}
    edited = unreleased_edits(publisher.pages.edited, publisher.state.config.released)
    return [*edited, *unreleased_scripts(scripts, view)]


def exceptions(wiki: Path) -> list[dict[str, str]]:
    """What the owner lets pass, each with the key of the configuration, the id or digest there, and why.

    Raises `RunError` where the configuration cannot be read.
    """
    config = parse_config(WikiFolder(wiki).read_text(CONFIG) or "")
    let_pass = [("released", name, each.why) for name, each in config.released.items()]
    let_pass += [("allowed_secrets", name, each.why or each.kind) for name, each in config.allowed_secrets.items()]
    return [{"link": CONFIG, "reason": "exception", "key": key, "id": name, "why": why} for key, name, why in let_pass]


def withheld_named(pages: Sequence[QuarantinedPage], wanted: str, wiki: Path) -> QuarantinedPage | None:
    """The page that a person means: by its path, id, slug or the beginning of its id. Raises `UsageError`."""
    for names_of in (_paths, _ids, _slugs):
        exact = [page for page in pages if wanted in names_of(page, wiki)]
        if exact:
            return _only(exact, wanted)
    if len(wanted) < _LEAST_PREFIX:
        return None
    begun = [page for page in pages if page.id.startswith(wanted)]
    return _only(begun, wanted) if begun else None


def _paths(page: QuarantinedPage, wiki: Path) -> tuple[str, ...]:
    return page.path, str(wiki / page.path), page.path.rpartition("/")[2]


def _ids(page: QuarantinedPage, _wiki: Path) -> tuple[str, ...]:
    return (page.id,)


def _slugs(page: QuarantinedPage, _wiki: Path) -> tuple[str, ...]:
    file = page.path.rpartition("/")[2].removesuffix(".md").partition("__")[0]
    return (page.id.partition(":")[2], file) if ":" in page.id else (file,)


def _only(pages: Sequence[QuarantinedPage], wanted: str) -> QuarantinedPage:
    if len({page.id for page in pages}) > 1:
        raise UsageError(f"{wanted}: {len(pages)} pages that are held back have this name: {_listed(pages)}")
    return pages[0]


def _listed(pages: Iterable[QuarantinedPage]) -> str:
    return ", ".join(page.path for page in pages)


def release(wiki: Path, wanted: Sequence[str], why: str, report: Report) -> tuple[Report, list[QuarantinedPage]]:
    """Publish pages that are held back; what they say now is remembered as released, and why. Raises `UsageError`.

    A page that a person edited, or a script that no record has, is published anyway: its release answers `wiki check`.
    """
    require_folder(wiki)
    reason = plain_line(why, _MOST_WHY)
    if not reason:
        raise UsageError("release: --why is empty: say why the page may be trusted")
    chosen: list[QuarantinedPage] = []
    folder = WikiFolder(wiki, is_dry_run=report.is_dry_run)

    def decide(publisher: Publisher) -> None:
        view = view_of(publisher.state)
        pages, files = withheld_pages_of(view, publisher.templates), _unreleased_files(publisher, view)
        for name in wanted:
            page = withheld_named(pages, name, wiki) or withheld_named(files, name, wiki)
            if page is None:
                raise UsageError(f"{name}: no page that is held back has this path or id; `wiki review` lists them")
            chosen.append(page)
        publisher.set_config(edit_released(publisher.config_text, _releases(chosen, publisher, reason)))
        audit.AuditLog(folder).add(audit.releases(chosen, reason))

    return published(folder, report, decide), chosen


def _releases(pages: Iterable[QuarantinedPage], publisher: Publisher, why: str) -> dict[str, Release]:
    """The releases with what was released before of the same pages."""
    found: dict[str, Release] = {}
    for page in pages:
        before = publisher.state.config.released.get(page.id, Release(()))
        texts = (*before.texts, *found.get(page.id, before).texts, *page.texts)
        found[page.id] = Release(tuple(dict.fromkeys(texts)), why)
    return found
