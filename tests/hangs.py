"""A guard for hostile text: what is read in a tenth of a second would take minutes if its cost grew with the square."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_MOST_CPU_SECONDS = 5


@contextmanager
def no_hang() -> Iterator[None]:
    """Fails where the block uses five seconds of this process's own CPU time, twenty times what any needs.

    A text of half the length shows the same square in a fourth of the time: so few seconds suffice for short texts.

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
