"""Whether a transcript says less than what is saved of its session: it was cut off, or compacted in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from agent_wiki.trajectory import Message, Trajectory

_OF_THE_HARNESS = ("compaction", "injected")


def says_nothing_new(state: Trajectory, saved: Trajectory) -> bool:
    """Whether all that was said in `state` is in `saved`, of which its last words may be a beginning.

    A summary that the harness wrote in the place of turns is nothing that was said.
    """
    said = [each for each in state.messages if each.mark not in _OF_THE_HARNESS]
    new = Counter(map(_said, said)) - Counter(map(_said, saved.messages))
    return not new or (new.total() == 1 and _said(said[-1]) in new and _is_beginning(said[-1], saved.messages))


def _said(message: Message) -> tuple[str, str | None, tuple[tuple[str, str], ...]]:
    """Without ids and marks: a call whose result was cut off is marked."""
    return message.role, message.content, tuple((call.name, call.arguments) for call in message.tool_calls)


def _is_beginning(last: Message, messages: Iterable[Message]) -> bool:
    said = last.content or ""
    return not last.tool_calls and any(
        each.role == last.role and (each.content or "").startswith(said) for each in messages
    )
