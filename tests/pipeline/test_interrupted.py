"""A run that is killed anywhere is finished by the next one, to the same bytes; two runs never mix."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from agent_wiki.errors import WikiLocked
from agent_wiki.wiki.holder import described
from agent_wiki.wiki.store import WikiFolder
from tests.processes import die_before, exit_codes, started, started_wiki
from tests.wikis import Script, arc, changed, ingest, record, rule, skill, tree


def _killed(at: int, wiki: Path, engine: str, *paths: Path) -> bool:
    """Ingest in a process that kills itself at the n-th time that a file is put in place or taken away."""
    (ended,) = exit_codes(started(_run_and_die, at, wiki, engine, *paths))
    assert ended in (0, -signal.SIGKILL)
    return ended != 0


def _run_and_die(at: int, wiki: Path, engine: str, *paths: Path) -> None:
    """It dies before the file is put there, when its bytes are already written beside."""
    die_before(at, "os.link", "os.replace", "pathlib.Path.unlink")
    ingest(paths, wiki, engine)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    told = Script(tmp_path)
    shared = rule("Run the check before a change.")
    told.says("a", rules=[shared, rule("Read the log of the check.", tags=["logs"])])
    told.says("b", arcs=[arc("One", 1, 2), arc("Two", 3, 4)], rules=[{**shared, "title": "Always check it first"}])
    told.says("c", rules=[shared], skill=skill("check-it", scripts=[{"file": "x.sh", "text": "make check"}]))
    # what they say once they have grown: b speaks for the shared page no more, a loses a rule, c its skill
    told.says("a#6", rules=[{**shared, "tags": ["speed"]}])
    told.says("b#6", arcs=[arc("All of it", 1, 6)], rules=[])
    told.says("c#7", rules=[{**shared, "title": "Check it before all else"}], skill={"skill": None})
    return told


def _recordings(folder: Path, more: int) -> list[Path]:
    days = {"a": "2026-01-02", "b": "2026-01-01", "c": "2026-01-03"}
    writes = {"c": {"x.sh": "make check"}}
    return [record(folder, name, day, more, writes=writes.get(name)) for name, day in days.items()]


@pytest.mark.long
def test_a_killed_run_is_finished_by_the_next_to_the_same_bytes(tmp_path: Path, script: Script) -> None:
    paths = _recordings(tmp_path / "t", 0)
    ingest(paths, tmp_path / "whole", script.engine)
    points = 0
    for at in (0, 1, 2, 4, 7, 12, 20, 33):
        wiki = tmp_path / f"wiki-{at}"
        if not _killed(at, wiki, script.engine, *paths):
            break
        points += 1
        ingest(paths, wiki, script.engine)
        assert changed(tree(tmp_path / "whole"), tree(wiki)) == [], f"killed at {at}"
    assert points >= 2


@pytest.mark.long
def test_a_run_over_grown_sessions_killed_anywhere_leaves_nothing_of_what_they_were(
    tmp_path: Path, script: Script
) -> None:
    _recordings(tmp_path / "t", 1)
    ingest([tmp_path / "t"], tmp_path / "whole", script.engine)
    points = 0
    for at in (0, 1, 2, 4, 7, 12, 20, 33):
        wiki = tmp_path / f"wiki-{at}"
        ingest(_recordings(tmp_path / "t", 0), wiki, script.engine)
        if not _killed(at, wiki, script.engine, *_recordings(tmp_path / "t", 1)):
            break
        points += 1
        ingest([tmp_path / "t"], wiki, script.engine)
        assert changed(tree(tmp_path / "whole"), tree(wiki)) == [], f"killed at {at}"
    assert points >= 2


def test_a_run_waits_for_the_lock_and_then_says_so(tmp_path: Path, script: Script) -> None:
    paths = _recordings(tmp_path / "t", 0)
    with WikiFolder(tmp_path / "wiki").locked():
        with pytest.raises(WikiLocked, match="another process has been writing this wiki for 0 s"):
            ingest(paths, tmp_path / "wiki", script.engine, lock_timeout_seconds=0.0)
        assert tree(tmp_path / "wiki") == {}
        report = ingest(paths, tmp_path / "wiki", script.engine, dry_run=True)  # reads only: needs no lock
        assert report.sessions["mined"] == 3
    assert ingest(paths, tmp_path / "wiki", script.engine).exit_code == 0


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux says who holds a lock")
def test_who_waits_learns_within_a_second_for_whom(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = WikiFolder(tmp_path / "wiki")
    with (
        folder.locked(),
        pytest.raises(WikiLocked, match=rf"for 1 s \(process {os.getpid()}, running since \S+ \S+ UTC\); try again"),
        WikiFolder(tmp_path / "wiki").locked(0.9),
    ):
        pass
    assert f"waiting: another writes this wiki (process {os.getpid()}, " in capsys.readouterr().err


@pytest.mark.parametrize(
    "locks", ["", "1: FLOCK", "1: FLOCK ADVISORY WRITE x 00:1:{inode} 0 EOF", "1: POSIX A W 1 1:{inode} 0"]
)
def test_where_the_system_says_nothing_of_use_the_holder_is_unknown(tmp_path: Path, locks: str) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    (tmp_path / "locks").write_text(locks.format(inode=lock.stat().st_ino), encoding="ascii")
    assert described(str(lock), tmp_path) == ""


def test_two_runs_at_once_end_where_one_run_ends(tmp_path: Path, script: Script) -> None:
    paths = _recordings(tmp_path / "t", 0)
    ingest(paths, tmp_path / "whole", script.engine)
    words = ("ingest", "--wiki", tmp_path / "wiki", "--jobs", "1", "--engine", script.engine)
    assert exit_codes(*[started_wiki(*words, path) for path in paths]) == [0, 0, 0]
    assert changed(tree(tmp_path / "whole"), tree(tmp_path / "wiki")) == []


def test_no_stray_file_is_left_among_the_pages(tmp_path: Path, script: Script) -> None:
    paths = _recordings(tmp_path / "t", 0)
    for at in (4, 9):
        _killed(at, tmp_path / "wiki", script.engine, *paths)
        assert not [path for path in tree(tmp_path / "wiki") if path.endswith(".tmp") or "/." in path]
    assert (tmp_path / "wiki" / ".wiki" / ".gitignore").exists()
