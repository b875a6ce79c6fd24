"""A lock in a bucket: one machine holds it, the lock of one that died runs out, and signals reach the command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import RunError, WikiLocked
from agent_wiki.pipeline import lock_watch
from agent_wiki.pipeline.bucket_lock import _MOST_LEASE_SECONDS, BucketLock
from agent_wiki.pipeline.while_locked import LockedCommand
from agent_wiki.readers import stored_objects
from agent_wiki.readers.buckets import BucketPath
from tests.buckets.stores import Bucket
from tests.processes import exit_codes, started_wiki

_MOST_SECONDS = 20


@pytest.fixture
def place() -> BucketPath:
    path: BucketPath = Bucket().path("state/_wiki.lock")
    return path


def _says(place: BucketPath) -> dict[str, Any]:
    found = stored_objects.fetched(place)
    assert found is not None
    said: dict[str, Any] = json.loads(found.content)
    return said


def test_a_second_one_is_refused_by_the_first_ones_name_until_that_releases_the_lock(place: BucketPath) -> None:
    first, second = BucketLock(place, "run 1", 60), BucketLock(place, "run 2", 60)
    first.take()
    with pytest.raises(WikiLocked, match=r"/state/_wiki.lock: held by run 1 until .*; nothing was done$"):
        second.take()
    first.release()
    second.take()
    assert _says(place)["owner"] == "run 2"


def test_a_lock_that_ran_out_is_taken_over_and_lost_to_who_had_it(place: BucketPath) -> None:
    first, second = BucketLock(place, "run 1", 0), BucketLock(place, "run 2", 60)
    first.take()
    second.take()
    assert (first.renew(), second.renew()) == (False, True)
    first.release()
    assert (_says(place)["owner"], _says(place)["is_free"]) == ("run 2", False)


def test_a_renewed_lock_is_held_for_longer(place: BucketPath) -> None:
    lock = BucketLock(place, "run 1", 60)
    lock.take()
    until = lock.until
    assert lock.renew()
    assert lock.until > until


def test_of_two_that_take_over_at_the_same_time_one_has_it(place: BucketPath, monkeypatch: pytest.MonkeyPatch) -> None:
    BucketLock(place, "gone", 0).take()
    second = BucketLock(place, "run 2", 60)
    fetched = stored_objects.fetched

    def then_faster(path: BucketPath) -> Any:
        found = fetched(path)
        monkeypatch.undo()
        BucketLock(place, "run 1", 60).take()
        return found

    monkeypatch.setattr("agent_wiki.pipeline.bucket_lock.fetched", then_faster)
    with pytest.raises(WikiLocked, match="held by run 1"):
        second.take()


def test_a_write_whose_answer_was_lost_is_known_as_ones_own(place: BucketPath, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = BucketLock(place, "run 1", 60)
    replaced = stored_objects.replaced
    monkeypatch.setattr(
        "agent_wiki.pipeline.bucket_lock.created", lambda *given: stored_objects.created(*given) and None
    )
    lock.take()
    monkeypatch.setattr("agent_wiki.pipeline.bucket_lock.replaced", lambda *given: replaced(*given) and None)
    assert lock.renew()
    monkeypatch.undo()
    lock.release()
    assert _says(place)["is_free"]


def _then_silent(write: Callable[..., str | None]) -> Callable[..., None]:
    def wrote(*given: Any) -> None:
        assert write(*given) is not None

    return wrote


@pytest.mark.parametrize(("until", "lease", "is_held"), [("2099-01-01", 0, False), ("2020-01-01", 60, True)])
def test_a_holders_wrong_clock_neither_keeps_a_lock_for_years_nor_gives_it_away(
    place: BucketPath, until: str, lease: int, is_held: bool
) -> None:
    held = {"owner": "run 1", "token": "t", "until": f"{until}T00:00:00+00:00", "lease_seconds": lease}
    stored_objects.created(place, json.dumps(held).encode())
    if is_held:
        with pytest.raises(WikiLocked, match=r"held by run 1 until 20[^9]"):
            BucketLock(place, "run 2", 60).take()
    else:
        BucketLock(place, "run 2", 60).take()
        assert _says(place)["owner"] == "run 2"


@pytest.mark.parametrize("content", [b"", b"[]", b'{"lease_seconds": "1"}', b'{"lease_seconds": 1e99}', b"\xff"])
def test_what_is_no_lock_is_taken_over(place: BucketPath, content: bytes) -> None:
    stored_objects.created(place, content)
    BucketLock(place, "run 1", 60).take()
    assert _says(place)["owner"] == "run 1"


def _locked(folder: Path, *words: str) -> list[str]:
    return ["lock", f"file://{folder}/_wiki.lock", "--owner", "night 7", "--", *words]


def test_a_folder_is_no_lock_and_nobody_is_said_to_hold_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lock", f"file://{tmp_path}", "--", "true"]) == 2
    said = f"wiki: file://{tmp_path}: the store has something there and gives no object, as of a folder; "
    assert capsys.readouterr().err == f"{said}name an object, as file://{tmp_path}/_wiki.lock\n"


def test_a_command_runs_while_the_lock_is_held_and_its_exit_code_is_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    marks = [tmp_path / "held", tmp_path / "ran"]
    assert main(_locked(tmp_path, "sh", "-c", f"cp '{tmp_path}/_wiki.lock' '{marks[0]}'; exit 7")) == 7
    assert json.loads(marks[0].read_bytes())["owner"] == "night 7"
    assert list(tmp_path.iterdir()) == marks[:1]
    other = BucketLock(BucketPath("file://", f"{tmp_path}/_wiki.lock".lstrip("/")), "night 6", 60)
    other.take()
    assert main(_locked(tmp_path, "touch", str(marks[1]))) == 75
    assert "/_wiki.lock: held by night 6 until " in capfd.readouterr().err
    other.release()
    assert main(_locked(tmp_path, "no such command")) == 2
    assert list(tmp_path.iterdir()) == marks[:1]


def test_a_lock_in_a_folder_that_ran_out_has_to_be_deleted(tmp_path: Path) -> None:
    place = BucketPath("file://", f"{tmp_path}/_wiki.lock".lstrip("/"))
    lock = BucketLock(place, "run 1", 0)
    lock.take()
    assert lock.renew()
    with pytest.raises(RunError, match="the lock of run 1 ran out; delete it"):
        BucketLock(place, "run 2", 0).take()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_the_command_and_the_lock_is_released(tmp_path: Path, number: signal.Signals) -> None:
    ready = tmp_path / "ready"
    run = started_wiki(*_locked(tmp_path, "sh", "-c", f"trap 'exit 7' TERM INT; : > '{ready}'; sleep 20 & wait"))
    began = time.monotonic()
    while not ready.exists():
        assert time.monotonic() < began + _MOST_SECONDS
        time.sleep(0.01)
    os.kill(run.pid or 0, number)
    assert exit_codes(run) == [7]
    assert list(tmp_path.iterdir()) == [ready]


@pytest.mark.long
@pytest.mark.parametrize(
    ("on_term", "said"), [("echo asked >> asked; exit", "asked\n"), ("echo asked >> asked", "asked\n"), ("", "")]
)
def test_a_command_ends_with_all_below_it_when_the_one_that_holds_its_lock_is_killed(
    tmp_path: Path, on_term: str, said: str
) -> None:
    script = f"exec 3> alive; trap '{on_term}' TERM; sh -c 'touch below; exec sleep 60' & sleep 30; sleep 9"
    words = _locked(tmp_path, "sh", "-c", f"cd '{tmp_path}' && touch asked && {script}")
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    run = started_wiki(*words[:2], "--lease", 3, *words[2:])
    began = time.monotonic()
    while not (tmp_path / "below").exists():
        assert time.monotonic() < began + _MOST_SECONDS
        time.sleep(0.01)
    assert _has_writer(alive)
    os.kill(run.pid or 0, signal.SIGKILL)
    assert exit_codes(run) == [-signal.SIGKILL]
    while _has_writer(alive):
        assert time.monotonic() < began + _MOST_SECONDS
        time.sleep(0.01)
    os.close(alive)
    assert (tmp_path / "asked").read_text(encoding="ascii") == said


def _has_writer(pipe: int) -> bool:
    """Whether a process is left that has the other end of a pipe, which those below a command inherit."""
    try:
        return os.read(pipe, 1) != b""
    except BlockingIOError:
        return True


def test_a_signal_that_comes_just_before_the_wait_for_the_command_is_passed_on(
    place: BucketPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system tells nobody of it before the call returns: here it is held back that long."""
    waitpid = os.waitpid
    came: list[int] = []

    def wait(pid: int, options: int) -> tuple[int, int]:
        if came:
            return waitpid(pid, options)
        came.append(pid)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        try:
            return waitpid(pid, options)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    monkeypatch.setattr(os, "waitpid", wait)
    command = ["sh", "-c", "trap 'exit 7' INT; sleep 9 & wait"]
    assert LockedCommand(BucketLock(place, "run 1", 60)).run(command) in (7, 130)  # it may come before the trap
    assert came


