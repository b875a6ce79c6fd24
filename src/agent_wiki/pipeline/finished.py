"""Whether the last run was the same and nothing has changed since: then there is nothing to read, ask or write.

The answer is based on `.wiki/finished.json`: a digest over the name, size and time of change of every file of the
wiki, taken when a run ended, with what that run did. With any difference the run is complete.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_wiki import __version__
from agent_wiki.engine import Engine
from agent_wiki.wiki.layout import AUDIT_LOG, MACHINERY
from agent_wiki.wiki.store import WikiFolder

_NAME = "finished.json"


def terms(stages: Sequence[str], engine: Engine, *, archive_covered: bool) -> dict[str, Any]:
    """What, besides the files, decides what a run does."""
    return {
        "version": __version__,
        "engine": [engine.name, engine.version],
        "stages": sorted(stages),
        "archive_covered": archive_covered,
    }


def note(folder: WikiFolder, done: Mapping[str, Any], pages: Mapping[str, int]) -> None:
    """Remember that a run ended with the wiki as it is now."""
    folder.write_machinery(_NAME, {**done, "pages": dict(pages), "wiki": _digest(folder.root)})


def forget(folder: WikiFolder) -> None:
    """From here on the wiki is not as a run left it: a run that is killed must not look finished."""
    folder.write_machinery(_NAME, {})


def is_same(folder: WikiFolder, wanted: Mapping[str, Any]) -> dict[str, int] | None:
    """The page counts of the last run when this one would find everything as that left it; else None."""
    last = folder.read_machinery(_NAME)
    if not isinstance(last, dict) or not isinstance(last.get("pages"), dict):
        return None
    alike = all(last.get(name) == value for name, value in wanted.items() if name != "stages")
    if not alike or not set(wanted["stages"]) <= set(last.get("stages") or ()):
        return None
    return dict(last["pages"]) if last.get("wiki") == _digest(folder.root) else None


def _digest(root: Path) -> str:
    hasher = hashlib.sha256()
    for line in sorted(_files(str(root), "")):
        hasher.update(line.encode("utf-8", "replace"))
    return hasher.hexdigest()


def _files(folder: str, prefix: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if name in (MACHINERY, AUDIT_LOG):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path, f"{name}/")
        else:
            status = entry.stat(follow_symlinks=False)
            yield f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n"
