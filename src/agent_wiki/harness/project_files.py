"""Files of a project that `wiki connect` edits: read without leaving the folder, written or removed as planned."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from agent_wiki.errors import RunError, UnsafePath
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.replacing import replacing

State = Literal["written", "removed", "unchanged"]

_OWN_MARK = b"agent-wiki: made by `wiki connect"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file, named relative to the folder; `after` is None for a file that is removed."""

    name: str
    target: Path
    before: bytes | None
    after: bytes | None

    @property
    def state(self) -> State:
        """Whether the file is created, changed, removed or left alone."""
        if self.before == self.after:
            return "unchanged"
        return "removed" if self.after is None else "written"


def read_file(folder: Path, name: str) -> tuple[Path, bytes | None]:
    """A file's real path and its content, None if it does not exist. Raises `UnsafePath` and `RunError`."""
    try:
        target = (folder / name).resolve()
        if not target.is_relative_to(folder.resolve()):
            raise UnsafePath(f"{folder / name}: a link that leads out of {folder}; nothing was written")
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            raise RunError(f"{folder / name}: not a regular file; nothing was written")
        return target, target.read_bytes() if target.exists() else None
    except OSError as error:
        raise RunError(f"{folder / name}: cannot read ({error.strerror}); nothing was written") from error
    except ValueError as error:  # a name that no file can have
        raise UnsafePath(f"{str(folder / name)!a}: no name of a file; nothing was written") from error
    except RuntimeError as error:
        raise UnsafePath(f"{folder / name}: links form a cycle; nothing was written") from error


def is_own_file(content: bytes | None) -> bool:
    """Whether a file of an agent is one that `wiki connect` made."""
    return content is not None and _OWN_MARK in content


def carry_out(changes: Iterable[FileChange]) -> None:
    """Write and remove what was planned. Files are replaced atomically: a reader sees the old one or the new one.

    Raises `RunError` naming the file that cannot be written; those before it get back what they held.
    """
    done: list[FileChange] = []
    for change in changes:
        if change.state == "unchanged":
            continue
        try:
            _make(change, change.after)
        except OSError as error:
            for each in reversed(done):
                with suppress(OSError):
                    _make(each, each.before)
            raise RunError(f"{change.target}: cannot write ({error.strerror}); nothing was changed") from error
        done.append(change)


def _make(change: FileChange, content: bytes | None) -> None:
    """Give a file a content; None: remove it, and the folders that are empty then."""
    if content is None:
        change.target.unlink(missing_ok=True)
        _remove_empty_folders(change)
        return
    change.target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(change.target) as stream:
        stream.write(content)


def _remove_empty_folders(change: FileChange) -> None:
    folder = change.target.parent
    with suppress(OSError):  # a folder that is not empty is kept
        for _ in range(change.name.count("/")):
            folder.rmdir()
            folder = folder.parent
