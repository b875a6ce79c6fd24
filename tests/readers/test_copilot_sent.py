"""Real sessions of Copilot CLI 1.0.102: what the reader finds against what the model server sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.recall.own_calls import own_turns
from agent_wiki.recall.reads import wiki_reads
from agent_wiki.trajectory import Trajectory
from tests.readers.sent import CLIENTS, Reply, differences, failed_calls, read, recordings, served

CLIENT = "copilot-cli"
SESSIONS = {path.parent.name[:8]: path for path in recordings(CLIENT, "session-state")}
PRINTED = CLIENTS / CLIENT / "output" / "fix.jsonl"
TESTS = "python3 -m unittest discover -s tests"
CASES = {
    "33c51cbc": ["view {", "edit {", "create {", "sh notes/check.sh"],
    "4db47861": ["no_such_tool"],
    "5cca251b": [],
    "5d25ace2": [TESTS],
    "7efb6b0d": ["touch forbidden.txt"],
    "b8710d81": ["wiki-read_page"],
    "e78994db": [TESTS],
}


def replies_of(path: Path, *, helpers: bool) -> list[Reply]:
    """The replies of the scenarios that the recording names: one session began within two seconds of another."""
    text = path.read_text(encoding="utf-8")
    found = [reply for reply in served(CLIENT, path) if f"[[{reply.scenario}]]" in text]
    return [reply for reply in found if (reply.scenario == "helper") is helpers]


def has_failed_as(trajectory: Trajectory, failed: list[str]) -> bool:
    found = failed_calls(trajectory)
    return len(found) == len(failed) and all(one.startswith(two) for one, two in zip(found, failed, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_a_session_is_read_as_it_was_sent(name: str) -> None:
    (trajectory,) = read(SESSIONS[name])
    assert differences([trajectory], replies_of(SESSIONS[name], helpers=False)) == []
    assert has_failed_as(trajectory, CASES[name])
    source = trajectory.source
    assert (source.format, source.cwd, source.git_branch) == ("copilot-cli", "/home/dev/proj", "main")
    assert (source.agent_version, source.exit_status) == ("1.0.102", "routine")


@pytest.mark.parametrize("name", ["9a9c1a5e", "b755e741"])
def test_a_helper_is_a_trajectory_of_its_own(name: str) -> None:
    main, helper = read(SESSIONS[name])
    assert differences([main], replies_of(SESSIONS[name], helpers=False)) == []
    assert differences([helper], replies_of(SESSIONS[name], helpers=True)) == []
    assert (has_failed_as(helper, [TESTS]), helper.source.title) == (True, "Look at the tests")
    assert helper.source.parent_session_id == main.session_id
    assert helper.session_id.startswith(f"{main.session_id}.agent-")
    assert main.source.hygiene["subagent_turns_apart"] == len(helper.messages)


def test_the_users_words_are_those_that_were_typed() -> None:
    typed = {
        name: [message.content for message in read(path)[0].messages if message.role == "user" and not message.mark]
        for name, path in SESSIONS.items()
    }
    assert typed["33c51cbc"] == ["Add the type. [[cpparallel]]", "And the history? [[more]]"]
    assert typed["b755e741"] == ["Ask a helper aside. [[cpsubbg]]"]  # a notification came too
    assert typed["5cca251b"] == ["Sum. [[cpskill]]"]  # the skill's text came too


def test_what_the_program_prints_is_the_same_session_without_its_prompt_and_tokens() -> None:
    (trajectory,) = read(PRINTED)
    assert differences([trajectory], served(CLIENT, PRINTED))[:-1] == []
    assert (trajectory.source.usage, trajectory.session_id[:8]) == (None, "39a8f19a")


def test_what_it_read_in_a_wiki() -> None:
    (skill,) = read(SESSIONS["5cca251b"])
    assert [(read.page, bool(read.script)) for read in wiki_reads(skill)] == [
        ("skills/sum-csv-column/SKILL.md", False),
        ("skills/sum-csv-column/SKILL.md", True),
    ]
    (asked,) = read(SESSIONS["b8710d81"])
    assert [(read.page.partition("__")[2], read.is_listed) for read in wiki_reads(asked)] == [
        ("cluster.md", True),
        ("5db6cb1bb2bd.md", False),
    ]
    called = [turn for turn, message in asked.turns() if any("wiki" in call.name for call in message.tool_calls)]
    assert [turn for turn in called if turn not in own_turns(asked)] == []
