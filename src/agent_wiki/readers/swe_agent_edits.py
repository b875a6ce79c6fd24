"""SWE-agent's editor: it has one file open, and its `edit` names lines of that file, not the file itself.

What it shows after each command says which file is open. With that an edit gets its `path`, as the editing tools of
other agents have it; an edit that was written as text gets the arguments of the native call.
"""

from __future__ import annotations

import re

from agent_wiki.readers.chat_messages import Call
from agent_wiki.trajectory.json_text import object_in
from agent_wiki.trajectory.lazily import regex

NOT_APPLIED = "Your proposed edit has introduced new syntax error"
"""How the editor begins its answer to an edit that it took back."""
_SHOWN = regex(r"^\[File: ([^\n]{1,300}?) \(\d+ lines total\)\]\r?$", re.MULTILINE)
_OPEN = regex(r"^\(Open file: ([^\n]{1,300})\)\r?$", re.MULTILINE)
_EDIT = regex(r"\s*edit (\d{1,7}):(\d{1,7})\r?\n(.*?)\r?\n?end_of_edit\s*", re.DOTALL)
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
        return (result or "").startswith(NOT_APPLIED)

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
        edit = _EDIT.fullmatch(action)
        if edit is None or self._open is None:
            return (None, "bash", {"command": action})
        lines = {"start_line": int(edit[1]), "end_line": int(edit[2]), "replacement_text": edit[3]}
        return (None, "edit", {"path": self._open, **lines})
