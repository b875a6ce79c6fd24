"""Harbor trial folders: which files are the agent's recordings, and what the trial says about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from tests.readers.lines import only
from tests.wikis import Script, arc, ingest

RESULT: dict[str, Any] = {
    "id": "2f0c",
    "task_name": "count-boats",
    "trial_name": "count-boats__Xy12abC",
    "trial_uri": "file:///srv/jobs/with-notes/count-boats__Xy12abC",
    "source": None,
    "config": {"trials_dir": "jobs/with-notes", "agent": {"name": "codex"}},
    "agent_info": {"name": "codex", "version": "unknown", "model_info": {"name": "m-1", "provider": "p"}},
    "verifier_result": {"rewards": {"reward": 1.0}},
    "exception_info": None,
}
RATED = '{"a": 1}'
STEPS = [
    {"step_id": 1, "source": "user", "message": "Count the boats."},
    {"step_id": 2, "source": "agent", "message": "There are three."},
]
SESSION = "b1946ac9-2f0c-4c1e-9a55-0d9a4c1e9a55"
ATIF = {"schema_version": "ATIF-v1.5", "session_id": SESSION, "agent": {"name": "codex"}, "steps": STEPS}
CHAT = [{"role": "user", "content": "Count the boats."}, {"role": "assistant", "content": "Three."}]
SWE: dict[str, Any] = {"trajectory_format": "mini-swe-agent-1", "info": {}, "messages": CHAT, "instance_id": None}


def trial(folder: Path, result: Any = RESULT, *, part: str = "agent") -> Path:
    """A trial folder with one ATIF recording; returns the recording's path."""
    (folder / part).mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(result, indent=4), encoding="utf-8")
    return put(folder / part / "trajectory.json", ATIF)


