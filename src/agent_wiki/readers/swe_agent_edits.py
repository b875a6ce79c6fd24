"""SWE-agent's editors: one has a file open, whose lines its `edit` names, the other is `str_replace_editor`.

What the first shows after each command says which file is open. With that an edit gets its `path`, as the editing tools
of other agents have it; a command of either that was written as text gets the arguments of the native call.
"""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser
from functools import cache
from typing import Any, NoReturn

from agent_wiki.readers.chat_messages import Call
from agent_wiki.trajectory.json_text import object_in
from agent_wiki.trajectory.lazily import regex

# How the editors begin their answer to an edit that they did not make.
_REFUSED = regex(
    r"(?:OBSERVATION:\s*)?(?:Your proposed edit has introduced new syntax error|No replacement was performed)"
)
_SHOWN = regex(r"^\[File: ([^\n]{1,300}?) \(\d+ lines total\)\]\r?$", re.MULTILINE)
_OPEN = regex(r"^\(Open file: ([^\n]{1,300})\)\r?$", re.MULTILINE)
_EDIT = regex(r"\s*edit (\d{1,7}):(\d{1,7})\r?\n(.*?)\r?\n?end_of_edit\s*", re.DOTALL)
_REPLACES = "str_replace_editor"
_CREATE = regex(r"\s*create (\S{1,300})\s*")


class Editor:
    """Which file is open, from what the editor has shown so far."""

    def __init__(self) -> None:
        self._open: str | None = None

    def shown(self, result: str | None) -> bool:
        """Take note of a result; returns whether it says that an edit was not applied."""
        lines = [*_SHOWN.findall(result or ""), *_OPEN.findall(result or "")]
        if lines:
            self._open = None if lines[-1] == "n/a" else lines[-1]
        return _REFUSED.match(result or "") is not None

    def native(self, call: Call) -> Call:
        """A native call; an edit that names no file gets the one that is open."""
        call_id, name, arguments = call
        given = object_in(arguments) if isinstance(arguments, str) else arguments
        if name != "edit" or not isinstance(given, dict) or self._open is None or "path" in given:
            return call
        return (call_id, name, {"path": self._open, **given})

    def typed(self, action: str) -> Call:
        """A command that was written as text: an edit and a new file as calls of the editor, all else of the shell."""
        if (made := _CREATE.fullmatch(action)) is not None:
            return (None, "create", {"filename": made[1]})
        if action.startswith(_REPLACES) and (given := _words_given(action)):
            return (None, _REPLACES, given)
        edit = _EDIT.fullmatch(action)
        if edit is None or self._open is None:
            return (None, "bash", {"command": action})
        lines = {"start_line": int(edit[1]), "end_line": int(edit[2]), "replacement_text": edit[3]}
        return (None, "edit", {"path": self._open, **lines})


class _Line(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raises instead of ending the process."""
        raise ValueError(message)


@cache
def _line() -> _Line:
    """What reads the arguments of `str_replace_editor`, as that program does."""
    line = _Line(add_help=False, allow_abbrev=False)
    for name in ("command", "path", "--old_str", "--new_str", "--file_text"):
        line.add_argument(name)
    line.add_argument("--insert_line", type=int)
    line.add_argument("--view_range", type=int, nargs=2)
    return line


def _words_given(action: str) -> dict[str, Any] | None:
    """The arguments of a `str_replace_editor` line; None where it is not written as that program reads it."""
    try:
        given = _line().parse_args(shlex.split(action)[1:])
    except ValueError:  # also where a quote is not closed
        return None
    return {name: value for name, value in vars(given).items() if value is not None}
