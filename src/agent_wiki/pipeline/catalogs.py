"""The catalog of a wiki that is read and not written, with the pages of all stages."""

from __future__ import annotations

from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.quarantine import QuarantinedPage, withheld_in
from agent_wiki.pages.state import WikiView, view_of
from agent_wiki.pipeline.corpus import archived_guidelines
from agent_wiki.pipeline.load import LoadedWiki
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.stages.order import page_renderers
from agent_wiki.wiki.templates import Templates


def catalog_of(loaded: LoadedWiki | Publisher, *, archive_covered: bool = True) -> Catalog:
    """All pages of a loaded wiki, as its records give them and its owner edited them."""
    view = view_of(loaded.state)
    archive = archived_guidelines(view, archive_covered=archive_covered)
    return Catalog(view, archive, loaded.templates, loaded.pages.edited, more=page_renderers())


def withheld_pages_of(view: WikiView, templates: Templates) -> list[QuarantinedPage]:
    """Everything that a wiki holds back, by path."""
    return withheld_in(Catalog(view, {}, templates, more=page_renderers()))
