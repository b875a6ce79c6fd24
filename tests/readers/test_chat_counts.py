"""Counts on real recordings, the expected numbers taken from the text of the files and not from a reader's walk.

Each test asks plain `json` (through `object_hook`, which sees every object of a file wherever it stands) or a
regular expression over the raw text, and compares with what the reader made.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agent_wiki.readers import (
    inspect_log,
    mini_swe_agent,
    openai_messages,
    swe_agent,
    tau2_bench,
    tau_bench,
    who_and_when,
)
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory

READERS: dict[str, ModuleType] = {
    "openai_messages": openai_messages,
    "tau_bench": tau_bench,
    "car_bench": tau_bench,
    "tau2_bench": tau2_bench,
    "mini_swe_agent": mini_swe_agent,
    "swe_agent": swe_agent,
    "inspect": inspect_log,
    "who_and_when": who_and_when,
}


def files(traces: Path, folder: str) -> Iterator[tuple[str, Path]]:
    """Every recording of a folder with its raw text; of a zip, the texts of its samples."""
    for path in sorted((traces / folder).rglob("*")):
        if path.is_file() and path.name != "report.json":
            yield raw_text(path), path


def raw_text(path: Path) -> str:
    if not zipfile.is_zipfile(path):
        return path.read_text(encoding="utf-8")
    with zipfile.ZipFile(path) as archive:
        samples = [archive.read(name).decode() for name in archive.namelist() if name.startswith("samples/")]
    return f"[{','.join(samples)}]"


def objects_with(text: str, *keys: str) -> list[dict[str, Any]]:
    """Every JSON object anywhere in the text that has all the keys."""
    found: list[dict[str, Any]] = []

    def look(candidate: dict[str, Any]) -> dict[str, Any]:
        if candidate.keys() >= set(keys):
            found.append(candidate)
        return candidate

    json.loads(text, object_hook=look)
    return found


def read(path: Path, reader: ModuleType) -> list[Trajectory]:
    recording = Recording(path, path.name)
    assert reader.claims(recording.sample())
    trajectories = list(reader.read(recording))
    assert recording.warnings == []
    return trajectories


def roles(trajectories: list[Trajectory]) -> Counter[str]:
    return Counter(message.role for trajectory in trajectories for message in trajectory.messages)


def calls(trajectories: list[Trajectory]) -> int:
    return sum(len(message.tool_calls) for trajectory in trajectories for message in trajectory.messages)


def errors(trajectories: list[Trajectory]) -> int:
    return sum(bool(message.is_error) for trajectory in trajectories for message in trajectory.messages)


def tokens(trajectories: list[Trajectory]) -> tuple[int, int, int]:
    """Input that no cache gave, input from a cache, output."""
    usages = [trajectory.source.usage for trajectory in trajectories if trajectory.source.usage]
    return (
        sum(usage.input_tokens or 0 for usage in usages),
        sum(usage.cache_read_input_tokens or 0 for usage in usages),
        sum(usage.output_tokens or 0 for usage in usages),
    )


def sums(pattern: str, text: str) -> int:
    return sum(map(int, re.findall(pattern, text)))


@pytest.mark.parametrize("folder", sorted(READERS))
def test_every_recording_is_claimed_by_its_reader_alone(traces: Path, folder: str) -> None:
    others = set(READERS.values()) - {READERS[folder]}
    for _, path in files(traces, folder):
        sample = Recording(path, path.name).sample()
        assert READERS[folder].claims(sample), path.name
        assert not any(other.claims(sample) for other in others), path.name


@pytest.mark.parametrize("folder", ["tau_bench", "car_bench"])
def test_tau_results_hold_what_their_text_holds(traces: Path, folder: str) -> None:
    for text, path in files(traces, folder):
        trajectories = read(path, tau_bench)
        assert len(trajectories) == len(re.findall(r'"traj":', text))
        for role in ("system", "user", "assistant", "tool"):
            assert roles(trajectories)[role] == len(re.findall(rf'"role": ?"{role}"', text))
        assert calls(trajectories) == len(re.findall(r'"type": ?"function"', text))
        stated = [each["content"].startswith("Error") for each in objects_with(text, "role", "tool_call_id")]
        assert errors(trajectories) >= sum(stated)
        assert tokens(trajectories) == (0, 0, 0)
        rewards = [each["reward"] for each in objects_with(text, "task_id", "traj", "reward")]
        assert [trajectory.source.reward for trajectory in trajectories] == (rewards or [None] * len(trajectories))
        assert len({trajectory.session_id for trajectory in trajectories}) == len(trajectories)


def test_tau2_simulations_hold_what_their_text_holds(traces: Path) -> None:
    for text, path in files(traces, "tau2_bench"):
        trajectories = read(path, tau2_bench)
        messages = objects_with(text, "turn_idx", "role")
        assert len(trajectories) == len(objects_with(text, "termination_reason"))
        assert roles(trajectories) == Counter(each["role"] for each in messages)
        recorded = [each for each in objects_with(text, "requestor", "arguments", "id") if "action_id" not in each]
        assert calls(trajectories) == len(recorded)
        assert errors(trajectories) >= sum(each.get("error") is True for each in messages)
        agents = [each["usage"] for each in messages if each["role"] == "assistant" and each.get("usage")]
        assert tokens(trajectories) == (
            sum(usage["prompt_tokens"] for usage in agents),
            0,
            sum(usage["completion_tokens"] for usage in agents),
        )


def test_mini_swe_agent_holds_what_its_text_holds(traces: Path) -> None:
    for text, path in files(traces, "mini_swe_agent"):
        trajectories = read(path, mini_swe_agent)
        codes = re.findall(r'"content": "<returncode>(-?\d+)</returncode>', text)
        refused = len(re.findall(r'"content": "Please always provide EXACTLY ONE action', text))
        replies = len(re.findall(r'"object": "chat.completion"', text))
        assert roles(trajectories)["assistant"] == replies
        assert calls(trajectories) == replies - refused == len(codes) + 1
        assert errors(trajectories) == sum(code != "0" for code in codes)
        prompt, cached = sums(r'"prompt_tokens": (\d+)', text), sums(r'"cached_tokens": (\d+)', text)
        assert tokens(trajectories) == (prompt - cached, cached, sums(r'"completion_tokens": (\d+)', text))
        verdict = json.loads((path.parent / "report.json").read_text(encoding="utf-8"))["resolved"]
        assert trajectories[0].source.resolved is verdict
        assert trajectories[0].source.task_id == path.parent.name


def test_swe_agent_holds_what_its_text_holds(traces: Path) -> None:
    for text, path in files(traces, "swe_agent"):
        trajectories = read(path, swe_agent)
        history = objects_with(text, "role", "content", "agent")
        actions = [each for each in history if each["role"] == "assistant" and each.get("action", "").strip()]
        assert sum(roles(trajectories).values()) == len(history)
        assert calls(trajectories) == len(actions)
        assert roles(trajectories)["assistant"] == sum(each["role"] == "assistant" for each in history)
        # what answers an action is a tool's result, whatever role it was recorded with; the last may have no answer
        assert 0 <= len(actions) - roles(trajectories)["tool"] <= 1


def test_inspect_samples_hold_what_their_text_holds(traces: Path) -> None:
    for text, path in files(traces, "inspect"):
        trajectories = read(path, inspect_log)
        samples = objects_with(text, "epoch", "messages")
        assert len(trajectories) == len(samples)
        assert sum(roles(trajectories).values()) == sum(len(sample["messages"]) for sample in samples)
        flagged = [each for each in objects_with(text, "tool_call_id", "function", "error") if each["error"]]
        assert errors(trajectories) == len(flagged)
        assert calls(trajectories) == 0
        per_sample = [
            sample.get("model_usage") or {"": sample.get("output", {}).get("usage", {})} for sample in samples
        ]
        usages = [usage for models in per_sample for usage in models.values()]
        assert tokens(trajectories)[::2] == (
            sum(usage.get("input_tokens", 0) for usage in usages),
            sum(usage.get("output_tokens", 0) for usage in usages),
        )


def test_the_same_inspect_session_in_both_kinds_of_log_is_the_same_trajectory(traces: Path) -> None:
    folder = traces / "inspect"
    document, archive = (read(folder / f"inspect_ai__log_formats.{end}", inspect_log) for end in ("json", "eval"))
    assert document == archive


def test_who_and_when_holds_what_its_text_holds(traces: Path) -> None:
    for text, path in files(traces, "who_and_when"):
        trajectories = read(path, who_and_when)
        spoken = objects_with(text, "role", "content")
        assert sum(roles(trajectories).values()) == len(spoken)
        terminal = sum("terminal" in str(each.get("name", each["role"])).lower() for each in spoken)
        assert trajectories[0].source.hygiene.get("injected_messages", 0) + roles(trajectories)["tool"] == terminal
        assert calls(trajectories) == roles(trajectories)["tool"]
        assert errors(trajectories) <= len(re.findall(r"exitcode: [1-9]", text))


def test_openai_lists_hold_what_their_text_holds(traces: Path) -> None:
    for text, path in files(traces, "openai_messages"):
        trajectories = read(path, openai_messages)
        kinds = re.findall(r'"type": ?"(function_call|function_response)"', text)
        recorded = re.findall(r'"role": ?"(\w+)"', text)
        runs = len(list(groupby(recorded))) if kinds else len(recorded)
        assert sum(roles(trajectories).values()) == runs
        outputs = len(re.findall(r'"content": ?"Output:\\n```', text))  # of code that stands in the reply before
        assert calls(trajectories) == kinds.count("function_call") + outputs
        assert roles(trajectories)["tool"] == kinds.count("function_response") + outputs
        raised = len(re.findall(r'"content": ?"Output:\\n```\\nExecution failed', text))
        assert errors(trajectories) == len(re.findall(r'"is_error": ?true', text)) + raised


def test_no_answer_key_reaches_a_trajectory(traces: Path) -> None:
    for text, path in files(traces, "tau_bench"):
        instructions = [each["instruction"] for each in objects_with(text, "instruction", "actions")]
        written = json.dumps([[m.content for m in t.messages] for t in read(path, tau_bench)])
        assert instructions
        assert not any(json.dumps(instruction)[1:-1] in written for instruction in instructions)
