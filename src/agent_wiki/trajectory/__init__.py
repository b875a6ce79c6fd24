"""The normalized trajectory: one recorded session as turns, and its counts and citations."""

from __future__ import annotations

from agent_wiki.trajectory.model import (
    HYGIENE,
    SCHEMA_VERSION,
    Message,
    MessageMark,
    Role,
    Source,
    ToolCall,
    Trajectory,
    Usage,
    digest,
    envelope_chunks,
    message_to_json,
    without_surrogates,
)

__all__ = [
    "HYGIENE",
    "SCHEMA_VERSION",
    "Message",
    "MessageMark",
    "Role",
    "Source",
    "ToolCall",
    "Trajectory",
    "Usage",
    "digest",
    "envelope_chunks",
    "message_to_json",
    "without_surrogates",
]
