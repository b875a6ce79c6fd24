"""ATIF documents, on small recordings made here and on real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import atif
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from tests.readers.lines import only, shape, write_document, write_lines

SESSION = "7a1b2c3d-0000-4000-8000-000000000001"


def document(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    agent = {"name": "robin", "version": "1.2", "model_name": "acme/model-x"}
    numbered = [{"step_id": position, **step} for position, step in enumerate(steps, start=1)]
    return {"schema_version": "ATIF-v1.6", "session_id": SESSION, "agent": agent, "steps": numbered, **more}


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"source": "user", "message": text, **more}


def agent(text: str, *calls: str, results: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "message": text, **more}
    if calls:
        step["tool_calls"] = [
            {"tool_call_id": call_id, "function_name": "shell", "arguments": {"command": "ls"}} for call_id in calls
        ]
    if results is not None:
        step["observation"] = {"results": results}
    return step


def read(tmp_path: Path, *steps: dict[str, Any], **more: Any) -> Trajectory:
    recording = write_document(tmp_path / "trajectory.json", document(*steps, **more))
    assert atif.claims(recording.sample())
    return only(atif.read(recording))


def test_steps_become_turns(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        {"source": "system", "message": "Be brief."},
        user("list", timestamp="2026-02-03T04:05:00Z"),
        agent("I look.", "c1", results=[{"source_call_id": "c1", "content": "a.txt"}], reasoning_content="Hm."),
        agent("Done.", timestamp="2026-02-03T04:05:09.500Z"),
    )
    assert shape(trajectory) == [
        ("system", "Be brief."),
        ("user", "list"),
        ("assistant", "I look."),
        ("tool", "a.txt"),
        ("assistant", "Done."),
    ]
    assert (trajectory.session_id, trajectory.agent, trajectory.model) == (SESSION, "robin", "acme/model-x")
    assert trajectory.messages[2].thinking == "Hm."
    assert trajectory.messages[2].tool_calls[0].arguments == '{"command": "ls"}'
    assert (trajectory.timestamp, trajectory.source.duration_seconds) == ("2026-02-03T04:05:00Z", 9.5)


def test_a_step_that_repeats_its_only_result_is_the_result_of_the_call_before_it(tmp_path: Path) -> None:
    copy = agent("a.txt", results=[{"content": "a.txt"}], extra={"tool_call_id": "c1"})
    trajectory = read(tmp_path, user("list"), agent("I look.", "c1"), copy, agent("Done."))
    assert shape(trajectory) == [("user", "list"), ("assistant", "I look."), ("tool", "a.txt"), ("assistant", "Done.")]
    assert trajectory.messages[2].tool_call_id == "c1"
    quoted = agent("It has a.txt.", results=[{"content": "a.txt"}])
    assert ("assistant", "It has a.txt.") in shape(read(tmp_path, user("list"), agent("I look.", "c1"), quoted))


def test_without_timestamps_none_is_made_up(tmp_path: Path) -> None:
    trajectory = read(tmp_path, user("go"), agent("ok"))
    source = trajectory.source
    assert (trajectory.timestamp, source.ended_at, source.duration_seconds, source.usage) == (None, None, None, None)


@pytest.mark.parametrize("filler", ["[tool call]", "Executed shell c1"])
def test_filler_is_not_content(tmp_path: Path, filler: str) -> None:
    trajectory = read(tmp_path, user("go"), agent(filler, "c1", results=[]))
    assert trajectory.messages[1].content is None
    assert read(tmp_path, user("go"), agent(filler)).messages[1].content == filler


def test_results_that_name_no_call_answer_the_last_open_ones(tmp_path: Path) -> None:
    results = [{"source_call_id": "c1", "content": "one"}, {"content": "three"}]
    trajectory = read(tmp_path, user("go"), agent("", "c1", "c2", "c3", results=results))
    assert [message.tool_call_id for message in trajectory.messages if message.role == "tool"] == ["c1", "c3"]
    assert [call.mark for call in trajectory.messages[1].tool_calls] == [None, "no-result", None]


def test_a_result_without_any_call_is_marked(tmp_path: Path) -> None:
    trajectory = read(tmp_path, user("go"), agent("Hm.", results=[{"content": "a screen"}]))
    assert (trajectory.messages[-1].content, trajectory.messages[-1].mark) == ("a screen", "no-call")


def test_what_terminus_types_is_a_call(tmp_path: Path) -> None:
    reply = {"analysis": "x", "commands": [{"keystrokes": "cd a\n", "duration": 1}, {"keystrokes": "ls\n"}]}
    idle = {"analysis": "x", "commands": [], "task_complete": True}
    trajectory = read(
        tmp_path,
        user("go"),
        agent(json.dumps(reply), results=[{"content": "$ ls"}]),
        agent(json.dumps(idle), results=[{"content": "sure?"}]),
    )
    call = trajectory.messages[1].tool_calls[0]
    assert (call.id, call.name, json.loads(call.arguments)) == ("call_001", "terminal", {"command": "cd a\nls"})
    assert [(each.tool_call_id, each.mark) for each in trajectory.messages if each.role == "tool"] == [
        ("call_001", None),
        ("call_002", "no-call"),
    ]


def test_a_recorded_error_flag_is_used(tmp_path: Path) -> None:
    flagged = agent("", "c1", results=[{"source_call_id": "c1", "content": "x", "extra": {"is_error": True}}])
    whole_step = agent("", "c2", results=[{"source_call_id": "c2", "content": "x"}])
    whole_step["extra"] = {"tool_result_is_error": False}
    trajectory = read(tmp_path, user("go"), flagged, whole_step)
    assert [message.is_error for message in trajectory.messages if message.role == "tool"] == [True, False]


def test_a_link_to_a_subagent_replaces_its_result(tmp_path: Path) -> None:
    result = {"source_call_id": "c1", "subagent_trajectory_ref": [{"session_id": "child-1"}]}
    trajectory = read(tmp_path, user("go"), agent("", "c1", results=[result]))
    assert trajectory.messages[-1].content == "[subagent trajectory child-1]"


def test_a_subagent_inside_the_document_is_a_session_of_its_own(tmp_path: Path) -> None:
    child = document(user("part"), agent("done"), session_id="7a1b2c3d-0000-4000-8000-000000000002")
    recording = write_document(tmp_path / "a.json", document(user("go"), agent("ok"), subagent_trajectories=[child, 7]))
    parent, subagent = atif.read(recording)
    assert (parent.source.parent_session_id, subagent.source.parent_session_id) == (None, SESSION)
    assert shape(subagent) == [("user", "part"), ("assistant", "done")]


def test_tokens_are_summed_and_cached_ones_are_separate(tmp_path: Path) -> None:
    metrics = {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 60, "cost_usd": 0.1}
    trajectory = read(
        tmp_path,
        user("go"),
        agent("a", metrics=metrics),
        agent("b", metrics={**metrics, "cost_usd": 0.2}),
        final_metrics={"total_prompt_tokens": 9999},
    )
    assert trajectory.source.usage == Usage(input_tokens=80, cache_read_input_tokens=120, output_tokens=40)
    assert trajectory.source.cost_usd == 0.3


def test_final_metrics_count_where_no_step_has_any(tmp_path: Path) -> None:
    totals = {"total_prompt_tokens": 100, "total_completion_tokens": 20, "total_cost_usd": 0.5}
    source = read(tmp_path, user("go"), agent("a"), final_metrics=totals).source
    assert (source.usage, source.cost_usd) == (Usage(input_tokens=100, output_tokens=20), 0.5)


def test_a_continuation_leaves_copied_turns_to_the_session_before(tmp_path: Path) -> None:
    copied: dict[str, Any] = {"is_copied_context": True}
    trajectory = read(
        tmp_path,
        user("the task", **copied),
        user("a summary of the work so far", **copied),
        agent("any questions", metrics={"prompt_tokens": 500}, **copied),
        agent("going on", metrics={"prompt_tokens": 30}),
        agent={"name": "robin", "extra": {"continuation_index": 1}},
    )
    assert [(message.content, message.mark) for message in trajectory.messages] == [
        ("the task", None),
        ("a summary of the work so far", "compaction"),
        ("going on", None),
    ]
    assert trajectory.source.usage == Usage(input_tokens=30)
    assert trajectory.source.hygiene["inherited_turns"] == 1
    assert (trajectory.session_id, trajectory.source.forked_from) == (f"{SESSION}-cont-1", SESSION)


def test_a_step_in_which_the_harness_summed_up_is_no_request(tmp_path: Path) -> None:
    summed = {"source": "system", "message": "Summed up.", "extra": {"context_management": {"type": "compaction"}}}
    trajectory = read(tmp_path, user("go"), summed, agent("ok"))
    assert (trajectory.messages[1].role, trajectory.messages[1].mark) == ("user", "compaction")


@pytest.mark.parametrize(
    ("session_id", "is_unique"),
    [
        (SESSION, True),
        ("20260203-040506-a1b2c3", True),
        ("session-48b8e2c5", True),
        ("NORMALIZED_SESSION_ID", False),
        ("root-001", False),
        ("deadbeef-facade", False),
        ("test-session-linear-history-summarization-1-summary", False),
        ("", False),
    ],
)
def test_an_id_is_unique_when_it_holds_eight_hex_characters(session_id: str, is_unique: bool) -> None:
    assert atif.is_unique(session_id) is is_unique


def test_unrelated_sessions_never_share_an_id(tmp_path: Path) -> None:
    one = read(tmp_path, user("go"), agent("ok"), session_id="root-001")
    other = read(tmp_path, user("stop"), agent("ok"), session_id="root-001")
    again = read(tmp_path, user("go"), agent("ok"), session_id="root-001")
    assert one.session_id == again.session_id != other.session_id
    assert one.session_id.startswith("root-001-")


def test_several_documents_in_one_file_are_several_sessions(tmp_path: Path) -> None:
    documents = [document(user("go"), agent(name), session_id=name) for name in ("a", "b")]
    in_lines = list(atif.read(write_lines(tmp_path / "a.jsonl", documents)))
    in_a_list = list(atif.read(write_document(tmp_path / "a.json", documents)))
    assert [each.session_id for each in in_lines] == [each.session_id for each in in_a_list]
    assert len(in_lines) == 2


def test_a_document_without_turns_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="without messages"):
        read(tmp_path)


def test_odd_values_cost_nothing(tmp_path: Path) -> None:
    odd = [agent("x", metrics=7, observation=[], tool_calls={"a": 1}), {"source": "agent"}, {"message": 5}]
    odd += [agent("", "c", results=[{"source_call_id": 4}]), agent("{" * 5000, results=[{"content": None}])]
    assert ("user", "go") in shape(read(tmp_path, user("go"), *odd, final_metrics=[]))


def test_other_documents_are_not_claimed(tmp_path: Path) -> None:
    others: list[Any] = [{"steps": [1], "agent": {}}, {"trajectory": [], "history": []}, [{"role": "user"}]]
    for other in others:
        assert not atif.claims(write_document(tmp_path / "other.json", other).sample())


def real_documents(traces: Path) -> list[tuple[Path, Any]]:
    found = [(path, json.loads(path.read_text(encoding="utf-8"))) for path in sorted((traces / "atif").rglob("*.json"))]
    assert found
    return found


def test_counts_of_real_documents(traces: Path) -> None:
    for path, recorded in real_documents(traces):
        trajectory = only(atif.read(Recording(path, path.name)))
        steps = [
            step for step in recorded["steps"] if step["source"] != "agent" or not step.get("is_copied_context", False)
        ]
        results = [result for step in steps for result in (step.get("observation") or {}).get("results", [])]
        reported = [result for result in results if result.get("content") is not None]
        assert len(trajectory.messages) == len(steps) + len(reported), path.name
        listed = sum(len(step.get("tool_calls") or []) for step in steps)
        typed = sum('"keystrokes"' in step["message"] for step in steps if step["source"] == "agent")
        assert sum(len(message.tool_calls) for message in trajectory.messages) == listed + typed, path.name
        assert not any(message.content == "[tool call]" for message in trajectory.messages), path.name


def test_tokens_of_real_documents(traces: Path) -> None:
    for path, recorded in real_documents(traces):
        spent = [step["metrics"] for step in recorded["steps"] if step.get("metrics")]
        source = only(atif.read(Recording(path, path.name))).source
        if not spent:
            assert (source.usage, source.cost_usd) == (None, None), path.name
            continue
        assert source.usage is not None
        assert source.usage.input_tokens == sum(metrics["prompt_tokens"] for metrics in spent), path.name
        assert source.usage.output_tokens == sum(metrics["completion_tokens"] for metrics in spent), path.name
        assert source.cost_usd == pytest.approx(sum(metrics["cost_usd"] for metrics in spent)), path.name


def test_no_two_real_sessions_share_an_id(traces: Path) -> None:
    ids = [only(atif.read(Recording(path, path.name))).session_id for path, _ in real_documents(traces)]
    assert len(ids) == len(set(ids))
