"""Wikis of a thousand, ten thousand and a hundred thousand sessions: time, memory, files, bytes, git and latency.

    python -m benchmarks.scale [--sessions 1000 10000] [--new 54] [--jobs 2] [--folder DIR]
    python -m benchmarks.scale --spread 1000

Generated sessions (`many_sessions`), the embedded engine, no model. Each command runs in a process of its own; its
processor time is that of all its workers, its memory that of its largest process. A folder that is named is kept and
used again. `--spread` mines so many sessions in 1, 2 and 4 shards, and on Ray while workers are killed (skipped where
Ray is not installed), and compares the wikis with that of one run. Exits with 1 when growth from one size to the next
is not close to linear, or bytes differ.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from random import Random

from benchmarks.many_sessions import lesson_question, write_sessions
from benchmarks.speed import machine

_MOST_GROWTH = 1.5  # processor time and memory a session, against the next smaller size
_QUESTIONS = 15
_SHARDS = (1, 2, 4)
_WORKERS_KILLED = 3


@dataclass(frozen=True, slots=True)
class Step:
    """One command: seconds on the clock and of processors, the peak of its largest process in MiB, what it printed."""

    name: str
    seconds: float
    processor_seconds: float
    memory_mib: float
    printed: str = ""

    def row(self, sessions: int, remark: str = "") -> str:
        """As a line of a table."""
        took = f"{self.seconds:,.1f} s | {self.processor_seconds:,.1f} s | {self.memory_mib:,.0f} MiB"
        return f"| {sessions:,} | {self.name} | {took} | {remark} |"


@dataclass(slots=True)
class Size:
    """What a wiki of so many sessions took and takes."""

    sessions: int
    steps: list[Step] = field(default_factory=list)
    remarks: dict[str, str] = field(default_factory=dict)  # by step

    def rows(self) -> Iterator[str]:
        for step in self.steps:
            yield step.row(self.sessions, self.remarks.get(step.name, ""))

    def step(self, name: str) -> Step | None:
        return next((step for step in self.steps if step.name == name), None)


def measured(name: str, command: Sequence[str], folder: Path | None = None) -> Step:
    """Run a command to its end and measure it. Raises `RuntimeError` when it fails."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.DEVNULL, cwd=folder)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        said = printed.read()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}: {said[-500:]}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Step(name, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / unit, said)


