"""The pages that need a look: those that use has discredited, and generated ones that a person has edited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from difflib import unified_diff
from pathlib import Path
from typing import Any

from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.indexes import IndexEntry
from agent_wiki.pages.recalls import Recall, Tier, counts_by_status, tier
from agent_wiki.pipeline.catalogs import catalog_of
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.pipeline.owners_pages import EditedFile, edited_files
from agent_wiki.retrieval.fuse import AGAINST, sinks
from agent_wiki.trajectory.lazily import dataclass

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


def edited_pages(wiki: Path) -> list[EditedPage]:
    """Every edited page that the owner has not decided to keep, by path."""
    return [_as_edited(each) for each in edited_files(wiki)]


def _as_edited(file: EditedFile) -> EditedPage:
    before, after = ((text or "").splitlines() for text in (file.rendered, file.text))
    lines = unified_diff(before, after, f"rendered {file.path}", f"edited {file.path}", lineterm="")
    return EditedPage(file.path, "\n".join(lines), file.rendered is not None)


def review(wiki: Path, problems: list[UnreadablePage]) -> list[Reviewed]:
    """Every indexed page that harmed a session or was contradicted by one, the worst first.

    A page that cannot be parsed is appended to `problems`.
    """
    made = catalog_of(read_wiki(wiki, problems))
    return reviewed([page.entry for page in made.pages() if page.entry is not None])


def reviewed(entries: Iterable[IndexEntry]) -> list[Reviewed]:
    """The pages that need a look, from what the index says of all pages."""
    found: list[Reviewed] = []
    for entry in entries:
        rank = tier(entry.recalls, 0)
        if rank in _TIERS and entry.line and not entry.path.startswith("_"):
            against = tuple(each for each in entry.recalls if each.status in AGAINST)
            counts = counts_by_status(entry.recalls)
            found.append(Reviewed(entry.path, entry.row()["title"], rank, counts, against, sinks(counts)))
    return sorted(found, key=lambda each: (not each.has_sunk, -len(each.against), each.link))
