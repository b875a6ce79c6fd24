"""normalize: one envelope a trajectory, the same bytes again, the larger of two versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import RunError
from agent_wiki.pipeline.normalize import NormalizeOptions, TrajectoryStats, normalize
from agent_wiki.pipeline.report import Report
from tests.wikis import COMMAND, chat, record


def run(paths: list[Path], out: Path, **options: object) -> tuple[list[TrajectoryStats], Report]:
    report = Report("normalize", str(out))
    chosen = NormalizeOptions(out, **options)  # type: ignore[arg-type]
    return normalize(paths, chosen, report, lambda _what, _done, _of: None), report


def test_an_envelope_holds_what_the_recording_says_and_nothing_else(tmp_path: Path) -> None:
    stats, report = run([record(tmp_path, "a")], tmp_path / "out")
    envelope = json.loads((tmp_path / "out" / "a.json").read_text(encoding="utf-8"))
    assert envelope["session_id"] == "a"
    assert envelope["timestamp"] == "2026-01-01T10:00:00Z"
    assert "agent" not in envelope
    (call,) = envelope["messages"][1]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"command": COMMAND}
    assert str(tmp_path) not in json.dumps(envelope)
    (counted,) = stats
    assert (counted.turns, counted.tool_calls, counted.tool_results, counted.user_turns) == (4, 1, 1, 1)
    assert report.exit_code == 0


def test_a_normalized_file_normalizes_to_the_same_bytes(tmp_path: Path) -> None:
    run([record(tmp_path, "a"), record(tmp_path, "b")], tmp_path / "once")
    run([tmp_path / "once"], tmp_path / "twice")
    once = {path.name: path.read_bytes() for path in (tmp_path / "once").iterdir()}
    assert once == {path.name: path.read_bytes() for path in (tmp_path / "twice").iterdir()}
    assert once.keys() == {"a.json", "b.json"}


@pytest.mark.parametrize("first", ["short", "long"])
def test_of_two_versions_the_longer_counts_whichever_comes_first(tmp_path: Path, first: str) -> None:
    more = {"short": 0, "long": 2}
    for place, version in (("1", first), ("2", "long" if first == "short" else "short")):
        record(tmp_path / place / version, "a", more=more[version])
    stats, report = run([tmp_path / "1", tmp_path / "2"], tmp_path / "out", condition="@parent")
    assert [(each.file, each.turns) for each in stats] == [("long__trial-unknown__a.json", 8)]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["long__trial-unknown__a.json"]
    assert report.written == ["long__trial-unknown__a.json"]
    assert report.sessions["normalized"] == 1
    assert len(report.left_out) == 1
    assert "short" in str(report.left_out[0].recording)


def test_condition_trial_label_and_request_come_from_the_user(tmp_path: Path) -> None:
    envelope = chat("s")
    del envelope["messages"][0]
    path = tmp_path / "with-wiki" / "run3.json"
    path.parent.mkdir()
    path.write_text(json.dumps(envelope), encoding="utf-8")
    stats, _ = run([path], tmp_path / "out", label="x", user_prompt="Fix it", trial_prefix="run", condition="@parent")
    assert stats[0].file == "with-wiki__trial-3__s.json"
    written = json.loads((tmp_path / "out" / "x" / "items" / stats[0].file).read_text(encoding="utf-8"))
    assert written["messages"][0] == {"role": "user", "content": "Fix it"}
    assert (written["source"]["condition"], written["source"]["trial"]) == ("with-wiki", "3")


def test_long_and_hostile_names_stay_in_the_folder(tmp_path: Path) -> None:
    paths = []
    for number, session_id in enumerate(("../../x", "y" * 400, "index")):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(chat(session_id)), encoding="utf-8")
    stats, _ = run(paths, tmp_path / "out", condition="../" + "c" * 200, trial_prefix="")
    assert len({each.file for each in stats}) == 3
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(each.file for each in stats)
    assert all(len(each.file) < 210 for each in stats)


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    stats, report = run([record(tmp_path, "a")], tmp_path / "out", dry_run=True)
    assert [each.file for each in stats] == report.written == ["a.json"]
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_read_is_reported_and_the_others_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    record(folder, "a")
    (folder / "notes.txt").write_text("hello", encoding="utf-8")
    (folder / "cut.json").write_text('{"messages": [', encoding="utf-8")
    stats, report = run([folder], tmp_path / "out")
    assert [each.session_id for each in stats] == ["a"]
    assert len(report.failures) == 1
    assert "cut.json" in report.failures[0].unit
    assert len(report.passed_over) == 1
    assert run([folder / "notes.txt"], tmp_path / "out")[1].exit_code == 1


def test_bytes_that_are_not_utf_8_are_reported_for_a_whole_document_too(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_bytes(record(tmp_path, "a").read_bytes().replace(b"cart", b"caf\xe9"))
    report = run([tmp_path / "old.json"], tmp_path / "out")[1]
    assert report.hygiene["replaced_bytes"] == 1


def test_a_folder_that_cannot_be_made_stops_the_run(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    with pytest.raises(RunError, match="cannot write"):
        run([record(tmp_path, "a")], tmp_path / "out")


@pytest.mark.parametrize("label", ["../../x", "a/b", "..", "", "C:x", "a\\b"])
def test_a_label_that_leads_elsewhere_is_refused(tmp_path: Path, label: str) -> None:
    recording = tmp_path / "r.json"
    recording.write_text('{"messages": [{"role": "user", "content": "Hi"}]}', encoding="utf-8")
    assert main(["normalize", str(recording), "--out", str(tmp_path / "out" / "in"), "--label", label]) == 2
    assert [each.name for each in tmp_path.iterdir()] == ["r.json"]
