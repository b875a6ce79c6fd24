"""The benchmark of a bucket: its sessions are recordings, and it tells a night that read too much or took too long."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("obstore", reason="obstore is not installed (the extra `bucket`)")

from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.readers.recording import Recording
from benchmarks import bucket


def test_a_generated_session_is_the_same_each_time_and_grows(tmp_path: Path) -> None:
    turns = []
    for exchanges in (1, 2):
        path = tmp_path / f"{exchanges}.json"
        path.write_bytes(bucket.session(7, exchanges))
        assert path.read_bytes() == bucket.session(7, exchanges)
        (trajectory,) = trajectories_of(Recording(path, path.name), "0")
        turns.append((trajectory.session_id, len(trajectory.messages)))
    assert turns == [("session-000007", 4), ("session-000007", 8)]


def test_a_quiet_night_may_read_nothing_and_take_five_seconds() -> None:
    def night(name: str, seconds: float, read: int) -> bucket.Night:
        return bucket.Night(name, seconds, seconds, 100.0, {"LIST": 10, "GET": read}, 0, 1, "")

    assert (
        bucket.missed([night("9 new", 60.0, 9), night("no news", 4.9, 0), night("no news, fresh clone", 9.0, 0)]) == []
    )
    assert bucket.missed([night("no news", 5.1, 1)]) == ["no news: 1 objects read", "no news: 5.1 s"]
