"""What a run did, told to a person and to a program."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from agent_wiki.errors import AnswerRejected, BudgetReached, Unanswered, UnreadableRecording
from agent_wiki.report import Failure, Note, Report


def _failed(unit: str) -> Failure:
    return Failure("recording", unit, "bad")


def test_a_failure_decides_the_exit_code_and_a_warning_does_not() -> None:
    assert Report("ingest", "w").exit_code == 0
    assert Report("ingest", "w", warnings=["x"], left_out=[Note("y", "why")], passed_over=[_failed("z")]).exit_code == 0
    assert Report("ingest", "w", failures=[_failed("x")]).exit_code == 1


def test_json_is_sorted_and_has_every_key_also_when_empty() -> None:
    empty, full = (
        Report("a", "w"),
        Report("b", "w", failures=[_failed("b"), _failed("a")], sessions=Counter({"z": 1, "a": 2})),
    )
    assert empty.to_json().keys() == full.to_json().keys()
    assert [each["unit"] for each in full.to_json()["failures"]] == ["a", "b"]
    assert list(full.to_json()["sessions"]) == ["a", "z"]
    assert json.loads(json.dumps(full.to_json()))["exit_code"] == 1


def test_an_entry_is_one_line_whatever_a_name_holds() -> None:
    report = Report("ingest", "w", failures=[Failure("recording", "a\nb\r\x85c.json", "\ud800 bad")])
    assert report.lines()[-1] == "  a b c.json: \ufffd bad"
    (failure,) = report.to_json()["failures"]
    assert (failure["unit"], failure["reason"]) == ("a b c.json", "\ufffd bad")


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        (Failure.of(UnreadableRecording("t/a.json", "no JSON", 3)), "t/a.json:3: no JSON"),
        (Failure.of(UnreadableRecording("a.json", "empty")), "a.json: empty"),
        (
            Failure.of(AnswerRejected("too long", stage="summarize", place="arcs"), "s-1", recording="a.json"),
            "a.json: s-1: summarize: arcs: too long",
        ),
        (
            Failure.of(
                Unanswered("no answer", stage="discover-tasks", about=tuple("abcd"), request=f"sha256:{'0' * 64}")
            ),
            "a, b, c: discover-tasks: no answer (request sha256:000000000000)",
        ),
        (Failure.of(AnswerRejected("too long"), stage="discover-tasks"), "discover-tasks: too long"),
        (Failure.of(BudgetReached("spent"), "s-1", recording="a.json"), "a.json: s-1: spent"),
    ],
)
def test_a_failure_is_one_line_from_the_general_to_the_particular(failure: Failure, line: str) -> None:
    assert str(failure) == line


def test_a_long_list_is_cut_with_a_count_and_whole_in_json() -> None:
    report = Report("ingest", "w", failures=[_failed(f"f{number:02}") for number in range(30)])
    lines = report.lines(most=3)
    assert lines[-5:] == [
        "FAILED (30):",
        *(f"  f{number:02}: bad" for number in range(3)),
        "  … and 27 more (all with --json)",
    ]
    assert len(report.to_json()["failures"]) == 30


def test_hygiene_is_reported_in_words() -> None:
    report = Report("ingest", "w", hygiene=Counter({"torn_lines": 1_234, "of_a_later_version": 1}))
    text = "\n".join(report.lines())
    assert "1,234 a last line that was cut off, skipped" in text
    assert "of_a_later_version" in text


def test_a_dry_run_says_would() -> None:
    assert "1 file would be written" in "\n".join(Report("x", "w", is_dry_run=True, written=["a"]).lines())
