"""Real sessions of OpenCode 1.18.33: what the readers find against what the model server sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.trajectory import Trajectory
from tests.readers.sent import CLIENTS, Reply, differences, failed_calls, read, sent

CLIENT = "opencode"
TESTS, MISSING = "python3 -m unittest discover -s tests", "cat no-such-file.txt"
HELPERS = "ses_dfb20637bffe0VmYn2RE5jkjeP"
SESSIONS = {
    "ses_dfb2173f7": (["fix", "more"], [TESTS]),
    "ses_dfb208864": (["short"], []),
    "ses_dfb20637b": (["helpers"], []),
    "ses_dfb2056e5": (["helper"], [TESTS]),
    "ses_dfb205525": (["helperfail"], ["read"]),
    "ses_dfb2032b3": (["readfail"], ["read", "edit"]),
    "ses_dfb200567": (["parallel"], [MISSING]),
}
PRINTED = {"fix": [TESTS], "more": [], "helpers": [], "readfail": ["read", "edit"], "parallel": [MISSING]}


def exported(name: str) -> Path:
    (found,) = (CLIENTS / CLIENT / "export").glob(f"{name}*.json")
    return found


def printed(name: str) -> Path:
    return CLIENTS / CLIENT / "run" / f"{name}.jsonl"


def replies(*scenarios: str) -> list[Reply]:
    return [reply for reply in sent(CLIENT) if reply.scenario in scenarios]


def has_failed_as(trajectory: Trajectory, failed: list[str]) -> bool:
    found = failed_calls(trajectory)
    return len(found) == len(failed) and all(one.startswith(two) for one, two in zip(found, failed, strict=True))


@pytest.mark.parametrize("name", SESSIONS)
def test_an_export_is_read_as_it_was_sent(name: str) -> None:
    scenarios, failed = SESSIONS[name]
    (trajectory,) = read(exported(name))
    assert differences([trajectory], replies(*scenarios)) == []
    assert has_failed_as(trajectory, failed)
    source = trajectory.source
    assert (trajectory.agent, trajectory.model, source.cwd) == ("opencode", "claude-sonnet-4-5", "/home/dev/proj-o")
    assert (source.agent_version, source.format) == ("1.18.33", "opencode")


def test_a_fork_leaves_what_it_copied() -> None:
    (fork,) = read(exported("ses_dfb208864"))
    assert fork.source.hygiene == {"inherited_turns": 10}
    assert fork.source.cost_usd == 0.00555


@pytest.mark.parametrize("name", ["ses_dfb2056e5", "ses_dfb205525"])
def test_a_subagent_has_its_parent(name: str) -> None:
    (trajectory,) = read(exported(name))
    assert trajectory.source.parent_session_id == HELPERS


def test_a_session_that_was_interrupted_has_its_call_and_no_figures() -> None:
    (trajectory,) = read(exported("ses_dfb1fd313"))
    (call,) = (call for message in trajectory.messages for call in message.tool_calls)
    assert call.mark == "no-result"
    assert (trajectory.source.usage, trajectory.source.cost_usd) == (None, None)


@pytest.mark.parametrize("name", PRINTED)
def test_what_a_run_printed_is_read_as_it_was_sent(name: str) -> None:
    (trajectory,) = read(printed(name))
    assert differences([trajectory], replies(name)) == []
    assert has_failed_as(trajectory, PRINTED[name])
    assert trajectory.source.cost_usd is not None


@pytest.mark.parametrize(("name", "session"), [("fix", "ses_dfb2173f7"), ("parallel", "ses_dfb200567")])
def test_an_export_is_fuller_than_what_a_run_printed(name: str, session: str) -> None:
    (short,), (full,) = read(printed(name)), read(exported(session))
    assert short.session_id == full.session_id
    assert len(short.messages) < len(full.messages)
