"""What lies beside a recording: a verdict that comes, changes or goes makes it be read again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers import detect
from tests.wikis import Script, ingest, record, tree

_TASK = "demo__demo-1"


def trial(folder: Path, verdict: bool | None = None) -> Path:
    """A folder with a mini-swe-agent recording and, if there is a verdict, its report. Out: the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    messages = [
        {"role": "system", "content": "Use ```bash blocks."},
        {"role": "user", "content": "Fix the cart."},
        {"role": "assistant", "content": "I look.\n\n```bash\nmake check\n```"},
        {"role": "user", "content": "<returncode>1</returncode>\n<output>\n2 checks failed\n</output>"},
    ]
    document: dict[str, Any] = {"trajectory_format": "mini-swe-agent-1", "instance_id": _TASK, "messages": messages}
    (folder / "run.traj.json").write_text(json.dumps({**document, "info": {}}), encoding="utf-8")
    report = folder / "report.json"
    if verdict is None:
        report.unlink(missing_ok=True)
    else:
        report.write_text(json.dumps({_TASK: {"resolved": verdict}}), encoding="utf-8")
    return folder


def _wiki_of(folder: Path, wiki: Path, script: Script) -> dict[str, bytes]:
    report = ingest([folder], wiki, script.engine)
    assert report.exit_code == 0, report.failures
    return tree(wiki)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


@pytest.mark.parametrize(("before", "after"), [(None, True), (True, False), (False, None)])
def test_a_verdict_that_comes_changes_or_goes_is_what_the_wiki_says(
    tmp_path: Path, script: Script, before: bool | None, after: bool | None
) -> None:
    wiki, folder = tmp_path / "wiki", tmp_path / "traces"
    assert _wiki_of(trial(folder, before), wiki, script) != (wanted := _wiki_of(trial(folder, after), wiki, script))
    assert wanted == _wiki_of(trial(folder, after), tmp_path / "at once", script)


def test_a_recording_whose_verdict_is_the_same_is_not_read_again(tmp_path: Path, script: Script) -> None:
    folder = trial(tmp_path / "traces", verdict=True)
    ingest([folder], tmp_path / "wiki", script.engine)
    record(folder, "new")
    report = ingest([folder], tmp_path / "wiki", script.engine)
    assert (report.recordings, report.recordings_unchanged) == (3, 2)


@pytest.mark.parametrize("name", ["report.json", "report.json.gz"])
def test_a_verdict_that_was_read_is_neither_listed_as_passed_over_nor_counted_as_a_recording(
    tmp_path: Path, script: Script, name: str
) -> None:
    plain = trial(tmp_path / "traces", verdict=True) / "report.json"
    content = plain.read_bytes()
    plain.unlink()
    (tmp_path / "traces" / name).write_bytes(content if name == plain.name else gzip.compress(content))
    for expected in ("read:  1 recording; ", "read:  1 recording, 1 unchanged and not read; "):
        report = ingest([tmp_path / "traces"], tmp_path / "wiki", script.engine)
        assert (report.passed_over, report.failures) == ([], [])
        assert [line for line in report.lines() if line.startswith(expected)], report.lines()
    named = ingest([tmp_path / "traces" / name], tmp_path / "wiki", script.engine)
    assert [each.reason for each in named.failures] == ["no recording: verdicts on recordings beside it"]


def test_what_was_no_recording_is_looked_at_again_once_more_formats_can_be_read(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path / "traces", "a")  # without any there is no wiki that could remember
    (tmp_path / "traces" / "notes.md").write_text("# Notes", encoding="utf-8")
    unchanged = []
    for has_parquet in (False, False, True):
        monkeypatch.setattr(detect, "find_spec", lambda _name, has=has_parquet: "there" if has else None)
        detect.known_formats.cache_clear()
        unchanged.append(ingest([tmp_path / "traces"], tmp_path / "wiki", script.engine).recordings_unchanged)
    detect.known_formats.cache_clear()
    assert unchanged == [0, 2, 1]


def test_an_empty_file_is_passed_over_and_a_failure_where_nothing_else_was_named(
    tmp_path: Path, script: Script
) -> None:
    folder = tmp_path / "traces"
    record(folder, "a")
    for name, content in (("empty.jsonl", b""), ("blank.json", b"\n \n")):
        (folder / name).write_bytes(content)
    for _ in ("read", "known"):
        report = ingest([folder], tmp_path / "wiki", script.engine)
        assert report.exit_code == 0
        assert [(each.kind, each.reason) for each in sorted(report.passed_over, key=str)] == [
            ("empty", "blank: no JSON in it"),
            ("empty", "empty file (0 bytes)"),
        ]
    named = ingest([folder / "empty.jsonl"], tmp_path / "wiki", script.engine)
    assert [each.reason for each in named.failures] == ["no recording here: empty file (0 bytes)"]


@pytest.mark.parametrize("copy", ["a/run.traj.json", "z/run.traj.json", "z/another.traj.json"])
def test_of_copies_with_the_same_bytes_the_one_with_a_verdict_counts(tmp_path: Path, script: Script, copy: str) -> None:
    folder = tmp_path / "traces"
    trial(folder / "m", verdict=False)
    (folder / copy).parent.mkdir()
    (folder / copy).write_bytes((folder / "m" / "run.traj.json").read_bytes())
    _wiki_of(folder, tmp_path / "wiki", script)
    (name,) = (tmp_path / "wiki" / "_sessions").iterdir()
    assert json.loads(name.read_text(encoding="utf-8"))["resolved"] is False


def test_a_verdict_may_begin_with_a_byte_order_mark(tmp_path: Path, script: Script) -> None:
    folder = trial(tmp_path / "traces", verdict=True)
    plain = _wiki_of(folder, tmp_path / "plain", script)
    (folder / "report.json").write_bytes(b"\xef\xbb\xbf" + (folder / "report.json").read_bytes())
    assert _wiki_of(folder, tmp_path / "marked", script) == plain
