"""What an exported session of a coding agent has beside chat messages: where it ran, and its subagents.

A subagent's messages are among the session's own, with roles such as `assistant-subagent-a152`, its prompt and
results too; `_metadata` has the role that each had before, and its time. `meta.session_meta` has what the session's
own file began with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agent_wiki.readers.claude_blocks import result_mark
from agent_wiki.readers.recorded import iso_utc, mapping, text_or_none
from agent_wiki.trajectory import Message, Source
from agent_wiki.trajectory.lazily import regex

_ROLE = regex(r"(system|user|assistant|tool)-subagent-([\w.-]{1,80})")
_ROLES = frozenset({"system", "user", "assistant", "tool"})


def role_of(message: dict[str, Any]) -> str | None:
    """The role of a message, of a subagent's without what names the subagent; None when it has none."""
    role = message.get("role")
    named = _subagents_role(message)
    return named[1] if named else role if isinstance(role, str) else None


def apart(messages: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """The messages of the session itself, and those of each subagent by its id, with roles of their own."""
    own: list[dict[str, Any]] = []
    subagents: dict[str, list[dict[str, Any]]] = {}
    for message in messages:
        named = _subagents_role(message)
        if named is None:
            own.append(message)
            continue
        known = subagents.setdefault(named[2], [])
        known.append(message | {"role": _role_before(message, named[1], is_first=not known)})
    return own, subagents


def _subagents_role(message: dict[str, Any]) -> re.Match[str] | None:
    """A role that names a subagent: its own role, and the subagent's id."""
    role = message.get("role")
    return _ROLE.fullmatch(role) if isinstance(role, str) and "-subagent-" in role else None


def _role_before(message: dict[str, Any], named: str, *, is_first: bool) -> str:
    """The role that a subagent's message had: the recorded one, else the one that its fields imply."""
    recorded = mapping(message.get("_metadata")).get("original_role")
    if isinstance(recorded, str) and recorded in _ROLES:
        return recorded
    if message.get("tool_call_id"):
        return "tool"
    return "user" if is_first and not message.get("tool_calls") else named


def session_meta(envelope: dict[str, Any]) -> dict[str, Any]:
    """What the recorded file said of its session; empty when the export does not have it."""
    return mapping(mapping(envelope.get("meta")).get("session_meta"))


def add_surroundings(source: Source, session: dict[str, Any]) -> Source:
    """`source` with where the session ran, and the version of its agent."""
    source.agent_version = text_or_none(session.get("version")) or text_or_none(session.get("cli_version"))
    source.cwd, source.git_branch = text_or_none(session.get("cwd")), text_or_none(session.get("git_branch"))
    return source


def first_time(messages: list[dict[str, Any]]) -> str | None:
    """When the first message with a recorded time was said, ISO 8601 in UTC."""
    times = (iso_utc(mapping(message.get("_metadata")).get("timestamp")) for message in messages)
    return next((time for time in times if time), None)


def mark_refusals(messages: Sequence[Message]) -> None:
    """Mark the results by which Claude Code says that the user refused a call, in place.

    Only of tools that return nothing but the program's own words: what a command printed may say the same. Of such a
    result that was recorded as a failure it is not known who refused it.
    """
    calls: dict[str, str] = {}  # an id may be used again: a result is of the last call before it
    for message in messages:
        calls |= {call.id: call.name for call in message.tool_calls}
        if message.role != "tool" or message.mark is not None:
            continue
        mark = result_mark(message.content or "", calls.get(message.tool_call_id or "", ""), is_refusal=False)
        if mark == "rejected" or (mark == "denied" and message.is_error):
            message.mark, message.is_error = mark, None
