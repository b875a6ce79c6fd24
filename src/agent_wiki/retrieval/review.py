"""The pages that need a look: those that use has discredited, and generated ones that a person has edited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from difflib import unified_diff
from pathlib import Path
from typing import Any

from agent_wiki.asking.options import AskingOptions
from agent_wiki.engines import EMBEDDED, opened_engine
from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.quarantine import QuarantinedPage, withheld_in
from agent_wiki.pages.recalls import Recall, Tier, counts_by_status, tier
from agent_wiki.pipeline.catalogs import catalog_of
from agent_wiki.pipeline.owners_pages import EditedFile, edited_files_of
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.retrieval.fuse import AGAINST, sinks
from agent_wiki.trajectory.lazily import dataclass
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
            "reason": "use",
            "title": self.title,
            "tier": self.tier,
            "counts": dict(self.counts),
            "has_sunk": self.has_sunk,
            "against": quotes,
        }


@dataclass(frozen=True, slots=True)
class EditedPage:
    """A generated page, index or script that a person edited.

    `diff` is unified, from what would be rendered to what the person made of it; `is_supported` is False where nothing
    would be rendered any more.
    """

    link: str
    diff: str
    is_supported: bool

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {**asdict(self), "reason": "edited"}


@dataclass(frozen=True, slots=True)
class ToReview:
    """What waits for a person: pages that are held back, pages that harmed or misled a session, edited ones, by path.

    `failures` are files that cannot be read.
    """

    held: list[QuarantinedPage]
    used: list[Reviewed]
    edited: list[EditedPage]
    failures: list[Failure]


def to_review(wiki: Path) -> ToReview:
    """All that waits for a person, from one reading of the wiki. Of edited pages those that the owner does not keep."""
    with opened_engine(EMBEDDED, wiki, AskingOptions()) as opened:
        report = Report("review", str(wiki))
        publisher = Publisher(WikiFolder(wiki, is_dry_run=True), opened.engine, report)
        publisher.load(may_be_newer=True)
        failures, catalog = list(report.failures), catalog_of(publisher)
        edited = [_as_edited(each) for each in edited_files_of(publisher)]
        return ToReview(withheld_in(catalog), _discredited(catalog), edited, failures)


def _as_edited(file: EditedFile) -> EditedPage:
    before, after = ((text or "").splitlines() for text in (file.rendered, file.text))
    lines = unified_diff(before, after, f"rendered {file.path}", f"edited {file.path}", lineterm="")
    return EditedPage(file.path, "\n".join(lines), file.rendered is not None)


def _discredited(catalog: Catalog) -> list[Reviewed]:
    """Every indexed page that harmed a session or was contradicted by one, the worst first."""
    if not any(tier(each, 0) in _TIERS for each in catalog.recalls.values()):
        return []  # nearly always, and then no page has to be rendered to know it
    found: list[Reviewed] = []
    for entry in [page.entry for page in catalog.pages() if page.entry is not None]:
        rank = tier(entry.recalls, 0)
        if rank in _TIERS and entry.line and not entry.path.startswith("_"):
            against = tuple(each for each in entry.recalls if each.status in AGAINST)
            counts = counts_by_status(entry.recalls)
            found.append(Reviewed(entry.path, entry.row()["title"], rank, counts, against, sinks(counts)))
    return sorted(found, key=lambda each: (not each.has_sunk, -len(each.against), each.link))
