"""Where nothing that was named is a recording, the run says so and fails: another place was meant."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from agent_wiki import engines
from agent_wiki.commands import main
from agent_wiki.pipeline import ingest as pipeline_ingest
from agent_wiki.wiki.store import WikiFolder
from tests.exports import lines, score
from tests.wikis import Script, ingest, record, rule


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


_BEGUN = {
    "codex": {"type": "session_meta", "timestamp": "2026-01-01T00:00:00Z", "payload": {"id": "a", "cwd": "/w"}},
    "pi": {"type": "session", "version": 3, "id": "a", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"},
    "claude-code": {"type": "summary", "summary": "Begun", "leafUuid": "a", "sessionId": "a"},
}


@pytest.mark.parametrize("program", _BEGUN)
@pytest.mark.parametrize("command", ["ingest", "normalize"])
def test_a_session_that_has_only_begun_is_left_out_and_no_failure(
    command: str, program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = tmp_path / "begun" / f"rollout-{program}.jsonl"
    begun.parent.mkdir()
    begun.write_text(json.dumps(_BEGUN[program]) + "\n", encoding="utf-8")
    options = {"ingest": ["--jobs", "1", "--wiki", str(tmp_path / "wiki")], "normalize": ["--out", str(tmp_path / "o")]}
    code, out = _ended([command, str(begun.parent), *options[command], "--json"], capsys)
    report = json.loads(out)
    assert (code, report["failures"]) == (0, [])
    assert [each["reason"] for each in report["left_out"]] == ["no turn recorded"]


def test_a_session_whose_messages_may_be_in_damaged_lines_is_a_failure(tmp_path: Path) -> None:
    lines = [json.dumps(_BEGUN["pi"]), '{"type": "message", "mess', json.dumps({"type": "model_change", "id": "1"})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (failure,) = ingest([tmp_path / "a.jsonl"], tmp_path / "wiki", "offline").failures
    assert failure.reason == "a session without messages"


def test_a_selection_that_leaves_nothing_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ingest", str(record(tmp_path, "a")), "--since", "2999-01-01", "--wiki", str(tmp_path / "wiki"), "--json"]
    code, out = _ended(words, capsys)
    assert (code, json.loads(out)["warnings"]) == (0, ["--since 2999-01-01 leaves none of 1 file"])


def _docs(tmp_path: Path) -> list[Path]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.txt").write_text("no recording", encoding="utf-8")
    return [tmp_path / "docs"]


def _before_the_lock(act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have something done while the next run opens its engine."""
    real = engines.opened_engine

    def opened(*words: Any) -> Any:
        monkeypatch.setattr(pipeline_ingest, "opened_engine", real)
        act()
        return real(*words)

    monkeypatch.setattr(pipeline_ingest, "opened_engine", opened)


def test_a_run_over_no_recording_leaves_the_wiki_that_another_run_has_made_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, wiki = Script(tmp_path), tmp_path / "wiki"
    script.says("", rules=[rule("Run the check before a change.")])
    before: list[Path] = []

    def first_run() -> None:
        ingest([record(tmp_path / "traces", "a")], wiki, script.engine)
        before.extend(wiki.rglob("*"))

    _before_the_lock(first_run, monkeypatch)
    assert ingest(_docs(tmp_path), wiki, "offline").exit_code == 1
    assert wiki / ".wiki" / "finished.json" in before
    assert [path for path in before if not path.exists()] == []


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_run_over_no_recording_leaves_the_journal_of_a_run_that_was_killed(
    dry_run: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "wiki" / ".wiki" / "journal" / "1.jsonl"

    def killed_run() -> None:
        journal.parent.mkdir(parents=True)
        journal.touch()

    _before_the_lock(killed_run, monkeypatch)
    ingest(_docs(tmp_path), tmp_path / "wiki", "offline", dry_run=dry_run)
    assert journal.exists()


def test_who_waits_for_a_wiki_that_is_unmade_makes_it_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, waiting = WikiFolder(tmp_path / "wiki"), WikiFolder(tmp_path / "wiki")
    written = []
    is_asleep, may_wake = Event(), Event()

    def sleep(_seconds: float) -> None:
        is_asleep.set()
        may_wake.wait(20)

    def write() -> None:
        with waiting.locked(20):
            written.append(waiting.write_text("a.md", "x"))

    thread = Thread(target=write)
    monkeypatch.setattr(time, "sleep", sleep)  # between two tries for the lock: none of them is made meanwhile
    with folder.locked():
        thread.start()
        assert is_asleep.wait(20)
        folder.unmake()
        assert not folder.root.exists()
        assert thread.is_alive()
    may_wake.set()
    thread.join(20)
    assert written == [True]
    assert (tmp_path / "wiki" / ".wiki" / ".gitignore").is_file()


def test_a_folder_with_nothing_but_what_belongs_to_recordings_is_not_called_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = tmp_path / "export" / "scores" / "1.jsonl"
    scores.parent.mkdir(parents=True)
    scores.write_bytes(lines([score("1", "t1", 1)]))
    code, out = _ended(["ingest", str(tmp_path / "export"), "--wiki", str(tmp_path / "wiki"), "--jobs", "1"], capsys)
    assert (code, out.splitlines()[1]) == (1, f"  {tmp_path / 'export'}: no recording here, only parts of some")
