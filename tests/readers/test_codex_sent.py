"""Real sessions of Codex 0.169.0: what the reader finds against what the model server sent and what ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call, paired_calls
from tests.readers.lines import only, recorded_lines
from tests.readers.sent import CLIENTS, differences, read, recordings, replies_in, sent, served, total

CLIENT = "codex"
ROLLOUTS = recordings(CLIENT, "rollouts")
SCRIPTS = CLIENTS / CLIENT / "scripts"


def ran(path: Path) -> list[tuple[str, bool]]:
    """Every command that ran and whether it failed, by plain `json`, in the order in which they began."""
    lines = recorded_lines(path)
    events = [line["payload"] for line in lines if line["payload"].get("type") == "item_completed"]
    commands = [event for event in events if event["item"]["type"] == "CommandExecution"]
    commands.sort(key=lambda event: float(event["started_at_ms"]))
    return [(event["item"]["command"][-1], event["item"]["exit_code"] != 0) for event in commands]


def calls_of(path: Path) -> list[Call]:
    return paired_calls(only(read(path)))


def commands(calls: list[Call]) -> list[tuple[str, bool | None]]:
    """Every command that the reader found and whether it failed; for one that was polled its end."""
    found = ((call.command(), (call.ended_by or call).is_error) for call in calls if call.continues is None)
    return [(command, is_error) for command, is_error in found if command is not None]


def was_started(call: Call) -> bool:
    """Whether a call came to run: one whose sandbox could not be made has no item."""
    return "bwrap: execvp" not in (call.result or "")


@pytest.mark.parametrize("path", ROLLOUTS, ids=lambda path: path.stem[8:46])
def test_a_rollout_is_read_as_it_was_sent(path: Path) -> None:
    trajectories = read(path)
    assert differences(trajectories, served(CLIENT, path)) == []
    calls = paired_calls(only(trajectories))
    assert sorted(commands([call for call in calls if was_started(call)])) == sorted(ran(path))
    assert all(call.is_error for call in calls if not was_started(call))


def test_every_reply_that_was_sent_is_in_one_rollout() -> None:
    """But for repeats: the program in a terminal asked for some replies twice within a second and kept one of each."""
    kept = [reply for path in recordings(CLIENT, "rollouts", "scripts") for reply in served(CLIENT, path)]
    assert len({reply.at for reply in kept}) == len(kept)
    dropped = [reply for reply in sent(CLIENT) if reply not in kept]
    assert len(dropped) == 4
    for reply in dropped:
        assert any(reply.said == other.said and abs(reply.at - other.at) < 1 for other in kept)


def test_calls_that_failed_without_running_have_failed() -> None:
    path = next(path for path in ROLLOUTS if "01a201d8-7090" in path.stem)  # its model was offered no MCP tools
    unsupported = [call for call in calls_of(path) if call.name.startswith("mcp__")]
    assert len(unsupported) == 6
    assert all(call.is_error for call in unsupported)


def test_a_subagent_is_a_session_of_its_own_with_its_parent() -> None:
    parent, child = (path for path in ROLLOUTS if "T06-12-15" in path.stem)
    assert only(read(child)).source.parent_session_id == only(read(parent)).session_id


def test_a_fork_names_its_origin_and_counts_its_own_tokens_alone() -> None:
    origin, fork = (path for path in ROLLOUTS if path.stem[8:27] in ("2026-11-22T06-00-11", "2026-11-22T06-00-28"))
    trajectory = only(read(fork))
    assert trajectory.source.forked_from == only(read(origin)).session_id
    assert [message.mark for message in trajectory.messages if message.mark] == ["compaction"]


@pytest.mark.parametrize("path", recordings(CLIENT, "scripts"), ids=lambda path: path.stem)
def test_replies_texts_and_tokens_are_those_sent_whatever_the_scripts(path: Path) -> None:
    trajectory, replies = only(read(path)), served(CLIENT, path)
    assert [said.text for said in replies_in(trajectory)] == [reply.said.text for reply in replies]
    assert total([trajectory.source.usage]) == total(reply.usage for reply in replies)


@pytest.mark.parametrize(
    "name", ["loop", "poll-unread", "poll", "cell", "throw", "two-at-once", "cell-of-many", "plain-poll"]
)
def test_the_commands_that_ran_are_the_calls_with_their_own_verdicts(name: str) -> None:
    path = SCRIPTS / f"{name}.jsonl"
    assert commands(calls_of(path)) == ran(path)


@pytest.mark.parametrize("name", ["left-running", "not-polled", "plain-left-running"])
def test_a_command_that_no_poll_saw_end_is_running(name: str) -> None:
    first = calls_of(SCRIPTS / f"{name}.jsonl")[0]
    assert (first.is_error, verdict_of(first).state) == (None, "running")


def test_a_command_whose_script_the_user_stopped_was_stopped(tmp_path: Path) -> None:
    lines = [json.dumps(line) for line in recorded_lines(SCRIPTS / "not-polled.jsonl")]
    stopped = tmp_path / "stopped.jsonl"
    first = next(number for number, line in enumerate(lines) if "custom_tool_call_output" in line)
    record = json.loads(lines[first])
    record["payload"]["output"] = "aborted by user after 3.2s"
    stopped.write_text("\n".join([*lines[:first], json.dumps(record), *lines[first + 1 :]]), encoding="utf-8")
    call = calls_of(stopped)[0]
    assert (call.command(), call.result, call.mark) == ("sleep 2; exit 4", "aborted by user after 3.2s", "rejected")


def test_a_script_of_which_nothing_came_stays() -> None:
    _, words, broken = calls_of(SCRIPTS / "throw.jsonl")
    assert (words.name, words.is_error, json.loads(words.raw_arguments)) == (
        "exec",
        None,
        {"input": 'text("nothing to run");'},
    )
    assert (broken.name, broken.is_error) == ("exec", True)


def test_a_patch_is_what_was_changed_not_how_the_script_put_it_together() -> None:
    refused, applied, plan = calls_of(SCRIPTS / "patch.jsonl")
    assert (refused.name, refused.is_error) == ("apply_patch", True)
    assert json.loads(applied.raw_arguments) == {
        "input": "*** Begin Patch\n*** Add File: /home/dev/proj-q/b.txt\n+a\n*** End Patch"
    }
    assert (applied.name, applied.is_error, plan.name) == ("apply_patch", False, "update_plan")


def without_items(tmp_path: Path, path: Path) -> Path:
    def is_item(line: dict[str, Any]) -> bool:
        return bool(
            line["payload"].get("type") == "item_completed" and line["payload"]["item"]["type"] != "UserMessage"
        )

    kept = [json.dumps(line) for line in recorded_lines(path) if not is_item(line)]
    copy = tmp_path / path.name
    copy.write_text("\n".join(kept), encoding="utf-8")
    return copy


def test_without_items_a_script_is_its_one_literal_call_or_stays_a_script(tmp_path: Path) -> None:
    assert [call.name for call in calls_of(without_items(tmp_path, SCRIPTS / "poll.jsonl"))] == [
        "exec_command",
        "write_stdin",
    ]
    assert [call.name for call in calls_of(without_items(tmp_path, SCRIPTS / "loop.jsonl"))] == ["exec", "exec"]
