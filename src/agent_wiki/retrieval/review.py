"""The pages that use has discredited: those that harmed, misled or are disputed, with what the sessions said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.indexes import IndexEntry
from agent_wiki.pages.recalls import Recall, Tier, counts_by_status, tier
from agent_wiki.pages.state import view_of
from agent_wiki.pipeline.corpus import archived_guidelines
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.retrieval.fuse import AGAINST, sinks

_TIERS: tuple[Tier, ...] = ("low", "disputed")


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A page to look at. `counts`: status → sessions; `against`: the recalls that speak against it."""

    link: str
    title: str
    tier: Tier
    counts: Mapping[str, int]
    against: tuple[Recall, ...]
    has_sunk: bool

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        quotes = [
            {"session_id": each.session_id, "status": each.status, "quote": each.quote, "summary": each.path}
            for each in self.against
        ]
        return {
            "link": self.link,
            "title": self.title,
            "tier": self.tier,
            "counts": dict(self.counts),
            "has_sunk": self.has_sunk,
            "against": quotes,
        }


def review(wiki: Path, problems: list[UnreadablePage]) -> list[Reviewed]:
    """Every indexed page that harmed a session or was contradicted by one, the worst first.

    A page that cannot be parsed is appended to `problems`.
    """
    loaded = read_wiki(wiki, problems)
    view = view_of(loaded.state)
    made = Catalog(view, archived_guidelines(view, archive_covered=True), loaded.templates, loaded.pages.edited)
    return reviewed([page.entry for page in made.pages() if page.entry is not None])


def reviewed(entries: Iterable[IndexEntry]) -> list[Reviewed]:
    """The pages that need a look, from what the index says of all pages."""
    found: list[Reviewed] = []
    for entry in entries:
        rank = tier(entry.recalls, 0)
        if rank in _TIERS and entry.row and not entry.path.startswith("_"):
            against = tuple(each for each in entry.recalls if each.status in AGAINST)
            counts = counts_by_status(entry.recalls)
            found.append(Reviewed(entry.path, entry.row["title"], rank, counts, against, sinks(counts)))
    return sorted(found, key=lambda each: (not each.has_sunk, -len(each.against), each.link))
