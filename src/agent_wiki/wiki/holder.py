"""Who holds a wiki's lock, for those that wait: what Linux says about locks; elsewhere it is unknown.

Nothing is written for it: a run that finds nothing to do must leave a wiki's folder as it was.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

_SOON_SECONDS = 0.8


def described(lock: str, system: Path = Path("/proc")) -> str:
    """The process that holds the lock file, and since when it runs, in words; empty where that is not known."""
    try:
        inode = Path(lock).stat().st_ino
        rows = [line.split() for line in (system / "locks").read_text("ascii").splitlines() if "->" not in line]
        process = next((int(row[4]) for row in rows if row[5].rpartition(":")[2] == str(inode)), None)
        return "" if process is None else f"process {process}, running since {_started(process, system)}"
    except (OSError, ValueError, IndexError):
        return ""


def _started(process: int, system: Path) -> str:
    """When a process was started: it counts in ticks from the start of the machine."""
    ticks = int((system / str(process) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19])
    boot = next(int(line.split()[1]) for line in (system / "stat").read_text("ascii").splitlines() if "btime" in line)
    moment = datetime.fromtimestamp(boot + ticks / os.sysconf("SC_CLK_TCK"), UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


@contextmanager
def acquired(lock: BaseFileLock, timeout_seconds: float) -> Iterator[None]:
    """Hold a lock. Within a second of waiting a line on standard error says for whom.

    Raises `filelock.Timeout`.
    """
    from filelock import Timeout

    try:
        _acquire(lock, min(_SOON_SECONDS, timeout_seconds))
    except Timeout:
        if timeout_seconds <= _SOON_SECONDS:
            raise
        holder = described(lock.lock_file)
        sys.stderr.write(f"wiki: waiting: another writes this wiki{f' ({holder})' if holder else ''}\n")
        _acquire(lock, timeout_seconds - _SOON_SECONDS)
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: BaseFileLock, timeout_seconds: float) -> None:
    """Acquire a lock whose folder the one that held it may remove, since it found nothing to make a wiki of."""
    try:
        lock.acquire(timeout=timeout_seconds)
    except FileNotFoundError:
        lock.acquire(timeout=timeout_seconds)  # which makes the folder again
