"""A guard for hostile text: what is read in a tenth of a second would take hours, did its cost grow with the square."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_MOST_CPU_SECONDS = 20


@contextmanager
def no_hang() -> Iterator[None]:
    """Fails where the block uses twenty seconds of this process's own CPU time, a hundred times what it needs.

    How fast or how busy a machine is changes nothing: nothing is measured, only what does not end is ended.
    """

    def stop(*_: object) -> None:
        raise AssertionError(f"not done after {_MOST_CPU_SECONDS} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
