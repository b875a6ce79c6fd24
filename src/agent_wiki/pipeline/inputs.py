"""From the paths a user names to the files that may hold recordings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from agent_wiki.errors import UsageError
from agent_wiki.trajectory.lazily import dataclass

_NEVER_ENTERED = frozenset({".git", ".wiki", "node_modules", "__pycache__", ".venv"})


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file to read. `name` is how messages name it; `is_named` says that the user named this very file."""

    path: Path
    name: str
    is_named: bool


def input_files(paths: Iterable[Path]) -> list[InputFile]:
    """Every file that `paths` name, folders read recursively, each once, sorted by name.

    Raises `UsageError` for a path that does not exist or can be read only once (a pipe). A folder that may not be
    read is listed itself, so that reading it reports the reason.
    """
    candidates: list[InputFile] = []
    for path in paths:
        if path.is_dir():
            candidates += [InputFile(below, str(below), is_named=False) for below in _files_below(path)]
        elif path.is_file():
            candidates.append(InputFile(path, str(path), is_named=True))
        elif path.exists():
            raise UsageError(f"{path}: neither a file nor a folder; save it to a file first")
        else:
            raise UsageError(f"{path}: no such file or folder")
    found: dict[Path, InputFile] = {}
    for file in sorted(candidates, key=lambda each: (not each.is_named, each.name)):
        found.setdefault(file.path.resolve(), file)
    return sorted(found.values(), key=lambda each: each.name)


def _files_below(folder: Path) -> Iterator[Path]:
    unreadable: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=lambda error: unreadable.append(Path(error.filename))):
        folders[:] = sorted(name for name in folders if name not in _NEVER_ENTERED)
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_file():  # no sockets, no dangling links
                yield path
    yield from unreadable
