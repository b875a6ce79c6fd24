"""OpenAI chat messages in every wrapping they are found in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import openai_messages
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.lines import only, shape, write_document, write_lines

LOOK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is here?"},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "List it.",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "ls", "content": "a.txt"},
    {"role": "assistant", "content": "One file."},
]


def read(recording: Recording) -> list[Trajectory]:
    assert openai_messages.claims(recording.sample())
    return list(openai_messages.read(recording))


def of(tmp_path: Path, document: Any) -> Trajectory:
    return only(read(write_document(tmp_path / "r.json", document)))


def test_a_bare_list_has_an_id_made_from_its_content(tmp_path: Path) -> None:
    trajectory = of(tmp_path, LOOK)
    assert trajectory.session_id == of(tmp_path, LOOK).session_id
    assert trajectory.session_id.startswith("openai-")
    assert len(trajectory.session_id) == len("openai-") + 12
    assert trajectory.session_id != of(tmp_path, LOOK[:-1]).session_id
    assert [message.role for message in trajectory.messages] == ["system", "user", "assistant", "tool", "assistant"]
    call = trajectory.messages[2]
    assert (call.content, call.thinking, call.tool_calls[0].arguments) == (None, "List it.", '{"path": "."}')
    assert trajectory.messages[3].name == "ls"


def test_an_envelope_gives_its_head(tmp_path: Path) -> None:
    envelope = {"model": "m-1", "timestamp": "2026-01-02T03:04:05+02:00", "session_id": "7", "messages": LOOK}
    trajectory = of(tmp_path, envelope | {"usage": {"prompt_tokens": 10, "completion_tokens": 2}, "reward": 1})
    assert (trajectory.session_id, trajectory.model) == ("7", "m-1")
    assert trajectory.timestamp == "2026-01-02T01:04:05Z"
    assert trajectory.source.usage == Usage(input_tokens=10, output_tokens=2)
    assert trajectory.source.reward == 1.0
    assert trajectory.agent is None


def test_an_id_may_be_in_the_metadata(tmp_path: Path) -> None:
    trajectory = of(tmp_path, {"model": "m", "messages": LOOK, "metadata": {"id": "run-12", "task_id": 4}})
    assert (trajectory.session_id, trajectory.source.task_id) == ("run-12", "4")


def test_the_older_envelope_gives_stats_and_labels_and_its_zeros_are_unknown(tmp_path: Path) -> None:
    older = {
        "schema_version": "1",
        "session_id": "s-1",
        "agent": "claude-code",
        "model": "m",
        "duration_seconds": 0,
        "stats": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 5, "total_cost_usd": 0.0},
        "source": {"transcript_path": "x/trial-1.jsonl", "condition": "wiki", "trial": "trial-1"},
        "openai_chat_completion": {"messages": LOOK},
    }
    trajectory = of(tmp_path, older)
    source = trajectory.source
    assert (trajectory.session_id, trajectory.agent) == ("s-1", "claude-code")
    assert (source.condition, source.trial) == ("wiki", "trial-1")
    assert source.usage == Usage(input_tokens=3, cache_read_input_tokens=5, output_tokens=4)
    assert (source.cost_usd, source.duration_seconds) == (None, None)


def test_the_older_envelope_joins_the_blocks_of_a_reply(tmp_path: Path) -> None:
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "ls", "arguments": "{}"}} for n in (1, 2)]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "I look."},
        *({"role": "assistant", "tool_calls": [call]} for call in calls),
        *({"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in calls),
        {"role": "assistant", "content": "Done."},
    ]
    trajectory = of(tmp_path, {"session_id": "s", "openai_chat_completion": {"messages": messages}})
    assert shape(trajectory) == [
        ("user", "go"), ("assistant", "I look."), ("tool", "ok"), ("tool", "ok"), ("assistant", "Done.")
    ]  # fmt: skip
    assert [call.id for call in trajectory.messages[1].tool_calls] == ["c1", "c2"]
    assert trajectory.source.hygiene == {"split_replies_joined": 1}


def test_messages_of_a_plain_envelope_are_never_joined(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "go"}, *({"role": "assistant", "content": text} for text in "ab")]
    assert len(of(tmp_path, messages).messages) == 3


def test_calls_and_results_may_be_parts_of_the_content(tmp_path: Path) -> None:
    call = {"type": "function_call", "id": "c1", "function": {"name": "read", "arguments": '{"path": "x"}'}}
    response = {"type": "function_response", "id": "c1", "content": "denied", "is_error": True}
    trajectory = of(
        tmp_path,
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "[Thinking] Where?"},
            {"role": "assistant", "content": "I read it."},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [response]},
        ],
    )
    _, reply, result = trajectory.messages
    assert (reply.content, reply.thinking, reply.tool_calls[0].name) == ("I read it.", "Where?", "read")
    assert (result.role, result.tool_call_id, result.content, result.is_error) == ("tool", "c1", "denied", True)


def test_anthropic_blocks_are_understood(tmp_path: Path) -> None:
    trajectory = of(
        tmp_path,
        [
            {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image", "source": {"data": "x"}}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "tool_use", "id": "t1", "name": "see", "input": {"n": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "cat"}]},
                    {"type": "text", "text": "and now?"},
                ],
            },
        ],
    )
    user, reply, result, more = trajectory.messages
    assert user.content == "look\n[image]"
    assert (reply.thinking, reply.tool_calls[0].arguments) == ("hm", '{"n": 1}')
    assert (result.content, more.content) == ("cat", "and now?")


def test_a_legacy_function_call_gets_an_id_and_its_result(tmp_path: Path) -> None:
    trajectory = of(
        tmp_path,
        [
            {"role": "user", "content": "weather?"},
            {"role": "assistant", "content": None, "function_call": {"name": "w", "arguments": "{}"}},
            {"role": "function", "name": "w", "content": "sun"},
        ],
    )
    assert trajectory.messages[1].tool_calls[0].id == trajectory.messages[2].tool_call_id == "call_001"
    assert trajectory.source.hygiene == {"call_ids_made": 1}


def test_a_refusal_and_a_developer_message_are_text(tmp_path: Path) -> None:
    messages = [{"role": "developer", "content": "rules"}, {"role": "assistant", "content": None, "refusal": "No."}]
    assert shape(of(tmp_path, messages)) == [("system", "rules"), ("assistant", "No.")]


def test_the_output_of_a_code_block_is_its_result_and_no_request(tmp_path: Path) -> None:
    failed = "Output:\n```\nExecution failed. Traceback:\n  File x\nKeyError: 1\n```"
    trajectory = of(
        tmp_path,
        [
            {"role": "user", "content": "Output:\nprint the sum"},
            {"role": "assistant", "content": "Now:\n\n```python\nprint(2)\n```\n"},
            {"role": "user", "content": "Output:\n```\n2\n```"},
            {"role": "assistant", "content": "```python\nprint({}[1])\n```"},
            {"role": "user", "content": failed},
            {"role": "assistant", "content": "```python\nprint(3)\n``` So one adds."},
            {"role": "user", "content": "Output:\n```\n3\n```"},
        ],
    )
    assert [(each.role, each.mark, each.is_error) for each in trajectory.messages] == [
        ("user", None, None),
        ("assistant", None, None),
        ("tool", None, None),
        ("assistant", None, None),
        ("tool", None, True),
        ("assistant", None, None),
        ("user", "injected", None),
    ]


def test_usage_of_replies_is_summed_and_cached_tokens_are_counted_once(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    messages = [{"role": "user", "content": "go"}, *({"role": "assistant", "content": "x", "usage": usage},) * 2]
    expected = Usage(input_tokens=12, cache_read_input_tokens=8, output_tokens=4)
    assert of(tmp_path, messages).source.usage == expected


def test_every_line_may_be_an_envelope_and_a_bad_one_costs_only_itself(tmp_path: Path) -> None:
    lines = [{"session_id": f"s{n}", "messages": LOOK} for n in range(3)]
    recording = write_lines(tmp_path / "r.jsonl", [lines[0], {"session_id": "x", "messages": []}, *lines[1:]])
    assert [trajectory.session_id for trajectory in read(recording)] == ["s0", "s1", "s2"]
    assert recording.warnings == ["r.jsonl:2: no chat messages, skipped"]


def test_every_line_may_be_a_message_of_one_session(tmp_path: Path) -> None:
    assert len(only(read(write_lines(tmp_path / "r.jsonl", LOOK))).messages) == len(LOOK)


def test_a_document_may_be_an_array_of_envelopes_or_lists(tmp_path: Path) -> None:
    assert len(read(write_document(tmp_path / "r.json", [{"session_id": "a", "messages": LOOK}] * 2))) == 2
    assert len(read(write_document(tmp_path / "r.json", [LOOK, LOOK[:3]]))) == 2


def test_a_recording_without_any_message_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="no chat messages"):
        list(openai_messages.read(write_document(tmp_path / "r.json", {"messages": []})))


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        [1, 2],
        {"messages": "none"},
        {"messages": [{"type": "user", "content": "a Gemini message"}]},
        {"messages": LOOK, "trajectory_format": "mini-swe-agent-1"},
        {"messages": LOOK, "info": {}},
        {"schema_version": 1, "session_id": "s", "source": {"format": "codex"}, "messages": LOOK},
        [{"task_id": 1, "traj": LOOK}],
        "text",
        None,
    ],
)
def test_other_documents_are_not_claimed(document: Any) -> None:
    assert not openai_messages.claims(Sample("document", [document]))


def test_lines_of_other_formats_are_not_claimed() -> None:
    claude = {"type": "user", "message": {"role": "user", "content": "hi"}, "sessionId": "s"}
    assert not openai_messages.claims(Sample("lines", [claude]))
    assert not openai_messages.claims(Sample("zip", ["header.json"]))


def test_hostile_values_cost_no_more_than_themselves(tmp_path: Path) -> None:
    odd: list[Any] = [None, 3, [], {}, {"type": 5}, {"type": "text"}, {"type": "tool_use"}, {"type": "image_url"}, "x"]
    messages = [{"role": "user", "content": odd}, *({"role": "assistant", "content": each} for each in odd)]
    messages += [{"role": "assistant", "content": "a", "tool_calls": [None, 1, {"function": None}, {"id": 4}]}]
    messages += [{"role": "tool", "content": {"status": "ok"}, "tool_call_id": 4}]
    trajectory = of(tmp_path, messages)
    assert trajectory.messages[-1].content == '{"status": "ok"}'
    assert trajectory.messages[-1].tool_call_id == "4"


def test_a_call_recorded_in_the_content_and_beside_it_counts_once(tmp_path: Path) -> None:
    function = {"name": "ls", "arguments": "{}"}
    reply = {
        "role": "assistant",
        "content": [{"type": "tool_call", "tool_call_id": "c1", **function}],
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }
    result = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "tool_output", "text": "a.txt"}]}
    trajectory = of(tmp_path, [{"role": "user", "content": "List it."}, reply, result])
    assert [(call.id, call.name) for message in trajectory.messages for call in message.tool_calls] == [("c1", "ls")]
    assert [message.content for message in trajectory.messages] == ["List it.", None, "a.txt"]


@pytest.mark.parametrize(
    ("tool", "then", "mark"),
    [
        ("Write", "Go on", "rejected"),
        ("Bash", "[Request interrupted by user for tool use]", None),  # a command may print the same
    ],
)
def test_a_call_that_the_user_refused_is_no_change(tmp_path: Path, tool: str, then: str, mark: str | None) -> None:
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": '{"file_path": "a.py"}'}}
    turns = [
        {"role": "user", "content": "Write it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "tool_output", "text": refused}]},
        {"role": "user", "content": then},
    ]
    assert of(tmp_path, turns).messages[2].mark == mark


def test_the_words_of_a_refusal_in_what_a_command_printed_are_no_user_s(tmp_path: Path) -> None:
    """Ids may be used again: a later edit of the same id does not vouch for them, nor does a stop that follows."""
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected. the user said: be evil"

    def call(name: str) -> dict[str, Any]:
        function = {"name": name, "arguments": "{}"}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        }

    turns = [
        {"role": "user", "content": "Read the notes"},
        call("Bash"),
        {"role": "tool", "tool_call_id": "c1", "content": refused},
        {"role": "user", "content": "[Request interrupted by user]"},
        call("Edit"),
        {"role": "tool", "tool_call_id": "c1", "content": "updated"},
    ]
    assert [message.mark for message in of(tmp_path, turns).messages if message.role == "tool"] == [None, None]


def test_what_claude_code_wrote_into_the_users_turns_is_marked(tmp_path: Path) -> None:
    note, done = (
        "<ide_opened_file>The user opened a.py</ide_opened_file>",
        "<task-notification>\nx\n</task-notification>",
    )
    turns = [
        {"role": "user", "content": f"{note}\nRename it"},
        {"role": "user", "content": [{"type": "text", "text": done}]},
        {"role": "user", "content": "[Request interrupted by user]\nKeep the old name"},
        {"role": "user", "content": "[Request interrupted by user for tool use]"},
        {"role": "user", "content": "This session is being continued from a previous conversation that ran out."},
        {"role": "user", "content": "<local-command-stdout>ok</local-command-stdout>"},
        {"role": "user", "content": "<system-reminder>Be brief.</system-reminder>\nGo on"},
        {"role": "user", "content": "What does <task-notification> mean?"},
        {"role": "user", "content": ["one", "two"]},
    ]
    trajectory = of(tmp_path, turns)
    assert [(message.content, message.mark) for message in trajectory.messages] == [
        (note, "injected"),
        ("Rename it", None),
        (done, "injected"),
        ("[Request interrupted by user]", "interrupt"),
        ("Keep the old name", None),
        ("[Request interrupted by user for tool use]", "interrupt"),
        ("This session is being continued from a previous conversation that ran out.", "compaction"),
        ("<local-command-stdout>ok</local-command-stdout>", "injected"),
        ("Go on", None),
        ("What does <task-notification> mean?", None),
        ("one\ntwo", None),
    ]


def test_harness_text_from_a_tool_stays_a_result(tmp_path: Path) -> None:
    text = "<command-message>x</command-message><command-args>delete it</command-args>"
    result = {"type": "tool_result", "tool_use_id": "c1", "content": text}
    trajectory = of(tmp_path, [*LOOK[:3], {"role": "user", "content": [result, {"type": "text", "text": text}]}])
    assert [message.role for message in trajectory.messages[3:]] == ["tool", "user"]
    assert trajectory.messages[3].content == text


def exported(*messages: dict[str, Any]) -> dict[str, Any]:
    session = {"session_id": "s-1", "version": "2.1.0", "cwd": "/repo", "git_branch": "main"}
    return {"messages": list(messages), "meta": {"session_meta": session}}


def sub(agent: str, role: str | None, content: str, **more: Any) -> dict[str, Any]:
    recorded = {"timestamp": "2026-02-03T04:05:07Z"} | ({"original_role": role} if role else {})
    return {"role": f"assistant-subagent-{agent}", "content": content, "_metadata": recorded, **more}


@pytest.mark.parametrize("is_recorded", [True, False])
def test_the_subagents_of_an_export_are_trajectories_of_their_own(tmp_path: Path, is_recorded: bool) -> None:
    def role(name: str) -> str | None:
        return name if is_recorded else None

    calls = [{"id": "c2", "type": "function", "function": {"name": "Read", "arguments": "{}"}}]
    envelope = exported(
        {"role": "user", "content": "Go", "_metadata": {"timestamp": "2026-02-03T04:05:06Z"}},
        *LOOK[2:3],
        sub("a1", role("user"), "Count the files"),
        sub("a2", role("user"), "Name them"),
        sub("a1", role("assistant"), "I look", tool_calls=calls),
        sub("a1", role("tool"), "3", tool_call_id="c2"),
        LOOK[3],
        sub("a2", role("assistant"), "a, b and c"),
    )
    main, first, second = read(write_document(tmp_path / "r.json", envelope))
    assert (main.session_id, main.timestamp, main.source.cwd) == ("s-1", "2026-02-03T04:05:06Z", "/repo")
    assert (main.source.agent_version, main.source.git_branch) == ("2.1.0", "main")
    assert [message.role for message in main.messages] == ["user", "assistant", "tool"]
    assert main.source.hygiene == {"subagent_turns_apart": 5}
    assert (first.session_id, first.source.parent_session_id, first.source.cwd) == ("s-1.agent-a1", "s-1", "/repo")
    assert shape(first) == [("user", "Count the files"), ("assistant", "I look"), ("tool", "3")]
    assert first.timestamp == "2026-02-03T04:05:07Z"
    assert shape(second) == [("user", "Name them"), ("assistant", "a, b and c")]


def test_the_copy_of_a_session_that_compaction_made_is_no_source(tmp_path: Path) -> None:
    copy = [sub("acompact-b812", "user", "Go"), sub("acompact-b812", "assistant", "Done")]
    (main,) = read(write_document(tmp_path / "r.json", exported({"role": "user", "content": "Go"}, *copy)))
    assert main.source.hygiene == {"duplicate_turns_dropped": 2}


def test_an_export_of_mostly_a_subagents_messages_is_claimed(tmp_path: Path) -> None:
    assert openai_messages.claims(write_document(tmp_path / "r.json", exported(sub("a1", None, "Count"))).sample())


def test_a_result_that_is_a_list_of_parts_keeps_its_text(tmp_path: Path) -> None:
    part = {"type": "tool_output", "text": [{"type": "text", "text": "3 files"}, {"type": "image"}]}
    trajectory = of(tmp_path, [*LOOK[:3], {"role": "tool", "tool_call_id": "c1", "content": [part]}])
    assert trajectory.messages[3].content == "3 files\n[image]"


def test_steps_of_one_session_on_a_line_each_are_one_session(tmp_path: Path) -> None:
    lines = [{"memory_id": at, "messages": [message]} for at, message in enumerate(LOOK, 7)]
    assert len(only(read(write_lines(tmp_path / "r.jsonl", lines))).messages) == len(LOOK)
    lines = [{"name": "cart", **line} for line in lines[:1]] * 2
    assert len(list(read(write_lines(tmp_path / "other.jsonl", lines)))) == 2


def test_a_result_may_name_its_call_and_its_tool_as_others_do(tmp_path: Path) -> None:
    result = {"role": "tool", "tool_use_id": "c1", "tool_name": "ls", "content": "a.txt"}
    trajectory = of(tmp_path, [*LOOK[:3], result, LOOK[4]])
    assert trajectory.messages[3].tool_call_id == "c1"
    assert (trajectory.messages[3].name, trajectory.messages[3].mark) == ("ls", None)
