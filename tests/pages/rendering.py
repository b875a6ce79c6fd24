"""Pages rendered from records that tests make, without a disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_wiki.pages import indexes
from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.state import WikiState, view_of
from agent_wiki.pipeline.corpus import archived_guidelines
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.page import Page, parse_page, render_page
from agent_wiki.wiki.records import MadeBy, SessionRecord, StageRecord
from agent_wiki.wiki.templates import Templates

TEMPLATES = Templates()


def stage(name: str, answer: Any) -> StageRecord:
    """What a stage contributes to a record."""
    return StageRecord(MadeBy(name, "scripted"), tuple(answer))


def catalog_of(
    *records: SessionRecord, config: Config | None = None, foreign: Mapping[str, Page] | None = None
) -> Catalog:
    """The catalog of a wiki that holds these records."""
    state = WikiState(config or Config(), {each.session_id: each for each in records}, {}, dict(foreign or {}))
    view = view_of(state)
    return Catalog(view, archived_guidelines(view, archive_covered=True), TEMPLATES)


def texts_of(catalog: Catalog) -> dict[str, str]:
    """Every page's text by path."""
    return {
        page.path: render_page(page.foreign) if page.foreign is not None else page.text() if page.text else ""
        for page in catalog.pages()
    }


def pages_of(*records: SessionRecord, config: Config | None = None) -> dict[str, Page]:
    """Every page of a wiki that holds these records, by path."""
    texts = texts_of(catalog_of(*records, config=config))
    return {path: parse_page(text, path) for path, text in texts.items()}


def indexes_of(catalog: Catalog) -> dict[str, str]:
    """Every index file by path."""
    entries = [page.entry for page in catalog.pages() if page.entry is not None]
    return {path: text() for path, text in indexes.indexes_of(catalog, entries, TEMPLATES).files}
