"""Values from frontmatter that people and other tools wrote: each is checked for its type, never trusted to have it."""

from __future__ import annotations

from typing import Any


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one, so that lookups can be chained."""
    return value if isinstance(value, dict) else {}


def entries_of(value: Any) -> list[dict[str, Any]]:
    """The mappings in a stored list; none for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def texts_of(value: Any) -> list[str]:
    """The scalars of a stored list as text; a lone scalar counts as a list of one."""
    if isinstance(value, list):
        return [str(each) for each in value if not isinstance(each, list | dict) and each is not None]
    return [] if value is None or value == "" or isinstance(value, dict) else [str(value)]


def whole_number(value: Any, default: int) -> int:
    """A stored whole number; `default` for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def count_or_none(value: Any) -> int | None:
    """A stored whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number_or_none(value: Any) -> float | None:
    """A stored number; None for anything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def truth_or_none(value: Any) -> bool | None:
    """A stored truth value; None for anything else."""
    return value if isinstance(value, bool) else None


def text_or_none(value: Any) -> str | None:
    """A stored scalar as text; None when it is absent."""
    return None if value is None or value == "" else str(value)
