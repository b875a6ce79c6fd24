"""Which sessions began a session, as its id and its parent say: a subagent belongs to the conversation it worked in."""

from __future__ import annotations

from collections.abc import Collection, Iterable

_MARK = ".agent-"  # before the number of a subagent that has no id of its own: docs/formats.md


def begun_by(session_id: str, parent_session_id: str | None = None) -> tuple[str, ...]:
    """The ids of the sessions that began a session: its parent, and those whose ids its own or its parent's extends."""
    names = dict.fromkeys(name for name in (parent_session_id,) if name)
    for name in (parent_session_id or "", session_id):
        while _MARK in name:
            name = name.rpartition(_MARK)[0]
            names[name] = None
    return tuple(names)


def descendants(parents: Iterable[tuple[str, str | None]], sessions: Collection[str]) -> set[str]:
    """The sessions that some sessions began, on all levels. In: (session id, parent's id) of all that are known."""
    begun = [(name, begun_by(name, parent)) for name, parent in parents]
    found = {*sessions}
    before = 0
    while len(found) > before:  # one more level each time; a circle of parents ends it, too
        before = len(found)
        found |= {name for name, by in begun if not found.isdisjoint(by)}
    return found.difference(sessions)
