"""A command that runs as long as this process holds a lock in a bucket."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from threading import Event, Thread
from types import FrameType
from typing import IO, cast

from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline import lock_watch
from agent_wiki.pipeline.bucket_lock import BucketLock
from agent_wiki.pipeline.stopping import STOP_SIGNALS

_RENEWALS_A_LEASE = 3
_SIGNALLED = 128
_LOOK_SECONDS = 0.2


class LockedCommand:
    """One run of a command under a lock. It has a session of its own, and gets the signals that this process gets.

    Of SIGKILL this process learns nothing; then another one ends the command.
    """

    def __init__(self, lock: BucketLock) -> None:
        self._lock = lock
        self._process: subprocess.Popen[bytes] | None = None
        self._signal = 0
        self._has_ended = Event()

    def run(self, command: Sequence[str]) -> int:
        """The command's exit code, as a shell gives it. Raises `WikiLocked` when another has the lock, and `RunError`.

        When the lock is lost the command is asked to end.
        """
        before = {each: signal.signal(each, self._pass_on) for each in STOP_SIGNALS}
        try:
            self._lock.take()
            try:
                return self._exit_code(command)
            finally:
                self._release()
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _exit_code(self, command: Sequence[str]) -> int:
        if self._signal:
            return _SIGNALLED + self._signal
        with self._watch() as watch:
            code = self._ended(command, watch)
        return code if code >= 0 else _SIGNALLED - code

    @contextmanager
    def _watch(self) -> Iterator[IO[bytes]]:
        """What ends the process group that it is given if this process dies, well before the lock runs out.

        It does so too where this process breaks off on an error.
        """
        words = [sys.executable, "-I", "-S", lock_watch.__file__, str(self._renewal_seconds)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True) as watch:
            yield cast("IO[bytes]", watch.stdin)
            watch.kill()

    def _ended(self, command: Sequence[str], watch: IO[bytes]) -> int:
        """Run the command to its end; its exit code, negative for a signal."""
        try:
            self._process = subprocess.Popen(
                command, start_new_session=True, preexec_fn=partial(_tell_group, watch.fileno())
            )
        except OSError as error:
            raise UsageError(f"{command[0]}: cannot be run: {error.strerror}") from error
        if self._signal:  # it came meanwhile
            self._send(self._signal)
        renewing = Thread(target=self._renew)
        renewing.start()
        try:
            return _waited_for(self._process)
        finally:
            self._has_ended.set()
            renewing.join()

    @property
    def _renewal_seconds(self) -> float:
        return self._lock.lease.total_seconds() / _RENEWALS_A_LEASE

    def _release(self) -> None:
        try:
            self._lock.release()
        except RunError as error:
            until = self._lock.until.isoformat(timespec="seconds")
            sys.stderr.write(f"wiki: the lock is not released and runs out at {until}: {error}\n")

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        self._signal = number
        self._send(number)

    def _send(self, number: int) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):  # it has just ended, and this object does not know
                os.killpg(self._process.pid, number)

    def _renew(self) -> None:
        while not self._has_ended.wait(self._renewal_seconds):
            until = self._lock.until
            try:
                reason = "" if self._lock.renew() else "another has taken it over"
            except RunError as error:  # it may go better before the lease ends
                reason = str(error) if datetime.now(UTC) > until else ""
            if reason:
                sys.stderr.write(f"wiki: the lock is lost: {reason}; the command is asked to end\n")
                self._send(signal.SIGTERM)
                return


def _waited_for(process: subprocess.Popen[bytes]) -> int:
    """Its exit code. Signals are looked at meanwhile: one that comes just before a wait begins would not end that."""
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK_SECONDS)


def _tell_group(watch: int) -> None:
    """Say which process group this one, which is to become the command, leads: before it can do anything unwatched."""
    os.write(watch, b"%d\n" % os.getpid())
