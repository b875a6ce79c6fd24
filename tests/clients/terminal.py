"""A program in a pseudo-terminal, for what happens only where a person sits: keys are pressed, the screen is read."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from tests.clients.programs import environment
from tests.clients.work import Work

ENTER, ESCAPE = "\r", "\x1b"

_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])|\s")
_ROWS_AND_COLUMNS = struct.pack("HHHH", 50, 140, 0, 0)


class Terminal:
    """A running program. `seen` is all it has written so far, without colours, movements and blanks."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self._written = b""

    @property
    def seen(self) -> str:
        return _CONTROL.sub("", self._written.decode("utf-8", "replace"))

    def press(self, keys: str) -> None:
        """Type keys, and give the program the time to draw."""
        os.write(self._descriptor, keys.encode())
        self._read_for(0.5)

    def until(self, text: str, *, seconds: float = 30.0) -> None:
        """Read until this text was written, blanks aside. Raises `AssertionError` with what was written instead."""
        wanted, end = _CONTROL.sub("", text), time.monotonic() + seconds
        while wanted not in self.seen and time.monotonic() < end:
            self._read_for(0.2)
        assert wanted in self.seen, self.seen[-2000:]

    def ended(self, *, seconds: float = 30.0) -> bool:
        """Whether the program ends by itself in this time."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self._read_for(0.2)
        return self.process.poll() is not None

    def _read_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            ready, _, _ = select.select([self._descriptor], [], [], left)
            if ready:
                with suppress(OSError):  # the program has closed its side
                    self._written += os.read(self._descriptor, 65_536)


@contextmanager
def terminal(at_work: Work, words: Sequence[str]) -> Iterator[Terminal]:
    """A program of the project in a terminal of its own, killed at the end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, _ROWS_AND_COLUMNS)
    entry = [*at_work.model.entry, *([str(at_work.project)] if at_work.model.is_isolated else [])]
    variables = {**environment(at_work.home, at_work.model.url, at_work.program), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [*entry, *words], cwd=at_work.project, env=variables, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)
