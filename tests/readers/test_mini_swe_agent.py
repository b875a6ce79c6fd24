"""mini-swe-agent: commands in fenced blocks become calls."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import mini_swe_agent
from agent_wiki.readers.mini_swe_agent import fenced_commands
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.hangs import no_hang
from tests.readers.lines import only, shape, write_document


def reply(text: str, created: int = 0, cached: int = 0) -> dict[str, Any]:
    """A reply with the raw answer of its provider beside it."""
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": cached}}
    raw = {"message": {"role": "assistant", "content": text, "reasoning": f"why {created}"}}
    response = {"model": "m-raw", "created": 1_760_000_000 + created, "usage": usage, "choices": [raw]}
    return {"role": "assistant", "content": text, "extra": {"response": response}}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


LIST = "THOUGHT: look\n\n```bash\nls -l\n```"
MESSAGES = [
    {"role": "system", "content": "Use ```bash blocks."},
    user("Fix the bug.\n```bash\nexample\n```"),
    reply(LIST, 1),
    user("<returncode>0</returncode>\n<output>\na.py\n</output>"),
    reply("two\n```bash\na\n```\nor\n```bash\nb\n```", 2, cached=4),
    user("Please always provide EXACTLY ONE action in triple backticks, found 2 actions."),
    reply("```bash\ncat missing\n```", 3),
    user("<returncode>1</returncode>\n<output>\ncat: missing\n</output>"),
    reply("```bash\nsubmit && git diff\n```", 61),
    user("diff --git a/a.py b/a.py\n+raise ValueError('Error')"),
]
DOCUMENT: dict[str, Any] = {
    "info": {
        "exit_status": "Submitted",
        "submission": "diff --git …",
        "model_stats": {"instance_cost": 0.5, "api_calls": 4},
        "mini_version": "1.15.0",
        "config": {"model": {"model_name": "m-1"}, "environment": {"cwd": "/testbed"}},
    },
    "messages": MESSAGES,
    "trajectory_format": "mini-swe-agent-1",
    "instance_id": "demo__demo-1",
}


def read(folder: Path, document: Any = DOCUMENT) -> Trajectory:
    folder.mkdir(exist_ok=True)
    recording = write_document(folder / "r.traj.json", document)
    assert mini_swe_agent.claims(recording.sample())
    return only(mini_swe_agent.read(recording))


def test_a_commands_block_becomes_a_call_and_the_text_stays(tmp_path: Path) -> None:
    trajectory = read(tmp_path)
    first = trajectory.messages[2]
    assert first.content == LIST
    assert (first.tool_calls[0].name, json.loads(first.tool_calls[0].arguments)) == ("bash", {"command": "ls -l"})
    assert [call.command() for call in paired_calls(trajectory)] == ["ls -l", "cat missing", "submit && git diff"]


def test_the_return_code_says_what_failed(tmp_path: Path) -> None:
    assert [call.is_error for call in paired_calls(read(tmp_path))] == [False, True, False]


def test_only_the_task_is_a_request(tmp_path: Path) -> None:
    trajectory = read(tmp_path)
    users = [
        (message.content or "")[:10] + str(message.mark) for message in trajectory.messages if message.role == "user"
    ]
    assert users == ["Fix the buNone", "Please alwinjected"]


def test_the_submitted_diff_is_the_result_of_the_command_that_submitted(tmp_path: Path) -> None:
    last = read(tmp_path).messages[-1]
    assert (last.role, last.tool_call_id) == ("tool", "call_003")


def test_a_command_that_timed_out_failed_and_a_limit_is_no_result(tmp_path: Path) -> None:
    messages = [
        *MESSAGES[:2],
        reply("```bash\nsleep 99\n```"),
        user("The last command <command>sleep 99</command> timed out and has been killed."),
        user("Limits exceeded"),
    ]
    trajectory = read(tmp_path, DOCUMENT | {"messages": messages})
    assert [call.is_error for call in paired_calls(trajectory)] == [True]
    assert (trajectory.messages[-1].role, trajectory.messages[-1].mark) == ("user", "injected")


def test_a_command_without_a_result_does_not_take_the_next_ones(tmp_path: Path) -> None:
    messages = [*MESSAGES[:2], reply("```bash\none\n```"), reply("```bash\ntwo\n```"), MESSAGES[3]]
    calls = paired_calls(read(tmp_path, DOCUMENT | {"messages": messages}))
    assert [(call.command(), call.is_error) for call in calls] == [("one", None), ("two", False)]


def test_head_usage_and_thinking_come_from_the_raw_replies(tmp_path: Path) -> None:
    trajectory = read(tmp_path)
    source = trajectory.source
    assert (trajectory.agent, trajectory.model, source.agent_version) == ("mini-swe-agent", "m-1", "1.15.0")
    assert (trajectory.timestamp, source.ended_at) == ("2025-10-09T08:53:21Z", "2025-10-09T08:54:21Z")
    assert (source.duration_seconds, source.cost_usd, source.cwd) == (60.0, 0.5, "/testbed")
    assert source.usage == Usage(input_tokens=36, cache_read_input_tokens=4, output_tokens=8)
    assert trajectory.messages[2].thinking == "why 1"
    assert trajectory.session_id.startswith("mini-swe-agent-demo__demo-1-")
    assert (source.task_id, source.exit_status) == ("demo__demo-1", "Submitted")


def test_submitted_is_no_verdict(tmp_path: Path) -> None:
    assert read(tmp_path).source.resolved is None


@pytest.mark.parametrize(
    ("folder", "report", "resolved"),
    [
        ("demo__demo-1", {"resolved": False}, False),
        ("demo__demo-1", {"demo__demo-1": {"resolved": True}}, True),
        ("elsewhere", {"demo__demo-1": {"resolved": True}}, True),
        ("elsewhere", {"resolved": True}, None),
        ("demo__demo-1", {"resolved": "yes"}, None),
        ("demo__demo-1", ["resolved"], None),
    ],
)
def test_the_report_beside_a_recording_gives_the_verdict_if_it_is_about_it(
    tmp_path: Path, folder: str, report: Any, resolved: bool | None
) -> None:
    (tmp_path / folder).mkdir()
    write_document(tmp_path / folder / "report.json", report)
    assert read(tmp_path / folder).source.resolved is resolved


@pytest.mark.parametrize("pack", [gzip.compress, lambda content: content.decode().encode("utf-16")])
def test_a_packed_report_is_read_too(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    content = pack(json.dumps({"demo__demo-1": {"resolved": True}}).encode())
    (tmp_path / "report.json.gz").write_bytes(content)
    assert read(tmp_path).source.resolved is True
    write_document(tmp_path / "report.json", {"demo__demo-1": {"resolved": False}})
    assert read(tmp_path).source.resolved is False


def test_a_packed_report_that_is_cut_off_is_as_none_and_leaves_a_warning(tmp_path: Path) -> None:
    write_document(tmp_path / "run.traj.json", DOCUMENT)
    (tmp_path / "report.json.gz").write_bytes(gzip.compress(b'{"demo__demo-1": {"resolved": true}}')[:-12])
    recording = Recording(tmp_path / "run.traj.json", "run.traj.json")
    assert [each.source.resolved for each in mini_swe_agent.read(recording)] == [None]
    assert recording.warnings == ["run.traj.json: report.json.gz beside it is no JSON: what it says is not known"]


def test_a_damaged_report_is_as_none(tmp_path: Path) -> None:
    (tmp_path / "demo__demo-1").mkdir()
    (tmp_path / "demo__demo-1" / "report.json").write_text("{", encoding="utf-8")
    assert read(tmp_path / "demo__demo-1").source.resolved is None


def test_a_report_is_no_recording() -> None:
    report = {"patch_exists": True, "resolved": True, "tests_status": {}}
    assert not mini_swe_agent.claims(Sample("document", [report]))


def test_version_two_records_actions_and_native_calls(tmp_path: Path) -> None:
    call = {"id": "n1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "pwd"}'}}
    messages = [
        *MESSAGES[:2],
        {"role": "assistant", "content": "x", "extra": {"actions": [{"command": "ls"}]}},
        MESSAGES[3],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "n1", "content": "/", "extra": {"returncode": 2}},
        {"role": "exit", "content": "diff"},
    ]
    trajectory = read(tmp_path, DOCUMENT | {"messages": messages, "trajectory_format": "mini-swe-agent-1.1"})
    calls = paired_calls(trajectory)
    assert [(each.command(), each.is_error) for each in calls] == [("ls", False), ("pwd", True)]
    assert shape(trajectory)[-1] == ("user", "diff")


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("```bash\nls\n```", ["ls"]),
        ("a ```bash  \ncat <<EOF\n```x\nEOF\n```", ["cat <<EOF"]),
        ("```bash\nnever closed", []),
        ("```python\nprint()\n```", []),
        ("```mswea_bash_command\nls\n\npwd\n```", ["ls\n\npwd"]),
    ],
)
def test_fenced_blocks_are_found_as_the_harness_finds_them(text: str, commands: list[str]) -> None:
    assert fenced_commands(text) == commands


@pytest.mark.parametrize("hostile", ["```bash\n" * 120_000, "```bash" * 140_000, " " * 1_000_000])
def test_hostile_replies_are_read_in_linear_time(hostile: str) -> None:
    with no_hang():
        fenced_commands(hostile)


def test_a_file_without_messages_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="no messages"):
        read(tmp_path, DOCUMENT | {"messages": []})
