"""Inspect logs, as one document and as a zip."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import inspect_log
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.shell.verdict import has_failed
from agent_wiki.trajectory import Trajectory, Usage, envelope_chunks
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import only, write_document

HEADER: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "sums", "created": "2026-01-01T10:00:00+01:00", "model": "provider/m-1"},
}
DIGEST = "0" * 31 + "a"
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": f"attachment://{DIGEST}"},
    {"role": "user", "content": "Add.", "source": "input"},
    {
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "I call."}],
        "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "expr 1"}, "type": "function"}],
    },
    {
        "role": "tool",
        "tool_call_id": "c1",
        "function": "bash",
        "content": "",
        "error": {"type": "timeout", "message": "took too long"},
    },
]
SAMPLE: dict[str, Any] = {
    "id": 4,
    "epoch": 2,
    "uuid": "kJ3mSampleUuid",
    "input": "Add.",
    "target": "SECRET TARGET",
    "messages": MESSAGES,
    "scores": {"judge": {"value": {"a": 1}, "explanation": "SECRET REASON"}, "match": {"value": "C"}},
    "model_usage": {"m-1": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12, "input_tokens_cache_read": 4}},
    "started_at": "2026-01-01T09:00:01+00:00",
    "completed_at": "2026-01-01T09:00:05+00:00",
    "total_time": 3.5,
    "attachments": {DIGEST: "A long prompt"},
}


def of(tmp_path: Path, sample: dict[str, Any] = SAMPLE) -> Trajectory:
    recording = write_document(tmp_path / "r.json", HEADER | {"samples": [sample]})
    assert inspect_log.claims(recording.sample())
    return only(inspect_log.read(recording))


def zipped(path: Path, header: str = "header.json", **samples: str) -> Recording:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(header, json.dumps(HEADER))
        archive.writestr("summaries.json", "[]")
        for name, text in samples.items():
            archive.writestr(f"samples/{name}.json", text)
    return Recording(path, path.name)


@pytest.mark.parametrize("header", ["header.json", "_journal/start.json"])
def test_both_kinds_of_log_give_the_same_trajectory(tmp_path: Path, header: str) -> None:
    recording = zipped(tmp_path / "r.eval", header, a=json.dumps(SAMPLE))
    assert inspect_log.claims(recording.sample())
    assert only(inspect_log.read(recording)) == of(tmp_path)


def test_a_damaged_member_costs_only_its_sample(tmp_path: Path) -> None:
    recording = zipped(tmp_path / "r.eval", a="{", b=json.dumps(SAMPLE), c=json.dumps({"id": 1}))
    only(inspect_log.read(recording))
    assert len(recording.warnings) == 2
    assert recording.warnings[0].startswith("r.eval: member 'samples/a.json': ")
    assert recording.warnings[1] == "r.eval: member 'samples/c.json' has no messages, skipped"


def test_head_and_source_come_from_evaluation_and_sample(tmp_path: Path) -> None:
    trajectory = of(tmp_path)
    source = trajectory.source
    assert (trajectory.session_id, trajectory.model) == ("kJ3mSampleUuid", "provider/m-1")
    assert (trajectory.timestamp, source.ended_at) == ("2026-01-01T09:00:01Z", "2026-01-01T09:00:05Z")
    assert (source.task_id, source.trial, source.reward) == ("sums/4", "2", 1.0)
    assert source.duration_seconds == 3.5


def test_without_a_uuid_task_sample_and_epoch_make_the_id(tmp_path: Path) -> None:
    nameless = {key: value for key, value in SAMPLE.items() if key not in ("uuid", "started_at")}
    trajectory = of(tmp_path, nameless)
    assert trajectory.session_id.startswith("sums-4-2-")
    assert trajectory.timestamp == "2026-01-01T09:00:00Z"


def test_the_target_and_the_judges_words_stay_out(tmp_path: Path) -> None:
    trajectory = of(tmp_path)
    assert "SECRET" not in "".join(envelope_chunks(trajectory))
    assert trajectory.source.hygiene == {"answer_keys_withheld": 1}


def test_calls_results_thinking_and_attachments_are_understood(tmp_path: Path) -> None:
    trajectory = of(tmp_path)
    assert trajectory.messages[0].content == "A long prompt"
    assert (trajectory.messages[2].content, trajectory.messages[2].thinking) == ("I call.", "hm")
    (call,) = paired_calls(trajectory)
    assert (call.command(), call.is_error, call.result) == ("expr 1", True, "took too long")


def test_a_tool_that_ran_at_the_provider_has_its_result(tmp_path: Path) -> None:
    part = {"type": "tool_use", "id": "s1", "name": "web_search", "arguments": "{}", "result": "found", "error": None}
    trajectory = of(tmp_path, SAMPLE | {"messages": [{"role": "assistant", "content": [part]}]})
    (call,) = paired_calls(trajectory)
    assert (call.name, call.result, has_failed(call)) == ("web_search", "found", False)


@pytest.mark.parametrize(
    ("total", "cached", "expected"),
    [(12, 4, Usage(6, None, 4, 2)), (16, 4, Usage(10, None, 4, 2)), (12, None, Usage(10, None, None, 2))],
)
def test_cached_tokens_are_counted_once(tmp_path: Path, total: int, cached: int | None, expected: Usage) -> None:
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": total, "input_tokens_cache_read": cached}
    assert of(tmp_path, SAMPLE | {"model_usage": {"m": usage}}).source.usage == expected


def test_the_last_replys_usage_is_the_samples_only_when_there_is_one_reply(tmp_path: Path) -> None:
    older = SAMPLE | {"model_usage": {}, "output": {"usage": {"input_tokens": 5, "output_tokens": 1}}}
    assert of(tmp_path, older).source.usage == Usage(input_tokens=5, output_tokens=1)
    assert of(tmp_path, older | {"messages": [*MESSAGES, *MESSAGES]}).source.usage is None


@pytest.mark.parametrize(
    ("value", "reward"), [("C", 1.0), ("I", 0.0), ("P", 0.5), (0.25, 0.25), (True, 1.0), ("good", None), (None, None)]
)
def test_a_score_is_a_reward_where_it_is_a_number_or_a_letter(tmp_path: Path, value: Any, reward: float | None) -> None:
    assert of(tmp_path, SAMPLE | {"scores": {"s": {"value": value}}}).source.reward == reward


def test_a_sample_that_broke_off_says_so(tmp_path: Path) -> None:
    assert of(tmp_path, SAMPLE | {"error": {"message": "x"}}).source.exit_status == "error"
    assert of(tmp_path, SAMPLE | {"limit": {"type": "message", "limit": 5}}).source.exit_status == "message limit"


def test_a_log_without_samples_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="no sample with messages"):
        list(inspect_log.read(zipped(tmp_path / "r.eval")))
    with pytest.raises(UnreadableRecording, match="no sample with messages"):
        list(inspect_log.read(write_document(tmp_path / "r.json", HEADER)))


@pytest.mark.parametrize(
    "sample",
    [
        Sample("zip", ["word/document.xml"]),
        Sample("document", [{"eval": "x"}]),
        Sample("document", [None]),
        Sample("lines", [HEADER]),
    ],
)
def test_other_recordings_are_not_claimed(sample: Sample) -> None:
    assert not inspect_log.claims(sample)


def test_a_deeply_nested_message_is_no_bug(tmp_path: Path) -> None:
    def nested(levels: int) -> Any:
        return [nested(levels - 1)] if levels else "x"

    of(tmp_path, SAMPLE | {"messages": [{"role": "user", "content": nested(190)}]})
    with pytest.raises(UnreadableRecording, match="nested too deeply"):
        of(tmp_path, SAMPLE | {"messages": [{"role": "user", "content": nested(600)}]})
