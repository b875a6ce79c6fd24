"""A file put in the place of another, whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(target: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Where to write a file's new content: a reader sees the old content or the new one, never a part.

    A new file gets `mode`, another keeps its own. A link where the content is prepared is replaced, not followed.
    Raises `OSError`; then the file is as it was.
    """
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        beside.unlink(missing_ok=True)
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
            yield stream
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
