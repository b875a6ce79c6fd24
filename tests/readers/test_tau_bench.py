"""tau-bench and car-bench results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import tau_bench
from agent_wiki.readers.recording import Sample
from agent_wiki.trajectory import Source, envelope_chunks
from tests.readers.lines import only, write_document

TRAJ: list[dict[str, Any]] = [
    {"role": "system", "content": "Policy"},
    {"role": "user", "content": "Book a table for two."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"seats":2}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "book", "content": "Error: no table left"},
    {"role": "user", "content": "Thanks anyway. ###STOP###"},
    {"role": "user", "content": "###STOP###"},
]
RESULT: dict[str, Any] = {
    "task_id": 3,
    "trial": 1,
    "reward": 0.0,
    "info": {
        "task": {"instruction": "SECRET SCRIPT", "actions": [{"name": "book", "kwargs": {"seats": 4}}]},
        "reward_info": {"reward": 0.0, "actions": ["SECRET ACTION"]},
        "user_cost": 0.1,
    },
    "traj": TRAJ,
}


def test_each_result_of_the_array_is_a_trajectory(tmp_path: Path) -> None:
    recording = write_document(tmp_path / "r.json", [RESULT, RESULT | {"trial": 2, "reward": 1.0}])
    assert tau_bench.claims(recording.sample())
    first, second = tau_bench.read(recording)
    assert (first.source.task_id, first.source.trial, first.source.reward) == ("3", "1", 0.0)
    assert (second.source.trial, second.source.reward) == ("2", 1.0)
    assert first.session_id.startswith("tau-bench-3-1-")
    assert second.session_id.startswith("tau-bench-3-2-")
    assert first.session_id.rpartition("-")[2] == second.session_id.rpartition("-")[2]


def test_the_answer_key_stays_out_and_is_counted(tmp_path: Path) -> None:
    trajectory = only(tau_bench.read(write_document(tmp_path / "r.json", [RESULT])))
    assert "SECRET" not in "".join(envelope_chunks(trajectory))
    assert trajectory.source.hygiene["answer_keys_withheld"] == 2


def test_text_is_kept_and_a_turn_that_is_only_the_stop_token_is_no_request(tmp_path: Path) -> None:
    trajectory = only(tau_bench.read(write_document(tmp_path / "r.json", [RESULT])))
    assert [(message.content, message.mark) for message in trajectory.messages[-2:]] == [
        ("Thanks anyway. ###STOP###", None),
        ("###STOP###", "injected"),
    ]


def test_an_error_is_detected_by_its_text(tmp_path: Path) -> None:
    trajectory = only(tau_bench.read(write_document(tmp_path / "r.json", [RESULT])))
    assert trajectory.messages[3].is_error is True


def test_a_car_bench_file_is_one_result_without_trial_and_reward(tmp_path: Path) -> None:
    recording = write_document(tmp_path / "r.json", {"task_id": "base_1", "traj": TRAJ})
    assert tau_bench.claims(recording.sample())
    trajectory = only(tau_bench.read(recording))
    assert trajectory.source == Source("tau-bench", task_id="base_1", hygiene={"injected_messages": 1})
    assert trajectory.session_id.startswith("tau-bench-base_1-")


def test_the_id_does_not_depend_on_the_order_of_keys_or_the_file(tmp_path: Path) -> None:
    turned = json.loads(json.dumps(RESULT, sort_keys=True))
    ids = {only(tau_bench.read(write_document(tmp_path / f"{n}.json", [each]))).session_id
           for n, each in enumerate((RESULT, turned))}  # fmt: skip
    assert len(ids) == 1


def test_a_result_without_messages_costs_only_itself(tmp_path: Path) -> None:
    recording = write_document(tmp_path / "r.json", [RESULT | {"traj": []}, RESULT, "odd"])
    only(tau_bench.read(recording))
    assert recording.warnings == [f"r.json: result {n} has no messages, skipped" for n in (1, 3)]


def test_a_file_without_any_message_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="no result with messages"):
        list(tau_bench.read(write_document(tmp_path / "r.json", [RESULT | {"traj": []}])))


@pytest.mark.parametrize("document", [None, [], {}, [{"task_id": 1}], {"traj": TRAJ}, TRAJ])
def test_other_documents_are_not_claimed(document: Any) -> None:
    assert not tau_bench.claims(Sample("document", [document]))
