"""Langfuse's exports: rows of observations, and the scores of the same run beside them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import langfuse
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import only, recorded_lines, shape, write_document, write_lines

SAMPLE = Path(__file__).parents[1] / "data" / "langfuse" / "observations_v2" / "run.jsonl"
PROMPT = [{"role": "user", "content": "Hi"}]


def row(row_id: str, kind: str = "GENERATION", second: int = 1, **rest: Any) -> dict[str, Any]:
    """A row with the columns of every export."""
    always = {"id": row_id, "trace_id": "t1", "project_id": "p", "parent_observation_id": "", "type": kind}
    return {**always, "start_time": f"2026-01-01 00:00:{second:02}.500000", "end_time": None, **rest}


def generation(row_id: str, prompt: Any, reply: Any, second: int = 1, **rest: Any) -> dict[str, Any]:
    return row(row_id, second=second, input=json.dumps(prompt), output=json.dumps(reply), **rest)


def read(folder: Path, *rows: Any) -> list[Trajectory]:
    return list(langfuse.read(write_lines(folder / "rows.jsonl", rows)))


def test_the_session_of_the_real_library_is_read_whole_with_its_verdict() -> None:
    recording = Recording(SAMPLE, SAMPLE.name)
    assert reader_of(recording).FORMAT == "langfuse"
    trajectory = only(langfuse.read(recording))
    assert [content for _, content in shape(trajectory)][:3] == [
        "You list files.", "How many files are in src?", "Let me look."]  # fmt: skip
    assert [(call.name, call.is_error) for call in paired_calls(trajectory)] == [
        ("list_files", None),
        ("read_file", True),
    ]
    source = trajectory.source
    assert (trajectory.session_id, trajectory.model, source.resolved, source.reward) == (
        "chat-1",
        "scripted",
        True,
        None,
    )
    assert (source.usage, source.cost_usd) == (Usage(input_tokens=20, output_tokens=10), None)


def test_definitions_of_tools_among_the_messages_are_no_results() -> None:
    prompts = [json.loads(line["input"]) for line in recorded_lines(SAMPLE) if line["type"] == "GENERATION"]
    assert any(message["role"] == "tool" and "tool_call_id" not in message for message in prompts[0])
    trajectory = only(langfuse.read(Recording(SAMPLE, SAMPLE.name)))
    assert [role for role, _ in shape(trajectory)].count("tool") == 2


def test_the_same_rows_as_one_json_array_and_packed_say_the_same(tmp_path: Path) -> None:
    lines = recorded_lines(SAMPLE)
    as_lines = list(langfuse.read(write_lines(tmp_path / "a.jsonl", lines)))
    assert list(langfuse.read(write_document(tmp_path / "b.json", lines))) == as_lines
    packed = tmp_path / "c.jsonl.gz"
    packed.write_bytes(gzip.compress(SAMPLE.read_bytes()))
    assert list(langfuse.read(Recording(packed, "c"))) == as_lines


PARTS = [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]
SAID = {"role": "assistant", "content": "Hello"}
OUTPUT = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}]


@pytest.mark.parametrize(
    ("prompt", "reply", "said"),
    [
        ("Hi", "Hello", ["Hi", "Hello"]),
        ({"messages": PROMPT, "tools": []}, SAID, ["Hi", "Hello"]),
        (PARTS, [SAID], ["Hi", "Hello"]),
        ({"instructions": "Be kind.", "input": "Hi"}, {"output": OUTPUT}, ["Be kind.", "Hi", "Hello"]),
        ({"question": 1}, {"choices": [{"message": SAID}]}, ['{"question": 1}', "Hello"]),
    ],
)
def test_inputs_and_outputs_in_the_wrappings_of_many_libraries_are_messages(
    tmp_path: Path, prompt: Any, reply: Any, said: list[str]
) -> None:
    assert [content for _, content in shape(only(read(tmp_path, generation("a", prompt, reply))))] == said


def test_items_of_the_responses_api_are_one_reply(tmp_path: Path) -> None:
    reply = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "id": "f", "call_id": "c1", "name": "run", "arguments": "{}"},
    ]
    answer = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}
    rows = generation("a", PROMPT, reply), generation("b", [*PROMPT, *reply, answer], "Done", 2)
    trajectory = only(read(tmp_path, *rows))
    assert shape(trajectory) == [("user", "Hi"), ("assistant", "I look."), ("tool", "a.py"), ("assistant", "Done")]
    assert (trajectory.messages[1].thinking, trajectory.messages[1].tool_calls[0].id) == ("Hm.", "c1")


def test_cached_tokens_are_counted_apart(tmp_path: Path) -> None:
    details = {"input": 5, "input_cached_tokens": 7, "output": 2, "output_reasoning_tokens": 3, "total": 17}
    source = only(read(tmp_path, generation("a", PROMPT, "x", usage_details=details, total_cost=0.5))).source
    assert source.usage == Usage(input_tokens=5, cache_read_input_tokens=7, output_tokens=5)
    assert source.cost_usd == 0.5


def _scored(folder: Path, *scores: dict[str, Any]) -> Recording:
    (folder / "observations_v2").mkdir()
    (folder / "scores").mkdir()
    write_lines(folder / "scores" / "now.jsonl", scores)
    return write_lines(folder / "observations_v2" / "now.jsonl", [generation("a", PROMPT, "x", session_id="s")] * 2)


def score(value: Any = 0, **rest: Any) -> dict[str, Any]:
    return {"trace_id": "t1", "name": "success", "value": value, "data_type": "BOOLEAN", **rest}


@pytest.mark.parametrize(
    ("scores", "outcome"),
    [
        ([score()], (None, False)),
        ([score(0.5, trace_id=None, session_id="s", name="reward", data_type="NUMERIC")], (0.5, None)),
        ([score(observation_id="a")], (None, None)),
        ([score(data_type="CATEGORICAL")], (None, None)),
        ([score(trace_id="t2")], (None, None)),
        ([score(0, id="1"), score(1, id="2")], (None, None)),
        ([score(0, id="1", updated_at="1"), score(1, id="1", updated_at="2")], (None, True)),
        (["text", {"name": 1}, score(True, trace_id=[])], (None, None)),
    ],
)
def test_a_score_of_the_trace_or_the_session_is_the_outcome_if_it_is_called_so(
    tmp_path: Path, scores: Any, outcome: Any
) -> None:
    source = only(langfuse.read(_scored(tmp_path, *scores))).source
    assert (source.reward, source.resolved) == outcome


def test_damaged_scores_are_said_to_be_so_and_the_observations_are_read(tmp_path: Path) -> None:
    recording = _scored(tmp_path)
    (tmp_path / "scores" / "now.jsonl").write_text("no JSON", encoding="utf-8")
    assert only(langfuse.read(recording)).source.resolved is None
    assert recording.warnings[0].startswith("now.jsonl: ../scores/now.jsonl:1: not a recording in JSON")
    assert list(recording.looked_at) == ["../scores/now.jsonl"]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([row("a", "SPAN")], "no call of a model among its spans"),
        ([row("a")], "a model's calls without their messages"),
    ],
)
def test_rows_without_a_conversation_are_said_to_be_so(tmp_path: Path, rows: Any, reason: str) -> None:
    with pytest.raises(UnreadableRecording, match=f"rows.jsonl: {reason}") as caught:
        read(tmp_path, *rows)
    assert caught.value.is_foreign is ("no call" in reason)


@pytest.mark.parametrize(
    "odd", [None, 1, "[", {}, [], [[[[[[[[[[[[1]]]]]]]]]]]], {"messages": {"messages": 1}}, [None, {"role": 7}]]
)
def test_odd_inputs_are_no_bug(tmp_path: Path, odd: Any) -> None:
    odd_fields = {"metadata": odd, "usage_details": odd, "session_id": odd, "end_time": odd}
    rows = row("a", input=odd, output="Hello", **odd_fields), row("b", "TOOL", 2, input=odd, output=odd, **odd_fields)
    assert ("assistant", "Hello") in shape(only(read(tmp_path, *rows)))


def test_a_run_whose_start_is_in_another_file_was_called_by_any_of_its_replies(tmp_path: Path) -> None:
    trajectory = only(read(tmp_path, generation("a", PROMPT, "x"), generation("b", [*PROMPT, SAID], "y", 2)))
    assert trajectory.session_id == "t1"
    assert {"t1.agent-a", "t1.agent-b"} <= set(trajectory.earlier_ids)
