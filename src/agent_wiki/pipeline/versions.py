"""Which recording of a session is kept where one run, or several that are joined, read more than one."""

from __future__ import annotations

from collections.abc import Iterable

from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.records import Order


@dataclass(frozen=True, slots=True)
class Version:
    """A session as one recording has it. `file` is that recording, `position` the trajectory's place in it."""

    session_id: str
    order: Order
    file: str
    position: int

    @property
    def rank(self) -> tuple[Order, str, int]:
        """The highest is kept. Of copies that differ in nothing the last by name is, whatever came first."""
        return self.order, self.file, self.position


def superseded(versions: Iterable[Version]) -> list[Version]:
    """The versions that are not kept: of each session all but one."""
    every = list(versions)
    kept: dict[str, Version] = {}
    for version in every:
        kept[version.session_id] = max(kept.get(version.session_id, version), version, key=lambda each: each.rank)
    return [version for version in every if kept[version.session_id] is not version]
