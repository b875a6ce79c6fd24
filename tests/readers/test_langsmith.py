"""LangSmith's runs, as its bulk exports have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import langsmith
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import only, recorded_lines, shape, write_lines

SAMPLE = Path(__file__).parents[1] / "data" / "langsmith" / "runs.jsonl"
REPLY = {"choices": [{"message": {"role": "assistant", "content": "Hello"}}]}


def run(run_id: str, kind: str = "llm", second: int = 1, **rest: Any) -> dict[str, Any]:
    head = {"id": run_id, "trace_id": "t1", "run_type": kind, "start_time": f"2026-01-01T00:00:{second:02}+00:00"}
    return head | rest


def read(folder: Path, *rows: Any) -> list[Trajectory]:
    return list(langsmith.read(write_lines(folder / "runs.jsonl", rows)))


def test_the_session_of_the_real_library_is_read_whole() -> None:
    recording = Recording(SAMPLE, SAMPLE.name)
    assert reader_of(recording).FORMAT == "langsmith"
    trajectory = only(langsmith.read(recording))
    said = [content for _, content in shape(trajectory)]
    assert said[:3] == ["You list files.", "How many files are in src?", "Let me look."]
    calls = [(call.name, call.is_error) for call in paired_calls(trajectory)]
    assert calls == [("list_files", None), ("read_file", True)]
    source = trajectory.source
    assert (trajectory.session_id, trajectory.model, source.resolved) == ("chat-1", "scripted", True)
    assert source.usage == Usage(input_tokens=20, output_tokens=10)


def test_a_result_that_no_prompt_shows_comes_from_the_tools_run(tmp_path: Path) -> None:
    last = max(each["start_time"] for each in recorded_lines(SAMPLE) if each["run_type"] == "llm")
    trajectory = only(read(tmp_path, *(each for each in recorded_lines(SAMPLE) if each["start_time"] < last)))
    results = [(call.name, call.result) for call in paired_calls(trajectory)]
    assert results[0] == ("list_files", "a.py\nb.py")
    assert results[1][1] is not None
    assert results[1][1].startswith("ValueError('no such file: missing.py')")


def test_calls_of_openais_api_are_read_too(tmp_path: Path) -> None:
    inputs = {"messages": [{"role": "user", "content": "Hi"}], "model": "m"}
    assert shape(only(read(tmp_path, run("a", inputs=inputs, outputs=REPLY)))) == [
        ("user", "Hi"),
        ("assistant", "Hello"),
    ]


@pytest.mark.parametrize(
    ("feedback", "outcome"),
    [
        ({"correctness": {"n": 2, "avg": 0.5}}, (0.5, None)),
        ({"correctness": {"avg": 0}}, (None, False)),
        (1, (None, None)),
    ],
)
def test_feedback_on_the_trace_is_the_outcome_if_it_is_called_so(tmp_path: Path, feedback: Any, outcome: Any) -> None:
    stats = json.dumps(feedback)
    source = only(read(tmp_path, run("a", inputs="Hi", outputs=REPLY, feedback_stats=stats))).source
    assert (source.reward, source.resolved) == outcome
    beside = only(read(tmp_path, run("a", inputs="Hi", outputs=REPLY, feedback_stats=stats, parent_run_id="r"))).source
    assert (beside.reward, beside.resolved) == (None, None)


@pytest.mark.parametrize("rows", [[run("a", "chain")], [run("a", inputs=None, outputs=None)]])
def test_runs_without_a_conversation_are_said_to_be_so(tmp_path: Path, rows: Any) -> None:
    with pytest.raises(UnreadableRecording, match=r"^runs\.jsonl: (no call of a model|a model's calls without)"):
        read(tmp_path, *rows)


@pytest.mark.parametrize(
    "odd", [None, 1, "[", {}, [], [[]], {"output": 1}, {"lc": 1, "kwargs": {}}, {"lc": 1, "id": 1}]
)
def test_odd_values_are_no_bug(tmp_path: Path, odd: Any) -> None:
    fields = {"extra": odd, "feedback_stats": odd, "error": odd, "end_time": odd, "parent_run_id": odd}
    rows = run("a", inputs=odd, outputs="Hello", **fields), run("b", "tool", 2, inputs=odd, outputs=odd, **fields), odd
    assert ("assistant", "Hello") in shape(only(read(tmp_path, *rows)))
