"""Codex rollouts, on small recordings made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import codex
from agent_wiki.readers.codex_history import uuid7_seconds
from agent_wiki.trajectory import Trajectory, Usage
from tests.hangs import no_hang
from tests.readers.lines import only, shape, write_lines

PARENT = "019c0000-0000-7000-8000-00000000000a"
PARENT_TURN = "019c0000-1000-7000-8000-00000000000b"
CHILD = "019c1000-0000-7000-8000-00000000000c"
CHILD_TURN = "019c1000-0001-7000-8000-00000000000d"
STAMP = "2026-02-03T04:05:06.000Z"


def line(kind: str, timestamp: str = STAMP, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": timestamp, "type": kind, "payload": payload}


def meta(session: str = PARENT, timestamp: str = STAMP, **more: Any) -> dict[str, Any]:
    return line("session_meta", timestamp, id=session, timestamp=timestamp, cli_version="0.130.0", cwd="/repo", **more)


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return line("response_item", type=kind, **payload)


def event(kind: str, /, **payload: Any) -> dict[str, Any]:
    return line("event_msg", type=kind, **payload)


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def typed(text: str) -> list[dict[str, Any]]:
    return [said("user", text), event("user_message", message=text, images=[])]


def call(call_id: str, **arguments: Any) -> dict[str, Any]:
    return item("function_call", name="exec_command", arguments=json.dumps(arguments), call_id=call_id)


def output(call_id: str, text: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=text)


def tokens(total: tuple[int, int, int], last: tuple[int, int, int] | None = None) -> dict[str, Any]:
    names = ("input_tokens", "cached_input_tokens", "output_tokens")
    info = {"total_token_usage": dict(zip(names, total, strict=True))}
    info["last_token_usage"] = dict(zip(names, last or total, strict=True))
    return event("token_count", info=info)


def read(tmp_path: Path, *records: Any) -> Trajectory:
    recording = write_lines(tmp_path / "rollout.jsonl", records)
    assert codex.claims(recording.sample())
    return only(codex.read(recording))


def test_a_reply_over_many_lines_is_one_message(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        *typed("list the files"),
        event("agent_reasoning", text="Look around."),
        item("reasoning", summary=[{"type": "summary_text", "text": "Look around."}], encrypted_content="x"),
        event("agent_message", message="I look."),
        said("assistant", "I look."),
        call("c1", cmd="ls"),
        call("c2", cmd="pwd"),
        event("token_count", info=None),
        output("c1", "Process exited with code 0\nOutput:\na.txt\n"),
        output("c2", "Process exited with code 0\nOutput:\n/repo\n"),
        event("agent_message", message="Done."),
        said("assistant", "Done."),
    )
    assert [message.role for message in trajectory.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    reply = trajectory.messages[1]
    assert (reply.content, reply.thinking) == ("I look.", "Look around.")
    assert [each.id for each in reply.tool_calls] == ["c1", "c2"]
    assert trajectory.messages[4].content == "Done."


def test_the_same_words_in_two_replies_are_two_messages(tmp_path: Path) -> None:
    again = [event("agent_message", message="Waiting."), said("assistant", "Waiting.")]
    trajectory = read(tmp_path, meta(), *typed("go"), *again, call("c1"), output("c1", "still"), *again)
    assert [content for role, content in shape(trajectory) if role == "assistant"] == ["Waiting.", "Waiting."]


def test_only_what_an_event_calls_typed_is_a_request(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        said("developer", "Be brief."),
        said("user", "<environment_context>linux</environment_context>"),
        said("user", "Some text a plugin added"),
        *typed("fix the test"),
    )
    assert [(message.role, message.mark) for message in trajectory.messages] == [
        ("system", None),
        ("user", "injected"),
        ("user", "injected"),
        ("user", None),
    ]
    assert trajectory.source.hygiene == {"injected_messages": 2}


def test_a_prompt_whose_event_comes_first_is_kept_once(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path, meta(), event("user_message", message="fix it"), said("user", "fix it"), said("assistant", "ok")
    )
    assert shape(trajectory) == [("user", "fix it"), ("assistant", "ok")]
    assert trajectory.messages[0].mark is None


def test_without_events_all_but_the_known_notices_is_the_users(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        said("user", "# AGENTS.md instructions for /repo\n\nBe brief."),
        said("user", "fix the test"),
        said("assistant", "ok"),
    )
    assert [message.mark for message in trajectory.messages] == ["injected", None, None]


def test_a_prompt_with_an_image_keeps_a_word_for_it(tmp_path: Path) -> None:
    content = [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
    ]
    trajectory = read(
        tmp_path,
        meta(),
        item("message", role="user", content=content),
        event("user_message", message="see", images=["data:image/png;base64,AAAA"]),
    )
    assert shape(trajectory) == [("user", "see\n[image]")]
    assert trajectory.messages[0].mark is None


def test_an_interrupt_is_marked(tmp_path: Path) -> None:
    notice = "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>"
    trajectory = read(tmp_path, meta(), *typed("go"), said("user", notice), event("turn_aborted", reason="interrupted"))
    assert [message.mark for message in trajectory.messages] == [None, "interrupt"]
    assert trajectory.source.exit_status == "interrupted"


def test_a_compaction_summary_is_no_request(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), *typed("go"), line("compacted", message="So far: half done."), *typed("on"))
    assert [message.mark for message in trajectory.messages] == [None, "compaction", None]


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ("Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nexit code: 9", False),
        ("Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\n", True),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", False),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", True),
        (json.dumps({"output": "no such file", "metadata": {"exit_code": 2}}), True),
        (json.dumps({"output": "Success.", "metadata": {"exit_code": 0}}), False),
        ([{"type": "input_text", "text": "Exit code: 3"}], True),
        ("exec_command failed for `x`: CreateProcess", True),
        ({"content": "no", "success": False}, True),
        ("Chunk ID: ab12\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n", None),
        ("Plan updated", None),
    ],
)
def test_codexs_own_frame_shows_a_failure(tmp_path: Path, text: Any, is_error: bool | None) -> None:
    trajectory = read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", text))
    assert trajectory.messages[-1].is_error is is_error


def test_the_output_is_taken_out_of_its_json_frame(tmp_path: Path) -> None:
    frame = json.dumps({"output": "line one\nline two", "metadata": {"exit_code": 0}})
    trajectory = read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", frame))
    assert trajectory.messages[-1].content == "line one\nline two"


def test_an_event_before_the_output_shows_a_failure(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        *typed("go"),
        call("c1"),
        event("exec_command_end", call_id="c1", exit_code=2),
        output("c1", "no header here"),
        item("custom_tool_call", name="apply_patch", call_id="c2", input="*** Begin Patch"),
        event("patch_apply_end", call_id="c2", success=False),
        item("custom_tool_call_output", call_id="c2", output="context not found"),
    )
    results = [message for message in trajectory.messages if message.role == "tool"]
    assert [result.is_error for result in results] == [True, True]


def test_the_end_of_a_background_command_does_not_fail_the_call_that_started_it(tmp_path: Path) -> None:
    running = "Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n"
    trajectory = read(
        tmp_path,
        meta(),
        *typed("go"),
        call("c1", cmd="make"),
        output("c1", running),
        item("function_call", name="write_stdin", arguments='{"session_id": 7}', call_id="c2"),
        event("exec_command_end", call_id="c1", exit_code=2),
        output("c2", "Process exited with code 2\nOutput:\nfailed"),
    )
    results = [message for message in trajectory.messages if message.role == "tool"]
    assert [result.is_error for result in results] == [None, True]


@pytest.mark.parametrize(
    "text", ["aborted by user after 6.2s", "exec command rejected by user", "patch rejected by user"]
)
def test_a_rejection_is_not_a_failure(tmp_path: Path, text: str) -> None:
    trajectory = read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", text))
    result = trajectory.messages[-1]
    assert (result.mark, result.is_error) == ("rejected", None)
    assert trajectory.source.hygiene == {"user_rejections": 1}


def test_an_output_that_mentions_a_rejection_is_no_rejection(tmp_path: Path) -> None:
    text = "Process exited with code 0\nOutput:\nthe offer was rejected by user"
    trajectory = read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", text))
    assert trajectory.messages[-1].mark is None


def test_every_kind_of_call_is_a_call_with_json_arguments(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        *typed("go"),
        item("custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin Patch"),
        item("web_search_call", status="completed", action={"type": "search", "query": "moons"}),
        item("local_shell_call", call_id="c3", action={"type": "exec", "command": ["bash", "-lc", "ls"]}),
        item("custom_tool_call_output", call_id="c1", output="ok"),
        item("function_call_output", call_id="c3", output="ok"),
    )
    calls = [call for message in trajectory.messages for call in message.tool_calls]
    assert [(each.id, each.name) for each in calls] == [
        ("c1", "apply_patch"),
        ("call_001", "web_search"),
        ("c3", "local_shell"),
    ]
    assert json.loads(calls[0].arguments) == {"input": "*** Begin Patch"}
    assert json.loads(calls[1].arguments)["query"] == "moons"
    assert [each.mark for each in calls] == [None, None, None]


@pytest.mark.parametrize(("status", "is_error"), [("completed", False), ("failed", True), (None, None)])
def test_a_search_within_a_reply_stays_where_it_was_and_is_answered(
    tmp_path: Path, status: str | None, is_error: bool | None
) -> None:
    search = item("web_search_call", status=status, action={"type": "search", "query": "moons"})
    around = [said("assistant", "I look it up."), search, said("assistant", "There are two.")]
    trajectory = read(tmp_path, meta(), *typed("how many moons?"), *around)
    assert shape(trajectory)[1:] == [("assistant", "I look it up."), ("tool", ""), ("assistant", "There are two.")]
    assert trajectory.messages[2].is_error is is_error
    assert "calls_without_result" not in trajectory.source.hygiene


def test_the_command_that_codex_repeats_above_an_output_is_no_part_of_it(tmp_path: Path) -> None:
    frame = "Chunk ID: 1a2b3c\nWall time: 0.5 seconds\nProcess running with session ID 7\nOutput:\n"
    echo = f"Command: /bin/bash -lc 'cat <<E\nx\nE'\n{frame}"
    assert read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", echo)).messages[-1].content == frame


def test_tokens_are_the_last_of_the_running_totals(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        *typed("go"),
        event("token_count", info=None),
        tokens((100, 40, 7)),
        tokens((100, 40, 7)),
        tokens((300, 200, 20), last=(200, 160, 13)),
    )
    assert trajectory.source.usage == Usage(input_tokens=100, cache_read_input_tokens=200, output_tokens=20)


def test_totals_that_start_again_are_added(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), *typed("go"), tokens((300, 0, 20)), tokens((50, 10, 5)))
    assert trajectory.source.usage == Usage(input_tokens=340, cache_read_input_tokens=10, output_tokens=25)


def test_a_record_of_each_reply_counts_before_the_totals_and_cache_writes_are_no_plain_input(tmp_path: Path) -> None:
    def record(thread: str, **usage: int) -> dict[str, Any]:
        return line("token_usage_record", thread_id=thread, usage=usage)

    trajectory = read(
        tmp_path,
        meta(),
        *typed("go"),
        said("assistant", "one"),
        record(PARENT, input_tokens=100, cached_input_tokens=40, cache_write_input_tokens=30, output_tokens=7),
        tokens((100, 40, 7)),
        record(PARENT, input_tokens=50, cached_input_tokens=0, cache_write_input_tokens=0, output_tokens=5),
        record(CHILD, input_tokens=900, cached_input_tokens=0, output_tokens=9),
        tokens((9000, 40, 70)),
    )
    assert trajectory.source.usage == Usage(80, 30, 40, 12)


def agent(*texts: str) -> dict[str, Any]:
    parts = [{"type": "input_text", "text": text} for text in texts[:1]]
    parts += [{"type": "encrypted_content", "encrypted_content": text} for text in texts[1:]]
    return item("agent_message", author="/root", recipient="/root/helper", content=parts)


HEAD = "Message Type: {}\nTask name: /root/helper\nSender: /root\nPayload:\n"


def test_what_agents_of_a_team_write_to_each_other_is_kept_and_a_task_is_a_request(tmp_path: Path) -> None:
    task, answer = HEAD.format("NEW_TASK") + "Run the tests.\nAll.", HEAD.format("FINAL_ANSWER") + "They pass."
    secret = agent(HEAD.format("NEW_TASK"), "gAAAAAB")
    trajectory = read(tmp_path, meta(), agent(task), said("assistant", "I run them."), agent(answer), secret)
    assert [(message.role, message.content, message.mark) for message in trajectory.messages] == [
        ("user", "Run the tests.\nAll.", None),
        ("assistant", "I run them.", None),
        ("user", answer, "injected"),
        ("user", HEAD.format("NEW_TASK") + "[encrypted]", "injected"),
    ]


def test_an_interruption_is_one_whoever_codex_writes_it_for(tmp_path: Path) -> None:
    aborted = "<turn_aborted>\nThe previous turn was interrupted on purpose."
    trajectory = read(tmp_path, meta(), *typed("go"), said("developer", aborted), said("user", aborted))
    assert [message.mark for message in trajectory.messages] == [None, "interrupt", "interrupt"]


def test_a_fork_leaves_the_totals_that_it_begins_with_to_its_origin(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(CHILD, forked_from_id=PARENT),
        event("task_started", turn_id=CHILD_TURN),
        tokens((300, 200, 20), last=(100, 90, 6)),
        *typed("go on"),
        said("assistant", "one"),
        tokens((360, 210, 25), last=(60, 10, 5)),
    )
    assert trajectory.source.usage == Usage(50, None, 10, 5)


def test_without_token_counts_usage_is_absent(tmp_path: Path) -> None:
    assert read(tmp_path, meta(), *typed("go"), event("token_count", info=None)).source.usage is None


def forked(*own: Any, **more: Any) -> list[Any]:
    """A fork: its own header, then its parent's lines stamped anew, then its own turn."""
    return [
        meta(CHILD, **more),
        meta(PARENT),
        event("task_started", turn_id=PARENT_TURN),
        line("turn_context", turn_id=PARENT_TURN, model="model-old"),
        *typed("the parent's request"),
        said("assistant", "the parent's answer"),
        tokens((300, 100, 30)),
        event("task_started", turn_id=CHILD_TURN),
        line("turn_context", turn_id=CHILD_TURN, model="model-new"),
        *own,
    ]


