"""What the model sent and what was read of it, as figures that have to be equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_wiki.trajectory import Trajectory

Figures = dict[str, int]


def figures_sent(lines: Sequence[Mapping[str, Any]]) -> Figures:
    """Replies, calls, failed calls and tokens of what was sent. One protocol alone has tokens of a cache write."""
    calls = [call for line in lines for call in line["calls"]]
    tokens = {kind: sum(line["tokens"][kind] for line in lines) for kind in ("plain", "cached", "output")}
    return {
        "replies": len(lines),
        "calls": len(calls),
        "errors": sum(call["fails"] for call in calls),
        "thoughts": sum(line["has_thinking"] for line in lines),
        **tokens,
        "written": sum(line["tokens"]["written"] for line in lines if line["wire"] == "anthropic"),
    }


def figures_read(trajectories: Sequence[Trajectory]) -> Figures:
    """The same of what was read."""
    messages = [message for each in trajectories for message in each.messages]
    replies = [message for message in messages if message.role == "assistant"]
    usages = [each.source.usage for each in trajectories if each.source.usage is not None]
    return {
        "replies": len(replies),
        "calls": sum(len(message.tool_calls) for message in replies),
        "errors": sum(bool(message.is_error) for message in messages),
        "thoughts": sum(bool(message.thinking) for message in replies),
        "plain": sum(usage.input_tokens or 0 for usage in usages),
        "cached": sum(usage.cache_read_input_tokens or 0 for usage in usages),
        "output": sum(usage.output_tokens or 0 for usage in usages),
        "written": sum(usage.cache_creation_input_tokens or 0 for usage in usages),
    }
