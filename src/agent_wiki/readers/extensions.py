"""What other installed packages add to this one, found by their entry points."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from agent_wiki.errors import UsageError


def extensions(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by name, in the order of names. Raises `UsageError` where two have one name."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=lambda each: (each.name, each.value)):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:  # one package on two places of the path is one package
            raise UsageError(
                f"{group}: {origin(other)} and {origin(entry)} are both named {entry.name!r}; uninstall one"
            )
    return found


def origin(entry: EntryPoint) -> str:
    """The package that an entry point is of, and what it names there."""
    package = entry.dist.name if entry.dist is not None else "a package"
    return f"{package} ({entry.value})"


def loaded(entry: EntryPoint) -> Any:
    """What an entry point names. Raises `UsageError` where it cannot be imported."""
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{entry.group}: {origin(entry)} cannot be loaded: {error}") from error
