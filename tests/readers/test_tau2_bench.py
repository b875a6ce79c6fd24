"""tau2-bench results, in which the simulated user has tools as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import tau2_bench
from agent_wiki.readers.recording import Sample
from agent_wiki.trajectory import Trajectory, Usage, envelope_chunks
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import only, write_document


def call(call_id: str, name: str, requestor: str) -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": {"line": 1}, "requestor": requestor}


MESSAGES: list[dict[str, Any]] = [
    {"role": "assistant", "content": "Hi!", "tool_calls": None, "usage": None},
    {"role": "user", "content": "No signal.", "usage": {"prompt_tokens": 900, "completion_tokens": 90}},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("a1", "get_line", "assistant")],
        "usage": {"prompt_tokens": 20, "completion_tokens": 3},
    },
    {"role": "tool", "id": "a1", "content": "no such line", "requestor": "assistant", "error": True},
    {"role": "user", "content": None, "tool_calls": [call("u1", "toggle_airplane_mode", "user")]},
    {"role": "tool", "id": "u1", "content": "Error: stuck", "requestor": "user", "error": True},
    {"role": "assistant", "content": "Restart it.", "usage": {"prompt_tokens": 30, "completion_tokens": 4}},
    {"role": "user", "content": "###TRANSFER###"},
]
SIMULATION: dict[str, Any] = {
    "id": "5c3f6a1e-sim",
    "task_id": "7",
    "trial": 0,
    "start_time": "2026-03-01T10:00:00.500000",
    "end_time": "2026-03-01T10:01:00.500000",
    "duration": 59.5,
    "termination_reason": "user_stop",
    "agent_cost": 0.25,
    "user_cost": 9.0,
    "reward_info": {"reward": 0.5, "nl_assertions": ["SECRET ASSERTION"]},
    "messages": MESSAGES,
}
DOCUMENT: dict[str, Any] = {
    "timestamp": "2026-03-01T10:00:00",
    "info": {
        "agent_info": {"implementation": "llm_agent", "llm": "m-1"},
        "environment_info": {"domain_name": "telecom", "policy": "Rules"},
    },
    "tasks": [{"id": "7", "user_scenario": "SECRET SCRIPT", "evaluation_criteria": {"actions": ["SECRET ACTION"]}}],
    "simulations": [SIMULATION],
}


def read(tmp_path: Path, document: Any = DOCUMENT) -> Trajectory:
    recording = write_document(tmp_path / "r.json", document)
    assert tau2_bench.claims(recording.sample())
    return only(tau2_bench.read(recording))


def test_the_simulation_gives_head_and_source(tmp_path: Path) -> None:
    trajectory = read(tmp_path)
    source = trajectory.source
    assert (trajectory.session_id, trajectory.agent, trajectory.model) == ("5c3f6a1e-sim", "llm_agent", "m-1")
    assert (trajectory.timestamp, source.ended_at) == ("2026-03-01T10:00:00.500Z", "2026-03-01T10:01:00.500Z")
    assert (source.task_id, source.trial, source.reward) == ("telecom/7", "0", 0.5)
    assert (source.exit_status, source.cost_usd, source.duration_seconds) == ("user_stop", 0.25, 59.5)


def test_usage_is_the_agents_alone(tmp_path: Path) -> None:
    assert read(tmp_path).source.usage == Usage(input_tokens=50, output_tokens=7)


def test_arguments_become_a_json_string(tmp_path: Path) -> None:
    assert read(tmp_path).messages[2].tool_calls[0].arguments == '{"line": 1}'


def test_the_simulated_users_calls_are_kept_and_are_not_the_agents(tmp_path: Path) -> None:
    trajectory = read(tmp_path)
    user, result = trajectory.messages[4:6]
    assert (user.role, user.tool_calls[0].name, user.mark) == ("user", "toggle_airplane_mode", "injected")
    assert (result.role, result.tool_call_id, result.mark) == ("tool", "u1", "injected")
    assert [each.name for each in paired_calls(trajectory)] == ["get_line"]


def test_the_recorded_flag_says_what_failed(tmp_path: Path) -> None:
    (agents_call,) = paired_calls(read(tmp_path))
    assert (agents_call.result, agents_call.is_error) == ("no such line", True)


def test_answer_keys_stay_out_and_are_counted(tmp_path: Path) -> None:
    trajectory = read(tmp_path)
    assert "SECRET" not in "".join(envelope_chunks(trajectory))
    assert trajectory.source.hygiene == {"answer_keys_withheld": 3, "injected_messages": 3}


def test_a_missing_id_is_made_from_the_content(tmp_path: Path) -> None:
    nameless = {key: value for key, value in SIMULATION.items() if key != "id"}
    made = read(tmp_path, DOCUMENT | {"simulations": [nameless]}).session_id
    assert made.startswith("tau2-bench-telecom-7-0-")


def test_results_of_parallel_calls_in_one_message_are_taken_apart(tmp_path: Path) -> None:
    calls = [call("a1", "x", "assistant"), call("a2", "y", "assistant")]
    results = [{"role": "tool", "id": each["id"], "content": "ok", "error": False} for each in calls]
    messages = [{"role": "assistant", "content": None, "tool_calls": calls}, {"role": "tool", "tool_messages": results}]
    trajectory = read(tmp_path, DOCUMENT | {"simulations": [SIMULATION | {"messages": messages}]})
    assert [each.result for each in paired_calls(trajectory)] == ["ok", "ok"]


SINGLE = {"task_id": "7", "reward": 1.0, "simulation_run": SIMULATION | {"reward_info": None}}


def test_a_simulation_in_a_file_of_its_own_has_the_reward_beside_it(tmp_path: Path) -> None:
    trajectory, whole = read(tmp_path, SINGLE), read(tmp_path)
    source = trajectory.source
    assert (trajectory.session_id, trajectory.timestamp) == (whole.session_id, whole.timestamp)
    assert trajectory.messages == whole.messages
    assert (source.task_id, source.reward, source.exit_status) == ("7", 1.0, "user_stop")
    assert (trajectory.agent, trajectory.model) == (None, None)
    assert source.hygiene == {"injected_messages": 3}


def test_what_a_single_simulation_says_of_itself_goes_first(tmp_path: Path) -> None:
    trajectory = read(tmp_path, SINGLE | {"simulation_run": SIMULATION})
    assert (trajectory.source.reward, trajectory.source.hygiene["answer_keys_withheld"]) == (0.5, 1)
    nameless = {key: value for key, value in SIMULATION.items() if key not in ("id", "task_id", "reward_info")}
    made = read(tmp_path, {"task_id": "9", "reward": None, "simulation_run": nameless})
    assert (made.source.task_id, made.source.reward) == ("9", None)
    assert made.session_id.startswith("tau2-bench-9-0-")


def test_a_single_simulation_without_messages_is_unreadable(tmp_path: Path) -> None:
    recording = write_document(tmp_path / "r.json", SINGLE | {"simulation_run": {"messages": []}})
    assert tau2_bench.claims(recording.sample())
    with pytest.raises(UnreadableRecording, match="no simulation with messages"):
        list(tau2_bench.read(recording))


def test_a_simulation_without_messages_costs_only_itself(tmp_path: Path) -> None:
    recording = write_document(tmp_path / "r.json", DOCUMENT | {"simulations": [{"task_id": "1"}, SIMULATION, 4]})
    only(tau2_bench.read(recording))
    assert recording.warnings == [f"r.json: simulation {n} has no messages, skipped" for n in (1, 3)]


def test_a_file_without_simulations_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="no simulation with messages"):
        list(tau2_bench.read(write_document(tmp_path / "r.json", {"simulations": []})))


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"simulations": 3}, {"simulations": [{"run": 1}]}, {"task_id": 1, "simulation_run": {"reward": 1}}],
)
def test_other_documents_are_not_claimed(document: Any) -> None:
    assert not tau2_bench.claims(Sample("document", [document]))


def test_the_ticket_is_the_request_of_a_run_without_a_simulated_user(tmp_path: Path) -> None:
    ticket = {"id": "7", "ticket": "The phone has no signal.", "user_scenario": "SECRET SCRIPT"}
    alone = [each for each in MESSAGES if each["role"] == "assistant" or each.get("requestor") == "assistant"]
    document = DOCUMENT | {"tasks": [ticket], "simulations": [SIMULATION | {"messages": alone}]}
    first = read(tmp_path, document).messages[0]
    assert (first.role, first.content) == ("user", "The phone has no signal.")
    talked = read(tmp_path, DOCUMENT | {"tasks": [ticket]})
    assert "The phone has no signal." not in [each.content for each in talked.messages]
