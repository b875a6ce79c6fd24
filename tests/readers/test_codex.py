"""Codex rollouts, on small recordings made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import codex
from agent_wiki.trajectory import Usage
from tests.readers.codex_lines import (
    CHILD,
    PARENT,
    STAMP,
    call,
    event,
    item,
    line,
    meta,
    output,
    read,
    said,
    tokens,
    typed,
)
from tests.readers.lines import shape, write_lines


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


def test_a_turn_that_was_aborted_before_the_prompt_was_sent_again_is_not_how_the_session_ended(tmp_path: Path) -> None:
    aborted = (*typed("go"), event("turn_aborted", reason="interrupted"))
    again = read(tmp_path, meta(), *aborted, *typed("go on"), said("assistant", "Done."))
    assert again.source.exit_status is None


def test_a_compaction_summary_is_no_request(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), *typed("go"), line("compacted", message="So far: half done."), *typed("on"))
    assert [message.mark for message in trajectory.messages] == [None, "compaction", None]


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


def test_without_token_counts_usage_is_absent(tmp_path: Path) -> None:
    assert read(tmp_path, meta(), *typed("go"), event("token_count", info=None)).source.usage is None


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
