"""Claude Code session files become trajectories: one a session, one a subagent, nothing counted twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers import claude_code
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Usage, message_to_json
from tests.readers.claude_lines import (
    assistant,
    call,
    found,
    line,
    only,
    read,
    recording_of,
    result,
    roles,
    text,
    thinking,
    user,
)

# --- one reply, one message ---


def test_a_reply_split_over_lines_is_one_message_and_its_usage_counts_once(tmp_path: Path) -> None:
    early, whole = {"input_tokens": 100, "output_tokens": 1}, {"input_tokens": 100, "output_tokens": 40}
    trajectory = only(
        tmp_path,
        user("Build it"),
        assistant("m1", thinking("Let me see"), usage=early),
        assistant("m1", text("I will build."), usage=early),
        assistant("m1", call("c1", command="make"), usage=whole),
        user([result("c1", "done")]),
    )
    assert roles(trajectory) == ["user", "assistant", "tool"]
    assert message_to_json(trajectory.messages[1]) == {
        "role": "assistant",
        "content": "I will build.",
        "thinking": "Let me see",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "Bash", "arguments": '{"command": "make"}'}}
        ],
    }
    assert trajectory.source.usage == Usage(input_tokens=100, output_tokens=40)
    assert trajectory.source.hygiene == {"split_replies_joined": 1}


def test_results_between_the_parts_of_a_reply_come_after_it(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        assistant("m1", call("c1")),
        user([result("c1", "first")]),
        assistant("m1", call("c2")),
        user([result("c2", "second")]),
        assistant("m2", text("Both done.")),
    )
    assert roles(trajectory) == ["assistant", "tool", "tool", "assistant"]
    assert [each.id for each in trajectory.messages[0].tool_calls] == ["c1", "c2"]
    assert [message.tool_call_id for message in trajectory.messages[1:3]] == ["c1", "c2"]


def test_replies_without_an_id_are_not_joined(tmp_path: Path) -> None:
    one, two = assistant("", text("One")), assistant("", text("Two"))
    del one["message"]["id"], two["message"]["id"]
    assert [message.content for message in only(tmp_path, one, two).messages] == ["One", "Two"]


def test_thinking_that_was_signed_but_not_written_is_no_turn(tmp_path: Path) -> None:
    trajectory = only(tmp_path, assistant("m1", thinking("")), assistant("m2", thinking(""), text("Hello")))
    assert [(message.content, message.thinking) for message in trajectory.messages] == [("Hello", None)]
    assert trajectory.source.hygiene == {"empty_messages_dropped": 1}


def test_a_line_recorded_twice_counts_once(tmp_path: Path) -> None:
    prompt, reply = user("Build it"), assistant("m1", call("c1"))
    answer = user([result("c1", "done")])
    trajectory = only(tmp_path, prompt, reply, answer, prompt, reply, answer)
    assert len(trajectory.messages) == 3
    assert trajectory.source.hygiene == {"duplicate_turns_dropped": 3}


def test_a_replay_under_new_uuids_repeats_no_call_and_no_result(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        *[each for _ in range(2) for each in (assistant("m1", text("Now"), call("c1")), user([result("c1", "done")]))],
    )
    assert roles(trajectory) == ["assistant", "tool"]
    assert trajectory.messages[0].content == "Now"
    assert trajectory.source.hygiene["duplicate_turns_dropped"] == 2


# --- sessions, forks, subagents ---


def test_a_file_with_several_sessions_holds_several_trajectories(tmp_path: Path) -> None:
    start = user("Start", uuid="a", sessionId="s1")
    first, second = read(
        tmp_path,
        start,
        assistant("m1", text("Ok"), uuid="b", parentUuid="a", sessionId="s1"),
        user("Go on", uuid="c", parentUuid="b", sessionId="s2"),
    )
    assert (first.session_id, len(first.messages), first.source.forked_from) == ("s1", 2, None)
    assert (second.session_id, len(second.messages), second.source.forked_from) == ("s2", 1, "s1")


def test_history_a_fork_copied_is_left_to_the_session_it_came_from(tmp_path: Path) -> None:
    copied: dict[str, Any] = {"forkedFrom": {"sessionId": "origin", "messageUuid": "x"}}
    trajectory = only(
        tmp_path, user("Old request", **copied), assistant("m1", text("Old"), **copied), user("New request")
    )
    assert found(trajectory) == [("New request", None)]
    assert trajectory.source.forked_from == "origin"
    assert trajectory.source.usage is None
    assert trajectory.source.hygiene == {"inherited_turns": 2}


def test_turns_whose_replies_another_session_asked_for_are_left_to_it(tmp_path: Path) -> None:
    """`--fork-session` copies turns under the new id; only the copied replies name the session that they came from."""
    copied: dict[str, Any] = {"requestSessionId": "origin", "timestamp": "2026-01-01T00:00:00Z"}
    trajectory = only(
        tmp_path,
        user("old question", timestamp="2026-01-01T00:00:00Z"),
        assistant("m1", text("old"), call("c1"), **copied),
        user([result("c1", "old result")]),
        user("new question"),
        assistant("m2", text("new"), requestSessionId="session-1"),
        {"type": "cost-state", "sessionId": "session-1", "totalCostUSD": 0.5},
    )
    assert [message.content for message in trajectory.messages] == ["new question", "new"]
    assert trajectory.source.forked_from == "origin"
    assert trajectory.source.hygiene == {"inherited_turns": 3}
    assert trajectory.source.usage == Usage(input_tokens=10, output_tokens=5)
    assert trajectory.source.cost_usd is None
    assert trajectory.timestamp == "2026-01-02T03:04:05.678Z"


def test_what_a_fork_copied_after_the_last_reply_is_left_too(tmp_path: Path) -> None:
    opened = {"type": "queue-operation", "sessionId": "session-1", "timestamp": "2026-01-02T03:00:00Z"}
    old, new = {"timestamp": "2026-01-02T02:00:00Z"}, {"timestamp": "2026-01-02T03:00:01Z"}
    trajectory = only(
        tmp_path,
        opened,
        user("old question", **old),
        line("assistant", assistant("m1", text("old"))["message"], requestSessionId="origin", **old),
        user("[Request interrupted by user]", **old),
        line("assistant", assistant("m2", text("No response requested."), model="<synthetic>")["message"], **old),
        user("new question", **new),
    )
    assert found(trajectory) == [("new question", None)]
    assert len(trajectory.messages) == 1
    assert trajectory.source.hygiene == {"inherited_turns": 4}


def test_the_running_cost_at_the_end_is_the_sessions(tmp_path: Path) -> None:
    states = [{"type": "cost-state", "sessionId": "session-1", "totalCostUSD": cost} for cost in (0.25, 0.5)]
    trajectory = only(tmp_path, user("go"), assistant("m1", text("one")), states[0], user("on"), states[1])
    assert trajectory.source.cost_usd == 0.5


def test_the_copy_of_a_session_that_compaction_made_is_no_source(tmp_path: Path) -> None:
    copy = {"isSidechain": True, "agentId": "acompact-b8121bc599379e4d"}
    turns = [user("go", **copy), line("assistant", assistant("m1", text("one"))["message"], **copy)]
    session = only(tmp_path, user("go"), assistant("m1", text("one")), *turns)
    assert (session.session_id, session.source.hygiene) == ("session-1", {"duplicate_turns_dropped": 2})
    alone = recording_of(tmp_path, *turns, name="agent-acompact-b8121bc599379e4d.jsonl")
    assert (list(claude_code.read(alone)), alone.warnings) == ([], [])


def test_both_branches_of_an_edited_prompt_are_kept(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        user("First wording", uuid="a"),
        assistant("m1", text("One"), uuid="b", parentUuid="a"),
        user("Second wording", uuid="c"),
    )
    assert [message.content for message in trajectory.messages] == ["First wording", "One", "Second wording"]


def test_an_inline_subagent_is_kept_apart_from_its_parent(tmp_path: Path) -> None:
    parent, agent = read(
        tmp_path,
        assistant("m1", call("c1", "Task", prompt="Look")),
        user("Look", isSidechain=True, agentId="abc"),
        assistant("m2", text("Seen"), isSidechain=True, agentId="abc"),
        user([result("c1", "Seen")]),
    )
    assert roles(parent) == ["assistant", "tool"]
    assert parent.source.hygiene == {"subagent_turns_apart": 2}
    assert (agent.session_id, agent.source.parent_session_id) == ("session-1.agent-abc", "session-1")
    assert [message.content for message in agent.messages] == ["Look", "Seen"]


def test_inline_subagents_without_ids_are_followed_along_the_tree(tmp_path: Path) -> None:
    side: dict[str, Any] = {"isSidechain": True}
    one, two = read(
        tmp_path,
        user("Task one", uuid="11111111-a", **side),
        user("Task two", uuid="22222222-a", **side),
        assistant("m1", text("One done"), uuid="u3", parentUuid="11111111-a", **side),
        assistant("m2", text("Two done"), uuid="u4", parentUuid="22222222-a", **side),
    )
    assert [one.session_id, two.session_id] == ["session-1.agent-11111111", "session-1.agent-22222222"]
    assert [message.content for message in one.messages] == ["Task one", "One done"]
    assert [message.content for message in two.messages] == ["Task two", "Two done"]


def test_a_subagent_in_progress_lines_is_kept_apart_and_its_usage_too(tmp_path: Path) -> None:
    def progress(turn: dict[str, Any]) -> dict[str, Any]:
        inner = {key: turn[key] for key in ("type", "message", "uuid", "timestamp")}
        return line("progress", None, data={"type": "agent_progress", "agentId": "abc", "message": inner})

    first = progress(user([text("Look")]))
    parent, agent = read(
        tmp_path,
        user("Do it"),
        first,
        progress(assistant("m1", call("c1"))),
        progress(assistant("m1", call("c2"))),
        first,
        line("progress", None, data={"type": "bash_progress", "output": "…"}),
    )
    assert found(parent) == [("Do it", None)]
    assert parent.source.usage is None
    assert roles(agent) == ["user", "assistant"]
    assert agent.source.usage == Usage(input_tokens=10, output_tokens=5)
    assert agent.source.hygiene["duplicate_turns_dropped"] == 1


@pytest.mark.parametrize(("last", "expected"), [(None, "Found it."), (text("It is there."), "It is there.")])
def test_a_subagent_without_a_last_reply_ends_with_what_it_reported_to_its_parent(
    tmp_path: Path, last: dict[str, Any] | None, expected: str
) -> None:
    side: dict[str, Any] = {"isSidechain": True, "agentId": "abc"}
    returned = {"status": "completed", "agentId": "abc", "content": [text("Found it.")]}
    _, agent = read(
        tmp_path,
        user("Do it"),
        user("Look", **side),
        assistant("m1", call("c1"), **side),
        user([result("c1", "a.py")], **side),
        *([assistant("m2", last, **side)] if last else []),
        user([result("c0", [text("Found it."), text("agentId: abc")])], toolUseResult=returned),
    )
    assert (roles(agent)[-1], agent.messages[-1].content) == ("assistant", expected)
    assert agent.source.hygiene.get("reports_of_parent", 0) == (last is None)


def test_a_file_of_one_subagent_yields_no_parent(tmp_path: Path) -> None:
    trajectory = only(tmp_path, assistant("m1", text("Warm"), isSidechain=True, agentId="abc"))
    assert trajectory.session_id == "session-1.agent-abc"


# --- what is recorded beside the turns ---


def test_what_is_recorded_beside_the_turns_is_kept(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        {"type": "summary", "summary": "About another file", "leafUuid": "elsewhere"},
        user("Build it", timestamp="2026-01-02T03:00:00.000Z", version="2.1.0", gitBranch="feature"),
        assistant("m1", text("Failed"), model="<synthetic>"),
        assistant("m2", text("One"), model="small"),
        assistant("m3", text("Two"), model="large"),
        assistant("m4", text("Three"), model="large", timestamp="2026-01-02T04:00:00+01:00"),
        {"type": "ai-title", "aiTitle": "A guess", "sessionId": "session-1"},
        {"type": "ai-title", "aiTitle": "A better guess", "sessionId": "session-1"},
        assistant("m5", text("Four"), model="small", timestamp="2026-01-02T03:01:30.500Z"),
    )
    source = trajectory.source
    assert (trajectory.agent, trajectory.model, source.title) == ("claude-code", "small", "A better guess")
    assert (trajectory.timestamp, source.ended_at) == ("2026-01-02T03:00:00Z", "2026-01-02T03:04:05.678Z")
    assert source.duration_seconds == 245.678
    assert (source.agent_version, source.git_branch, source.cwd) == ("2.1.0", "feature", "/home/someone/project")
    assert source.usage == Usage(input_tokens=40, output_tokens=20)


def test_a_title_the_user_gave_comes_before_a_made_one(tmp_path: Path) -> None:
    reply = assistant("m1", text("Ok"), uuid="leaf")
    custom = {"type": "custom-title", "customTitle": "Mine", "sessionId": "session-1"}
    made = {"type": "ai-title", "aiTitle": "Made", "sessionId": "session-1"}
    summary = {"type": "summary", "summary": "Summary", "leafUuid": "leaf"}
    assert only(tmp_path, reply, custom, made, summary).source.title == "Mine"
    assert only(tmp_path, reply, summary).source.title == "Summary"


def test_what_is_not_recorded_is_absent(tmp_path: Path) -> None:
    bare = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "Hi"}}
    trajectory = only(tmp_path, bare)
    source = trajectory.source
    assert (trajectory.model, trajectory.timestamp, source.usage, source.duration_seconds) == (None,) * 4
    assert (source.ended_at, source.cost_usd, source.title, source.cwd, source.hygiene) == (*(None,) * 4, {})


# --- the same lines, saved as one array ---


def test_lines_that_a_hook_saved_as_one_array_are_the_same_sessions(tmp_path: Path) -> None:
    records = [
        {"type": "summary", "summary": "Build", "leafUuid": "u"},
        user("Build it"),
        assistant("m1", call("c1", command="make")),
        user([result("c1", "done")]),
        assistant("m2", text("Done.")),
    ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([*records, "odd"], indent=2), encoding="utf-8")
    recording = Recording(path, path.name)
    assert claude_code.claims(recording.sample())
    (saved,) = claude_code.read(recording)
    assert list(map(message_to_json, saved.messages)) == list(map(message_to_json, only(tmp_path, *records).messages))


def test_an_array_of_other_objects_is_none_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"role": "user", "content": "Build it"}], indent=2), encoding="utf-8")
    assert not claude_code.claims(Recording(path, path.name).sample())
