"""The example's traces: recorded for this repository, and recorded again here with the same bytes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from agent_wiki.readers.detect import read
from agent_wiki.readers.recording import Recording
from agent_wiki.recall.reads import wiki_reads
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls

_EXAMPLE = Path(__file__).resolve().parents[2] / "wiki-example"
_TRACES = _EXAMPLE / "traces"
_CANNOT = 3
_TOP_FOLDER = re.compile(r"(?<![\w.~<}])/([A-Za-z]+)/(\w+)")


@pytest.fixture(scope="module")
def trajectories() -> dict[str, Trajectory]:
    """Every trajectory of the example by file name; a warning of a reader is a failure."""
    found: dict[str, Trajectory] = {}
    for path in sorted(_TRACES.iterdir()):
        recording = Recording(path, path.name)
        (found[path.name],) = read(recording)
        assert recording.warnings == []
    return found


@pytest.mark.long
def test_recording_sessions_again_gives_the_same_bytes(tmp_path: Path) -> None:
    """One of each format and of each project: `.ci/run` records all."""
    sample = ("claude-release-textkit", "codex-gauge-bisect", "mini-slug-accents-1", "openai-orders-1")
    command = [sys.executable, str(_EXAMPLE / "make_traces.py"), "--out", str(tmp_path), "--only", *sample]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == _CANNOT:
        pytest.skip(f"the sessions cannot be recorded here: {done.stdout.strip()}")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name.partition(".")[0] for path in tmp_path.iterdir()) == sorted(sample)
    for path in sorted(tmp_path.iterdir()):
        recorded = (_TRACES / path.name).read_text(encoding="utf-8").splitlines()
        again = path.read_text(encoding="utf-8").splitlines()
        assert again == recorded, f"{path.name}: to accept, run python wiki-example/make_traces.py"


def test_there_are_enough_traces_in_enough_formats(trajectories: dict[str, Trajectory]) -> None:
    formats = {trajectory.source.format for trajectory in trajectories.values()}
    assert len(trajectories) >= 12
    assert formats == {"claude-code", "codex", "mini-swe-agent", "openai-messages"}


def test_each_call_has_its_result(trajectories: dict[str, Trajectory]) -> None:
    for name, trajectory in trajectories.items():
        assert all(call.result is not None for call in paired_calls(trajectory)), name
        assert "results_without_call" not in trajectory.source.hygiene, name


def test_no_trace_has_a_path_of_the_recording_machine() -> None:
    for path in sorted(_TRACES.iterdir()):
        named = set(_TOP_FOLDER.findall(path.read_text(encoding="utf-8")))
        assert named <= {("home", "dev"), ("usr", "bin")}, path.name


def test_nothing_is_claimed_that_was_not_measured(trajectories: dict[str, Trajectory]) -> None:
    for name, trajectory in trajectories.items():
        assert trajectory.source.usage is None, name
        assert trajectory.source.cost_usd is None, name
        assert trajectory.model == "scripted-example", name


def test_tasks_have_trials_that_end_differently(trajectories: dict[str, Trajectory]) -> None:
    trials: dict[str, list[Trajectory]] = defaultdict(list)
    for trajectory in trajectories.values():
        if trajectory.source.task_id:
            trials[trajectory.source.task_id].append(trajectory)
    assert {task_id: len(each) for task_id, each in trials.items()} == {"orders-per-customer": 5, "textkit-12": 3}
    orders = [trajectory.source for trajectory in trials["orders-per-customer"]]
    assert [source.reward for source in orders if source.condition == "without-wiki"] == [0.0, 1.0, 0.0]
    assert [source.reward for source in orders if source.condition == "with-wiki"] == [1.0, 1.0]


def test_sessions_with_a_wiki_find_a_page_by_the_index_and_read_it(trajectories: dict[str, Trajectory]) -> None:
    guideline, skill = (
        [each.page for each in wiki_reads(trajectories[f"openai-orders-{trial}.json"])] for trial in (4, 5)
    )
    assert guideline[:2] == skill[:2] == ["AGENTS.md", "_index.jsonl"]
    assert guideline[-1].startswith("guidelines/always-parse-csv")
    assert skill[-1] == "skills/sum-csv-column/SKILL.md"


def test_a_rejected_call_was_not_carried_out(trajectories: dict[str, Trajectory]) -> None:
    calls = paired_calls(trajectories["claude-old-fixtures.jsonl"])
    (rejected,) = [call for call in calls if call.mark == "rejected"]
    assert rejected.arguments["command"] == "rm -rf tests/data/old"
    moved = [call for call in calls if (call.command() or "").startswith("git status")]
    assert "R  tests/data/old/plain.txt -> attic/2026/old/plain.txt" in (moved[0].result or "")
