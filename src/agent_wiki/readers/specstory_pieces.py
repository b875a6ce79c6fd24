"""Calls of Cursor as SpecStory wrote them before it named the tool: pieces of a reply, each between two rules.

A piece is a call only as a whole: a shell's fence, alone or with its output in a second one; `Read file:`; `<details>`
about an edited file, a listed folder or a search; what the editor said when it refused an edit; the changes of an edit,
each in a fence, of a file that is not named. (Read after public histories of spring and summer 2025.)
"""

from __future__ import annotations

import html
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from agent_wiki.readers.specstory_tools import taken_apart
from agent_wiki.trajectory.lazily import regex

RULE = "---"
_SHELL = regex(r"```(?:bash|sh|shell|zsh|powershell|pwsh|cmd)\s*")
_FENCE = "```"
_DIFF = "```diff"
_DETAILS_END = "</details>"
_READ = regex(r"Read file: (\S.{0,400})")
_SUMMARY = regex(
    r"<summary>(Edit file: |Listed directory |Searched codebase |Grep search for )(.{1,400}?)(?: • .{0,100})?</summary>"
)
_SEARCHES = {"Searched": "codebase_search", "Grep": "grep_search"}  # by the first word of what is said of them
_REFUSED_EDIT = (
    "The string to replace was not found in the file",
    "The model provided an ambiguous search string to replace",
    "Invalid: old_string and new_string are exactly the same",
    "Could not find file ",
)
_UNKNOWN = "undefined"

Shown = tuple[str, dict[str, Any], str | None]  # a call's name, its arguments as far as they are shown, its result


class Pieces:
    """The lines of one reply, and the calls among its pieces."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._marks: dict[str, list[int]] = {_FENCE: [], _DETAILS_END: []}  # where a line is nothing but that mark
        for at, line in enumerate(lines):
            if (mark := line.strip()) in self._marks:
                self._marks[mark].append(at)
        # A line of a diff may be nothing but a fence as well; it begins with a sign or a blank.
        self._at_margin = [at for at, line in enumerate(lines) if line.rstrip() == _FENCE]
        self._last = {mark: [at for at in places if self._ends(at + 1)] for mark, places in self._marks.items()}

    def call(self, at: int) -> tuple[Shown, int] | None:
        """The call that the piece from line `at` on shows, and the line after it; None for the reply's words."""
        start = self._next_text(at)
        if start == len(self.lines):
            return None
        first = self.lines[start].strip()
        if _SHELL.fullmatch(first):
            return self._command(start)
        if first == _DIFF:
            return self._changes(start)
        if first == "<details>" or first.startswith("<details><summary>"):
            return self._details(start)
        if not self._ends(start + 1):
            return None
        if read := _READ.fullmatch(first):
            return ("read_file", _file(read[1]), None), start + 1
        return (("edit_file", {}, first), start + 1) if first.startswith(_REFUSED_EDIT) else None

    def thinks(self, at: int) -> bool:
        """Whether the piece from line `at` on begins with a thought."""
        start = self._next_text(at)
        return start < len(self.lines) and self.lines[start].startswith("<think>")

    def _command(self, start: int) -> tuple[Shown, int] | None:
        """A command, and its output where a second fence holds it."""
        closing = _first_after(self._marks[_FENCE], start)
        if closing is None:
            return None
        call = {"command": "\n".join(self.lines[start + 1 : closing])}
        if self._ends(closing + 1):
            return ("run_terminal_cmd", call, None), closing + 1
        opening = self._next_text(closing + 1)
        end = _first_after(self._last[_FENCE], opening) if self.lines[opening].strip() == _FENCE else None
        if end is None:
            return None
        return ("run_terminal_cmd", call, html.unescape("\n".join(self.lines[opening + 1 : end]).strip())), end + 1

    def _changes(self, start: int) -> tuple[Shown, int] | None:
        """An edit: fences with changes and nothing else."""
        changes: list[str] = []
        at = start
        while at < len(self.lines) and self.lines[at].rstrip() == _DIFF:
            closing = _first_after(self._at_margin, at)
            if closing is None:
                return None
            changes.append("\n".join(self.lines[at + 1 : closing]))
            at = self._next_text(closing + 1)
        return (("edit_file", {"diff": "\n".join(changes)}, ""), at) if self._ends(at) else None

    def _details(self, start: int) -> tuple[Shown, int] | None:
        end = _first_after(self._last[_DETAILS_END], start)
        about = _SUMMARY.search("\n".join(self.lines[start : start + 3])) if end is not None else None
        if end is None or about is None:
            return None
        fences, rest = taken_apart(self.lines[start + 1 : end])
        if about[1].startswith("Edit"):
            diffs = "\n".join(fence.text for fence in fences)
            return ("edit_file", {**_file(about[2]), **({"diff": diffs} if diffs else {})}, ""), end + 1
        listed = "\n".join([_SUMMARY.sub("", rest).strip(), *(fence.text for fence in fences)]).strip()
        if (name := _SEARCHES.get(about[1].split()[0])) is not None:
            query = html.unescape(about[2]).removeprefix('"').removesuffix('"')
            return (name, {"query": query}, listed or None), end + 1
        return ("list_dir", _file(about[2]), listed or None), end + 1

    def _ends(self, at: int) -> bool:
        """Whether nothing but blank lines stands from line `at` to the next rule."""
        after = self._next_text(at)
        return after == len(self.lines) or self.lines[after].strip() == RULE

    def _next_text(self, at: int) -> int:
        return next((place for place in range(at, len(self.lines)) if self.lines[place].strip()), len(self.lines))


def _file(path: str) -> dict[str, str]:
    return {} if path == _UNKNOWN else {"file_path": path}


def _first_after(places: list[int], at: int) -> int | None:
    found = bisect_right(places, at)
    return places[found] if found < len(places) else None
