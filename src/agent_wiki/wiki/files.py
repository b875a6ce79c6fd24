"""Which files a wiki has, and by what each is known as unchanged. One look at the folder tells a whole run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

from agent_wiki.wiki.layout import AUDIT_LOG, MACHINERY

Signature = str
"""Size in bytes, and when the content and the entry changed, in nanoseconds.

The last nobody can set: what `.wiki/` of a wiki that came from elsewhere says of a file never fits.
"""


def signature_of(status: os.stat_result) -> Signature:
    """By what a file is known as unchanged."""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def scan(root: str) -> dict[str, Signature]:
    """Every file below a wiki's folder by path, without machinery and audit log. A link's path ends in a slash."""
    found: dict[str, Signature] = {}
    folders = [""]
    for folder in folders:  # which grows meanwhile
        try:
            entries = os.scandir(f"{root}/{folder}")
        except (FileNotFoundError, NotADirectoryError):
            continue
        with entries:
            for entry in entries:
                path = folder + entry.name
                if path in (MACHINERY, AUDIT_LOG):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{path}/")
                else:
                    name = f"{path}/" if entry.is_symlink() else path
                    found[name] = signature_of(entry.stat(follow_symlinks=False))
    return found


def digest_of(files: Mapping[str, Signature]) -> str:
    """One digest over all files."""
    lines = sorted([f"{path}\0{signature}" for path, signature in files.items()])
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()
