"""Sessions of Craft Agents: `sessions/<id>/session.jsonl` of a workspace, a head and then messages.

A message is a turn of the user, words of the agent, or one call with its result. The lines are in the order in which
they were complete, so that a call may stand before the words of its reply; `order` says when each began, and `turnId`
which belong to one reply. (Read after one public session; no documentation was at hand.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.recorded import (
    TOKENS_IN_CAMEL_CASE,
    add_counts,
    flat_text,
    mapping,
    number,
    objects,
    text_or_none,
    usage_of,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Source, Trajectory

FORMAT = "craft-agents"

_ENDED = frozenset({"completed", "error"})


def claims(sample: Sample) -> bool:
    """A head with the folder of a workspace and the number of messages, alone or before messages."""
    return any(map(_is_head, sample.records()))


def _is_head(record: dict[str, Any]) -> bool:
    is_named = isinstance(record.get("id"), str) and isinstance(record.get("workspaceRootPath"), str)
    return is_named and "messageCount" in record and "type" not in record


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a file. Raises `UnreadableRecording` when it has no messages."""
    head: dict[str, Any] = {}
    messages: list[dict[str, Any]] = []
    for record in recording.records():
        if _is_head(record):
            head = head or record
        else:
            messages.append(record)
    builder = TrajectoryBuilder()
    for _, together in groupby(sorted(messages, key=_order), key=_reply):
        _take(builder, list(together))
    recording.expect_messages(builder.messages)
    yield _trajectory(builder, head)


def _order(message: dict[str, Any]) -> float:
    return number(message.get("order")) or 0.0


def _reply(message: dict[str, Any]) -> str:
    """The reply to which words or a call belong; the message's own id for any other."""
    is_of_reply = message.get("type") in ("assistant", "tool")
    return (text_or_none(message.get("turnId")) if is_of_reply else None) or str(message.get("id"))


def _take(builder: TrajectoryBuilder, messages: list[dict[str, Any]]) -> None:
    """Add the messages of one reply, or one of the user or the program."""
    for message in messages:
        builder.note_time(message.get("timestamp"))
    kind, text = messages[0].get("type"), text_or_none(messages[0].get("content"))
    if kind == "user":
        files = [
            flat_text({"type": str(each.get("type") or "file")}) for each in objects(messages[0].get("attachments"))
        ]
        builder.user("\n".join(filter(None, [text, *files])))
    elif kind == "plan":
        builder.assistant(text)
    elif kind in ("assistant", "tool"):
        _take_reply(builder, messages)
    elif text:
        builder.user(text, mark="compaction" if messages[0].get("statusType") == "compaction_complete" else "injected")


def _take_reply(builder: TrajectoryBuilder, messages: list[dict[str, Any]]) -> None:
    words = [text_or_none(each.get("content")) for each in messages if each.get("type") == "assistant"]
    calls = [each for each in messages if each.get("type") == "tool"]
    builder.assistant(
        "\n\n".join(filter(None, words)) or None,
        calls=[(_call_id(each), str(each.get("toolName", "")), each.get("toolInput")) for each in calls],
    )
    for each in calls:
        if str(each.get("toolStatus")) in _ENDED or "toolResult" in each:
            is_error = True if each.get("toolStatus") == "error" else each.get("isError")
            text = flat_text(each.get("toolResult", each.get("content")))
            builder.tool(_call_id(each), text, is_error=is_error if isinstance(is_error, bool) else None)


def _call_id(message: dict[str, Any]) -> str | None:
    return text_or_none(message.get("toolUseId")) or text_or_none(message.get("id"))


def _trajectory(builder: TrajectoryBuilder, head: dict[str, Any]) -> Trajectory:
    tokens: Counter[str] = Counter()
    used = mapping(head.get("tokenUsage"))
    add_counts(tokens, used, TOKENS_IN_CAMEL_CASE)
    builder.note_cost(number(used.get("costUsd")))
    cwd = text_or_none(head.get("sdkCwd")) or text_or_none(head.get("workspaceRootPath"))
    source = Source(FORMAT, title=text_or_none(head.get("name")), cwd=cwd, usage=usage_of(tokens))
    return builder.finish(str(head["id"]), source, agent=FORMAT, model=text_or_none(head.get("model")))
