"""Sessions of Craft Agents, on small ones made here in the shape of a real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import craft_agents, detect
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import only, shape, write_lines

HEAD = {
    "id": "260101-warm-lamp",
    "workspaceRootPath": "~/shop",
    "createdAt": 1_767_225_600_000,
    "name": "Run the tests",
    "sdkSessionId": "7b7d1db2-0000-4982-9727-512e1fba5972",
    "sdkCwd": "~/shop/sessions/260101-warm-lamp",
    "model": "m-large",
    "messageCount": 5,
    "tokenUsage": {"inputTokens": 70, "outputTokens": 7, "totalTokens": 77, "costUsd": 0.25},
}


def message(kind: str, content: str, order: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"msg-{order}",
        "type": kind,
        "content": content,
        "timestamp": 1_767_225_600_000 + order,
        "order": order,
        **more,
    }


def call(order: int, result: str | None, *, turn: str = "t-1", **more: Any) -> dict[str, Any]:
    ended = {"toolStatus": "executing"} if result is None else {"toolResult": result, "toolStatus": "completed"}
    made = {"toolName": "Bash", "toolUseId": f"c-{order}", "toolInput": {"command": "make"}}
    return message("tool", result or "", order, turnId=turn, **made, **ended, **more)


def session(tmp_path: Path, *lines: Any) -> Trajectory:
    recording = write_lines(tmp_path / "session.jsonl", [HEAD, *lines])
    assert detect.reader_of(recording).FORMAT == "craft-agents"
    return only(craft_agents.read(recording))


def test_a_session_has_its_prompts_replies_calls_and_results(tmp_path: Path) -> None:
    trajectory = session(
        tmp_path,
        message("user", "Run the tests.", 1),
        call(3, "Exit code 2\nmake: no rule", isError=True),
        message("assistant", "I run them.", 2, isIntermediate=True, turnId="t-1"),
        call(4, "ok", isError=False),
        message("info", "Response interrupted", 5),
        message("user", "Go on", 6, attachments=[{"type": "image", "name": "a.png"}]),
        call(7, None, turn="t-2"),
        message("plan", "# A plan", 8),
        message("info", "Compacted Conversation", 9, statusType="compaction_complete"),
        message("assistant", "All pass.", 10, turnId="t-3"),
    )
    assert shape(trajectory) == [
        ("user", "Run the tests."),
        ("assistant", "I run them."),
        ("tool", "Exit code 2\nmake: no rule"),
        ("tool", "ok"),
        ("user", "Response interrupted"),
        ("user", "Go on\n[image]"),
        ("assistant", None),
        ("assistant", "# A plan"),
        ("user", "Compacted Conversation"),
        ("assistant", "All pass."),
    ]
    assert [each.mark for each in trajectory.messages if each.mark] == ["injected", "compaction"]
    assert [(each.command(), each.is_error) for each in paired_calls(trajectory)] == [
        ("make", True),
        ("make", False),
        ("make", None),
    ]


def test_a_head_says_the_folder_the_model_and_the_tokens(tmp_path: Path) -> None:
    found = session(tmp_path, message("user", "Run the tests.", 1))
    assert (found.session_id, found.agent, found.model) == ("260101-warm-lamp", "craft-agents", "m-large")
    assert (found.source.title, found.source.cwd) == ("Run the tests", "~/shop/sessions/260101-warm-lamp")
    assert found.source.usage == Usage(70, None, None, 7)
    assert found.source.cost_usd == pytest.approx(0.25)


def test_a_head_alone_is_no_session(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording):
        session(tmp_path)
