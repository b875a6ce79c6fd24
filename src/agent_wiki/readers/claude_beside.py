"""Files that Claude Code keeps in the folder of a session beside the recordings of its subagents.

    <session id>/subagents/agent-<id>.jsonl      a recording
    <session id>/subagents/agent-<id>.meta.json  how the subagent was started
    <session id>/tool-results/…                  an output too long for the session's own file, where its start is

They belong to a recording and are none, so no report lists them as passed over.
"""

from __future__ import annotations

import re

from agent_wiki.readers.recording_path import RecordingPath

_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEPT = {
    "subagents": (re.compile(r"agent-.*\.meta\.json"), "how Claude Code started the subagent beside it"),
    "tool-results": (re.compile(r".*"), "an output of a session of Claude Code that has its start"),
}


def part_of_session(path: RecordingPath) -> str | None:
    """What a file is that belongs to a session and is no recording; None for any other file."""
    folder = path.parent
    name, meaning = _KEPT.get(folder.name, (None, ""))
    if name is None or not name.fullmatch(path.name) or not _SESSION.fullmatch(folder.parent.name):
        return None
    return meaning
