"""Common knowledge: errors with one well-known remedy each, and the words of the rule."""

from __future__ import annotations

from agent_wiki.engines.offline.lessons import WordedEntry
from agent_wiki.engines.offline.tables import AnyOf, entries


class Remedy(WordedEntry):
    """One entry of `tables/remedies.toml`, which says what each field means."""

    error: AnyOf
    command: AnyOf | None = None
    edit: AnyOf | None = None
    failed: AnyOf | None = None
    is_same: bool = False
    quotes: bool = False
    good: AnyOf | None = None


def remedies() -> tuple[Remedy, ...]:
    """All of them, in the order of the table."""
    return entries("remedies", Remedy)
