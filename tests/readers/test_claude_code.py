"""Claude Code session files become trajectories: one a session, one a subagent, nothing counted twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers import claude_code, stream_json
from agent_wiki.readers.recording import Sample
from agent_wiki.trajectory import Message, Trajectory, Usage, message_to_json
from tests.hangs import no_hang
from tests.readers.claude_lines import assistant, call, line, recording_of, result, text, thinking, user


def read(tmp_path: Path, *records: Any) -> list[Trajectory]:
    recording = recording_of(tmp_path, *records)
    assert claude_code.claims(recording.sample())
    return list(claude_code.read(recording))


def only(tmp_path: Path, *records: Any) -> Trajectory:
    (trajectory,) = read(tmp_path, *records)
    return trajectory


def roles(trajectory: Trajectory) -> list[str]:
    return [message.role for message in trajectory.messages]


def found(trajectory: Trajectory) -> list[tuple[str | None, str | None]]:
    """The user's turns with their marks."""
    return [(message.content, message.mark) for message in trajectory.messages if message.role == "user"]


def result_of(tmp_path: Path, content: Any, **flags: Any) -> Message:
    calls = assistant("m1", call("c1", command="make"))
    return only(tmp_path, calls, user([result("c1", content, **flags)])).messages[-1]


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


# --- tool results ---


def test_a_rejection_is_not_a_failure_and_keeps_the_users_words(tmp_path: Path) -> None:
    words = "The user doesn't want to proceed with this tool use. … the user said:\nuse uv instead"
    message = result_of(tmp_path, words, is_error=True)
    assert (message.mark, message.is_error) == ("rejected", None)
    assert message.content is not None
    assert message.content.endswith("use uv instead")


@pytest.mark.parametrize(
    ("content", "mark"),
    [
        ("The user doesn't want to take this action right now. STOP", "rejected"),
        ("[Request interrupted by user for tool use]", "rejected"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled"),
        ("<tool_use_error>Cancelled: parallel tool call Bash(ls) errored</tool_use_error>", "cancelled"),
        ("Exit code 137\n[Request interrupted by user for tool use]", "interrupt"),
    ],
)
def test_what_the_user_or_a_sibling_stopped_is_no_failure(tmp_path: Path, content: str, mark: str) -> None:
    message = result_of(tmp_path, content, is_error=True)
    assert (message.mark, message.is_error) == (mark, None)


@pytest.mark.parametrize(
    ("content", "flags", "is_error"),
    [
        ("Exit code 1\nno such target", {"is_error": True}, True),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", {"is_error": True}, True),
        ("Error: is what the page says", {"is_error": False}, False),
        ("Error: no flag is no error in this format", {}, False),
        ("Cancelled orders: 3", {"is_error": False}, False),
    ],
)
def test_the_flag_says_what_failed(tmp_path: Path, content: str, flags: dict[str, Any], is_error: bool) -> None:
    message = result_of(tmp_path, content, **flags)
    assert (message.is_error, message.mark) == (is_error, None)


def test_a_result_in_parts_becomes_text_and_never_base64(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 100}}
    parts = [text("Screenshot:"), image, {"type": "tool_reference", "tool_name": "Grep"}, {"type": "odd"}]
    assert result_of(tmp_path, parts).content == (
        "Screenshot:\n[image: image/png, 400 characters]\n[tool_reference: Grep]\n[odd]"
    )


def test_a_result_of_another_sessions_call_is_kept_and_marked(tmp_path: Path) -> None:
    message = only(tmp_path, user([result("elsewhere", "done")])).messages[0]
    assert (message.mark, message.content) == ("no-call", "done")


def test_a_call_without_result_is_kept_and_marked(tmp_path: Path) -> None:
    trajectory = only(tmp_path, assistant("m1", call("c1")))
    assert trajectory.messages[0].tool_calls[0].mark == "no-result"


# --- what stands in the user's place ---


@pytest.mark.parametrize(
    "content",
    [
        "<local-command-stdout>See ya!</local-command-stdout>",
        "<local-command-caveat>Caveat: …</local-command-caveat>",
        "<command-name>/exit</command-name>\n            <command-message>exit</command-message>",
        "<command-name>/model</command-name>\n<command-args>opus</command-args>",
        "<command-message>init is analyzing…</command-message>\n<command-name>/init</command-name>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
        "<task-notification>\n<status>completed</status>\n</task-notification>\nFull transcript: x",
        '<teammate-message teammate_id="alice">Done</teammate-message>',
        "Caveat: The messages below were generated by the user while running local commands. …",
        "Stop hook feedback:\n- run the tests",
        "<ide_selection>The user selected …",
    ],
)
def test_what_a_harness_writes_is_kept_but_no_request(tmp_path: Path, content: str) -> None:
    assert found(only(tmp_path, user(content))) == [(content, "injected")]