def test_a_fork_leaves_the_copied_turns_to_its_parent(tmp_path: Path) -> None:
    trajectory = read(tmp_path, *forked(*typed("my request"), said("assistant", "mine"), tokens((500, 150, 70))))
    assert (trajectory.session_id, trajectory.model) == (CHILD, "model-new")
    assert shape(trajectory) == [("user", "my request"), ("assistant", "mine")]
    assert trajectory.source.forked_from == PARENT
    assert trajectory.source.hygiene == {"inherited_turns": 2}
    assert trajectory.source.usage == Usage(input_tokens=150, cache_read_input_tokens=50, output_tokens=40)


def test_a_fork_in_which_nothing_followed_has_no_turns_of_its_own(tmp_path: Path) -> None:
    trajectory = read(tmp_path, *forked()[:-2])
    assert trajectory.messages == []
    assert trajectory.source.hygiene == {"inherited_turns": 2}
    assert trajectory.source.usage is None


def test_a_fork_with_older_turn_ids_is_detected_by_when_its_turns_began(tmp_path: Path) -> None:
    born = uuid7_seconds(CHILD)
    assert born is not None
    old_turn = "5b1f0f0c-7a54-4d5a-9d2f-5a1c6b7d8e9f"
    records = forked(*typed("my request"))
    records[2] = event("task_started", turn_id=old_turn, started_at=int(born) - 900)
    records[3] = line("turn_context", turn_id=old_turn, model="model-old")
    trajectory = read(tmp_path, *records)
    assert shape(trajectory) == [("user", "my request")]


