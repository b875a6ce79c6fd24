"""The patterns of a shell's `case`: `a | b)` names no command, whatever else looks like it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_wiki.shell.syntax import Step

_BEFORE = frozenset({"do", "then", "else", "{", "!"})


def without_patterns(steps: Iterable[Step]) -> Iterator[Step]:
    """Steps without those that are patterns of a `case`; what stands between two patterns is run, or not."""
    depth, is_pattern = 0, False
    for step in steps:
        first = next((word.value for word in step.words if word.value not in _BEFORE), "")
        if first == "case":
            depth, is_pattern = depth + 1, step.after != ")"
        elif first == "esac" and depth:
            depth, is_pattern = depth - 1, False
        elif depth and is_pattern:
            is_pattern = step.after != ")"
            continue
        yield step
        is_pattern = is_pattern or (depth > 0 and step.after == ";;")
