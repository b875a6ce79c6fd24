"""Replaces guidelines with the cluster or skill that covers them, so that an agent reads a rule once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar


class Ranked(Protocol):
    """What this module needs of a ranked page."""

    @property
    def row(self) -> Mapping[str, Any]: ...


Each = TypeVar("Each", bound=Ranked)


def covering_link(row: Mapping[str, Any]) -> str | None:
    """The page that covers a guideline, as a link relative to the wiki's folder; None if none does."""
    link = row.get("superseded_by")
    if row.get("kind") != "guideline" or not isinstance(link, str):
        return None
    return link if link.startswith("skills/") else f"guidelines/{link.removeprefix('guidelines/')}"


def covered(ranked: Sequence[Each], cover: Callable[[Each, str], Each | None]) -> list[Each]:
    """Each ranked page once, best first, with covered guidelines replaced by the result of `cover(page, link)`."""
    found: dict[str, Each] = {}
    for each in ranked:
        link = covering_link(each.row)
        standing = (cover(each, link) if link is not None else None) or each
        found.setdefault(str(standing.row["link"]), standing)
    return list(found.values())