@pytest.mark.parametrize(
    "content",
    ["Fix <div> in the page", "<div>is this valid?</div>", "[ ] is not a checkbox", "Caveat emptor", "<unclosed"],
)
def test_what_only_looks_like_a_harness_is_a_request(tmp_path: Path, content: str) -> None:
    assert found(only(tmp_path, user(content))) == [(content, None)]


def test_the_editors_note_is_separated_from_the_words_after_it(tmp_path: Path) -> None:
    note, words = "<ide_opened_file>The user opened a.py</ide_opened_file>", "Rename it"
    assert found(only(tmp_path, user([text(note), text(words)]))) == [(note, "injected"), (words, None)]
    assert found(only(tmp_path, user(f"{note}\n{words}"))) == [(note, "injected"), (words, None)]


def test_a_slash_command_with_the_users_words_is_a_request_in_those_words(tmp_path: Path) -> None:
    content = (
        "<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>the last\ncommit</command-args>"
    )
    assert found(only(tmp_path, user(content))) == [("/review the last\ncommit", None)]


def test_a_dictated_memory_is_the_users_own_word(tmp_path: Path) -> None:
    content = "<user-memory-input>always use tabs</user-memory-input>"
    assert found(only(tmp_path, user(content))) == [("always use tabs", None)]


@pytest.mark.parametrize(
    ("fields", "mark"),
    [
        ({"isMeta": True}, "injected"),
        ({"isCompactSummary": True, "isVisibleInTranscriptOnly": True}, "compaction"),
        ({"origin": {"kind": "task-notification"}}, "injected"),
        ({"origin": {"kind": "human"}, "promptSource": "typed"}, None),
    ],
)
def test_what_a_line_says_of_itself_counts(tmp_path: Path, fields: dict[str, Any], mark: str | None) -> None:
    assert found(only(tmp_path, user("Some text", **fields))) == [("Some text", mark)]


def test_an_interruption_is_no_request(tmp_path: Path) -> None:
    content = "[Request interrupted by user for tool use]"
    assert found(only(tmp_path, user([text(content)]))) == [(content, "interrupt")]


def test_text_beside_a_result_is_the_harnesss(tmp_path: Path) -> None:
    calls = assistant("m1", call("c1"))
    trajectory = only(tmp_path, calls, user([result("c1", "done"), text("Remember the todo list")]))
    assert found(trajectory) == [("Remember the todo list", "injected")]


def test_a_prompt_queued_while_the_agent_worked_is_a_request(tmp_path: Path) -> None:
    queued = {"type": "queued_command", "prompt": "and the tests too", "commandMode": "prompt"}
    notice = {"type": "queued_command", "prompt": "agent is done", "commandMode": "task-notification"}
    trajectory = only(
        tmp_path,
        user("Fix the code"),
        line("attachment", None, attachment=queued),
        line("attachment", None, attachment=notice),
        line("attachment", None, attachment={"type": "task_reminder", "content": "…"}),
    )
    assert found(trajectory) == [("Fix the code", None), ("and the tests too", None), ("agent is done", "injected")]


def test_a_pasted_image_is_named_beside_the_users_words(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "QUJD"}}
    assert found(only(tmp_path, user([text("Like this"), image]))) == [
        ("Like this\n\n[image: image/jpeg, 4 characters]", None)
    ]


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


# --- damage ---


def test_one_bad_record_costs_that_record_only(tmp_path: Path) -> None:
    odd: list[Any] = [
        "a string",
        42,
        [1],
        {"silly": "this"},
        line("user", "no message object"),
        line("user", {"role": "user"}),
        line("assistant", {"id": 7, "content": [None, "x", {"type": "text"}, {"type": "tool_use"}], "usage": "none"}),
        line("user", {"content": [{"type": "tool_result"}]}, timestamp=7, sessionId=None, cwd=[]),
        line("progress", None, data="odd"),
        line("progress", None, data={"type": "agent_progress", "message": {"type": "user", "message": None}}),
        line("attachment", None, attachment=None),
        {"type": "ai-title", "aiTitle": None},
        {"type": "summary"},
        line("user", {"role": "user", "content": "x"}, forkedFrom=True),
        line("user", {"role": "user", "content": "x"}, uuid=["odd"], timestamp="yesterday", isSidechain=1, agentId=5),
    ]
    recording = recording_of(tmp_path, user("Build it"), *odd, user("Go on"))
    trajectories = list(claude_code.read(recording))
    assert [text for text, _ in found(trajectories[0])] == ["Build it", "Go on"]
    assert sum("a turn without a message" in warning for warning in recording.warnings) == 3


