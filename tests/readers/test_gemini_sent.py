"""Real sessions of Gemini CLI 0.61.0: what the readers find against what the model server sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_wiki.trajectory import Trajectory
from tests.readers.sent import Reply, differences, failed_calls, read, recordings, served, total

CLIENT = "gemini-cli"
CHATS = {path.stem.rpartition("-")[2]: path for path in recordings(CLIENT, "tmp")}
STREAMS = {path.stem: path for path in recordings(CLIENT, "stream-json")}
HELPER = next(path for path in CHATS.values() if path.parent.name.startswith("55763cb5"))
TESTS, MISSING = "python3 -m unittest discover -s tests", "cat no-such-file.txt"
FAILED = {
    "47534430": [TESTS],
    "55763cb5": [],
    "59af5509": [MISSING],
    "fc14f754": [],
    HELPER.stem.rpartition("-")[2]: [TESTS, 'complete_task {"result": "The tests are run with `make test`."}'],
}


def replies_of(path: Path) -> list[Reply]:
    """The replies of a chat: without the question which model answers, and each agent's own."""
    mine = [reply for reply in served(CLIENT, path) if not reply.scenario.endswith(("/json", "/no-tools"))]
    return [as_recorded(reply) for reply in mine if (reply.scenario == "helper") == (path == HELPER)]


def project_of(path: Path) -> str:
    return next(each.name for each in path.parents if (each / ".project_root").is_file())


def as_recorded(reply: Reply) -> Reply:
    """Gemini CLI records the heading of a thought as its subject."""
    thinking = reply.said.thinking.replace("**Looking**\n\n", "Looking\n")
    return replace(reply, said=replace(reply.said, thinking=thinking))


def without_thinking(replies: Iterable[Reply]) -> list[Reply]:
    return [replace(reply, said=replace(reply.said, thinking="")) for reply in replies]


def only(path: Path) -> Trajectory:
    (trajectory,) = read(path)
    return trajectory


@pytest.mark.parametrize(
    "path", [path for name, path in CHATS.items() if name != "fc14f754"], ids=lambda path: path.stem
)
def test_a_chat_is_read_as_it_was_sent(path: Path) -> None:
    trajectory = only(path)
    assert differences([trajectory], replies_of(path)) == []
    assert trajectory.source.cwd == f"/home/dev/{project_of(path)}"
    failed = FAILED.get(path.stem.rpartition("-")[2])
    assert failed is None or failed_calls(trajectory) == failed


def test_a_session_that_was_resumed_twice_counts_each_turn_once() -> None:
    trajectory = only(CHATS["47534430"])
    assert [message.content for message in trajectory.messages if message.role == "user"][1:] == [
        "Add a function slug. [[fix]]",
        "And the log. [[more]]",
        "And hello. [[short]]",
    ]
    assert trajectory.source.hygiene == {"duplicate_turns_dropped": 43, "injected_messages": 1}
    assert trajectory.timestamp == "2026-11-22T19:47:35.241Z"


def test_a_call_that_a_killed_session_did_not_record_is_all_that_is_missing() -> None:
    path = CHATS["fc14f754"]
    (difference,) = differences([only(path)], replies_of(path))
    assert "calls=())" in difference
    assert "time.sleep(25)" in difference


def test_refusal_interruption_and_compression_are_marked() -> None:
    """In a terminal: a call refused, `/compress`, and a command stopped by Esc, whose call comes after the notice."""
    trajectory = only(CHATS["ee5590c3"])
    assert [(message.role, message.mark) for message in trajectory.messages] == [
        ("user", "injected"),
        ("user", None),
        ("assistant", None),
        ("tool", "rejected"),
        ("user", "interrupt"),
        ("user", "injected"),
        ("user", None),
        ("assistant", None),
        ("user", "compaction"),
        ("user", "injected"),
        ("user", None),
        ("assistant", None),
        ("tool", "interrupt"),
        ("user", "interrupt"),
    ]
    assert (trajectory.source.hygiene or {})["split_replies_joined"] == 1
    assert failed_calls(trajectory) == []


def test_both_tools_that_failed_are_errors() -> None:
    assert [line.split()[0] for line in failed_calls(only(CHATS["4950e7f6"]))] == ["read_file", "replace"]


def test_a_subagent_has_its_parent() -> None:
    parent = only(CHATS["55763cb5"])
    assert only(HELPER).source.parent_session_id == parent.session_id
    assert parent.source.parent_session_id is None


@pytest.mark.parametrize(("name", "failed"), [("fix", [TESTS]), ("more", []), ("readfail", ["read_file", "replace"])])
def test_a_stream_is_read_as_it_was_sent(name: str, failed: list[str]) -> None:
    path = STREAMS[name]
    trajectory = only(path)
    answered = served(CLIENT, path)
    replies = [reply for reply in answered if not reply.scenario.endswith("/json")]
    found = differences([trajectory], without_thinking(replies))
    assert [line for line in found if not line.startswith("read {")] == []
    assert total([trajectory.source.usage]) == total(reply.usage for reply in answered)
    assert all(line.startswith(start) for line, start in zip(failed_calls(trajectory), failed, strict=True))
    assert (trajectory.agent, trajectory.model, trajectory.source.exit_status) == ("gemini-cli", "scripted", "success")


def test_a_stream_that_was_cut_off_has_a_call_without_a_result_and_no_figures() -> None:
    trajectory = only(STREAMS["interrupted"])
    (call,) = (call for message in trajectory.messages for call in message.tool_calls)
    assert call.mark == "no-result"
    assert trajectory.source.usage is None
    assert trajectory.source.exit_status is None


@pytest.mark.parametrize(("stream", "chat"), [("fix", "47534430"), ("helper", "55763cb5"), ("readfail", "4950e7f6")])
def test_a_chat_is_fuller_than_the_stream_of_its_session(stream: str, chat: str) -> None:
    printed, kept = only(STREAMS[stream]), only(CHATS[chat])
    assert printed.session_id == kept.session_id
    assert len(printed.messages) < len(kept.messages)
