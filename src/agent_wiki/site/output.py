"""The site's folder: what was made of what, so that an unchanged page is not made again and only our files are removed.

`agent-wiki-site.txt` lists every file of the site with the digest of what it was made from. A folder that holds other
things, and no such list, is left alone. A file is listed before it is written, so that a run that was killed leaves
nothing that the next one does not know as its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from pathlib import Path

from agent_wiki.errors import RunError, UsageError
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.replacing import created, replacing, write_all

LIST = "agent-wiki-site.txt"
_HEAD = "agent-wiki site, layout 1"
_LINE = re.compile(r"(?P<inputs>[0-9a-f]{1,64}) (?P<size>\d{1,12}) (?P<file>[^\x00-\x1f\\]{1,400})")


Made = tuple[dict[str, tuple[str, int]], set[str]]
"""Files with the digest of what they were made from and their size; and those of them that were written."""


@dataclass(slots=True)
class SiteFolder:
    """The folder of a site. `made` are the files of this build: digest of what each was made from, and size."""

    root: Path
    made: dict[str, tuple[str, int]] = field(default_factory=dict)
    removed: int = 0
    _known: dict[str, tuple[str, int]] = field(default_factory=dict)
    _folders: set[Path] = field(default_factory=set)
    _written: set[str] = field(default_factory=set)

    @classmethod
    def opened(cls, root: Path) -> SiteFolder:
        """The folder with what it holds. Raises `UsageError` for one that holds something else than a site."""
        if root.is_symlink() or (root.exists() and not root.is_dir()):
            raise UsageError(f"{root}: not a folder that a site can be written to")
        listed = root / LIST
        if listed.is_file():
            return cls(root, _known=_read(listed))
        if root.is_dir() and any(root.iterdir()):
            raise UsageError(f"{root}: holds other things and is no site; name a new or an empty folder")
        try:
            root.mkdir(parents=True, exist_ok=True)
            listed.write_text(f"{_HEAD}\n", encoding="utf-8")
        except OSError as error:
            raise RunError(f"{root}: cannot write ({error.strerror})") from error
        return cls(root)

    def is_current(self, file: str, inputs: str) -> bool:
        """Whether a file lies there as it would be made from these inputs; if so, it counts as made."""
        known = self._known.get(file)
        if known is None or known[0] != inputs or self._size(file) != known[1]:
            return False
        self.made[file] = known
        return True

    def write(self, file: str, text: str, inputs: str) -> None:
        """Write a file whole, unless it lies there with these bytes.

        Raises `RunError` where the disk refuses, and for a file that is not ours.
        """
        target, content = self.root / file, text.encode("utf-8", "replace")
        is_new = not os.path.lexists(target)
        if file not in self._known and file not in self.made and not is_new:
            raise RunError(f"{target}: this program did not make it; move it away, or name another folder")
        try:
            if self._holds(file, content):
                self.made[file] = inputs, len(content)
                return
            self._list(_line(file, inputs, len(content)))
            if target.parent not in self._folders:
                target.parent.mkdir(parents=True, exist_ok=True)
                self._folders.add(target.parent)
            if not (is_new and created(str(target), content)):
                with replacing(target) as beside:
                    beside.write(content)
        except OSError as error:
            raise RunError(f"{target}: cannot write ({error.strerror})") from error
        self.made[file] = inputs, len(content)
        self._written.add(file)

    def _list(self, line: str) -> None:
        """Add a line to the list of files. Two processes may, each line whole."""
        descriptor = os.open(self.root / LIST, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            write_all(descriptor, f"{line}\n".encode("utf-8", "replace"))
        finally:
            os.close(descriptor)

    def made_since(self, count: int) -> Made:
        """Of what was made after the first `count` files: what it was made from, and which files were written."""
        made = dict(islice(self.made.items(), count, None))
        return made, self._written & made.keys()

    def take_over(self, made: Made) -> None:
        """Take notice of what a copy of this process made."""
        self.made.update(made[0])
        self._written |= made[1]

    def note_listed(self) -> None:
        """Take notice of what a copy of this process wrote that ended before it could say so."""
        self._known.update(_read(self.root / LIST))

    def finish(self) -> None:
        """Remove what we made before and not again, and write the list."""
        for file in self._known.keys() - self.made.keys():
            target = self.root / file
            if target.is_file() and not target.is_symlink():
                target.unlink()
                self.removed += 1
                _remove_empty(target.parent, self.root)
        lines = [_line(file, inputs, size) for file, (inputs, size) in sorted(self.made.items())]
        content = "\n".join([_HEAD, *lines, ""]).encode("utf-8", "replace")
        if not self._holds(LIST, content):
            with replacing(self.root / LIST) as stream:
                stream.write(content)

    @property
    def listed(self) -> frozenset[str]:
        """The files that lay there when the folder was opened."""
        return frozenset(self._known)

    @property
    def written(self) -> int:
        """How many files were made, each counted once."""
        return len(self._written)

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(size for _, size in self.made.values())

    def _holds(self, file: str, content: bytes) -> bool:
        return self._size(file) == len(content) and (self.root / file).read_bytes() == content

    def _size(self, file: str) -> int:
        try:
            return (self.root / file).stat(follow_symlinks=False).st_size
        except OSError:
            return -1


def _line(file: str, inputs: str, size: int) -> str:
    return f"{inputs} {size} {file}"


def _read(listed: Path) -> dict[str, tuple[str, int]]:
    """The files of a list: never a path that leads out of the folder, whoever wrote the list."""
    head, *lines = listed.read_text(encoding="utf-8", errors="replace").split("\n")
    return dict(_entries(lines)) if head == _HEAD else {}


def _entries(lines: list[str]) -> Iterator[tuple[str, tuple[str, int]]]:
    for line in lines:
        match = _LINE.fullmatch(line)
        if match and not {"", ".", ".."} & set(match["file"].split("/")):
            yield match["file"], (match["inputs"], int(match["size"]))


def _remove_empty(folder: Path, root: Path) -> None:
    if folder != root and not any(folder.iterdir()):
        folder.rmdir()
