"""What a run did, told to a person and to a program."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from agent_wiki.errors import AnswerRejected, BudgetReached, Unanswered, UnreadableRecording
from agent_wiki.harness.status import status_of
from agent_wiki.pipeline.mine import SUPERSEDED
from agent_wiki.pipeline.report import Failure, Learnt, Note, Report
from agent_wiki.site.local import recordings_read
from agent_wiki.spending import Totals
from tests.wikis import Script, chat, ingest, record


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
    assert "  a b c.json: \ufffd bad" in report.lines()
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
    lines = report.lines()
    assert lines[:5] == [
        "FAILED (30):",
        *(f"  f{number:02}: bad" for number in range(3)),
        "  … and 27 more",
    ]
    assert len(report.to_json()["failures"]) == 30


def test_hygiene_is_reported_in_words() -> None:
    report = Report("ingest", "w", hygiene=Counter({"torn_lines": 1_234, "of_a_later_version": 1, "redactions": 1}))
    assert "tidied: 1 secret redacted, 1,235 odd places mended while reading" in report.lines()
    report.is_verbose = True
    text = "\n".join(report.lines())
    assert "a last line that was cut off, skipped: 1,234" in text
    assert "of_a_later_version" in text


def test_a_dry_run_says_would() -> None:
    assert "1 file would be written" in "\n".join(Report("x", "w", is_dry_run=True, written=["a"]).lines())


def test_a_report_of_everything_has_at_most_25_lines_and_names_what_is_new_first() -> None:
    notes = [Note(f"s{number}", f"reason {number}") for number in range(40)]
    report = Report(
        "ingest",
        "w",
        recordings=50,
        recordings_read=12,
        sessions=Counter({"mined": 9}),
        nothing_to_learn=3,
        guidelines_contributed=2,
        hygiene=Counter({"torn_lines": 3, "redactions": 2}),
        coverage=Counter({"trajectory_characters": 100, "elided_characters": 10}),
        pages=Counter({"guideline pages": 1, "summary pages": 3}),
        learnt=[Learnt("guideline", f"Rule {number:02}", f"g/{number}.md", number) for number in range(30)],
        edited=["guidelines/a.md"],
        failures=[_failed(f"f{number}") for number in range(30)],
        warnings=["w1", "w2"],
        left_out=notes,
        dropped_claims=notes,
        passed_over=[_failed(f"f{number}.pdf") for number in range(30)],
        set_aside=[_failed("x")],
        waiting=[_failed("y")],
        pages_waiting=4,
        asked={"total": Totals(calls=1).to_json()},
        batches=[f"b{number}: 2 requests" for number in range(9)],
        failed_on=[f"reason {number}" for number in range(9)],
        stopped="stopped by SIGINT; run again to continue",
    )
    lines = report.lines()
    assert len(lines) <= 25, "\n".join(lines)
    assert lines[0] == "new in w: 30 guidelines"
    assert lines[1] == "  guideline  Rule 29 (29 sessions)"
    assert lines[-2:] == [
        "kept:  12 of 50 files read; what was learnt so far is in the wiki",
        "STOPPED: stopped by SIGINT; run again to continue",
    ]
    assert Report("ingest", "w", recordings=50, stopped="stopped by SIGINT").lines()[:2] == [
        "pages: nothing written",
        "kept:  0 of 50 files read; nothing was learnt yet",
    ]
    report.is_verbose = True
    assert "wiki:  1 guideline page, 3 summary pages" in report.lines()
    assert len([line for line in report.lines() if line.startswith("  guideline ")]) == 30
    assert len(report.lines()) > 200


@pytest.mark.parametrize(
    ("names", "line"),
    [
        (["a.pdf"], "passed over: 1 file that is no recording: a.pdf"),
        (
            ["a.pdf", "b.PDF", "c.txt", "d", "e.x"],
            "passed over: 5 files that are no recordings: .pdf (2), .txt (1), .x (1), others",
        ),
    ],
)
def test_files_that_are_no_recordings_are_one_line(names: list[str], line: str) -> None:
    report = Report("ingest", "w", sessions=Counter({"mined": 1}), passed_over=[_failed(name) for name in names])
    assert line in report.lines()


def test_no_more_recordings_are_unchanged_than_there_are() -> None:
    report = Report("ingest", "wiki", recordings=3, recordings_unchanged=3, passed_over_unchanged=1)
    report.passed_over.append(Failure("file", "notes.md", "no recording"))
    assert "read:  2 recordings, 2 unchanged and not read; sessions: none" in report.lines()


def test_files_that_are_no_recordings_are_not_among_the_unchanged_recordings(tmp_path: Path) -> None:
    script, traces = Script(tmp_path), tmp_path / "traces"
    record(traces, "a")
    for name in ("x.log", "y.log"):
        (traces / name).write_text("no recording", encoding="utf-8")
    ingest([traces], tmp_path / "wiki", script.engine)
    record(traces, "b")
    second = ingest([traces], tmp_path / "wiki", script.engine)
    assert "read:  2 recordings, 1 unchanged and not read; sessions: 1 mined, 1 unchanged" in second.lines()


def test_a_failure_of_an_unchanged_file_is_counted_as_one_of_an_earlier_run(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    record(traces, "a")
    (traces / "bad.jsonl").write_text('{"type": "session_meta"\n', encoding="utf-8")
    found = [ingest([traces], tmp_path / "wiki", "offline").to_json() for _ in range(2)]
    assert [(len(each["failures"]), each["failures_unchanged"]) for each in found] == [(1, 0), (1, 1)]


def _odd_recordings(traces: Path) -> None:
    """One that is mined, a shorter copy of it, one without a reply, one without a turn, and a file that is none."""
    record(traces, "a", more=1)
    shorter = json.dumps(chat("a"))
    unanswered = json.dumps({**chat("b"), "messages": chat("b")["messages"][:1]})
    begun = json.dumps({"type": "session_meta", "timestamp": "2026-01-01T00:00:00Z", "payload": {"id": "c"}}) + "\n"
    for name, text in (("a-copy.json", shorter), ("b.json", unanswered), ("rollout-c.jsonl", begun)):
        (traces / name).write_text(text, encoding="utf-8")
    (traces / "README.md").write_text("# Notes\n", encoding="utf-8")


def test_a_run_without_news_says_the_same_of_recordings_and_of_what_is_left_out(tmp_path: Path) -> None:
    script, traces, wiki = Script(tmp_path), tmp_path / "traces", tmp_path / "wiki"
    _odd_recordings(traces)
    first, second = (ingest([traces], wiki, script.engine) for _ in range(2))
    record(traces, "d")  # so that what is unchanged is counted beside what is read
    third = ingest([traces], wiki, script.engine)
    for report in (first, second, third):
        reasons = {note.reason for note in report.left_out}
        assert reasons == {"no reply of an agent recorded", "no turn recorded", SUPERSEDED}
        assert len(report.left_out) == report.sessions["left-out"] + report.sessions["older"] == 3
        assert any(line.startswith("left out: 3 sessions: ") for line in report.lines())
    assert "read:  4 recordings; sessions: 3 left out, 1 mined" in first.lines()
    assert "read:  4 recordings, 4 unchanged and not read; sessions: 3 left out, 1 unchanged" in second.lines()
    files = second.to_json()["files"]
    assert files == {"recordings": 4, "recordings_unchanged": 4, "parts": 0, "others": 1, "unread": 0}
    assert status_of(wiki, tmp_path).recordings.read == 5, "as many as the third run had"
    assert third.to_json()["files"]["recordings"] == 5
    assert len(recordings_read(wiki)) == 5, "no README"


def test_a_stopped_run_counts_the_recordings_that_it_read_and_the_files_that_it_came_to() -> None:
    report = Report("ingest", "w", recordings=50, recordings_read=12, parts=2, stopped="stopped by SIGTERM")
    report.sessions["mined"], report.passed_over = 9, [_failed("a.pdf")]
    assert "read:  9 recordings; sessions: 9 mined" in report.lines()
    assert "kept:  12 of 50 files read; what was learnt so far is in the wiki" in report.lines()
    files = report.to_json()["files"]
    assert files == {"recordings": 9, "recordings_unchanged": 0, "parts": 2, "others": 1, "unread": 38}


@pytest.mark.parametrize("waiting", [0, 3])
def test_what_the_files_are_adds_up_to_those_that_were_listed(waiting: int) -> None:
    report = Report("ingest", "w", recordings=9, recordings_read=9 - waiting, recordings_waiting=waiting, parts=2)
    files = report.files
    assert sum(files[name] for name in ("recordings", "parts", "others", "unread")) == 9
