"""Where a recording lies: on the disk or in a bucket, behind the few members of `pathlib.Path` that reading needs.

A `Path` is one as it is. By its signature a file is known as unchanged without being read.
"""

from __future__ import annotations

import os
from io import BufferedReader
from typing import Literal, Protocol

from agent_wiki.trajectory.lazily import dataclass

Signature = tuple[int, int | str]
"""Size in bytes; and when the content changed, in nanoseconds, or the ETag that a store gave it."""


_UPWARD = "../"


class FileStatus(Protocol):
    """What a store says of a file, as `os.stat` does."""

    @property
    def st_size(self) -> int: ...

    @property
    def st_mtime_ns(self) -> int: ...


@dataclass(frozen=True, slots=True)
class ObjectStatus:
    """The same of an object in a bucket. `etag` is without quotes, and empty where the store gives none."""

    st_size: int
    st_mtime_ns: int
    etag: str = ""


class RecordingPath(Protocol):
    """One file, or a folder. `str()` is what messages call it.

    Raises `OSError` as a `Path` does, and `RecordingUnavailable` where a store does not answer.
    """

    @property
    def name(self) -> str: ...

    @property
    def stem(self) -> str: ...

    @property
    def parts(self) -> tuple[str, ...]: ...

    @property
    def parent(self) -> RecordingPath: ...

    def absolute(self) -> RecordingPath: ...

    def __truediv__(self, name: str) -> RecordingPath: ...

    def resolve(self) -> RecordingPath: ...

    def is_file(self) -> bool: ...

    def stat(self) -> FileStatus: ...

    def open(self, mode: Literal["rb"]) -> BufferedReader: ...

    def read_bytes(self) -> bytes: ...


def signature_of(path: RecordingPath) -> Signature:
    """By what a file is known as unchanged. Raises `OSError` when it is gone."""
    status = path.stat()
    changed = status.etag if isinstance(status, ObjectStatus) else ""
    return (status.st_size, changed or status.st_mtime_ns)


def entry_of(path: RecordingPath) -> str:
    """Which file on the disk it is, and when its entry changed, which nobody can set; empty for one in a bucket.

    Raises `OSError` when it is gone.
    """
    status = path.stat()
    return f"{status.st_ctime_ns} {status.st_ino}" if isinstance(status, os.stat_result) else ""


def path_beside(path: RecordingPath, name: str) -> RecordingPath:
    """A file named from the folder of another, such as `report.json` or `../result.json`."""
    folder = path.absolute().parent
    while name.startswith(_UPWARD):
        folder, name = folder.parent, name.removeprefix(_UPWARD)
    return folder / name


def signature_beside(path: RecordingPath, name: str) -> Signature | None:
    """The signature of a file named from the folder of another; None where there is no such file."""
    other = path_beside(path, name)
    try:
        return signature_of(other) if other.is_file() else None
    except OSError:
        return None
