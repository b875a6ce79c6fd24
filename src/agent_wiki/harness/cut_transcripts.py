"""A transcript that is shorter than what is saved of its session: it was cut off, or compacted in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from agent_wiki.trajectory import Message, Trajectory

_OF_THE_HARNESS = ("compaction", "injected")


def says_nothing_new(state: Trajectory, saved: Trajectory) -> bool:
    """Whether all that was said in `state` is in `saved`, of which its last words may be a beginning.

    A summary that the harness wrote in the place of turns is nothing that was said.
    """
    said = [each for each in state.messages if each.mark not in _OF_THE_HARNESS]
    new = Counter(map(_said, said)) - Counter(map(_said, saved.messages))
    return not new or (new.total() == 1 and _said(said[-1]) in new and _is_beginning(said[-1], saved.messages))


def is_compacted(state: Trajectory) -> bool:
    """Whether the harness wrote a summary in the place of turns."""
    return any(each.mark == "compaction" for each in state.messages)


def joined(state: Trajectory, saved: Trajectory) -> Trajectory:
    """`state` with the saved turns that its compaction took away: all that is saved, then what `state` adds to it.

    The turns that a compaction keeps are the last ones of what is saved; they are there once.
    """
    is_saved = Counter(map(_said, saved.messages))
    before = [_said(each) for each in saved.messages if each.mark not in _OF_THE_HARNESS]
    said = [_said(each) for each in state.messages if each.mark not in _OF_THE_HARNESS]
    most = min(len(before), len(said))
    kept = next((count for count in range(most, 0, -1) if before[-count:] == said[:count]), 0)
    added = []
    for message in state.messages:
        if message.mark in _OF_THE_HARNESS:
            is_new = _said(message) not in is_saved
        else:
            is_new, kept = kept == 0, max(kept - 1, 0)
        added += [message] if is_new else []
    return replace(state, messages=[*saved.messages, *added])


def _said(message: Message) -> tuple[str, str | None, tuple[tuple[str, str], ...]]:
    """Without ids and marks: a call whose result was cut off is marked."""
    return message.role, message.content, tuple((call.name, call.arguments) for call in message.tool_calls)


def _is_beginning(last: Message, messages: Iterable[Message]) -> bool:
    said = last.content or ""
    return not last.tool_calls and any(
        each.role == last.role and (each.content or "").startswith(said) for each in messages
    )
