"""Which files a wiki has, and by what each is known as unchanged. One look at the folder tells a whole run."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Mapping

from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.wiki.layout import AUDIT_LOG, MACHINERY
from agent_wiki.wiki.two_processes import work_in_parts

_NOT_LOOKED_AT = frozenset((MACHINERY, AUDIT_LOG, ".git"))  # a wiki may be a repository by itself
_NAMES_WITHIN = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd
_FEWEST = 8_000  # files of a folder: fewer are looked at sooner than a second process begins
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)

Signature = str
"""Size in bytes, and when the content and the entry changed, in nanoseconds.

The last nobody can set: what `.wiki/` of a wiki that came from elsewhere says of a file never fits.
"""


def signature_of(status: os.stat_result) -> Signature:
    """By what a file is known as unchanged."""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def content_of(file: str) -> bytes:
    """A file's bytes, in half the time that a `Path` takes for a page."""
    with io.FileIO(file) as stream:
        return stream.readall()


def scan(root: str) -> dict[str, Signature]:
    """Every file below a wiki's folder by path, without machinery, audit log and git's own. Links end in a slash."""
    found: dict[str, Signature] = {}
    folders = [""]
    for folder in folders:  # which grows meanwhile
        folders += _take(root, folder, found)
    return found


def _take(root: str, folder: str, found: dict[str, Signature]) -> list[str]:
    """Take the files directly in a folder, if there is one; returns the folders in it. Many are looked at by two.

    Where the system lets a file be named within an open folder, the folder's own path is not looked up for each.
    """
    inner: list[str] = []
    before = "" if _NAMES_WITHIN else f"{root}/{folder}"
    try:
        place = os.open(f"{root}/{folder}", _FOLDER) if _NAMES_WITHIN else None
        names = os.listdir(before if place is None else place)  # noqa: PTH208 - of an open folder
    except (FileNotFoundError, NotADirectoryError):
        return inner

    def looked_at(part: range) -> list[tuple[str, Signature]]:
        named = [(name, folder + name) for name in names[part.start : part.stop]]
        return [
            _looked_at(path, os.stat(before + name, dir_fd=place, follow_symlinks=False))
            for name, path in named
            if path not in _NOT_LOOKED_AT
        ]

    try:
        for path, signature in work_in_parts(len(names), looked_at, looked_at, iter, is_large=len(names) >= _FEWEST):
            if signature:
                found[path] = signature
            else:
                inner.append(path)
    finally:
        if place is not None:
            os.close(place)
    return inner


def _looked_at(path: str, status: os.stat_result) -> tuple[str, Signature]:
    """What lies there and its signature: a folder has none, and its path and a link's end in a slash."""
    if stat.S_ISREG(status.st_mode):
        return path, signature_of(status)
    if stat.S_ISDIR(status.st_mode):
        return f"{path}/", ""
    return f"{path}/" if stat.S_ISLNK(status.st_mode) else path, signature_of(status)


def digest_of(files: Mapping[str, Signature]) -> str:
    """One digest over all files."""
    lines = sorted([f"{path}\0{signature}" for path, signature in files.items()])
    return sha256_of("\n".join(lines))
