"""Where nothing that was named is a recording, the run says so and fails: another place was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.commands import main
from tests.wikis import Script, record, rule


def _ended(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(words)
    return code, capsys.readouterr().out


def test_an_empty_folder_is_named_and_no_wiki_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    words = ["ingest", str(tmp_path / "empty"), "--wiki", str(tmp_path / "wiki")]
    code, out = _ended(words, capsys)
    assert (code, out.splitlines()[1]) == (1, f"  {tmp_path / 'empty'}: no file here")
    assert not (tmp_path / "wiki").exists()


@pytest.mark.parametrize("command", ["ingest", "normalize", "eval metrics"])
def test_a_folder_of_other_formats_says_which(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.pdf", "b.pdf", "c.txt", "d.txt"):
        (tmp_path / "docs" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_bytes(b"%PDF-1.4\n")
    options = {
        "ingest": ["--jobs", "1", "--wiki", str(tmp_path / "wiki")],
        "normalize": ["--out", str(tmp_path / "out")],
    }
    code = main([*command.split(), str(tmp_path / "docs"), *options.get(command, [])])
    shown = capsys.readouterr()
    assert code == 1
    assert "docs: no recording here, only .pdf (2), .txt (2)" in shown.out + shown.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["docs"], "no wiki of nothing"


def test_beside_a_recording_other_files_are_no_failure_also_where_they_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(tmp_path)
    script.says("", rules=[rule("Run the check before a change.")])
    (tmp_path / "notes.pdf").write_bytes(b"%PDF-1.4\n")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    named = [str(record(tmp_path, "a")), str(tmp_path / "notes.pdf"), str(tmp_path / "empty.jsonl")]
    words = ["ingest", *named, "--wiki", str(tmp_path / "wiki"), "--engine", script.engine, "--jobs", "1"]
    code, out = _ended(words, capsys)
    assert code == 0
    assert "passed over: 1 empty file, 1 file that is no recording: notes.pdf\n" in out


def test_a_selection_that_leaves_nothing_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ingest", str(record(tmp_path, "a")), "--since", "2999-01-01", "--wiki", str(tmp_path / "wiki")]
    assert _ended(words, capsys)[0] == 0
