"""The benchmark of the engine that asks a model: its sessions, its answers, and what it tells."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from benchmarks.generated_sessions import ON_TRAJECTORY, generate
from benchmarks.speed import Run

from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from benchmarks import llm
from tests.benchmarks import forked


def _read(folder: Path) -> list[Trajectory]:
    recordings = [Recording(path, path.name) for path in sorted(folder.iterdir())]
    read = [trajectory for recording in recordings for trajectory in trajectories_of(recording, "")]
    assert not [warning for recording in recordings for warning in recording.warnings]
    return read


def test_generated_sessions_are_read_in_both_formats_and_spread_like_real_ones(tmp_path: Path) -> None:
    characters = generate(tmp_path, 60)
    sessions = _read(tmp_path)
    sizes = sorted(session.characters() for session in sessions)
    assert len(sessions) == 60
    assert sum(sizes) == characters
    assert {session.source.format for session in sessions} == {"claude-code", "openai-messages"}
    assert sizes[6] < 1_000
    assert 10_000 < statistics.median(sizes) < 25_000
    assert sizes[-1] > 300_000


def test_a_seed_makes_the_same_recordings_and_another_makes_others(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        generate(tmp_path / name, 6, seed)
    told = {
        name: {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("one", "again", "other")
    }
    assert told["one"] == told["again"]
    assert told["one"] != told["other"]


@pytest.mark.long
def test_a_run_asks_three_questions_of_each_session_and_none_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm, "wiki", forked.wiki)
    characters = generate(tmp_path / "recordings", 4)
    load = llm.Load(tmp_path / "recordings", 4, characters, latency_seconds=0.02, concurrency=4)
    run = llm.measured(load, "thorough", tmp_path / "wiki")
    asked = {stage: run.served.answers[stage] for stage in ON_TRAJECTORY}
    assert len(set(asked.values())) == 1
    assert asked["summarize"] >= 4
    assert 1 <= run.served.most_in_flight <= 4
    assert 0 < run.served.billed_tokens < run.served.read_tokens
    assert 0 < run.seconds_to_first_request(load.latency_seconds) < run.run.seconds
    told = [row.what for row in llm.rows("thorough", [run], load, run.served.read_tokens)]
    assert told == [
        "thorough, time",
        "thorough, from the first request",
        "thorough, to the first request",
        "thorough, input tokens billed",
        "thorough, a session",
        "thorough, memory",
    ]


@pytest.mark.long
def test_a_batch_asks_once_about_each_session_and_its_answers_are_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm, "wiki", forked.wiki)
    characters = generate(tmp_path / "recordings", 3)
    load = llm.Load(tmp_path / "recordings", 3, characters, latency_seconds=0.0, concurrency=4)
    run = llm.measured(load, "batch", tmp_path / "wiki")
    on_trajectories = sum(run.served.answers.get(stage, 0) for stage in ON_TRAJECTORY)
    assert 3 <= on_trajectories < 3 * 3
    assert run.served.billed_tokens < 0.6 * run.served.read_tokens


def test_a_run_in_which_a_session_failed_is_no_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm, "wiki", forked.wiki)
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings" / "torn.json").write_text('{"messages": [', encoding="utf-8")
    load = llm.Load(tmp_path / "recordings", 1, 100, latency_seconds=0.0, concurrency=1)
    with pytest.raises(RuntimeError, match=r"sessions: \{\}"):
        llm.measured(load, "thorough", tmp_path / "wiki")


def test_a_target_is_missed_when_it_is() -> None:
    load = llm.Load(Path("none"), 200, 8_000_000, latency_seconds=0.3, concurrency=16)
    served = llm.Served(
        {"summarize": 600}, 16, read_tokens=1_000, billed_tokens=400.0, first_answer_at=2.3, last_answer_at=12.0
    )

    def missed(how: str, seconds: float, memory_mib: float) -> list[str]:
        rows = llm.rows(how, [llm.Measured(Run(seconds, seconds, memory_mib, ""), 0.0, served)], load, 1_000)
        return [row.what for row in rows if row.is_met is False]

    assert missed("thorough", 12.0, 90.0) == []
    assert missed("thorough", 13.5, 600.0) == ["thorough, time", "thorough, memory"]
    assert missed("batch", 99.0, 90.0) == ["batch, input tokens billed"]