def test_a_signal_for_a_command_that_has_just_ended_is_no_error(place: BucketPath) -> None:
    locked = LockedCommand(BucketLock(place, "run 1", 60))
    locked._process = subprocess.Popen(["true"], start_new_session=True)
    os.waitpid(locked._process.pid, 0)  # the system has told of its end, and the object has not been told yet
    locked._send(signal.SIGTERM)
    assert locked._process.wait() == 0


def test_what_watches_over_a_command_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: dict[str, subprocess.Popen[bytes]] = {}
    start = subprocess.Popen

    def kept(words: list[str], **options: Any) -> subprocess.Popen[bytes]:
        process = start(words, **options)
        started["watch" if lock_watch.__file__ in words else words[0]] = process
        return process

    monkeypatch.setattr(subprocess, "Popen", kept)
    assert main(_locked(tmp_path, "true")) == 0
    assert {name: process.returncode is not None for name, process in started.items()} == {"watch": True, "true": True}


@pytest.mark.parametrize("has_another", [True, False])
def test_a_command_whose_lock_is_lost_is_asked_to_end(
    place: BucketPath, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], has_another: bool
) -> None:
    def renew(_lock: BucketLock) -> bool:
        if has_another:
            return False
        raise RunError("the store is down")

    monkeypatch.setattr(BucketLock, "renew", renew)
    assert LockedCommand(BucketLock(place, "run 1", 0.01)).run(["sleep", "20"]) == 143
    reason = "another has taken it over" if has_another else "the store is down"
    assert f"wiki: the lock is lost: {reason}; the command is asked to end\n" in capfd.readouterr().err


def test_a_lease_that_others_would_not_keep_to_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["lock", f"file://{tmp_path}/_wiki.lock", "--lease"]
    assert main([*words, str(int(_MOST_LEASE_SECONDS)), "--", "true"]) == 0
    for seconds in (_MOST_LEASE_SECONDS + 1, 10**14):
        assert main([*words, str(seconds), "--", "true"]) == 2
        assert "--lease" in capsys.readouterr().err
