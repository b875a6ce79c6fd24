"""Files that programs keep beside their recordings.

    Claude Code  <session id>/subagents/agent-<id>.meta.json  how the subagent was started
                 <session id>/tool-results/…                  an output too long for the session's own file
    Qwen Code    subagents/<session id>/agent-<id>.meta.json  how the subagent was started
    Gemini CLI   <project>/.project_root                      the project's folder
    OpenCode     opencode.db-wal, opencode.db-shm             the latest of the database, and an index of it
                 message/ses_…/msg_….json, part/msg_…/prt_….json, session_diff/ses_….json, before 1.2
    Crush        crush.db-wal, crush.db-shm                   the same of its database
    Goose        sessions.db-wal, sessions.db-shm             the same of its database
    Droid        <session id>.settings.json                   the session's model and tokens
    OpenHands    events/event-00012-<id>.json                 an event of the conversation whose state lies above it
    Entire       <xx>/<checkpoint>/<n>/metadata.json, …       what a checkpoint keeps beside the session's recording

They belong to a recording and are none, so no report lists them as passed over.

Verdicts are such files too. Whole they are known by their content; half of one by its name. So they are passed over,
but for the report of the SWE-bench harness, which says of recordings beside it whether they solved their task.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agent_wiki.readers.recorded import UUID, mapping
from agent_wiki.readers.recording_path import RecordingPath

_STARTED = re.compile(r"agent-.*\.meta\.json")
_KEPT = {
    "subagents": (_STARTED, "how Claude Code started the subagent beside it"),
    "tool-results": (re.compile(r".*"), "an output of a session of Claude Code that has its start"),
}
_STORED = re.compile(r"message/ses_\w+/msg_\w+\.json|part/msg_\w+/prt_\w+\.json|storage/session_diff/ses_\w+\.json")
_SETTINGS = re.compile(rf"{UUID.pattern}\.settings\.json(?:\.bak)?")
_EVENT = re.compile(r"event-\d{5}[\w-]*\.json")
_OF_CHECKPOINT = re.compile(
    r"(?:.*/)?[0-9a-f]{2}/[0-9a-f]{10}/"
    r"(?:\d{1,5}/(?:metadata\.json|content_hash\.txt|prompt\.txt|context\.md)|metadata\.json)"
)
_NAMED = {
    ".project_root": "the folder of the project whose chats Gemini CLI keeps beside it",
    "opencode.db-wal": "the latest of OpenCode's database beside it",
    "opencode.db-shm": "an index of OpenCode's database beside it",
    "crush.db-wal": "the latest of Crush's database beside it",
    "crush.db-shm": "an index of Crush's database beside it",
    "sessions.db-wal": "the latest of Goose's database beside it",
    "sessions.db-shm": "an index of Goose's database beside it",
}

_VERDICTS = frozenset({"report.json", "reward.json", "task_metadata.json"})
REPORTS = ("report.json", "report.json.gz")
"""The names of such a report."""
_RESULT = "result.json"  # a name that a recording may have as well
_IN_RESULT = ('"trial_name"', '"task_name"')  # of a Harbor trial


def is_verdict(name: str, head: str) -> bool:
    """Whether a damaged file, which begins with `head`, is a verdict about a recording and none itself."""
    return name in _VERDICTS or (name == _RESULT and any(key in head for key in _IN_RESULT))


def is_report(name: str, value: Mapping[str, Any]) -> bool:
    """Whether a document is a report with verdicts: of one instance, or of several by their names."""
    return name in REPORTS and any(isinstance(mapping(each).get("resolved"), bool) for each in (value, *value.values()))


def part_of_session(path: RecordingPath) -> str | None:
    """What a file is that belongs to a recording and is none; None for any other file."""
    folder = path.parent
    if UUID.fullmatch(folder.name) and folder.parent.name == "subagents" and _STARTED.fullmatch(path.name):
        return "how Qwen Code started the subagent beside it"
    name, meaning = _KEPT.get(folder.name, (None, ""))
    if name is not None and name.fullmatch(path.name) and UUID.fullmatch(folder.parent.name):
        return meaning
    if _STORED.fullmatch(f"{folder.parent.name}/{folder.name}/{path.name}"):
        return "a part of a session of OpenCode, in a file of its own"
    if _SETTINGS.fullmatch(path.name):
        return "the model and the tokens of a session of Droid beside it"
    if folder.name == "events" and _EVENT.fullmatch(path.name):
        return "an event of a conversation of OpenHands, whose `base_state.json` stands for all"
    if _OF_CHECKPOINT.fullmatch("/".join(path.parts[-4:])):
        return "what a checkpoint of Entire keeps beside the recording of a session"
    return _NAMED.get(path.name)
