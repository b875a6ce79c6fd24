"""Changes of files as lines of a diff: what an agent's editing tools were given, and results that are one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from agent_wiki.site.shown_text import visible
from agent_wiki.trajectory.lazily import dataclass

LineKind = Literal["added", "removed", "place", "same", "cut"]

_MOST_LINES = 120
_MOST_COMPARED = 400  # lines on either side; comparing takes their product
_MOST_LINE = 400
_PATCH = re.compile(r"^(?:diff --git |\*\*\* Begin Patch|--- [^\n]{1,400}\n\+\+\+ )", re.MULTILINE)
_HUNK = re.compile(r"^(?:@@ |\*\*\* (?:Add|Update|Delete) File)", re.MULTILINE)
_SIGNS: Mapping[str, LineKind] = {"+": "added", "-": "removed", "@": "place", "*": "place"}
_FORMER, _NEWER = ("old_string", "old_str", "old_text"), ("new_string", "new_str", "new_text")
_WHOLE = ("content", "file_text", "contents")
_PATCHES = ("patch", "input", "diff")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff; `place` says where in a file the next ones are."""

    kind: LineKind
    text: str


def diff_of_call(arguments: Mapping[str, Any]) -> list[DiffLine]:
    """The change that a call of an editing tool makes, as far as its arguments show one; else nothing."""
    changes = list(_changes(arguments))
    edits = arguments.get("edits")
    for each in edits if isinstance(edits, list) else ():
        if isinstance(each, dict):
            changes += [DiffLine("place", "@@")] if changes else []
            changes += _changes(each)
    return _cut(changes)


def diff_in(text: str) -> list[DiffLine]:
    """The lines of a text that is a diff or a patch; else nothing."""
    if not _PATCH.search(text[:2_000]) or not _HUNK.search(text[:20_000]):
        return []
    return _cut([_line(line) for line in text.split("\n")])


def _changes(arguments: Mapping[str, Any]) -> Iterator[DiffLine]:
    former, newer = _text(arguments, _FORMER), _text(arguments, _NEWER)
    if former is not None and newer is not None:
        yield from _compared(former.splitlines(), newer.splitlines())
    elif (patch := _text(arguments, _PATCHES)) is not None and _PATCH.search(patch[:2_000]):
        yield from (_line(line) for line in patch.split("\n"))
    elif (whole := _text(arguments, _WHOLE)) is not None and newer is None:
        yield from (DiffLine("added", line) for line in whole.splitlines())


def _text(arguments: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((value for name in names if isinstance(value := arguments.get(name), str)), None)


def _compared(former: list[str], newer: list[str]) -> Iterator[DiffLine]:
    if max(len(former), len(newer)) > _MOST_COMPARED:
        yield from (DiffLine("removed", line) for line in former)
        yield from (DiffLine("added", line) for line in newer)
        return
    for line in list(difflib.unified_diff(former, newer, lineterm="", n=3))[3:]:
        yield _line(line)


def _line(line: str) -> DiffLine:
    kind: LineKind = _SIGNS.get(line[:1], "same")
    if kind == "place" or line.startswith(("+++ ", "--- ", "diff --git ")):
        return DiffLine("place", line)
    return DiffLine(kind, line[1:] if line[:1] in "+- " else line)


def _cut(lines: Sequence[DiffLine]) -> list[DiffLine]:
    shown = [DiffLine(line.kind, visible(line.text[:_MOST_LINE])) for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        shown.append(DiffLine("cut", f"{len(lines) - _MOST_LINES:,} more lines"))
    return shown
