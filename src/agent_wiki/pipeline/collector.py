"""Python's search for reference cycles, held back where millions of pages' values are made and none has a cycle.

Each search walks over everything that is alive, so a wiki of ten thousand sessions would be walked over dozens of
times while it is loaded. Unused values are freed as before: that does not depend on a search.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def cycle_search_paused() -> Iterator[None]:
    """No search for cycles inside; afterwards what exists by then is not searched. Works as a decorator, too."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
