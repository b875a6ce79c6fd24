"""A transcript that is not what is saved of its session and more: it was cut off, or compacted in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent_wiki.trajectory import Message, Trajectory

_Said = tuple[str, str, tuple[tuple[str, str], ...]]  # role, content, and the calls by name and arguments

_COMPACTION = "compaction"


def says_nothing_new(state: Trajectory, saved: Trajectory) -> bool:
    """Whether all that was said in `state` is in `saved`, of which its last words may be a beginning.

    A summary that the harness wrote in the place of turns is nothing that was said.
    """
    said = [each for each in state.messages if _is_said(each)]
    new = Counter(map(_said, said)) - Counter(map(_said, saved.messages))
    return not new or (new.total() == 1 and _said(said[-1]) in new and _is_beginning(said[-1], saved.messages))


def has_summary(state: Trajectory) -> bool:
    """Whether the harness wrote a summary, in the place of turns or behind them."""
    return _summary_at(state.messages) < len(state.messages)


def is_compacted(state: Trajectory, saved: Trajectory) -> bool:
    """Whether turns that `saved` has ahead of the first summary of `state` were taken out for it.

    Most agents write a summary behind the turns and keep them. What was ahead of a summary that is saved is known. Of a
    new one it took turns out if the two do not begin alike, or if the end of what is saved is kept behind it: turns
    that are missing otherwise were undone.
    """
    at = _summary_at(state.messages)
    if at == len(state.messages):
        return False
    ahead, before = state.messages[:at], _ahead_of(state.messages[at], saved.messages)
    if len(before) < len(saved.messages):
        return bool(Counter(_compared(before)) - Counter(_compared(ahead)))
    return _compared(ahead)[:1] != _compared(before)[:1] or _kept(state.messages[at:], before) > 0


def joined(state: Trajectory, saved: Trajectory) -> Trajectory:
    """`state`, which `is_compacted`, with the saved turns that were ahead of its first summary.

    The turns that a compaction keeps are there once, as they are saved: those ahead of the summary, and those directly
    behind it if they are the last ones of what is saved. Of a tool's result it may have kept less.
    """
    at = _summary_at(state.messages)
    before = _ahead_of(state.messages[at], saved.messages)
    compared, exact = set(_compared(before)), set(map(_said, before))
    kept = _kept(state.messages[at:], before)
    added = [each for each in state.messages[:at] if _is_said(each) and _without_result(each) not in compared]
    for message in state.messages[at:]:
        if _is_said(message):
            is_new, kept = kept == 0, max(kept - 1, 0)
        else:
            is_new = _said(message) not in exact
        added += [message] if is_new else []
    return replace(state, messages=[*before, *added])


def _summary_at(messages: Sequence[Message]) -> int:
    """Where the first summary is; behind the last message if there is none."""
    return next((at for at, each in enumerate(messages) if each.mark == _COMPACTION), len(messages))


def _ahead_of(summary: Message, saved: Sequence[Message]) -> Sequence[Message]:
    """What is saved ahead of a summary; all of it if the summary is not saved."""
    return saved[: next((at for at, each in enumerate(saved) if _said(each) == _said(summary)), len(saved))]


def _kept(behind: Sequence[Message], before: Sequence[Message]) -> int:
    """How many of the first messages that were said behind a summary are the last ones of `before`."""
    now, then = _compared(behind), _compared(before)
    for count in range(min(len(now), len(then)), 0, -1):
        # The ends first, for slices of a long session take time.
        if then[-count] == now[0] and then[-1] == now[count - 1] and then[-count:] == now[:count]:
            return count
    return 0


def _is_said(message: Message) -> bool:
    """Whether a person, the agent or a tool said it, not the harness."""
    return message.role != "system" and message.mark not in (_COMPACTION, "injected")


def _compared(messages: Iterable[Message]) -> list[_Said]:
    """What was said, but for results: some programs clear the old ones."""
    return [_without_result(each) for each in messages if _is_said(each)]


def _without_result(message: Message) -> _Said:
    return ("tool", "", ()) if message.role == "tool" else _said(message)


def _said(message: Message) -> _Said:
    """Without ids and marks: a call whose result was cut off is marked."""
    return message.role, message.content or "", tuple((call.name, call.arguments) for call in message.tool_calls)


def _is_beginning(last: Message, messages: Iterable[Message]) -> bool:
    said = last.content or ""
    return not last.tool_calls and any(
        each.role == last.role and (each.content or "").startswith(said) for each in messages
    )
