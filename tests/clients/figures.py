"""What the model sent and what was read of it, as figures that have to be equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_wiki.trajectory import Trajectory

Figures = dict[str, int]


def figures_sent(lines: Sequence[Mapping[str, Any]]) -> Figures:
    """Replies, calls, failed calls and tokens of what was sent. One protocol alone has tokens of a cache write."""
    calls = [call for line in lines for call in line["calls"]]
    kinds = ["plain", "cached", "output", *(["written"] if any(line["wire"] == "anthropic" for line in lines) else [])]
    tokens = {kind: sum(line["tokens"][kind] for line in lines) for kind in kinds}
    return {
        "replies": len(lines),
        "calls": len(calls),
        "errors": sum(call["fails"] for call in calls),
        "thoughts": sum(line["has_thinking"] for line in lines),
        **tokens,
    }


def figures_read(trajectories: Sequence[Trajectory]) -> Figures:
    """The same of what was read. A kind of tokens that a program does not record is left out: unknown is not zero."""
    messages = [message for each in trajectories for message in each.messages]
    replies = [message for message in messages if message.role == "assistant"]
    usages = [each.source.usage for each in trajectories if each.source.usage is not None]
    tokens = {
        "plain": [usage.input_tokens for usage in usages],
        "cached": [usage.cache_read_input_tokens for usage in usages],
        "written": [usage.cache_creation_input_tokens for usage in usages],
        "output": [usage.output_tokens for usage in usages],
    }
    return {
        "replies": len(replies),
        "calls": sum(len(message.tool_calls) for message in replies),
        "errors": sum(bool(message.is_error) for message in messages),
        "thoughts": sum(bool(message.thinking) for message in replies),
        **{kind: sum(filter(None, each)) for kind, each in tokens.items() if any(count is not None for count in each)},
    }
