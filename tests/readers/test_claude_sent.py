"""Real sessions of Claude Code 2.1.330: what the readers find against what the model server sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.readers.lines import recorded_lines
from tests.readers.sent import Reply, differences, failed_calls, read, recordings, served

CLIENT = "claude-code"
ADDED = {"Edit": {"replace_all": False}}  # Claude Code completes these arguments before it records the call
TRANSCRIPTS = recordings(CLIENT, "headless", "interactive", "mined-skills", "wiki-use")


def own_replies(path: Path) -> list[Reply]:
    """The replies of a transcript without those that `/branch` copied from the session that it left."""
    origins = {line["forkedFrom"]["sessionId"] for line in recorded_lines(path) if "forkedFrom" in line}
    copied = [reply for origin in origins for reply in served(CLIENT, path.with_name(f"{origin}.jsonl"))]
    return [reply for reply in served(CLIENT, path) if reply not in copied]


def recorded_failures(path: Path) -> list[str]:
    """The ids of the results that a transcript flags as errors, by plain `json`; a refused call is no failure."""
    own = [line for line in recorded_lines(path) if "forkedFrom" not in line]
    results = [block for line in own for block in blocks(line) if block.get("type") == "tool_result"]
    flagged = [block for block in results if block.get("is_error")]
    return [block["tool_use_id"] for block in flagged if not str(block["content"]).startswith("The user doesn't want")]


def blocks(line: dict[str, Any]) -> list[dict[str, Any]]:
    content = line.get("message", {}).get("content") if line.get("type") == "user" else None
    return content if isinstance(content, list) else []


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem[:8])
def test_a_transcript_is_read_as_it_was_sent(path: Path) -> None:
    trajectories = read(path)
    assert differences(trajectories, own_replies(path), defaults=ADDED) == []
    failed = [message.tool_call_id for each in trajectories for message in each.messages if message.is_error]
    assert failed == recorded_failures(path)


def test_the_comparison_sees_a_reply_and_a_call_that_are_missing() -> None:
    path = next(path for path in TRANSCRIPTS if path.stem.startswith("2f69d42e"))
    (trajectory,) = read(path)
    assert failed_calls(trajectory) == ["cat no-such-file.txt"]
    replies = own_replies(path)
    first = next(message for message in trajectory.messages if message.role == "assistant")
    removed = first.tool_calls.pop()
    assert [line for line in differences([trajectory], replies, defaults=ADDED) if removed.name in line]
    trajectory.messages.remove(first)
    found = differences([trajectory], replies, defaults=ADDED)
    assert found[0] == f"{len(replies) - 1} replies read, {len(replies)} sent"
    trajectory.source.usage = None
    assert differences([trajectory], replies, defaults=ADDED)[-1].startswith("read {}, sent {'input_tokens'")
