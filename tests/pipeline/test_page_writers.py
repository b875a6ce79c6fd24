"""Two processes write the pages that one writes, whichever of them fails or dies."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.generated_wiki import generate

from agent_wiki.errors import RunError
from agent_wiki.pages import indexes
from agent_wiki.pipeline import page_writers
from agent_wiki.wiki.kinds import FOLDERS
from agent_wiki.wiki.store import WikiFolder
from tests.processes import exit_codes, started
from tests.wikis import changed, ingest, tree

SESSIONS = 12
MOST_LISTED = 5  # so that the indexes need what the copy says of each page
Happens = Callable[[int], None]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="one process writes there")


def _goes_on(_run: int) -> None:
    """Nothing happens to it."""


def _has_no_space(_run: int) -> None:
    raise OSError(28, "No space left on device")


def _is_killed(_run: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _is_left_alone(run: int) -> None:
    os.kill(run, signal.SIGKILL)
    while os.getppid() == run:
        os.sched_yield()


def _catalog(wiki: Path) -> dict[str, Any]:
    try:
        report = ingest([], wiki, "offline", stages=("catalog",))
    except RunError as error:
        return {"error": str(error)}
    return {"written": report.written, "unchanged": report.pages_unchanged, "pages": report.pages}


def _catalog_in_two(wiki: Path, output: Path, copy_does: Happens, run_does: Happens) -> None:
    """Make the catalog in two processes, indexes included. Something happens before each file that either writes.

    The copy that writes pages begins.
    """
    patch, run, (begun, beginning) = pytest.MonkeyPatch(), os.getpid(), os.pipe()
    patch.setattr(indexes, "MOST_LISTED", MOST_LISTED)
    fork = os.fork
    first_of_copy: list[bytes] = []

    def forked() -> int:
        if (copy := fork()) and not first_of_copy:
            os.close(beginning)
            first_of_copy.append(os.read(begun, 1))
        return copy

    def watched(name: Callable[..., None]) -> Callable[..., None]:
        """What gives a page its name, after what happens before."""

        def named(*words: Any, **options: Any) -> None:
            if os.getpid() != run:
                copy_does(run)
                name(*words, **options)
                if not first_of_copy:
                    os.write(beginning, b".")
            else:
                if first_of_copy:
                    run_does(run)
                name(*words, **options)

        return named

    patch.setattr(page_writers, "_FEWEST", 1)
    patch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    patch.setattr(os, "fork", forked)
    patch.setattr(os, "link", watched(os.link))
    patch.setattr(os, "replace", watched(os.replace))
    made = _catalog(wiki)
    with pytest.raises(ChildProcessError):  # none is left
        os.waitpid(-1, os.WNOHANG)
    output.write_text(json.dumps({**made, "copy wrote": first_of_copy == [b"."]}), encoding="utf-8")


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(indexes, "MOST_LISTED", MOST_LISTED)
    wiki = tmp_path / "one"
    generate(wiki, SESSIONS)
    (tmp_path / "one.json").write_text(json.dumps(_catalog(wiki)), encoding="utf-8")
    return wiki


def _in_two(tmp_path: Path, copy_does: Happens, run_does: Happens) -> tuple[Path, int | None]:
    wiki = tmp_path / "two"
    generate(wiki, SESSIONS)
    (ended,) = exit_codes(started(_catalog_in_two, wiki, tmp_path / "two.json", copy_does, run_does))
    return wiki, ended


def _said(path: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return said


def test_two_processes_write_what_one_does(tmp_path: Path, one: Path) -> None:
    two, _ = _in_two(tmp_path, _goes_on, _goes_on)
    assert _said(tmp_path / "two.json") == {**_said(tmp_path / "one.json"), "copy wrote": True}
    assert changed(tree(one), tree(two)) == []
    assert _catalog(two)["written"] == []


@pytest.mark.parametrize("copy_does", [_has_no_space, _is_killed])
def test_what_the_copy_cannot_write_is_written_by_the_run(tmp_path: Path, one: Path, copy_does: Happens) -> None:
    two, ended = _in_two(tmp_path, copy_does, _goes_on)
    assert ended == 0
    assert not _said(tmp_path / "two.json")["copy wrote"]
    assert changed(tree(one), tree(two)) == []


def test_what_neither_can_write_is_the_error_of_the_run(tmp_path: Path, one: Path) -> None:
    two, _ = _in_two(tmp_path, _has_no_space, _has_no_space)
    error = _said(tmp_path / "two.json")["error"]
    assert error.endswith("cannot write (No space left on device); nothing of it was changed")
    _catalog(two)
    assert changed(tree(one), tree(two)) == []


@pytest.mark.parametrize(("copy_does", "run_does"), [(_is_left_alone, _goes_on), (_goes_on, _is_killed)])
def test_a_run_that_is_killed_while_two_write_is_finished_by_the_next(
    tmp_path: Path, one: Path, copy_does: Happens, run_does: Happens
) -> None:
    two, ended = _in_two(tmp_path, copy_does, run_does)
    assert ended == -signal.SIGKILL
    _catalog(two)  # which waits until the copy has let go of the wiki
    assert changed(tree(one), tree(two)) == []


def test_a_copy_stops_when_its_run_is_gone(tmp_path: Path) -> None:
    two, _ = _in_two(tmp_path, _is_left_alone, _goes_on)
    with WikiFolder(two).locked():
        assert len([path for path in tree(two) if path.startswith(FOLDERS)]) == 1


def test_one_process_writes_few_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process for sixty pages"))
    generate(tmp_path, SESSIONS)
    assert _catalog(tmp_path)["pages"] == {"guideline pages": 48, "summary pages": 12}
