"""Which files of a folder may be recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.pipeline.inputs import Selection, input_files, inputs_of
from agent_wiki.pipeline.report import Report
from tests.wikis import ingest, record


def test_a_wiki_is_never_taken_for_recordings_but_what_lies_beside_its_pages_is(tmp_path: Path) -> None:
    path = record(tmp_path, "a")
    wiki = tmp_path / "wiki"
    assert ingest([path], wiki, "offline").exit_code == 0
    inside = record(wiki / "traces", "b")
    assert [each.path for each in input_files([tmp_path])] == [path, inside]
    assert [each.path for each in input_files([wiki])] == [inside]
    report = ingest([tmp_path], wiki, "offline")
    assert (report.recordings, report.passed_over, report.sessions["mined"]) == (2, [], 1)


def test_a_folder_with_one_file_of_a_wikis_name_is_no_wiki(tmp_path: Path) -> None:
    (tmp_path / "_index.jsonl").write_text("{}\n", encoding="utf-8")
    assert [each.path.name for each in input_files([tmp_path])] == ["_index.jsonl"]


def test_patterns_or_a_date_that_leave_none_of_the_files_are_a_warning(tmp_path: Path) -> None:
    record(tmp_path, "a")

    def warnings(selection: Selection) -> list[str]:
        report = Report("ingest", "wiki")
        inputs_of([tmp_path], selection).report_left_out(report)
        return report.warnings

    assert warnings(Selection(include=("*.jsonl.gz",))) == ["--include and --exclude leave none of 1 file"]
    assert warnings(Selection(since="2999-01-01")) == ["--since 2999-01-01 leaves none of 1 file"]
    assert not warnings(Selection(include=("*.json",)))


@pytest.mark.parametrize(
    ("pattern", "fitting"),
    [
        ("*/*", {"old/a.json", "old/scratch/a.json", "scratch/a.json"}),
        ("*/?*", {"old/a.json", "old/scratch/a.json", "scratch/a.json"}),
        ("*/scratch/*", {"old/scratch/a.json", "scratch/a.json"}),
        ("**/scratch/*", {"old/scratch/a.json", "scratch/a.json"}),
        ("*/old/*", {"old/a.json", "old/scratch/a.json"}),
        ("old/*", {"old/a.json", "old/scratch/a.json"}),
        ("/old/*", set()),
        ("*", {"a.json", "old/a.json", "old/scratch/a.json", "scratch/a.json"}),
    ],
)
def test_a_pattern_for_any_folder_fits_one_at_the_top_and_that_for_files_in_folders_no_file_there(
    pattern: str, fitting: set[str], tmp_path: Path
) -> None:
    every = {"a.json", "old/a.json", "old/scratch/a.json", "scratch/a.json"}
    for name in every:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}", encoding="utf-8")

    def left(selection: Selection) -> set[str]:
        return {each.within for each in inputs_of([tmp_path], selection).files}

    assert left(Selection(include=(pattern,))) == fitting
    assert left(Selection(exclude=(pattern,))) == every - fitting
