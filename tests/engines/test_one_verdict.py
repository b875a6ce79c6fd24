"""Every room says the same of a call: error marks, counts, summaries, guidelines, skills and hooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.engines.offline.acts import acts_of
from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.harness.signs import signs_to_learn
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.shell.measures import measures
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory import Source, Trajectory
from agent_wiki.trajectory.calls import paired_calls
from tests.shell.test_verdict import ROWS

EXAMPLE = Path(__file__).resolve().parents[2] / "wiki-example" / "traces"


def holds_together(trajectory: Trajectory) -> None:
    """Assert that all modules say of each call what its verdict says."""
    calls = paired_calls(trajectory)
    failed = [call for call in calls if verdict_of(call).has_failed]
    assert measures(trajectory).errors == len(failed)
    assert ("an error" in signs_to_learn(trajectory, 0)) == bool(failed)
    assert [act.call for act in acts_of(trajectory) if act.has_failed] == failed
    for attempt in MinedSession.of(trajectory).attempts:
        verdict = verdict_of(attempt.call.ended_by or attempt.call)
        assert (attempt.verdict == "failed", attempt.verdict == "passed") == (verdict.has_failed, verdict.has_passed)
    for call in calls:
        verdict = verdict_of(call)
        if call.is_error and call.mark is None:  # but for what the harness waited for no longer
            is_timed_out = (call.result or "").startswith(("command timed out after", "Exit code: 124\n"))
            is_server = "timed out and has been killed" in (call.result or "") and "ready in" in (call.result or "")
            is_greeting = "successfully authenticated, but GitHub" in (call.result or "")
            others = ("unknown",) if is_timed_out else ("running",) if is_server else ("passed",) if is_greeting else ()
            assert verdict.state in ("failed", "refused", *others)
        assert verdict.line in (call.result or "")


@pytest.mark.parametrize("path", sorted(EXAMPLE.iterdir()), ids=lambda path: path.name)
def test_all_rooms_say_the_same_of_the_example(path: Path) -> None:
    recording = Recording(path, path.name)
    for trajectory in reader_of(recording).read(recording):
        holds_together(trajectory)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_all_rooms_say_the_same_of_the_table(row: dict[str, Any]) -> None:
    builder = TrajectoryBuilder()
    builder.user("go on")
    builder.assistant(calls=[("c1", row.get("tool", "Bash"), {"command": row["command"]} if "command" in row else {})])
    if "output" in row:
        builder.tool("c1", row["output"], is_error=row.get("is_error"), mark=row.get("mark"))
    trajectory = builder.finish("s", Source("claude-code"))
    holds_together(trajectory)
    verdict = verdict_of(paired_calls(trajectory)[0])
    assert verdict.state == row["state"]
