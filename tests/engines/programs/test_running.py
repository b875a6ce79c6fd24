"""A program is run without a terminal, in an empty folder, and nothing of it is left."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from agent_wiki.engines.programs import running
from agent_wiki.engines.programs.running import Finished, Launch, Stop, reduced, run, scratch_folder
from agent_wiki.errors import Interrupted, RunError, ServiceFailed
from agent_wiki.recall.own_sessions import MINING_VARIABLE
from tests.engines.programs.fakes import program


def _run(folder: Path, script: str, text: str = "", seconds: float = 5, stop: Stop | None = None) -> Finished:
    launch = Launch((str(program(folder, "fake", script)), "word"), text, {"PATH": "/usr/bin:/bin"})
    with scratch_folder() as scratch:
        return run(launch, scratch, seconds, stop or Stop())


def _has_ended(folder: Path) -> bool:
    """Whether the process that a script left the id of is gone, or soon is."""
    status = Path("/proc", (folder / "child").read_text().strip(), "stat")
    for _ in range(100):
        with suppress(FileNotFoundError, ProcessLookupError):
            if status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z":
                time.sleep(0.01)
                continue
        return True
    return False


def test_a_program_reads_its_prompt_and_works_in_an_empty_folder(tmp_path: Path) -> None:
    long = "x" * 3_000_000  # more than arguments may have
    finished = _run(tmp_path, "wc -c; ls -A; basename $(pwd); echo oops >&2; exit 3", long)
    assert finished == Finished(3, "3000000\nempty\n", "oops\n")
    assert _run(tmp_path, "tty").out == "not a tty\n"


def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    lives_on = f"(sleep 60; : > {tmp_path}/lived) & echo $! > {tmp_path}/child"
    with pytest.raises(ServiceFailed, match=r"fake: no answer in 0.2 seconds \(still at it\); --answer"):
        _run(tmp_path, f"{lives_on}; echo still at it; sleep 60", seconds=0.2)
    assert _has_ended(tmp_path)
    assert not (tmp_path / "lived").exists(), "nobody waited for it"


def test_what_a_program_leaves_behind_is_ended_too(tmp_path: Path) -> None:
    assert _run(tmp_path, f"sleep 60 & echo $! > {tmp_path}/child; echo done").out == "done\n"
    assert _has_ended(tmp_path)


def test_a_run_that_is_to_stop_ends_its_programs(tmp_path: Path) -> None:
    stop = Stop()
    stop.reason = "stopped by SIGINT"
    with pytest.raises(Interrupted, match="SIGINT"):
        _run(tmp_path, "sleep 60", stop=stop)


def test_what_a_program_says_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_MOST_BYTES", 1000)
    with pytest.raises(ServiceFailed, match="more than 1,000 bytes"):
        _run(tmp_path, "yes")


def test_a_program_that_is_none_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("no program", encoding="utf-8")
    file.chmod(0o755)
    with scratch_folder() as scratch, pytest.raises(RunError, match="text cannot be started"):
        run(Launch((str(file),), "", {}), scratch, 1, Stop())
    with pytest.raises(RunError, match="nothing-such: no such program on PATH"):
        running.program_on_path("nothing-such", {"PATH": "/bin"})


def test_of_the_environment_only_what_is_needed_goes_on() -> None:
    environment = {"PATH": "/bin", "HOME": "/h", "MY_SECRET": "x", "ANTHROPIC_API_KEY": "k", "LC_ALL": "C"}
    assert reduced(environment, "ANTHROPIC_") == {
        "PATH": "/bin", "HOME": "/h", "ANTHROPIC_API_KEY": "k", "LC_ALL": "C", MINING_VARIABLE: "1",
    }  # fmt: skip
    assert MINING_VARIABLE not in os.environ