def put(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def read(path: Path) -> Trajectory:
    return only(trajectories_of(Recording(path, path.name), "0" * 64))


def test_a_recording_of_a_trial_has_its_labels(tmp_path: Path) -> None:
    found = read(trial(tmp_path))
    source = found.source
    assert (source.task_id, source.trial, source.condition, source.reward) == (
        "count-boats", "Xy12abC", "with-notes", 1.0)  # fmt: skip
    assert (source.format, found.agent, found.model, source.exit_status) == ("atif", "codex", "m-1", None)


def test_a_recording_deep_in_the_agents_folder_has_them_too(tmp_path: Path) -> None:
    trial(tmp_path)
    lines = [
        {"type": "user", "sessionId": "s-1", "uuid": "1", "parentUuid": None, "message": CHAT[0]},
        {"type": "assistant", "sessionId": "s-1", "uuid": "2", "parentUuid": "1", "message": CHAT[1] | {"model": "m"}},
    ]
    path = tmp_path / "agent" / "sessions" / "projects" / "-app" / "s-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = read(path)
    assert (found.source.format, found.source.reward, found.model) == ("claude-code", 1.0, "m")


@pytest.mark.parametrize(
    ("change", "task_id"),
    [({"source": "sea-bench"}, "sea-bench/count-boats"), ({"task_name": "org/count", "source": "sea"}, "org/count")],
)
def test_a_task_of_a_dataset_is_named_with_it(tmp_path: Path, change: dict[str, Any], task_id: str) -> None:
    assert read(trial(tmp_path, RESULT | change)).source.task_id == task_id


def test_a_job_that_nobody_named_is_no_condition(tmp_path: Path) -> None:
    config = {"trials_dir": "jobs/2026-01-25__16-36-02"}
    assert read(trial(tmp_path, RESULT | {"config": config})).source.condition is None


@pytest.mark.parametrize(
    ("rewards", "reward"),
    [
        ({"reward": 0.5, "style": 1}, 0.5),
        ({"tests": 0}, 0.0),
        ({"tests": 0, "style": 1}, None),
        ({"reward": "1"}, None),
    ],
)
def test_the_reward_is_the_one_named_so_or_the_only_one(tmp_path: Path, rewards: Any, reward: float | None) -> None:
    assert read(trial(tmp_path, RESULT | {"verifier_result": {"rewards": rewards}})).source.reward == reward


@pytest.mark.parametrize(
    ("name", "text", "reward"),
    [
        ("reward.txt", "0.25\n", 0.25),
        ("reward.txt", "nan", None),
        ("reward.txt", "", None),
        ("reward.json", '{"a":1}', 1.0),
    ],
)
def test_without_a_result_of_the_verifier_its_own_file_counts(
    tmp_path: Path, name: str, text: str, reward: float | None
) -> None:
    path = trial(tmp_path, RESULT | {"verifier_result": None})
    (tmp_path / "verifier").mkdir()
    (tmp_path / "verifier" / name).write_text(text, encoding="utf-8")
    assert read(path).source.reward == reward


@pytest.mark.parametrize(("exception", "reward"), [("AgentTimeoutError", 1.0), ("ApiRateLimitError", None)])
def test_a_reward_counts_only_where_the_agent_itself_ended_the_trial(
    tmp_path: Path, exception: str, reward: float | None
) -> None:
    source = read(trial(tmp_path, RESULT | {"exception_info": {"exception_type": exception}})).source
    assert (source.reward, source.exit_status) == (reward, exception)


def test_each_step_of_a_trial_has_a_task_and_a_reward_of_its_own(tmp_path: Path) -> None:
    steps = [{"step_name": "mend", "verifier_result": {"rewards": {"reward": 0.0}}}, {"step_name": "test"}]
    trial(tmp_path, RESULT | {"step_results": steps})
    source = read(put(tmp_path / "steps" / "mend" / "agent" / "trajectory.json", ATIF)).source
    assert (source.task_id, source.reward) == ("count-boats/mend", 0.0)
    source = read(put(tmp_path / "steps" / "test" / "agent" / "trajectory.json", ATIF)).source
    assert (source.task_id, source.reward) == ("count-boats/test", None)


def test_what_a_recording_says_itself_goes_first_and_a_subagent_has_no_reward(tmp_path: Path) -> None:
    path = trial(tmp_path)
    child = ATIF | {"session_id": SESSION.replace("b", "c"), "agent": {"name": "helper", "model_name": "own"}}
    put(path, ATIF | {"subagent_trajectories": [child], "agent": {"name": "codex", "model_name": "own"}})
    parent, nested = trajectories_of(Recording(path, path.name), "0" * 64)
    assert (parent.model, parent.source.reward) == ("own", 1.0)
    assert (nested.source.reward, nested.source.task_id) == (None, None)


@pytest.mark.parametrize("part", ["verifier", "artifacts", "user-agent"])
def test_nothing_but_the_agents_folder_is_read(tmp_path: Path, part: str) -> None:
    trial(tmp_path)
    path = put(tmp_path / part / "logs" / "trajectory.json", ATIF)
    with pytest.raises(UnreadableRecording, match=f"x: in the {part} folder of a Harbor trial") as caught:
        reader_of(Recording(path, "x"))
    assert caught.value.is_foreign


def test_a_session_that_is_recorded_twice_under_two_ids_is_read_once(tmp_path: Path) -> None:
    copy = trial(tmp_path)
    part = put(tmp_path / "agent" / "episode-0" / "debug.json", CHAT)
    with pytest.raises(UnreadableRecording, match=r"a part of trajectory\.json"):
        reader_of(Recording(part, "x"))
    original = put(tmp_path / "agent" / "mini-swe-agent.trajectory.json", SWE)
    with pytest.raises(UnreadableRecording, match=r"a copy of mini-swe-agent\.trajectory\.json"):
        reader_of(Recording(copy, "x"))
    assert read(original).source.task_id == "count-boats"
    copy.unlink()
    assert read(part).source.task_id == "count-boats"


@pytest.mark.parametrize(
    "result",
    ["{", "[]", '{"n_total_trials": 1}', '{"task_name": 1, "trial_name": "t", "config": {}}', "[" * 10_000, None],
)
def test_a_damaged_result_or_that_of_a_job_says_nothing(tmp_path: Path, result: str | None) -> None:
    path = trial(tmp_path)
    (tmp_path / "result.json").unlink()
    if result is not None:
        (tmp_path / "result.json").write_text(result, encoding="utf-8")
    source = read(path).source
    assert (source.task_id, source.trial, source.condition, source.reward) == (None, None, None, None)


@pytest.mark.parametrize("odd", [None, 1, [], "x", {}, [{}], {"reward": [1]}, {"rewards": []}])
def test_odd_values_in_a_result_are_left_out(tmp_path: Path, odd: Any) -> None:
    names = ("source", "agent_info", "verifier_result", "exception_info", "step_results")
    source = read(trial(tmp_path, RESULT | dict.fromkeys(names, odd) | {"config": {"trials_dir": odd}})).source
    assert source.trial == "Xy12abC"
    assert source.reward is None


def test_a_job_is_ingested_without_a_failure_and_with_the_verdict(tmp_path: Path) -> None:
    trial(tmp_path / "job" / "count-boats__Xy12abC")
    put(tmp_path / "job" / "result.json", {"n_total_trials": 1, "stats": {}})
    put(tmp_path / "job" / "count-boats__Xy12abC" / "verifier" / "ctrf.json", {"results": {}})
    (tmp_path / "job" / "count-boats__Xy12abC" / "verifier" / "empty.json").touch()
    script = Script(tmp_path)
    script.says(SESSION, arcs=[arc("Boats", 1, 2)])
    report = ingest([tmp_path / "job"], tmp_path / "wiki", script.engine)
    assert (report.failures, report.sessions["mined"], len(report.passed_over)) == ([], 1, 4)
    record = json.loads((tmp_path / "wiki" / "_sessions" / f"{SESSION}.json").read_text(encoding="utf-8"))
    assert (record["task_id"], record["reward"]) == ("count-boats", 1.0)
