"""Rules of other packages, found by their entry points in the group `agent_wiki.rules`.

An entry point names a rule or several of them. They are part of what decides an answer, so the packages' versions are
part of the engine's: sessions are mined again when such a package is installed, changed or removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from agent_wiki.engines.offline.rule import AnyRule, GuidelineRule, SkillRule
from agent_wiki.errors import UsageError
from agent_wiki.readers.extensions import extensions, loaded, origin

_GROUP = "agent_wiki.rules"


@cache
def packages_with_rules() -> tuple[str, ...]:
    """What is installed, one line an entry point with the version of its package; nothing is imported."""
    return tuple(
        f"{origin(entry)} {entry.dist.version if entry.dist is not None else ''}"
        for entry in extensions(_GROUP).values()
    )


def extra_rules() -> Iterator[tuple[str, AnyRule]]:
    """Each such rule with its package. Raises `UsageError` for what is not a rule."""
    for entry in extensions(_GROUP).values():
        given = loaded(entry)
        for rule in given if isinstance(given, Iterable) else (given,):
            if not isinstance(rule, GuidelineRule | SkillRule):
                raise UsageError(f"{_GROUP}: {origin(entry)} gives {rule!r}, which is not a rule")
            if rule.example is None:
                raise UsageError(f"{_GROUP}: {origin(entry)} gives {rule.id} without an example")
            yield origin(entry), rule
