"""How far a lesson or a workflow holds: everywhere, for one tool, or for the repository of its sessions alone."""

from __future__ import annotations

from typing import Protocol, TypeVar

from agent_wiki.pages.support import HasEvidence, Joined
from agent_wiki.wiki.scopes import REPOSITORY

GENERAL = "general"


class HasScope(HasEvidence, Protocol):
    """What a session contributed, with `general`, `tool:<name>` or `repository`; None for unknown."""

    @property
    def scope(self) -> str | None: ...


ScopedType = TypeVar("ScopedType", bound=HasScope)


def scope_shown(joined: Joined[ScopedType]) -> str | None:
    """The scope that a page shows. What holds for one repository is general once a second shows it; None: unknown."""
    shown = sorted({each.entry.scope for each in joined.contributions if each.entry.scope})
    if not shown:
        return None
    if shown != [REPOSITORY]:
        return shown[0] if len(shown) == 1 else GENERAL
    names = {session.record.repository for session in joined.sessions}
    if len(names - {None}) > 1:
        return GENERAL
    return None if None in names else f"{REPOSITORY}:{names.pop()}"
