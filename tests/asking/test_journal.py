"""The journal: nothing that arrived is lost, nothing half-written is taken for an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.journal import Journal, journal_folder, records
from agent_wiki.errors import RunError, UnsafePath
from tests.processes import exit_codes, started


def _write_fifty(folder: Path, name: str) -> None:
    journal = Journal(folder)
    for number in range(50):
        journal.append(_answer(f"{name}-{number}", "x" * 3_000))
    journal.close()


def _answer(request: str, text: str = "{}") -> dict[str, Any]:
    return {"kind": "answer", "request": request, "stage": "summarize", "answer": text}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return journal_folder(tmp_path)


def test_an_answer_is_found_in_this_run_and_in_the_next(folder: Path) -> None:
    journal = Journal(folder)
    assert journal.answer("a") is None
    journal.append(_answer("a", "dé\u2028\ud800"))
    journal.append(_answer("b"))
    assert (journal.answer("b") or {})["request"] == "b"
    journal.close()
    later = Journal(folder)
    assert (later.answer("a") or {})["answer"] == "dé\u2028?"
    assert (later.answer("b") or {})["answer"] == "{}"
    assert later.warnings == []
    assert len(list(folder.iterdir())) == 1, "a run that asks nothing leaves no file"


def test_of_two_answers_to_one_request_the_first_counts(folder: Path) -> None:
    for text in ("first", "second"):
        journal = Journal(folder)
        journal.append(_answer("a", text))
        journal.close()
    assert (Journal(folder).answer("a") or {})["answer"] == "first"


def test_a_torn_last_line_costs_that_line_only(folder: Path) -> None:
    journal = Journal(folder)
    journal.append(_answer("a"))
    journal.append(_answer("b"))
    journal.close()
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    later = Journal(folder)
    assert later.answer("a") is not None
    assert later.answer("b") is None
    assert later.warnings == [f"journal/{path.name}:3: a torn last line that is not a record, skipped"]
    later.append(_answer("b", "again"))
    later.close()
    assert (Journal(folder).answer("b") or {})["answer"] == "again"


def test_a_last_line_without_its_end_was_not_synced(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text(json.dumps(_answer("a")), encoding="utf-8")
    assert Journal(folder).answer("a") is None


def test_a_journal_that_cannot_be_read_is_reported_each_time_and_never_used_in_part(folder: Path) -> None:
    journal = Journal(folder)
    journal.append(_answer("a"))
    journal.close()
    (folder / "0.jsonl").mkdir()
    later = Journal(folder)
    for _ in range(2):
        with pytest.raises(RunError, match=r"0\.jsonl: the journal cannot be read \(Is a directory\)"):
            later.answer("a")
    (folder / "0.jsonl").rmdir()
    assert later.answer("a") is not None


def test_records_of_batches_that_somebody_broke_are_no_records_of_batches(folder: Path) -> None:
    heads: list[Any] = ["abc", [1, 2], [{"stage": "summarize"}], None]
    journal = Journal(folder)
    for kind in ("batch-begun", "batch"):
        for each in heads:
            journal.append({"kind": kind, "batch": "b", "endpoint": "e", "requests": each})
    journal.append({"kind": "batch", "requests": []})
    journal.append({"kind": "batch-ended"})
    assert journal.batch_records() == []
    journal.close()


def test_lines_that_are_not_records_are_reported_and_skipped(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(b"\xff\xfe\n[1]\n" + json.dumps(_answer("a")).encode() + b"\n")
    journal = Journal(folder)
    assert journal.answer("a") is not None
    assert len(journal.warnings) == 2


def test_how_an_endpoint_gives_structure_is_remembered(folder: Path) -> None:
    for place in (folder, None):
        journal = Journal(place)
        assert journal.structure("http://h", "m") is None
        journal.append({"kind": "endpoint", "endpoint": "http://h", "model": "m", "structure": "tool"})
        assert journal.structure("http://h", "m") == "tool"
        journal.close()
    assert Journal(folder).structure("http://h", "m") == "tool"


def test_turned_off_it_writes_nothing(tmp_path: Path) -> None:
    journal = Journal(None)
    journal.make_ready()
    journal.append(_answer("a"))
    assert journal.answer("a") is None
    journal.close()
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_cannot_be_written_is_reported_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / ".wiki").write_text("a file where a folder should be", encoding="utf-8")
    with pytest.raises(RunError, match="--no-journal"):
        Journal(journal_folder(tmp_path)).make_ready()


def test_a_full_disk_leaves_no_half_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(folder)
    journal.append(_answer("a"))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("agent_wiki.asking.journal.os.fsync", full)
        with pytest.raises(RunError, match="No space left"):
            journal.append(_answer("b"))
    journal.append(_answer("c"))
    journal.close()
    later = Journal(folder)
    assert (later.answer("b"), later.warnings) == (None, [])
    assert later.answer("c") is not None


def test_a_link_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".wiki").mkdir()
    (tmp_path / ".wiki" / "journal").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePath):
        Journal(journal_folder(tmp_path)).make_ready()


def test_threads_and_processes_lose_no_record(folder: Path) -> None:
    processes = [started(_write_fifty, folder, f"p{number}") for number in range(3)]
    journal = Journal(folder)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: journal.append(_answer(f"t-{number}", "y" * 3_000)), range(200)))
    assert exit_codes(*processes) == [0, 0, 0]
    journal.close()
    warnings: list[str] = []
    found = [record["request"] for record in records(folder, warnings) if record["kind"] == "answer"]
    assert len(set(found)) == len(found) == 350
    assert warnings == []


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_text("x\n", encoding="utf-8")])
def test_a_journal_that_another_process_took_or_rewrote_is_one_line(
    folder: Path, change: Callable[[Path], object]
) -> None:
    journal = Journal(folder)
    journal.append(_answer("a"))
    assert journal.answer("a") is not None
    (path,) = folder.iterdir()
    change(path)
    with pytest.raises(RunError, match="run the command again"):
        journal.answer("a")
