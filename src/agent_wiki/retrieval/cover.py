"""A cluster or a skill stands for the guidelines it covers, so that an agent reads a rule once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar


class Ranked(Protocol):
    """What is asked of a ranked page."""

    @property
    def row(self) -> Mapping[str, Any]: ...


Each = TypeVar("Each", bound=Ranked)


def covering_link(row: Mapping[str, Any]) -> str | None:
    """The page that covers a guideline, as a link from the wiki's folder; None when none does."""
    link = row.get("superseded_by")
    if row.get("kind") != "guideline" or not isinstance(link, str):
        return None
    return link if link.startswith("skills/") else f"guidelines/{link.removeprefix('guidelines/')}"


def covered(ranked: Sequence[Each], cover: Callable[[Each, str], Each | None]) -> list[Each]:
    """Each ranked page once, best first, a covered guideline replaced by what `cover(page, link)` gives for it."""
    found: dict[str, Each] = {}
    for each in ranked:
        link = covering_link(each.row)
        standing = (cover(each, link) if link is not None else None) or each
        found.setdefault(str(standing.row["link"]), standing)
    return list(found.values())
