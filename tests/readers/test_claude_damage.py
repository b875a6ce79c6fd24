"""Claude Code sessions: damaged, hostile and very large ones, and files of other formats."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers import claude_code, stream_json
from agent_wiki.readers.recording import Sample
from tests.hangs import no_hang
from tests.readers.claude_lines import (
    assistant,
    call,
    found,
    line,
    only,
    recording_of,
    result,
    text,
    user,
)


def test_one_bad_record_costs_that_record_only(tmp_path: Path) -> None:
    odd: list[Any] = [
        "a string",
        42,
        [1],
        {"silly": "this"},
        line("user", "no message object"),
        line("user", {"role": "user"}),
        line("assistant", {"id": 7, "content": [None, "x", {"type": "text"}, {"type": "tool_use"}], "usage": "none"}),
        line("user", {"content": [{"type": "tool_result"}]}, timestamp=7, sessionId=None, cwd=[]),
        line("progress", None, data="odd"),
        line("progress", None, data={"type": "agent_progress", "message": {"type": "user", "message": None}}),
        line("attachment", None, attachment=None),
        {"type": "ai-title", "aiTitle": None},
        {"type": "summary"},
        line("user", {"role": "user", "content": "x"}, forkedFrom=True),
        line("user", {"role": "user", "content": "x"}, uuid=["odd"], timestamp="yesterday", isSidechain=1, agentId=5),
    ]
    recording = recording_of(tmp_path, user("Build it"), *odd, user("Go on"))
    trajectories = list(claude_code.read(recording))
    assert [text for text, _ in found(trajectories[0])] == ["Build it", "Go on"]
    assert sum("a turn without a message" in warning for warning in recording.warnings) == 3


def test_a_deeply_nested_result_is_a_bad_record_not_a_crash(tmp_path: Path) -> None:
    def nested(levels: int) -> Any:
        return [{"type": "x", "content": nested(levels - 1)}] if levels else "core"

    trajectory = only(tmp_path, user("Hi"), user([result("c1", nested(90))]), user([result("c2", nested(300))]))
    assert [message.tool_call_id for message in trajectory.messages] == [None, "c1"]
    assert trajectory.source.hygiene["results_without_call"] == 1


def test_a_file_without_turns_yields_nothing_and_says_so(tmp_path: Path) -> None:
    snapshot = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "isSnapshotUpdate": False}
    recording = recording_of(tmp_path, snapshot, {"type": "summary", "summary": "S", "leafUuid": "l"})
    assert claude_code.claims(recording.sample())
    assert list(claude_code.read(recording)) == []
    assert recording.warnings == ["any-name.jsonl: no turns of its own recorded"]


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "user", "message": {"role": "user", "content": "x"}, "session_id": "s"}],  # stream-json
        [{"type": "session_meta", "payload": {"id": "s"}, "timestamp": "2026-01-01T00:00:00Z"}],  # Codex
        [{"type": "message", "id": "1", "parentId": None, "message": {"role": "user"}}],  # pi
        [{"sessionId": "s", "startTime": "2026-01-01T00:00:00Z"}, {"id": "1", "type": "user", "content": "x"}],
        [{"role": "user", "content": "x"}],
        [],
    ],
)
def test_other_formats_are_not_claimed(records: list[Any]) -> None:
    assert not claude_code.claims(Sample("lines", records))


def test_the_two_claude_formats_do_not_claim_each_others_lines() -> None:
    sample = Sample("lines", [user("x"), assistant("m", text("y"))])
    assert claude_code.claims(sample)
    assert not stream_json.claims(sample)


HOSTILE = 1_000_000


@pytest.mark.parametrize(
    "content",
    [
        "<" * HOSTILE,
        "<ide_selection>" * (HOSTILE // 15),
        "<ide_selection " * (HOSTILE // 15),
        "<command-name></command-name>" * (HOSTILE // 29),
        "<command-message>" + "<command-args>" * (HOSTILE // 14),
        " " * HOSTILE + "<",
        "<" + "a-" * (HOSTILE // 2),
        "<ide_opened_file>" + " " * HOSTILE,
    ],
)
def test_hostile_text_is_read_in_linear_time(tmp_path: Path, content: str) -> None:
    with no_hang():
        trajectory = only(tmp_path, user(content), user("End"))
    assert trajectory.messages[-1].content == "End"


MEASURE = """
import sys
from pathlib import Path
from agent_wiki.readers import claude_code
from agent_wiki.readers.recording import Recording

def peak():
    # Not getrusage: its peak is handed down from the process that started this one.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024

before = peak()
path = Path(sys.argv[1])
(trajectory,) = claude_code.read(Recording(path, path.name))
print(len(trajectory.messages), trajectory.characters(), peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_a_large_recording_is_held_once(tmp_path: Path) -> None:
    """40 MB, half of it the structured copies that a session file keeps beside each result."""
    path, output = tmp_path / "large.jsonl", "a line of output 0123456789\n" * 1800
    with path.open("w", encoding="utf-8") as stream:
        for number in range(400):
            reply = assistant(f"m{number}", call(f"c{number}", command="make"))
            answer = user([result(f"c{number}", f"{number} {output}")], toolUseResult={"stdout": output})
            stream.write(f"{json.dumps(reply)}\n{json.dumps(answer)}\n")
    assert path.stat().st_size > 40_000_000
    measured = subprocess.run(  # its own process: the peak of this one is not the reader's
        [sys.executable, "-c", MEASURE, str(path)], check=True, capture_output=True, text=True
    )
    messages, characters, peak = (int(word) for word in measured.stdout.split())
    assert messages == 800
    assert characters > 20_000_000
    assert 1.0 * characters < peak < 2.5 * characters  # less than was kept would be a wrong measurement
