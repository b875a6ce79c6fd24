"""The package's own Agent Skills, and copies of them in a folder where an agent looks for skills.

`plan` is a pure function of the folder's content; only `states` and `former_states` read the disk, only `write` and
`remove` change it. A file with other content belongs to its owner and is not changed unless forced; what a former
version of this package shipped is replaced, and removed where no version ships it any more.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from agent_wiki.errors import RunError, UnsafePath
from agent_wiki.harness.former_skills import FORMER_PATHS, was_shipped
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.replacing import replacing
from agent_wiki.wiki.templates import shipped_folder

State = Literal["missing", "same", "former", "other"]


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """The effect of an installation, as sorted paths below the folder.

    `superseded` are edited copies of files that are no longer shipped.
    """

    to_write: tuple[str, ...]
    unchanged: tuple[str, ...]
    left_alone: tuple[str, ...]
    to_remove: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()


def shipped_skills() -> dict[str, bytes]:
    """Every shipped file by its path `<skill>/<file>`, sorted by path."""
    root = shipped_folder("skills")
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return dict(sorted(found.items()))


def plan(states: Mapping[str, State], *, is_forced: bool, former: Mapping[str, State] | None = None) -> InstallPlan:
    """What to do with each file, given what exists at its path; `is_forced` overwrites other content.

    `former` is what exists at the paths of files that are no longer shipped.
    """
    writes: frozenset[State] = frozenset({"missing", "former", *(("other",) if is_forced else ())})
    paths, gone = sorted(states), former or {}
    return InstallPlan(
        to_write=tuple(path for path in paths if states[path] in writes),
        unchanged=tuple(path for path in paths if states[path] == "same"),
        left_alone=tuple(path for path in paths if states[path] == "other" and not is_forced),
        to_remove=tuple(path for path in sorted(gone) if gone[path] == "former"),
        superseded=tuple(path for path in sorted(gone) if gone[path] == "other"),
    )


def states(folder: Path, skills: Mapping[str, bytes]) -> dict[str, State]:
    """What exists at each file's path below `folder`, which need not exist. Links out of it are not followed.

    Raises `UnsafePath` for a link on the way and `RunError` for anything but a regular file.
    """
    return {path: _state(_inside(folder, path), path, content) for path, content in skills.items()}


def former_states(folder: Path, skills: Mapping[str, bytes]) -> dict[str, State]:
    """What exists below `folder` at the paths that former versions had and `skills` has not. Raises as `states`."""
    return {path: _state(_inside(folder, path), path, None) for path in FORMER_PATHS - skills.keys()}


def write(folder: Path, skills: Mapping[str, bytes], paths: Iterable[str]) -> None:
    """Write each of `paths`; a reader sees the old file or the new one.

    Raises `UnsafePath` and `RunError` with the file.
    """
    for path in paths:
        target = _inside(folder, path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as stream:
                stream.write(skills[path])
        except OSError as error:
            raise RunError(f"{target}: cannot write ({error.strerror}); the file was not changed") from error


def remove(folder: Path, paths: Iterable[str]) -> None:
    """Remove files, and their folder where nothing else is in it. Raises `UnsafePath` and `RunError` with the file."""
    for path in paths:
        target = _inside(folder, path)
        try:
            target.unlink()
            if target.parent != folder and not any(target.parent.iterdir()):
                target.parent.rmdir()
        except OSError as error:
            raise RunError(f"{target}: cannot remove it ({error.strerror})") from error


def _inside(folder: Path, path: str) -> Path:
    """`path` below `folder`. The folder itself may be a link, as its owner's choice; nothing inside it may."""
    current = folder
    for part in path.split("/"):
        current = current / part
        if current.is_symlink():
            raise UnsafePath(f"{current}: a link in this folder could lead out of it; remove it, nothing was written")
    return current


def _state(target: Path, path: str, content: bytes | None) -> State:
    try:
        status = target.lstat()
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        raise RunError(f"{target}: cannot inspect it ({error.strerror}); nothing was written") from error
    if not stat.S_ISREG(status.st_mode):
        raise RunError(f"{target}: not a regular file; move it away, nothing was written")
    found = target.read_bytes()
    if found == content:
        return "same"
    return "former" if was_shipped(path, found) else "other"