def test_a_fork_without_turn_ids_is_detected_by_the_pause_before_it_continues(tmp_path: Path) -> None:
    later = "2026-02-03T04:05:30.000Z"
    own = {**said("user", "my request"), "timestamp": later}
    records = [meta(CHILD), meta(PARENT), *typed("the parent's request"), own]
    records.append({**event("user_message", message="my request"), "timestamp": later})
    trajectory = read(tmp_path, *records)
    assert shape(trajectory) == [("user", "my request")]
    assert trajectory.source.forked_from == PARENT


def test_a_resumed_session_that_repeats_its_own_header_is_one_session(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), *typed("first"), meta(), *typed("second"))
    assert shape(trajectory) == [("user", "first"), ("user", "second")]
    assert trajectory.source.forked_from is None


def test_a_subagent_names_its_parent(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    spawned = read(tmp_path, meta(CHILD, source=source), *typed("review this"))
    assert (spawned.source.parent_session_id, spawned.source.forked_from) == (PARENT, None)
    review = read(tmp_path, meta(CHILD, source={"subagent": "review"}, parent_thread_id=PARENT), *typed("review"))
    assert review.source.parent_session_id == PARENT


def test_what_was_recorded_beside_the_messages_is_kept(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(git={"branch": "topic"}),
        line("turn_context", "2026-02-03T04:05:07.000Z", model="model-x"),
        *typed("go"),
        line("event_msg", "2026-02-03T04:05:36.500Z", type="task_complete"),
    )
    source = trajectory.source
    assert (trajectory.agent, trajectory.model, trajectory.timestamp) == ("codex", "model-x", "2026-02-03T04:05:06Z")
    assert (source.agent_version, source.cwd, source.git_branch) == ("0.130.0", "/repo", "topic")
    assert (source.ended_at, source.duration_seconds) == ("2026-02-03T04:05:36.500Z", 30.5)
    assert source.exit_status == "task_complete"


def test_the_bare_items_of_the_oldest_files_are_read(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        {"id": "5b1f0f0c-7a54-4d5a-9d2f-5a1c6b7d8e9f", "timestamp": STAMP, "instructions": None},
        {"record_type": "state"},
        said("user", "go")["payload"],
        call("c1", command=["bash", "-lc", "ls"])["payload"],
        output("c1", json.dumps({"output": "a\n", "metadata": {"exit_code": 0}}))["payload"],
    )
    assert [message.role for message in trajectory.messages] == ["user", "assistant", "tool"]
    assert trajectory.session_id == "5b1f0f0c-7a54-4d5a-9d2f-5a1c6b7d8e9f"


def test_a_torn_file_without_its_header_gets_an_id_from_its_text(tmp_path: Path) -> None:
    first, second = (read(tmp_path, *typed("go")), read(tmp_path, *typed("go")))
    assert first.session_id == second.session_id
    assert first.session_id.startswith("codex-")


def test_unknown_lines_and_wrong_types_cost_nothing(tmp_path: Path) -> None:
    odd = [{"type": "world_state", "payload": {}}, {"type": "event_msg", "payload": 7}, [1], "x", None]
    odd += [item("message", role="user", content=None), item("reasoning", summary=None), event("user_message")]
    odd += [{"type": [1], "payload": {"type": {}}}, event("user_message", message=7, images=0.5)]
    odd += [item("function_call"), item("function_call_output"), line("compacted"), {"payload": {}}]
    trajectory = read(tmp_path, meta(git=7, source=[]), *odd, *typed("go"))
    assert ("user", "go") in shape(trajectory)


def test_a_session_in_which_nothing_was_said_is_reported(tmp_path: Path) -> None:
    recording = write_lines(tmp_path / "rollout.jsonl", [meta(), event("token_count", info=None)])
    with pytest.raises(UnreadableRecording, match=r"rollout\.jsonl: a session without messages"):
        list(codex.read(recording))


def test_other_formats_are_not_claimed(tmp_path: Path) -> None:
    for records in (
        [{"type": "session", "id": "a", "cwd": "/"}, {"type": "message"}],
        [{"type": "user", "message": {"role": "user", "content": "x"}, "sessionId": "s"}],
        [{"role": "user", "content": "x"}],
    ):
        assert not codex.claims(write_lines(tmp_path / "other.jsonl", records).sample())


def test_a_hostile_output_is_read_in_linear_time(tmp_path: Path) -> None:
    text = "Chunk ID: " * 100_000
    with no_hang():
        read(tmp_path, meta(), *typed("go"), call("c1"), output("c1", text))
