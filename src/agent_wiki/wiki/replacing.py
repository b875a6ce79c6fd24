"""Files that are written whole or not at all: a new one, and one put in the place of another."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_NAMELESS = os.O_WRONLY | getattr(os, "O_TMPFILE", 0)


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


def created(target: str, content: bytes) -> bool:
    """Make a new file that gets its name once it is whole. False where the system cannot, or where there is one.

    A file beside that is renamed costs twice as much, and the two processes of a large run wait for each other's.
    Raises `OSError` when there is no room.
    """
    try:
        descriptor = os.open(target.rpartition("/")[0], _NAMELESS, 0o666)
    except OSError:
        return False
    try:
        write_all(descriptor, content)
        with suppress(OSError):
            os.link(f"/proc/self/fd/{descriptor}", target, src_dir_fd=descriptor)  # which has it follow the link
            return True
        return False
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of it: the system may take less at a time."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
