"""Signals that ask a run to end, as a CI job that is cancelled or a machine that is taken away sends them; or its time.

After the first SIGTERM or SIGINT nothing more is begun, what is settled is written, and the wiki is whole. A second
one ends the process at once, as any kill does: the next run continues from the records.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_AT_ONCE = 0.001  # seconds; with 0 a timer never rings


class StopSignal:
    """Whether this process was asked to stop. Unless it `is_heard`, signals do what they did before.

    `reason` is one line, empty as long as the run need not end; `number` that of the signal, 0 without one. After
    `most_minutes` from now the run is to end too.
    """

    def __init__(self, *, is_heard: bool = False, most_minutes: float | None = None) -> None:
        self.number = 0
        self.reason = ""
        self._is_heard = is_heard
        self._most_minutes = most_minutes
        self._began = time.monotonic()

    @contextmanager
    def heard(self, then: Callable[[str], None]) -> Iterator[None]:
        """Meanwhile the first signal is noted and `then` called with the reason; the second ends the process.

        So is the end of the time.
        """
        if not self._is_heard or threading.current_thread() is not threading.main_thread():
            yield
            return

        def note(number: int, _frame: FrameType | None) -> None:
            if self.number:
                _end_at_once(number)
            self.number = number
            self.reason = f"stopped by {signal.Signals(number).name}; run again to continue"
            then(self.reason)

        def end_in_time(_number: int, _frame: FrameType | None) -> None:
            if not self.reason:
                self.reason = f"--max-minutes {self._most_minutes:g} is reached; run again to continue"
                then(self.reason)

        before: dict[signal.Signals, Any] = {
            each: signal.signal(each, note) for each in STOP_SIGNALS if signal.getsignal(each) is not signal.SIG_IGN
        }
        if self._most_minutes is not None:
            before[signal.SIGALRM] = signal.signal(signal.SIGALRM, end_in_time)
            left = 60 * self._most_minutes - (time.monotonic() - self._began)
            signal.setitimer(signal.ITIMER_REAL, max(left, _AT_ONCE))
        try:
            yield
        finally:
            if self._most_minutes is not None:
                signal.setitimer(signal.ITIMER_REAL, 0)
            for each, handler in before.items():
                signal.signal(each, handler)


NEVER = StopSignal()
"""What no signal reaches."""


def end_workers() -> None:
    """Kill the worker processes: the next run repeats what they are at."""
    for each in multiprocessing.active_children():
        each.kill()


@contextmanager
def deaf_children() -> Iterator[None]:
    """Meanwhile stop signals wait, and processes that are started hear none until `leave_signals_to` says otherwise.

    Ctrl-C goes to all processes of a terminal: one that is still importing Python would end with a traceback.
    """
    resource_tracker.ensure_running()  # which would let the signals in again, when the first process starts it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_signals_to(parent: int) -> None:
    """In a worker process: what is sent to all processes of a group is for `parent` to act on, while there is one."""

    def end_without_parent(_number: int, _frame: FrameType | None) -> None:
        if os.getppid() != parent:
            os._exit(1)

    for each in STOP_SIGNALS:
        signal.signal(each, end_without_parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)


def end_with_parent() -> None:
    """In a worker process: end when its run is gone, however that ended; else it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _end_at_once(number: int) -> None:
    end_workers()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
