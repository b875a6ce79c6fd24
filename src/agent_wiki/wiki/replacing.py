"""Files that are written whole or not at all: a new one, and one put in the place of another."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from agent_wiki.errors import UnsafePath

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
_NAMELESS = getattr(os, "O_TMPFILE", 0)
_OPENED = "/proc/self/fd"  # where Linux lists the open files of a process, also those without a name


LEADS_OUT = "a link inside the wiki could lead out of it; remove it"


def expect_no_link(*places: Path) -> None:
    """Raise `UnsafePath` where a place of a wiki is a link."""
    for each in places:
        if each.is_symlink():
            raise UnsafePath(f"{each}: {LEADS_OUT}")


class _Durability:
    """Whether files are to survive a machine that loses its power, too: for this process and those it forks."""

    is_wanted = False


@contextmanager
def durable(*, is_wanted: bool) -> Iterator[None]:
    """Meanwhile each file is on the disk before it gets its name, and its folder before the next is written."""
    before, _Durability.is_wanted = _Durability.is_wanted, is_wanted
    try:
        yield
    finally:
        _Durability.is_wanted = before


def synced(descriptor: int) -> None:
    """Wait until a file's content is on the disk, where that is wanted."""
    if _Durability.is_wanted:
        os.fsync(descriptor)


def folder_synced(folder: str | Path) -> None:
    """Wait until the names in a folder are on the disk, where that is wanted."""
    if _Durability.is_wanted:
        sync_folder(folder)


def sync_folder(folder: str | Path) -> None:
    """Wait until the names in a folder are on the disk, where the system opens folders."""
    with suppress(PermissionError):  # as Windows says, which has no such thing
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def replacing(target: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Where to write a file's new content: a reader sees the old content or the new one, never a part.

    A new file gets `mode`, another keeps its own. A link where the content is prepared is replaced, not followed.
    Raises `OSError`; then the file is as it was.
    """
    beside = _beside(target)
    try:
        beside.unlink(missing_ok=True)
        with creating(beside, mode) as stream:
            yield stream
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
        folder_synced(target.parent)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


@contextmanager
def creating(target: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Where to write a new file's content: the file gets its name in one step, once it is whole.

    A process that is killed leaves nothing, or on systems other than Linux a hidden file beside. Raises
    `FileExistsError` where there is such a file by then, and `OSError` when there is no room.
    """
    descriptor = _nameless(target.parent, mode)
    if descriptor is not None:
        with os.fdopen(descriptor, "w+b") as stream:
            yield stream
            stream.flush()
            synced(stream.fileno())
            if not _is_named(stream.fileno(), target):
                stream.seek(0)
                with _named_later(target, mode) as copy:
                    shutil.copyfileobj(stream, copy)
    else:
        with _named_later(target, mode) as stream:
            yield stream
    folder_synced(target.parent)


def _nameless(folder: Path, mode: int) -> int | None:
    """A new file without a name, which is gone when this process is; None where the system has none."""
    if not _NAMELESS or not Path(_OPENED).is_dir():
        return None
    try:
        return os.open(folder, os.O_RDWR | _NAMELESS, mode)
    except OSError:
        return None  # or no room: then the next attempt says so


def _is_named(descriptor: int, target: str | Path) -> bool:
    """Give a file its name. False where the system cannot; raises `FileExistsError`."""
    try:
        os.link(f"{_OPENED}/{descriptor}", target, src_dir_fd=descriptor)  # which has it follow the link
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


@contextmanager
def _named_later(target: Path, mode: int) -> Iterator[BinaryIO]:
    beside = _beside(target)
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
            yield stream
            stream.flush()
            synced(stream.fileno())
        try:
            os.link(beside, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
            beside.replace(target)
    finally:
        with suppress(OSError):
            beside.unlink()


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


def created(target: str, content: bytes) -> os.stat_result | None:
    """The same for a page, of which there are tens of thousands. Returns the new file's status.

    None where the system cannot, or where there is such a file.

    A file beside that is renamed costs twice as much, and the two processes of a large run wait for each other's.
    Raises `OSError` when there is no room.
    """
    try:
        descriptor = os.open(target.rpartition("/")[0], os.O_WRONLY | _NAMELESS, 0o666)
    except OSError:
        return None
    try:
        write_all(descriptor, content)
        synced(descriptor)
        with suppress(FileExistsError):
            return os.fstat(descriptor) if _is_named(descriptor, target) else None
        return None
    finally:
        os.close(descriptor)


def write_whole(target: str, content: bytes) -> None:
    """Write a file that nobody reads before it is renamed."""
    descriptor = os.open(target, _NEW_FILE, 0o666)
    try:
        write_all(descriptor, content)
        synced(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of it: the system may take less at a time."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
