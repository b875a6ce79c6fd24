"""A command in a process of its own, killed at a moment or at one of its writes, with its workers or without them."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from agent_wiki.trajectory.lazily import dataclass
from tests.processes import exit_codes, started

WRITES = ("os.link", "os.mkdir", "os.open", "os.replace", "os.rmdir", "os.unlink", "os.write", "pathlib.Path.unlink")
_PAST_THE_END = 1.1  # some kills come when the command has just ended
_ENDED = 5.0  # seconds in which workers see that their run is gone

Work = Callable[[str, tuple[str, ...]], None]  # a function of a module: a folder and words


@dataclass(frozen=True, slots=True)
class Measured:
    """What an unkilled run took."""

    seconds: float
    writes: int


def whole(work: Work, folder: Path, words: tuple[str, ...]) -> Measured:
    """Run it to its end."""
    counted = folder / "writes"
    began = time.monotonic()
    ended = exit_codes(started(_counted, str(counted), work, str(folder), words))
    assert ended == [0], f"{words}: exit code {ended[0]}"
    writes = counted.stat().st_size
    counted.unlink()
    return Measured(time.monotonic() - began, writes)


def killed(work: Work, folder: Path, words: tuple[str, ...], measured: Measured, rng: random.Random) -> str:
    """Run it and kill it somewhere. Out: where, in words; "" when it had ended by then."""
    if rng.random() < 0.5:
        at = rng.randrange(measured.writes)
        (ended,) = exit_codes(started(_dying, at, work, str(folder), words))
        return f"at write {at} of {measured.writes}" if ended == -signal.SIGKILL else ""
    seconds, has_workers = rng.uniform(0, measured.seconds * _PAST_THE_END), rng.random() < 0.5
    process = started(_alone, work, str(folder), words)
    process.join(seconds)
    is_at_work = process.is_alive()
    with suppress(ProcessLookupError, PermissionError):
        if has_workers and os.getpgid(process.pid or 0) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        elif is_at_work:
            process.kill()
    process.join()
    whom = "with all its processes" if has_workers else "alone"
    return f"after {seconds:.2f} of {measured.seconds:.2f} s, {whom}" if is_at_work else ""


def again(work: Work, folder: Path, words: tuple[str, ...]) -> int | None:
    """Run it again, to its end. Out: its exit code."""
    return exit_codes(started(_alone, work, str(folder), words))[0]


def _alone(work: Work, folder: str, words: tuple[str, ...]) -> None:
    """In a group of its own, so that it can be killed together with its workers."""
    os.setsid()
    work(folder, words)


def _counted(file: str, work: Work, folder: str, words: tuple[str, ...]) -> None:
    descriptor, write = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND), os.write
    _before_each(lambda: write(descriptor, b"."))
    _alone(work, folder, words)


def _dying(at: int, work: Work, folder: str, words: tuple[str, ...]) -> None:
    left = at

    def count_down() -> None:
        nonlocal left
        if left == 0:
            os.killpg(0, signal.SIGKILL)
        left -= 1

    _before_each(count_down)
    _alone(work, folder, words)


def _before_each(happens: Callable[[], object]) -> None:
    """Have something happen before each write of this process; workers that it starts are left alone."""
    here = os.getpid()

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*words: Any, **named: Any) -> Any:
            if os.getpid() == here:
                happens()
            return real(*words, **named)

        return call

    for place in WRITES:
        pytest.MonkeyPatch().setattr(place, watched(resolve_name(place)))
