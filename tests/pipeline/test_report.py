"""What a run did, told to a person and to a program."""

from __future__ import annotations

import json
from collections import Counter

from agent_wiki.report import Report


def test_a_failure_decides_the_exit_code_and_a_warning_does_not() -> None:
    assert Report("ingest", "w").exit_code == 0
    assert Report("ingest", "w", warnings=["x"], left_out=["y"], passed_over=["z"]).exit_code == 0
    assert Report("ingest", "w", failures=["x"]).exit_code == 1


def test_json_is_sorted_and_has_every_key_also_when_empty() -> None:
    empty, full = Report("a", "w"), Report("b", "w", failures=["b", "a"], sessions=Counter({"z": 1, "a": 2}))
    assert empty.to_json().keys() == full.to_json().keys()
    assert full.to_json()["failures"] == ["a", "b"]
    assert list(full.to_json()["sessions"]) == ["a", "z"]
    assert json.loads(json.dumps(full.to_json()))["exit_code"] == 1


def test_an_entry_is_one_line_whatever_a_name_holds() -> None:
    report = Report("ingest", "w", failures=["a\nb\r\x85c.json: \ud800 bad"])
    assert report.lines()[-1] == "  a b c.json: \ufffd bad"
    assert report.to_json()["failures"] == ["a b c.json: \ufffd bad"]


def test_a_long_list_is_cut_with_a_count_and_whole_in_json() -> None:
    report = Report("ingest", "w", failures=[f"f{number:02}" for number in range(30)])
    lines = report.lines(most=3)
    assert lines[-5:] == ["FAILED (30):", "  f00", "  f01", "  f02", "  … and 27 more (all with --json)"]
    assert len(report.to_json()["failures"]) == 30


def test_hygiene_is_told_in_words() -> None:
    report = Report("ingest", "w", hygiene=Counter({"torn_lines": 1_234, "of_a_later_version": 1}))
    text = "\n".join(report.lines())
    assert "1,234 a last line that was cut off, skipped" in text
    assert "of_a_later_version" in text


def test_a_dry_run_says_would() -> None:
    assert "1 files would be written" in "\n".join(Report("x", "w", is_dry_run=True, written=["a"]).lines())
