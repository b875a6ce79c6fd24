"""One session, one row: what is measured, what is unknown, and whether the answer was right."""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.evaluation.metrics import MEASURED, final_answer, metrics_row
from agent_wiki.evaluation.tasks import TaskSet, parse_tasks
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.trajectory import Source, Trajectory, Usage
from tests.wikis import chat, record

TASKS = """\
- {id: cart, prompt: Please fix the cart., outcome_match_all: [adds up], family: shop}
- {id: t7, outcome_match_all: [nothing of the kind], outcome_match_any: [adds]}
"""


def session(**source: Any) -> Trajectory:
    builder = TrajectoryBuilder()
    builder.user("Please fix the cart.")
    reads: list[tuple[str | None, str, Any]] = [
        ("c1", "Read", {"file_path": "/w/wiki/AGENTS.md"}),
        ("c2", "Read", {"file_path": "/w/wiki/_index.jsonl"}),
        ("c3", "Read", {"file_path": "/w/wiki/guidelines/run-it__0123456789ab.md"}),
        ("c4", "Bash", {"command": "cat wiki/skills/fix-a-cart/SKILL.md"}),
        ("c5", "Bash", {"command": "make check"}),
    ]
    builder.assistant("I look first.", calls=reads)
    for position in range(1, 5):
        builder.tool(f"c{position}", "text")
    builder.tool("c5", "2 checks failed", is_error=True)
    builder.assistant("The cart adds up.")
    return builder.finish("s-1", Source("test", file="s.json", **source))


def tasks() -> TaskSet:
    return parse_tasks(TASKS, "tasks.yaml")


def test_what_a_recording_does_not_say_is_absent_and_not_zero() -> None:
    row = metrics_row(session())
    unknown = {"duration_s", "total_cost_usd", "input_tokens", "output_tokens", "billable_tokens_proxy", "task"}
    assert not unknown & row.keys()
    assert None not in row.values()
    assert row.keys() <= MEASURED


def test_measures_have_the_published_names() -> None:
    usage = Usage(input_tokens=10, cache_creation_input_tokens=200, cache_read_input_tokens=3_000, output_tokens=5)
    row = metrics_row(session(duration_seconds=28.2, cost_usd=0.2, usage=usage, trial="3", condition="strong"))
    assert row["duration_s"] == 28.2
    assert row["total_cost_usd"] == 0.2
    assert row["billable_tokens_proxy"] == 215
    assert row["cache_read_input_tokens"] == 3_000
    assert (row["trial"], row["condition"]) == (3, "strong")
    assert (row["tool_calls"], row["errors"], row["turns"]) == (5, 1, 8)


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    row = metrics_row(session(usage=Usage(input_tokens=10, output_tokens=5)))
    assert row["input_tokens"] == 10
    assert "billable_tokens_proxy" not in row


def test_wiki_reads_are_counted_by_the_kind_of_page() -> None:
    row = metrics_row(session())
    assert row["wiki_reads_total"] == 4
    assert (row["agents_md_read"], row["index_read"]) == (True, True)
    assert (row["guideline_reads"], row["skill_reads"], row["cluster_reads"]) == (1, 1, 0)


def test_the_final_answer_is_judged_by_the_task_that_was_asked() -> None:
    row = metrics_row(session(), tasks())
    assert (row["task"], row["family"], row["outcome_match"]) == ("cart", "shop", True)


def test_a_recorded_task_takes_precedence_over_the_request() -> None:
    row = metrics_row(session(task_id="t7"), tasks())
    assert (row["task"], row["outcome_match"], row["matched_all"], row["matched_any"]) == ("t7", False, False, True)


def test_a_folder_names_the_task_where_the_recording_does_not() -> None:
    trajectory = session()
    trajectory.messages = trajectory.messages[1:]
    assert metrics_row(trajectory, tasks(), PurePath("/runs/t7/strong/trial-1.jsonl"))["task"] == "t7"
    assert "task" not in metrics_row(trajectory, tasks(), PurePath("/runs/t8/trial-1.jsonl"))


def test_a_session_that_never_answered_did_not_give_the_answer() -> None:
    trajectory = session()
    trajectory.messages = trajectory.messages[:1]
    assert final_answer(trajectory) == ""
    row = metrics_row(trajectory, tasks())
    assert row["outcome_match"] is False
    assert "final_text_len" not in row


def test_the_command_writes_a_line_a_session_in_an_order_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for session_id in ("b", "a"):
        record(tmp_path / "runs", session_id)
    (tmp_path / "runs" / "README.md").write_text("None of what was recorded.", encoding="utf-8")
    (tmp_path / "tasks.yaml").write_text(TASKS, encoding="utf-8")
    out = tmp_path / "rows.jsonl"
    found = ["eval", "metrics", str(tmp_path / "runs"), "--tasks", str(tmp_path / "tasks.yaml"), "--out", str(out)]
    assert main([*found, "--set", "batch=2", "--set", "condition=with-wiki"]) == 0
    assert capsys.readouterr().out == f"{out}: 2 rows of 2 recordings\n"
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["session_id"] for row in rows] == ["a", "b"]
    assert [(row["batch"], row["condition"], row["outcome_match"]) for row in rows] == [(2, "with-wiki", True)] * 2


def test_of_two_versions_of_a_session_the_longer_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "1", "a", more=2)
    record(tmp_path / "2", "a")
    assert main(["eval", "metrics", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    (row,) = map(json.loads, shown.out.splitlines())
    assert row["turns"] == 8
    assert "left out" in shown.err


def test_a_damaged_recording_costs_that_recording_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path, "a")
    bad = tmp_path / "b.json"
    bad.write_text('{"messages": [', encoding="utf-8")
    assert main(["eval", "metrics", str(tmp_path / "a.json"), str(bad)]) == 1
    shown = capsys.readouterr()
    assert [json.loads(line)["session_id"] for line in shown.out.splitlines()] == ["a"]
    assert f"FAILED: {bad}" in shown.err


def test_a_session_whose_task_is_not_in_the_file_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").mkdir()
    envelope = chat("a", request="Please sing.")
    (tmp_path / "runs" / "a.json").write_text(json.dumps(envelope), encoding="utf-8")
    (tmp_path / "tasks.yaml").write_text(TASKS, encoding="utf-8")
    assert main(["eval", "metrics", str(tmp_path / "runs"), "--tasks", str(tmp_path / "tasks.yaml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["warnings"] == ["a: no task of the file matches; its outcome is not judged"]
    assert "outcome_match" not in found["rows"][0]


@pytest.mark.parametrize("label", ["batch", "=2", "tool_calls=3", "a b=1", "batch="])
def test_a_label_is_a_name_and_a_value_and_nothing_that_is_measured(tmp_path: Path, label: str) -> None:
    assert main(["eval", "metrics", str(record(tmp_path, "a")), "--set", label]) == 2
