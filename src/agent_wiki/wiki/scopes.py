"""How a page's `scope` is written, and which repository a row of the index holds for alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REPOSITORY = "repository"
_OF_ONE = f"{REPOSITORY}:"


def repository_of_row(row: Mapping[str, Any]) -> str | None:
    """The repository for which alone a row of the index holds; None where it holds for more, or nobody knows."""
    scope = row.get("scope")
    return scope.removeprefix(_OF_ONE) if isinstance(scope, str) and scope.startswith(_OF_ONE) else None
