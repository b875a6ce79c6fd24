"""A guard for hostile text: what is read in a tenth of a second would take minutes if its cost grew with the square.

The cheapest search whose cost does, with a nanosecond a step, takes five seconds for 70,000 characters.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_MOST_CPU_SECONDS = 2.5


@contextmanager
def no_hang() -> Iterator[None]:
    """Fails where the block uses more of this process's own CPU time than any needs, several times over.

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
