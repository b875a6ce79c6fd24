"""OpenCode sessions as `opencode export` writes them: one JSON document with the session's `info` and its messages.

A session that was forked begins with copies of the messages before, with their old times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.chat_values import mapping, objects
from agent_wiki.readers.opencode_turns import OpenCodeTurns, is_older
from agent_wiki.readers.recorded import text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Trajectory

FORMAT = "opencode"


def claims(sample: Sample) -> bool:
    """A document with a session's `info` and messages of `info` and `parts`."""
    records = sample.records()
    if sample.shape != "document" or len(records) != 1 or not isinstance(records[0].get("messages"), list):
        return False
    info = mapping(records[0].get("info"))
    return isinstance(info.get("id"), str) and ("projectID" in info or "directory" in info)


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a document. Raises `UnreadableRecording` when it has no messages of its own."""
    document = mapping(recording.document())
    messages = ((mapping(each.get("info")), objects(each.get("parts"))) for each in objects(document.get("messages")))
    trajectory = session(mapping(document.get("info")), messages)
    if not trajectory.messages and "inherited_turns" not in (trajectory.source.hygiene or {}):
        raise UnreadableRecording(recording.name, "a session without messages")
    yield trajectory


def session(info: dict[str, Any], messages: Any) -> Trajectory:
    """The trajectory of a session from its `info` and its messages, each as `(info, parts)`."""
    turns = OpenCodeTurns(FORMAT)
    inherited = 0
    for each, parts in messages:
        if is_older(each, mapping(info.get("time")).get("created")):
            inherited += 1
        else:
            turns.add(each, parts)
    source = turns.source
    source.cwd = text_or_none(info.get("directory"))
    source.title = text_or_none(info.get("title"))
    source.agent_version = text_or_none(info.get("version"))
    source.parent_session_id = text_or_none(info.get("parentID"))
    source.hygiene = {"inherited_turns": inherited} if inherited else {}
    return turns.trajectory(str(info.get("id")))
