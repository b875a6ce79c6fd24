"""Ends the command of a `wiki lock` that was killed: it would go on without a lock, beside the next night.

A program of its own (`python lock_watch.py SECONDS`) that needs nothing of this package, so that it is small and starts
at once. Its standard input is a pipe of which only `wiki lock` has the other end: a line with the command's process
group once that runs, and the end when `wiki lock` dies.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

_PAUSE_SECONDS = 0.1


def end(group: int, seconds: float) -> None:
    """Ask a process group to end, and kill what is left of it after so many seconds."""
    last = time.monotonic() + seconds
    with suppress(OSError):  # then nothing of it is left
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < last:
            time.sleep(_PAUSE_SECONDS)
            os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    _group = sys.stdin.readline()
    sys.stdin.read()
    if _group:
        end(int(_group), float(sys.argv[1]))