def wiki(name: str, *words: str | Path) -> Step:
    """The same of `wiki`."""
    return measured(name, [sys.executable, "-m", "agent_wiki", *map(str, words)])


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file of a wiki that git would have: size and time of change."""
    found: dict[str, tuple[int, int]] = {}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".wiki", ".git")]
        for name in names:
            status = Path(parent, name).stat()
            found[f"{parent}/{name}".removeprefix(f"{folder}/")] = (status.st_size, status.st_mtime_ns)
    return found


def measured_size(sessions: int, new: int, jobs: int, scratch: Path) -> Size:
    """Build a wiki of so many sessions, add some, ask it, and put it under git."""
    recordings, folder = scratch / f"recordings-{sessions}", scratch / f"wiki-{sessions}"
    write_sessions(recordings, range(sessions))
    for path in (folder, *recordings.glob("new/*")):
        shutil.rmtree(path, ignore_errors=True)
    size = Size(sessions)
    ingest = ("ingest", recordings, "--wiki", folder, "--jobs", str(jobs))
    size.steps.append(wiki("all new", *ingest))
    size.remarks["all new"] = _bytes(folder)
    size.steps.append(wiki("no news", *ingest))
    _git(size, folder, "git commit", "init -q", "add -A", "-c user.name=a -c user.email=a@b.c commit -q -m all")
    size.remarks["git commit"] = f"{_total(folder / '.git') / 1e6:,.1f} MB in .git"
    before = files_of(folder)
    write_sessions(recordings / "new", range(sessions, sessions + new))
    size.steps.append(wiki(f"{new} more", *ingest))
    after = files_of(folder)
    changed = sum(before.get(name) != after.get(name) for name in {*before, *after})
    size.remarks[f"{new} more"] = f"{changed:,} files changed"
    _git(size, folder, "git status", "status --porcelain")
    size.steps += _asked(folder)
    return size


def _bytes(folder: Path) -> str:
    files = files_of(folder)
    records = [size for name, (size, _) in files.items() if name.startswith("_sessions/")]
    index = (folder / "_index.jsonl").stat().st_size
    whole = sum(size for size, _ in files.values())
    return (
        f"{len(files):,} files, {whole / 1e6:,.1f} MB; {len(records):,} records {sum(records) / 1e6:,.1f} MB; "
        f"_index.jsonl {index / 1e6:,.1f} MB; .wiki {_total(folder / '.wiki') / 1e6:,.1f} MB"
    )


def _total(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _git(size: Size, folder: Path, name: str, *commands: str) -> None:
    steps = [measured(name, ["git", *command.split()], folder) for command in commands]
    seconds, processor = sum(step.seconds for step in steps), sum(step.processor_seconds for step in steps)
    size.steps.append(Step(name, seconds, processor, max(step.memory_mib for step in steps)))


def _asked(folder: Path) -> Iterator[Step]:
    """The first question, which makes the index of words and meanings, and the median of several after it."""
    rng = Random("questions")
    steps = [wiki("consult, first", "consult", lesson_question(rng), "--wiki", folder) for _ in range(_QUESTIONS)]
    yield steps[0]
    later = steps[1:]
    seconds, processor = ([getattr(step, name) for step in later] for name in ("seconds", "processor_seconds"))
    memory = max(step.memory_mib for step in later)
    yield Step("consult, median", statistics.median(seconds), statistics.median(processor), memory)


def missed(smaller: Size, larger: Size) -> Iterator[str]:
    """What grew by much more than the number of sessions did."""
    times = larger.sessions / smaller.sessions
    for step in larger.steps:
        before = smaller.step(step.name)
        if before is None or step.name.startswith("git"):
            continue
        for what in ("processor_seconds", "memory_mib"):
            growth = getattr(step, what) / max(getattr(before, what), 1e-9)
            if growth > times * _MOST_GROWTH:
                yield f"MISSED {step.name}, {what}: {growth:.1f} times for {times:.0f} times the sessions"


def spread(sessions: int, jobs: int, scratch: Path) -> Iterator[tuple[Step, str]]:
    """The same sessions in one run, in shards, and on Ray with killed workers; and what differs from one run."""
    recordings, alone = scratch / "recordings", scratch / "alone"
    write_sessions(recordings, range(sessions))
    yield wiki("one run", "ingest", recordings, "--wiki", alone, "--jobs", str(jobs)), ""
    for number in _SHARDS:
        yield from _in_shards(number, recordings, alone, scratch)
    if find_spec("ray") is None:
        print("Ray is not installed (the extra `ray`): not measured")
        return
    folder = scratch / "ray"
    with _killing(_WORKERS_KILLED) as killed:
        step = wiki("Ray", "ingest", recordings, "--wiki", folder, "--jobs", str(jobs), "--executor", "ray")
    yield step, f"{len(killed)} workers killed; {difference(alone, folder)}"


def _in_shards(number: int, recordings: Path, alone: Path, scratch: Path) -> Iterator[tuple[Step, str]]:
    out, folder = scratch / f"shards-{number}", scratch / f"joined-{number}"
    words = ("ingest", recordings, "--wiki", scratch / "none", "--jobs", "1", "--out", out)
    steps = [wiki(f"shard of {number}", *words, "--shard", f"{each + 1}/{number}") for each in range(number)]
    yield max(steps, key=lambda step: step.processor_seconds), "the one that took longest"
    yield wiki(f"join of {number}", "join", out, "--wiki", folder), difference(alone, folder)


def difference(one: Path, other: Path) -> str:
    """In how many files two wikis differ, clock times and machinery aside."""
    names = {name for folder in (one, other) for name in files_of(folder)} - {"_audit.log"}
    _, differing, missing = filecmp.cmpfiles(one, other, sorted(names), shallow=False)
    return f"DIFFERS in {len(differing) + len(missing)} files" if differing or missing else "the same bytes"


class _killing:  # noqa: N801 - read as `with _killing(3) as killed`
    """Meanwhile kills so many workers of Ray that are at a task, one a second. Gives the list of the killed."""

    def __init__(self, most: int) -> None:
        self._most, self._killed, self._is_over = most, list[int](), threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> list[int]:
        self._thread.start()
        return self._killed

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _work(self) -> None:
        while len(self._killed) < self._most and not self._is_over.wait(1.0):
            for pid in _workers_at_a_task()[:1]:
                os.kill(pid, signal.SIGKILL)
                self._killed.append(pid)


def _workers_at_a_task() -> list[int]:
    """Workers below this process name what they are at."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,command"], capture_output=True, text=True, check=True).stdout
    parents: dict[int, int] = {}
    found: list[int] = []
    for line in listed.splitlines()[1:]:
        pid, parent, command = line.split(None, 2)
        parents[int(pid)] = int(parent)
        if command.startswith("ray::_mined_there"):
            found.append(int(pid))
    return [pid for pid in found if os.getpid() in _ancestors(pid, parents)]


def _ancestors(pid: int, parents: dict[int, int]) -> set[int]:
    found: set[int] = set()
    while pid in parents and pid not in found:
        found.add(pid)
        pid = parents[pid]
    return found


def _in_folder(named: Path | None, work: Callable[[Path], int]) -> int:
    if named is not None:
        return work(named)
    with tempfile.TemporaryDirectory(prefix="wiki-scale-") as folder:
        return work(Path(folder))


def _sizes(wanted: argparse.Namespace, scratch: Path) -> int:
    done: list[Size] = []
    problems: list[str] = []
    print("| sessions | what | time | processor | memory | |\n|---:|---|---:|---:|---:|---|")
    for sessions in sorted(wanted.sessions):
        done.append(measured_size(sessions, wanted.new, wanted.jobs, scratch))
        print("\n".join(done[-1].rows()), flush=True)
        problems += missed(*done[-2:]) if len(done) > 1 else ()
    print("\n".join(problems))
    return 1 if problems else 0


def _spread(wanted: argparse.Namespace, scratch: Path) -> int:
    is_same = True
    for step, remark in spread(wanted.spread, wanted.jobs, scratch):
        print(step.row(wanted.spread, remark), flush=True)
        is_same = is_same and "DIFFERS" not in remark
    return 0 if is_same else 1


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables; 1 when something grows too fast, or bytes differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sessions", type=int, nargs="+", default=[1_000, 10_000], metavar="N")
    parser.add_argument("--new", type=int, default=54, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--folder", type=Path, default=None, metavar="DIR")
    parser.add_argument("--spread", type=int, default=0, metavar="N")
    wanted = parser.parse_args(words)
    print(machine(), flush=True)
    return _in_folder(wanted.folder, lambda scratch: (_spread if wanted.spread else _sizes)(wanted, scratch))


if __name__ == "__main__":
    sys.exit(main())
