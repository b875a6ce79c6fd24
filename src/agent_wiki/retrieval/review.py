"""The pages that use has discredited: those that harmed, misled or are disputed, with what the sessions said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_wiki.errors import UnreadablePage
from agent_wiki.retrieval.fuse import AGAINST, sinks
from agent_wiki.wiki.layout import kind_of, page_id
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.recalls import Recall, Tier, counts_by_status, recalls_by_page, tier
from agent_wiki.wiki.store import WikiFolder

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
    pages = WikiFolder(wiki).load_pages(problems)
    summaries = {path: page for path, page in pages.items() if kind_of(path) == "summary"}
    return reviewed(pages, recalls_by_page(summaries))


def reviewed(pages: Mapping[str, Page], recalls: Mapping[str, Sequence[Recall]]) -> list[Reviewed]:
    """The pages that need a look, from all pages by path and all recalls by page id."""
    found: list[Reviewed] = []
    for path, page in pages.items():
        of_page = recalls.get(str(page.fields.get("id") or page_id(path)), ())
        if path.startswith("_") or kind_of(path) == "summary":
            continue
        rank = tier(of_page, 0)
        if rank in _TIERS:
            against = tuple(each for each in of_page if each.status in AGAINST)
            counts = counts_by_status(of_page)
            found.append(Reviewed(path, page.title, rank, counts, against, sinks(counts)))
    return sorted(found, key=lambda each: (not each.has_sunk, -len(each.against), each.link))
