"""The version of the form of a record or a configuration: what is said of one that this program does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_wiki.errors import NewerVersion, UnreadablePage


def check_version(values: Any, name: str, known: int) -> None:
    """Raise `NewerVersion` or `UnreadablePage` where a record is not of the version that this program knows."""
    version: Any = values.get("version") if isinstance(values, Mapping) else None
    if is_newer(version, known):
        raise NewerVersion(name, newer(version, known))
    if version != known:
        raise UnreadablePage(name, f"a record of version {version!r}; this program reads version {known}")


def is_newer(version: Any, known: int) -> bool:
    """Whether a number is that of a version of this program that is still to come."""
    return isinstance(version, int) and version > known


def newer(version: int, known: int) -> str:
    """What is said of a file of such a version."""
    return f"of version {version}, and this program knows version {known}: upgrade agent-wiki"
