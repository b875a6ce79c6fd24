"""The tags of guidelines in `_config.yaml`: one plain line each, tens of thousands of them, read and edited by lines.

Only the form in which stages write them is known here: sorted ids, each with a list of plain or quoted words. A section
of any other form is left to the general parser, which needs seconds for so many lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from sys import intern
from typing import Any

from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.yaml_syntax import dump_yaml

_PLAIN = r"(?!(?:null|true|false)[,\]])[a-z][a-z0-9-]*"
_QUOTED = r"'[A-Za-z0-9 ._-]*'"
_LIST = rf"\[(?:{_PLAIN}|{_QUOTED})(?:, (?:{_PLAIN}|{_QUOTED}))*\]|\[\]"
_BLOCK = re.compile(rf"^tags:\n  guideline:\n((?>    '?[0-9a-f]{{12}}'?: (?:{_LIST})\n)+)", re.MULTILINE)

STAND_IN: dict[str, list[str]] = {"lines of guidelines": []}
"""What the section holds in the text without its lines."""
_STAND_IN_LINE = "  guideline: {lines of guidelines: []}\n"


@dataclass(frozen=True, slots=True)
class TagLines:
    """The lines of the section by guideline, in their order; `rest` is the text with a stand-in in their place."""

    rest: str
    lines: dict[str, str]

    def tags(self) -> dict[str, list[str]]:
        """Guideline id → its tags."""
        return {name: _words(line) for name, line in self.lines.items()}

    def text(self, rest: str | None = None) -> str | None:
        """The whole text; with `rest` in the place of its own, None where that has lost the stand-in."""
        rest = self.rest if rest is None else rest
        if rest.count(_STAND_IN_LINE) != 1:
            return None
        return rest.replace(_STAND_IN_LINE, f"  guideline:\n{''.join(self.lines.values())}")

    def edited(self, entries: Mapping[str, Any]) -> str | None:
        """The whole text with lines set, and those that are None taken out; None where no line would be left."""
        kept = {name: line for name, line in self.lines.items() if entries.get(name, line) is not None}
        made = {name: _indented(name, tags) for name, tags in entries.items() if tags is not None}
        lines = {**kept, **made}
        return TagLines(self.rest, {name: lines[name] for name in sorted(lines)}).text() if lines else None


@lru_cache(maxsize=1)
def tag_lines(text: str) -> TagLines | None:
    """The section's lines; None where it has another form, an id twice, or ids that are not sorted."""
    block = _BLOCK.search(text)
    if block is None:
        return None
    found = block[1].splitlines(keepends=True)
    names = [line[5:17] if line[4] == "'" else line[4:16] for line in found]
    if any(left >= right for left, right in pairwise(names)):
        return None
    lines = dict(zip(names, found, strict=True))
    rest = f"{text[: block.start()]}tags:\n{_STAND_IN_LINE}{text[block.end() :]}"
    return TagLines(rest, lines) if rest.count(_STAND_IN_LINE) == 1 else None


def _words(line: str) -> list[str]:
    return list(_words_of(line[line.index("[") + 1 : -2]))


@lru_cache(maxsize=1 << 12)
def _words_of(listed: str) -> tuple[str, ...]:
    return tuple(intern(word.strip("'")) for word in listed.split(", ")) if listed else ()


def _indented(name: str, tags: Any) -> str:
    return "".join(f"    {line}\n" for line in dump_yaml({name: tags}).splitlines())