def test_a_deeply_nested_result_is_a_bad_record_not_a_crash(tmp_path: Path) -> None:
    def nested(levels: int) -> Any:
        return [{"type": "x", "content": nested(levels - 1)}] if levels else "core"

    trajectory = only(tmp_path, user("Hi"), user([result("c1", nested(90))]), user([result("c2", nested(300))]))
    assert [message.tool_call_id for message in trajectory.messages] == [None, "c1"]
    assert trajectory.source.hygiene["results_without_call"] == 1


def test_a_file_without_turns_yields_nothing_and_says_so(tmp_path: Path) -> None:
    snapshot = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "isSnapshotUpdate": False}
    recording = recording_of(tmp_path, snapshot, {"type": "summary", "summary": "S", "leafUuid": "l"})
    assert claude_code.claims(recording.sample())
    assert list(claude_code.read(recording)) == []
    assert recording.warnings == ["any-name.jsonl: no turns of its own recorded"]


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "user", "message": {"role": "user", "content": "x"}, "session_id": "s"}],  # stream-json
        [{"type": "session_meta", "payload": {"id": "s"}, "timestamp": "2026-01-01T00:00:00Z"}],  # Codex
        [{"type": "message", "id": "1", "parentId": None, "message": {"role": "user"}}],  # pi
        [{"sessionId": "s", "startTime": "2026-01-01T00:00:00Z"}, {"id": "1", "type": "user", "content": "x"}],
        [{"role": "user", "content": "x"}],
        [],
    ],
)
def test_other_formats_are_not_claimed(records: list[Any]) -> None:
    assert not claude_code.claims(Sample("lines", records))


def test_the_two_claude_formats_do_not_claim_each_others_lines() -> None:
    sample = Sample("lines", [user("x"), assistant("m", text("y"))])
    assert claude_code.claims(sample)
    assert not stream_json.claims(sample)


HOSTILE = 1_000_000


@pytest.mark.parametrize(
    "content",
    [
        "<" * HOSTILE,
        "<ide_selection>" * (HOSTILE // 15),
        "<ide_selection " * (HOSTILE // 15),
        "<command-name></command-name>" * (HOSTILE // 29),
        "<command-message>" + "<command-args>" * (HOSTILE // 14),
        " " * HOSTILE + "<",
        "<" + "a-" * (HOSTILE // 2),
        "<ide_opened_file>" + " " * HOSTILE,
    ],
)
def test_hostile_text_is_read_in_linear_time(tmp_path: Path, content: str) -> None:
    with no_hang():
        trajectory = only(tmp_path, user(content), user("End"))
    assert trajectory.messages[-1].content == "End"


MEASURE = """
import sys
from pathlib import Path
from agent_wiki.readers import claude_code
from agent_wiki.readers.recording import Recording

def peak():
    # Not getrusage: its peak is handed down from the process that started this one.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024

before = peak()
path = Path(sys.argv[1])
(trajectory,) = claude_code.read(Recording(path, path.name))
print(len(trajectory.messages), trajectory.characters(), peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_a_large_recording_is_held_once(tmp_path: Path) -> None:
    """100 MB, half of it the structured copies that a session file keeps beside each result."""
    path, output = tmp_path / "large.jsonl", "a line of output 0123456789\n" * 1800
    with path.open("w", encoding="utf-8") as stream:
        for number in range(1000):
            reply = assistant(f"m{number}", call(f"c{number}", command="make"))
            answer = user([result(f"c{number}", f"{number} {output}")], toolUseResult={"stdout": output})
            stream.write(f"{json.dumps(reply)}\n{json.dumps(answer)}\n")
    assert path.stat().st_size > 100_000_000
    measured = subprocess.run(  # its own process: the peak of this one is not the reader's
        [sys.executable, "-c", MEASURE, str(path)], check=True, capture_output=True, text=True
    )
    messages, characters, peak = (int(word) for word in measured.stdout.split())
    assert messages == 2000
    assert characters > 50_000_000
    assert 1.0 * characters < peak < 2.5 * characters  # less than was kept would be a wrong measurement
