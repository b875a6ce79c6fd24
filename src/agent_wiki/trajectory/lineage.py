"""Whether two recordings hold one session under two ids."""

from __future__ import annotations

import hashlib

from agent_wiki.trajectory import Trajectory, message_to_json


def _is_given(call_id: str) -> bool:
    """Whether a service assigned the id. `call_001`, `c1` and the like restart in each session."""
    return len(call_id) >= 12 and len(set(call_id)) >= 8 and any(each.isdigit() for each in call_id)


def lineage(trajectory: Trajectory) -> str | None:
    """12 hex digits over the opening of a session up to the agent's first reply with calls, including their ids.

    Two recordings with the same lineage are one session under two ids (a fork, a copy), because the call ids of
    a model's service do not repeat between sessions. None if the opening has no such id: two trials of
    one task may begin with exactly the same words.
    """
    calls = next((message.tool_calls for message in trajectory.messages if message.tool_calls), [])
    if not any(_is_given(call.id) for call in calls):
        return None
    hasher = hashlib.sha256()
    for message in trajectory.messages:
        if message.role == "system":
            continue
        hasher.update(repr(message_to_json(message)).encode("utf-8", "replace"))
        if message.role == "assistant" and message.tool_calls:
            break
    return hasher.hexdigest()[:12]
