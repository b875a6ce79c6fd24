"""Real sessions of Qwen Code 0.24.4: what the readers find against what the model server sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.readers.detect import readers
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from tests.readers.sent import Reply, differences, failed_calls, read, recordings, served

CLIENT = "qwen-code"
CHATS = {path.stem[:8]: path for path in recordings(CLIENT, "projects") if path.parent.name == "chats"}
HELPERS = {path.stem[-1]: path for path in recordings(CLIENT, "projects") if path.stem.startswith("agent-")}
STREAMS = {path.stem: path for path in recordings(CLIENT, "stream-json")}
TESTS, MISSING = "python3 -m unittest discover -s tests", "cat no-such-file.txt"
OF_A_HELPER = {"0": "helper", "1": "helperfail"}
AFTERWARDS = "Nothing more is to be done."  # the answer to what the program asks for itself when a session has ended
CASES = {
    "00a7594c": [TESTS],
    "b2bdd98e": [],
    "6fa81837": [],
    "7ce5b7c0": ["read_file", "edit"],
    "92c6b28d": [MISSING],
    "54382fb5": [],
}
PRINTED = {"fix": "00a7594c", "fork": "b2bdd98e", "readfail": "7ce5b7c0", "parallel": "92c6b28d", "helpers": "6fa81837"}


def replies_of(path: Path, *, has_helpers: bool) -> list[Reply]:
    """The replies of the session itself, in its order."""
    found = [reply for reply in served(CLIENT, path) if reply.scenario not in ("helper", "helperfail")]
    found = [reply for reply in found if not reply.scenario.endswith("/no-tools")]
    return [reply for reply in found if has_helpers or reply.said.text != AFTERWARDS]


def own_replies(path: Path) -> list[Reply]:
    """The same without those that a fork copied."""
    found = replies_of(path, has_helpers=path.stem.startswith("6fa81837"))
    return found if path != CHATS["b2bdd98e"] else [reply for reply in found if reply.scenario == "short"]


def main(trajectories: list[Trajectory]) -> Trajectory:
    (found,) = (each for each in trajectories if each.source.parent_session_id is None)
    return found


def has_failed_as(trajectory: Trajectory, failed: list[str]) -> bool:
    found = failed_calls(trajectory)
    return len(found) == len(failed) and all(one.startswith(two) for one, two in zip(found, failed, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_a_chat_is_read_as_it_was_sent(name: str) -> None:
    (trajectory,) = read(CHATS[name])
    assert differences([trajectory], own_replies(CHATS[name])) == []
    assert has_failed_as(trajectory, CASES[name])
    source = trajectory.source
    assert (trajectory.agent, source.cwd, source.git_branch) == ("qwen-code", "/home/dev/proj-q", "main")
    assert (trajectory.model, source.agent_version) == ("scripted", "0.24.4")


@pytest.mark.parametrize("number", HELPERS)
def test_a_subagent_is_read_as_it_was_sent(number: str) -> None:
    (trajectory,) = read(HELPERS[number])
    replies = [reply for reply in served(CLIENT, HELPERS[number]) if reply.scenario == OF_A_HELPER[number]]
    assert differences([trajectory], replies) == []
    parent = "6fa81837-b4ff-4fb1-9f39-7d6bbcc2e06e"
    assert trajectory.source.parent_session_id == parent
    assert trajectory.session_id == f"{parent}.agent-general-purpose-call_helpers_0011_{number}"


def test_a_fork_leaves_what_it_copied_to_the_session_it_left() -> None:
    (fork,) = read(CHATS["b2bdd98e"])
    (origin,) = read(CHATS["00a7594c"])
    assert fork.source.forked_from == origin.session_id
    assert fork.source.hygiene == {"inherited_turns": len(origin.messages)}
    assert [message.content for message in fork.messages] == ["And hello. [[short]]", "Hello. Nothing was to be done."]


def test_marks_tell_who_spoke() -> None:
    marks = {name: [message.mark for message in read(CHATS[name])[0].messages if message.mark] for name in CASES}
    assert marks["92c6b28d"] == ["compaction", "injected"]
    assert marks["6fa81837"] == ["injected", "injected"]
    assert marks["54382fb5"] == ["interrupt"]
    assert marks["00a7594c"] == []


@pytest.mark.parametrize("name", PRINTED)
def test_a_stream_is_read_as_it_was_sent(name: str) -> None:
    replies = replies_of(CHATS[PRINTED[name]], has_helpers=name == "helpers")
    trajectory = main(read(STREAMS[name]))
    of_this_run = [reply for reply in replies if reply.scenario == ("short" if name == "fork" else name)]
    assert differences([trajectory], of_this_run) == []
    assert has_failed_as(trajectory, CASES[PRINTED[name]])
    assert trajectory.source.exit_status == "success"


@pytest.mark.parametrize(("name", "chat"), PRINTED.items())
def test_a_chat_is_fuller_than_the_stream_of_its_session(name: str, chat: str) -> None:
    printed, (kept,) = main(read(STREAMS[name])), read(CHATS[chat])
    assert printed.session_id == kept.session_id
    assert len(printed.messages) < len(kept.messages)


def test_the_subagents_of_a_stream_have_the_ids_of_their_files() -> None:
    apart = {each.session_id for each in read(STREAMS["helpers"]) if each.source.parent_session_id}
    assert apart == {read(path)[0].session_id for path in HELPERS.values()}


@pytest.mark.parametrize("path", [*CHATS.values(), *HELPERS.values()], ids=lambda path: path.stem[-8:])
def test_chats_are_not_taken_for_claude_codes(path: Path) -> None:
    sample = Recording(path, path.name).sample()
    assert [reader.FORMAT for reader in readers() if reader.claims(sample)] == ["qwen-code"]


@pytest.mark.parametrize("path", STREAMS.values(), ids=lambda path: path.stem)
def test_streams_are_not_taken_for_claude_codes(path: Path) -> None:
    sample = Recording(path, path.name).sample()
    assert [reader.FORMAT for reader in readers() if reader.claims(sample)] == ["qwen-stream"]
