"""Real Codex rollouts: what the reader finds against what plain `json` counts over the lines."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers import codex
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from tests.readers.lines import only, recorded_lines

EXIT_CODE = re.compile(r'^(?:Process exited with code|Exit code:) (-?\d+)|"exit_code": ?(-?\d+)', re.MULTILINE)


def rollouts(traces: Path) -> list[Path]:
    found = sorted((traces / "codex").rglob("*.jsonl")) + sorted((traces / "sregym_same_task").rglob("rollout-*.jsonl"))
    assert found
    return found


def read(path: Path) -> Trajectory:
    recording = Recording(path, path.name)
    assert codex.claims(recording.sample())
    trajectory = only(codex.read(recording))
    assert recording.warnings == []
    return trajectory


def payloads(path: Path, kind: str) -> list[dict[str, Any]]:
    return [line["payload"] for line in recorded_lines(path) if line["type"] == kind]


def model_replies(items: list[dict[str, Any]]) -> int:
    """Blocks of visible model items, separated by anything that is not the model's and by each search's answer."""
    by_model: list[bool] = []
    for item in items:
        by_model.append(item["type"].endswith("_call") or item.get("role") == "assistant")
        if is_search(item):
            by_model.append(False)
    return sum(not before and now for before, now in pairwise([False, *by_model]))


def is_search(item: dict[str, Any]) -> bool:
    """Whether the model's service ran a call and answered it within the reply."""
    return bool(item["type"] == "web_search_call")


def test_a_rollout_is_one_session_under_its_first_header(traces: Path) -> None:
    for path in rollouts(traces):
        first = json.loads(path.read_text(encoding="utf-8").partition("\n")[0])
        assert read(path).session_id == first["payload"]["id"], path.name


def test_turns_are_replies_results_and_messages(traces: Path) -> None:
    for path in rollouts(traces):
        items = [item for item in payloads(path, "response_item") if item["type"] != "reasoning"]
        others = sum(item["type"].endswith("_output") or item.get("role") not in (None, "assistant") for item in items)
        others += sum(map(is_search, items))
        trajectory = read(path)
        assert len(trajectory.messages) == others + model_replies(items), path.name


def test_every_call_and_every_result_is_there_once(traces: Path) -> None:
    for path in rollouts(traces):
        items = payloads(path, "response_item")
        named = {item["call_id"] for item in items if item["type"].endswith("_call") and "call_id" in item}
        unnamed = sum(item["type"].endswith("_call") and "call_id" not in item for item in items)
        answered = {item["call_id"] for item in items if item["type"].endswith("_output")}
        messages = read(path).messages
        calls = [call for message in messages for call in message.tool_calls]
        assert len(calls) == len(named) + unnamed, path.name
        found = [message.tool_call_id for message in messages if message.role == "tool"]
        assert len(found) == len(answered) + sum(map(is_search, items)), path.name
        assert answered <= set(found), path.name
        assert all(json.loads(call.arguments) is not None for call in calls)


def test_a_result_fails_exactly_where_an_exit_code_or_the_harness_says_so(traces: Path) -> None:
    failures = 0
    for path in rollouts(traces):
        failed = set()
        for item in payloads(path, "response_item"):
            if item["type"].endswith("_output"):
                head = item["output"][:200] if item["output"].startswith(("Chunk", "Exit")) else item["output"]
                code = EXIT_CODE.search(head)
                if code and (code.group(1) or code.group(2)) != "0":
                    failed.add(item["call_id"])
                if re.match(r"\w+ failed for `|collab spawn failed", item["output"]):
                    failed.add(item["call_id"])
        found = {message.tool_call_id for message in read(path).messages if message.is_error}
        assert found >= failed, path.name
        stated = {item["call_id"] for item in payloads(path, "event_msg") if item["type"] == "exec_command_end"}
        assert not (found - failed) & stated, path.name
        failures += len(failed)
    assert failures > 0


def test_tokens_are_the_last_total(traces: Path) -> None:
    for path in rollouts(traces):
        totals = [
            event["info"]["total_token_usage"]
            for event in payloads(path, "event_msg")
            if event["type"] == "token_count" and event["info"]
        ]
        usage = read(path).source.usage
        assert usage is not None
        cached = totals[-1]["cached_input_tokens"]
        assert usage.cache_read_input_tokens == cached
        assert usage.input_tokens == totals[-1]["input_tokens"] - cached
        assert usage.output_tokens == totals[-1]["output_tokens"]


def test_tokens_agree_with_what_the_benchmark_wrote_beside_its_rollout(traces: Path) -> None:
    run = traces / "sregym_same_task" / "codex_run"
    if not run.is_dir():
        pytest.skip("no codex_run among the recordings")
    (results,) = run.glob("*.json")
    (rollout,) = run.rglob("rollout-*.jsonl")
    recorded = json.loads(results.read_text(encoding="utf-8"))["usage_metrics"]
    usage = read(rollout).source.usage
    assert usage is not None
    assert usage.input_tokens == recorded["input_tokens"] - recorded["cached_input_tokens"]
    assert (usage.cache_read_input_tokens, usage.output_tokens) == (
        recorded["cached_input_tokens"],
        recorded["output_tokens"],
    )


def test_the_users_requests_are_those_the_events_name(traces: Path) -> None:
    for path in rollouts(traces):
        typed = [event["message"] for event in payloads(path, "event_msg") if event["type"] == "user_message"]
        requests = [
            message.content for message in read(path).messages if message.role == "user" and message.mark is None
        ]
        assert requests == typed, path.name


def test_every_subagent_names_a_parent(traces: Path) -> None:
    for path in rollouts(traces):
        header = path.read_text(encoding="utf-8").partition("\n")[0]
        parents = set(re.findall(r'"parent_thread_id":\s?"([^"]+)"', header))
        parent = read(path).source.parent_session_id
        assert ({parent} if parent else set()) == parents, path.name
