"""Real sessions of Claude Code 2.1.330: what the readers find against what the model server sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.trajectory import Trajectory
from tests.readers.lines import only, recorded_lines
from tests.readers.sent import (
    CLIENTS,
    Reply,
    differences,
    failed_calls,
    read,
    recordings,
    replies_in,
    served,
    total,
)

CLIENT = "claude-code"
ADDED = {"Edit": {"replace_all": False}}  # Claude Code completes these arguments before it records the call
TRANSCRIPTS = recordings(CLIENT, "headless", "interactive", "mined-skills", "wiki-use")


def transcript(beginning: str) -> Path:
    return next(path for path in TRANSCRIPTS if path.stem.startswith(beginning))


def origin_of(line: dict[str, Any]) -> str | None:
    """The session that a line was copied from: by `/branch`, which says so, or by `--fork-session`."""
    if "forkedFrom" in line:
        return str(line["forkedFrom"]["sessionId"])
    asked_by = line.get("requestSessionId")
    return str(asked_by) if asked_by not in (None, line.get("sessionId")) else None


def own_replies(path: Path) -> list[Reply]:
    """The replies of a transcript without those that were copied from the session that it left."""
    origins = {origin for line in recorded_lines(path) if (origin := origin_of(line))}
    copied = [reply for origin in origins for reply in served(CLIENT, path.with_name(f"{origin}.jsonl"))]
    return [reply for reply in served(CLIENT, path) if reply not in copied]


def recorded_failures(path: Path) -> list[str]:
    """The ids of the results that a transcript flags as errors, by plain `json`; a refused call is no failure."""
    lines = recorded_lines(path)
    copied = max((number for number, line in enumerate(lines, start=1) if origin_of(line)), default=0)
    results = [block for line in lines[copied:] for block in blocks(line) if block.get("type") == "tool_result"]
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
    path = transcript("2f69d42e")
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


def usage(trajectory: Trajectory) -> dict[str, int]:
    return total([trajectory.source.usage])


def test_a_fork_and_its_origin_share_no_turn_and_no_token() -> None:
    """`--fork-session` copies turns under their old uuids; only `requestSessionId` tells whose they are."""
    origin, fork = (only(read(transcript(name))) for name in ("e459f914", "8e21d3d9"))
    assert fork.source.forked_from == origin.session_id
    calls = [{call.id for message in each.messages for call in message.tool_calls} for each in (origin, fork)]
    assert all(calls)
    assert not calls[0] & calls[1]
    replies = {reply.at: reply for name in ("e459f914", "8e21d3d9") for reply in served(CLIENT, transcript(name))}
    assert total([origin.source.usage, fork.source.usage]) == total(reply.usage for reply in replies.values())
    assert fork.source.cost_usd is None  # its running cost goes on from its origin's


@pytest.mark.parametrize(
    ("transcript_id", "capture"),
    [("2f69d42e", "parallel"), ("a3d93b14", "multi"), ("ef9f0349", "subagent")],
)
def test_what_claude_printed_is_what_it_recorded(transcript_id: str, capture: str) -> None:
    """But for the prompts, which are recorded alone."""
    recorded = read(transcript(transcript_id))[0]
    printed = read(CLIENTS / CLIENT / "stream-json" / f"claude-{capture}.stream.jsonl")[0]
    assert printed.session_id == recorded.session_id
    assert replies_in(printed) == replies_in(recorded)
    assert usage(printed) == usage(recorded)
    assert printed.source.cost_usd == recorded.source.cost_usd


@pytest.mark.parametrize("path", recordings(CLIENT, "stream-json"), ids=lambda path: path.stem)
def test_a_capture_is_read_as_it_was_sent(path: Path) -> None:
    """The session's own replies, then those of its subagent, each with its tokens."""
    trajectories = read(path)
    replies = served(CLIENT, path)
    helpers = [reply for reply in replies if reply.scenario == "helper"]
    own = [reply for reply in replies if reply not in helpers]
    for trajectory, wanted in zip(trajectories, [own, helpers], strict=False):
        assert differences([trajectory], wanted, defaults=ADDED) == []
    assert len(trajectories) == 1 + bool(helpers)
