"""What calls of a Codex rollout gave back: failures, rejections and the frame around an output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hangs import no_hang
from tests.readers.codex_lines import call, event, item, meta, output, read, typed


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ("Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nexit code: 9", False),
        ("Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\n", True),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", False),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", True),
        (json.dumps({"output": "no such file", "metadata": {"exit_code": 2}}), True),
        (json.dumps({"output": "Success.", "metadata": {"exit_code": 0}}), False),
        ([{"type": "input_text", "text": "Exit code: 3"}], True),
        ("exec_command failed for `x`: CreateProcess", True),
        ("failed in sandbox: Operation not permitted", True),
        (
            "failed in sandbox MacosSeatbelt with execution error: sandbox denied exec error, exit code: 1, stdout: F",
            True,
        ),
        ({"content": "no", "success": False}, True),
        ("Chunk ID: ab12\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n", None),
        ("Plan updated", None),
    ],
)
def test_codexs_own_frame_shows_a_failure(tmp_path: Path, text: Any, is_error: bool | None) -> None:
    trajectory = read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", text))
    assert trajectory.messages[-1].is_error is is_error


def test_the_output_is_taken_out_of_its_json_frame(tmp_path: Path) -> None:
    frame = json.dumps({"output": "line one\nline two", "metadata": {"exit_code": 0}})
    trajectory = read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", frame))
    assert trajectory.messages[-1].content == "line one\nline two"


def test_an_event_before_the_output_shows_a_failure(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        *typed("go"),
        call("c1"),
        event("exec_command_end", call_id="c1", exit_code=2),
        output("c1", "no header here"),
        item("custom_tool_call", name="apply_patch", call_id="c2", input="*** Begin Patch"),
        event("patch_apply_end", call_id="c2", success=False),
        item("custom_tool_call_output", call_id="c2", output="context not found"),
    )
    results = [message for message in trajectory.messages if message.role == "tool"]
    assert [result.is_error for result in results] == [True, True]


def test_the_end_of_a_background_command_does_not_fail_the_call_that_started_it(tmp_path: Path) -> None:
    running = "Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n"
    trajectory = read(
        tmp_path,
        meta(),
        *typed("go"),
        call("c1", cmd="make"),
        output("c1", running),
        item("function_call", name="write_stdin", arguments='{"session_id": 7}', call_id="c2"),
        event("exec_command_end", call_id="c1", exit_code=2),
        output("c2", "Process exited with code 2\nOutput:\nfailed"),
    )
    results = [message for message in trajectory.messages if message.role == "tool"]
    assert [result.is_error for result in results] == [None, True]


@pytest.mark.parametrize(
    "text", ["aborted by user after 6.2s", "exec command rejected by user", "patch rejected by user"]
)
def test_a_rejection_is_not_a_failure(tmp_path: Path, text: str) -> None:
    trajectory = read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", text))
    result = trajectory.messages[-1]
    assert (result.mark, result.is_error) == ("rejected", None)
    assert trajectory.source.hygiene == {"user_rejections": 1}


def test_an_output_that_mentions_a_rejection_is_no_rejection(tmp_path: Path) -> None:
    text = "Process exited with code 0\nOutput:\nthe offer was rejected by user"
    trajectory = read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", text))
    assert trajectory.messages[-1].mark is None


def test_the_command_that_codex_repeats_above_an_output_is_no_part_of_it(tmp_path: Path) -> None:
    frame = "Chunk ID: 1a2b3c\nWall time: 0.5 seconds\nProcess running with session ID 7\nOutput:\n"
    echo = f"Command: /bin/bash -lc 'cat <<E\nx\nE'\n{frame}"
    assert read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", echo)).messages[-1].content == frame


def test_a_hostile_output_is_read_in_linear_time(tmp_path: Path) -> None:
    text = "Chunk ID: " * 100_000
    with no_hang():
        read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", text))
