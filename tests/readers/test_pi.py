"""Sessions of the pi coding agent, on small recordings made here after its documented format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import pi
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import only, shape, write_lines

SESSION = "7a1b2c3d-0000-4000-8000-000000000001"
PARENT = "7a1b2c3d-0000-4000-8000-0000000000ff"
HEADER = {"type": "session", "version": 3, "id": SESSION, "timestamp": "2026-02-03T04:05:00.000Z", "cwd": "/repo"}


def entry(kind: str, timestamp: str = "2026-02-03T04:05:10.000Z", **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": "0badcafe", "parentId": None, "timestamp": timestamp, **more}


def message(role: str, content: Any = None, **more: Any) -> dict[str, Any]:
    return entry("message", message={"role": role, "content": content, **more})


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def assistant(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return message("assistant", list(blocks), provider="acme", model="model-x", **more)


def tool_call(call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": "bash", "arguments": arguments}


def result(call_id: str, words: str, *, is_error: bool) -> dict[str, Any]:
    return message("toolResult", text(words), toolCallId=call_id, toolName="bash", isError=is_error)


def usage(fresh: int, output: int, read: int, written: int, cost: float) -> dict[str, Any]:
    spent = {"input": fresh, "output": output, "cacheRead": read, "cacheWrite": written}
    return {**spent, "cost": {"total": cost}}


def read(tmp_path: Path, *records: Any) -> Trajectory:
    recording = write_lines(tmp_path / "session.jsonl", records)
    assert pi.claims(recording.sample())
    return only(pi.read(recording))


def test_what_openclaw_tells_a_subagent_is_apart_from_its_task(tmp_path: Path) -> None:
    context = "[Sun 2026-03-01 01:55 EST] [Subagent Context] You are running as a subagent (depth 1/1). Do not poll."
    words = f"{context}\n\n[Subagent Task]: List the lamps.\n\nName the price of each."
    call = {**tool_call("c1", command="cat lamps.csv"), "name": "exec"}
    done = result("c1", "cap,3", is_error=False)
    trajectory = read(tmp_path, HEADER, message("user", text(words)), assistant(call), done)
    said = [(each.content, each.mark) for each in trajectory.messages if each.role == "user"]
    assert said[1] == ("List the lamps.\n\nName the price of each.", None)
    assert said[0][1] == "injected"
    assert paired_calls(trajectory)[0].command() == "cat lamps.csv"


def test_the_content_of_files_that_a_prompt_names_is_not_the_users(tmp_path: Path) -> None:
    files = '<file name="/repo/a.md">\n# A\n</file>\n<file name="/repo/b.md">\n</file> is no end\n</file>'
    trajectory = read(tmp_path, HEADER, message("user", text(f"{files}\nExplain them.")))
    assert [(each.content, each.mark) for each in trajectory.messages] == [(files, "injected"), ("Explain them.", None)]


def test_a_session_becomes_messages_calls_and_results(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        HEADER,
        entry("model_change", provider="acme", modelId="model-x"),
        message("user", text("run the tests")),
        assistant(
            {"type": "thinking", "thinking": "Find the runner."},
            {"type": "text", "text": "I run them."},
            tool_call("t1", command="make test"),
            tool_call("t2", command="make lint"),
            stopReason="toolUse",
        ),
        result("t1", "2 failed", is_error=True),
        result("t2", "ok", is_error=False),
        assistant({"type": "text", "text": "Two fail."}, stopReason="stop"),
    )
    assert shape(trajectory) == [
        ("user", "run the tests"),
        ("assistant", "I run them."),
        ("tool", "2 failed"),
        ("tool", "ok"),
        ("assistant", "Two fail."),
    ]
    assert trajectory.messages[1].thinking == "Find the runner."
    assert [call.arguments for call in trajectory.messages[1].tool_calls] == [
        '{"command": "make test"}',
        '{"command": "make lint"}',
    ]
    assert [each.is_error for each in trajectory.messages[2:4]] == [True, False]
    assert (trajectory.session_id, trajectory.agent, trajectory.model) == (SESSION, "pi", "model-x")
    assert (trajectory.source.cwd, trajectory.source.exit_status) == ("/repo", "stop")
    assert (trajectory.timestamp, trajectory.source.ended_at) == ("2026-02-03T04:05:00Z", "2026-02-03T04:05:10Z")
    assert trajectory.source.duration_seconds == 10.0


def test_tokens_and_cost_are_summed_over_replies(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        HEADER,
        message("user", "go"),
        assistant(*text("a"), usage=usage(3, 191, 0, 1684, 0.1)),
        assistant(*text("b"), usage=usage(7, 9, 1684, 16, 0.2)),
    )
    assert trajectory.source.usage == Usage(10, 1700, 1684, 200)
    assert trajectory.source.cost_usd == 0.3


def test_without_usage_it_is_absent(tmp_path: Path) -> None:
    source = read(tmp_path, HEADER, message("user", "go"), assistant(*text("a"))).source
    assert (source.usage, source.cost_usd) == (None, None)


def test_what_the_user_ran_and_what_extensions_say_are_no_requests(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        HEADER,
        message("user", "go"),
        message("bashExecution", command="ls", output="a.txt", exitCode=0),
        message("hookMessage", "a hook"),
        entry("custom_message", customType="note", content=text("an extension")),
        entry("custom", customType="state", data={"content": "not in the conversation"}),
        entry("compaction", summary="So far: half done.", firstKeptEntryId="x", tokensBefore=9),
        entry("branch_summary", summary="The other branch failed.", fromId="x"),
        entry("session_info", name="Fix the build"),
    )
    assert [(each.content, each.mark) for each in trajectory.messages] == [
        ("go", None),
        ("$ ls\na.txt", "injected"),
        ("a hook", "injected"),
        ("an extension", "injected"),
        ("So far: half done.", "compaction"),
        ("The other branch failed.", "compaction"),
    ]
    assert trajectory.source.title == "Fix the build"


@pytest.mark.parametrize("words", ["Operation aborted", "partial output\n\nCommand aborted"])
def test_a_call_the_user_stopped_is_not_a_failure(tmp_path: Path, words: str) -> None:
    stopped = result("t1", words, is_error=True)
    trajectory = read(tmp_path, HEADER, message("user", "go"), assistant(tool_call("t1")), stopped)
    assert (trajectory.messages[-1].mark, trajectory.messages[-1].is_error) == ("rejected", None)


def test_a_branched_session_leaves_the_copied_entries_to_its_parent(tmp_path: Path) -> None:
    path = f"/home/user/.pi/sessions/2026-02-03T03-00-00-000Z_{PARENT}.jsonl"
    old = {"timestamp": "2026-02-03T03:59:00.000Z"}
    trajectory = read(
        tmp_path,
        {**HEADER, "parentSession": path},
        {**message("user", "the parent's request"), **old},
        {**assistant(*text("the parent's answer"), usage=usage(1, 1, 1, 1, 1.0)), **old},
        message("user", "my request"),
        assistant(*text("mine"), usage=usage(5, 6, 0, 0, 0.5)),
    )
    assert shape(trajectory) == [("user", "my request"), ("assistant", "mine")]
    assert trajectory.source.forked_from == PARENT
    assert trajectory.source.hygiene == {"inherited_turns": 2}
    assert (trajectory.source.usage, trajectory.source.cost_usd) == (Usage(5, 0, 0, 6), 0.5)


def test_entries_older_than_the_header_are_own_where_nothing_was_branched(tmp_path: Path) -> None:
    early = {**message("user", "go"), "timestamp": "2026-02-03T04:04:00.000Z"}
    trajectory = read(tmp_path, HEADER, early, assistant(*text("ok")))
    assert shape(trajectory) == [("user", "go"), ("assistant", "ok")]


def test_a_session_that_lost_its_header_is_read_and_keeps_its_id_as_it_grows(tmp_path: Path) -> None:
    turns = [message("user", text("go")), assistant(*text("ok"), tool_call("c1")), result("c1", "done", is_error=False)]
    part, whole = read(tmp_path, *turns[:2]), read(tmp_path, *turns)
    assert shape(whole) == shape(read(tmp_path, HEADER, *turns))
    assert part.session_id == whole.session_id
    assert whole.session_id.startswith("pi-")
    assert whole.timestamp == "2026-02-03T04:05:10Z"


def test_a_title_may_stand_ahead_of_the_header(tmp_path: Path) -> None:
    title = {"type": "title", "v": 1, "title": "Cap the totals", "source": "auto", "pad": "   "}
    said = [message("user", "cap the totals"), assistant(*text("Capped."))]
    titled = read(tmp_path, title, HEADER, entry("model_change", model="acme/x"), *said)
    assert (titled.session_id, titled.source.title, len(titled.messages)) == (SESSION, "Cap the totals", 2)
    changed = read(tmp_path, title, HEADER, *said, entry("title_change", title="Cap them for members"))
    assert changed.source.title == "Cap them for members"


@pytest.mark.parametrize(
    "kind",
    ["service_tier_change", "session_init", "mode_change", "ttsr_injection", "credential_pin", "model_usage",
     "reset_boundary"],
)  # fmt: skip
def test_what_oh_my_pi_notes_ahead_of_the_first_turn_hides_no_session(tmp_path: Path, kind: str) -> None:
    said = [message("user", "cap the totals"), assistant(*text("Capped."))]
    title = {"type": "title", "v": 1, "title": "Cap the totals"}
    trajectory = read(tmp_path, title, HEADER, entry("model_change", model="acme/x"), entry(kind), *said)
    assert shape(trajectory) == [("user", "cap the totals"), ("assistant", "Capped.")]


@pytest.mark.parametrize(
    "parent", [f"/home/user/.omp/agent/sessions/-repo/2026-02-03T03-00-00-000Z_{PARENT}.jsonl", PARENT]
)
def test_a_subagent_of_oh_my_pi_names_the_session_that_started_it(tmp_path: Path, parent: str) -> None:
    begun = entry("session_init", systemPrompt="Be brief.", task="List the lamps.", tools=["read"])
    said = [message("user", "List the lamps."), assistant(*text("Cap and rod."))]
    source = read(tmp_path, HEADER | {"parentSession": parent}, begun, *said).source
    assert (source.parent_session_id, source.forked_from) == (PARENT, None)
    source = read(tmp_path, HEADER | {"parentSession": parent}, *said).source
    assert (source.parent_session_id, source.forked_from) == (None, None)
    copied = {**message("user", "before"), "timestamp": "2026-02-03T03:59:00.000Z"}
    source = read(tmp_path, HEADER | {"parentSession": parent}, copied, begun, *said).source
    assert (source.parent_session_id, source.forked_from) == (None, PARENT)


def test_images_become_a_word(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "see"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]
    assert shape(read(tmp_path, HEADER, message("user", content))) == [("user", "see\n[image]")]


def test_a_session_without_turns_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="without messages"):
        read(tmp_path, HEADER, entry("model_change", modelId="x"))


def test_odd_values_cost_nothing(tmp_path: Path) -> None:
    odd = [entry("message"), entry("message", message=7), message("assistant"), message("toolResult"), [1], {"x": 1}]
    odd += [assistant(tool_call("t"), usage={"input": "many", "cost": 3}), entry("compaction")]
    assert ("user", "go") in shape(read(tmp_path, HEADER, message("user", "go"), *odd))


@pytest.mark.parametrize("odd", [[], ["message"], {}, {"type": "message"}, 7, None])
def test_a_kind_or_a_role_that_is_no_text_costs_its_entry_alone(tmp_path: Path, odd: Any) -> None:
    said = [message("user", "go"), assistant(*text("ok"))]
    strange = [{**entry("custom"), "type": odd}, entry("message", message={"role": odd})]
    assert shape(read(tmp_path, HEADER, *said, *strange)) == [("user", "go"), ("assistant", "ok")]
    for records in (strange, strange[::-1]):
        assert not pi.claims(write_lines(tmp_path / "other.jsonl", records).sample())


def test_other_formats_are_not_claimed(tmp_path: Path) -> None:
    for records in (
        [{"type": "session", "id": "x", "cwd": "/"}, {"type": "assistant"}],
        [{"type": "session_meta", "payload": {"id": "x"}}],
        [{"type": "session.start", "id": "x"}],
        [{"type": "message", "id": "x", "message": {"role": "user", "content": "no place in a tree"}}],
        [entry("model_change", modelId="only what pi records beside turns")],
    ):
        assert not pi.claims(write_lines(tmp_path / "other.jsonl", records).sample())


@pytest.mark.parametrize(
    ("result", "is_error"),
    [
        ("no such file\n\n(Command exited with code 2)", True),
        ("fine\n\n(Command exited with code 0)", False),
        ("fine\n\nProcess exited with signal SIGKILL.", False),
        ('{\n  "status": "error",\n  "tool": "read",\n  "error": "ENOENT: no such file"\n}', True),
        ('{\n  "status": "error", cut off', False),
        ('{"status": "ok"}', False),
        ("all is well", False),
    ],
)
def test_a_failure_that_has_no_flag_is_known_by_what_openclaw_says(tmp_path: Path, result: str, is_error: bool) -> None:
    call = {"type": "toolCall", "id": "c", "name": "exec", "arguments": {"command": "x"}}
    made = read(
        tmp_path,
        HEADER,
        message("user", "go"),
        assistant(call),
        message("toolResult", toolCallId="c", content=text(result), isError=False),
    )
    assert made.messages[-1].is_error is is_error
