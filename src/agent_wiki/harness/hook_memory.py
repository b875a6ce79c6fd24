"""What the hooks of a project remember from turn to turn, in `.evolve/hook`, and the locks they hold there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agent_wiki.errors import UnsafePath, WikiLocked
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.replacing import replacing

_MARK_TIMEOUT_SECONDS = 10.0  # what is done under this lock takes less than a thousandth of it


def is_saved(path: Path) -> bool:
    """Whether a session is saved there; a link, as anybody can put into a repository, could lead to another project."""
    return path.is_file() and not path.is_symlink()


@dataclass(slots=True)
class HookMemory:
    """The files below `.evolve/hook`. They may be deleted at any time: sessions are then examined again."""

    folder: Path

    def read(self, name: str) -> dict[str, Any]:
        """A JSON object stored under a name; empty when it is missing or damaged."""
        with suppress(OSError, ValueError, RecursionError):
            stored = json.loads((self.folder / name).read_text(encoding="utf-8"))
            return stored if isinstance(stored, dict) else {}
        return {}

    def write(self, name: str, values: Mapping[str, Any]) -> None:
        """Store a JSON object. Raises `OSError`, and `UnsafePath` when the folder is a link."""
        target = self.folder / name
        if target.parent.is_symlink():
            raise UnsafePath(f"{target.parent}: a link in the project could lead out of it")
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(target) as stream:
            stream.write(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace"))

    def mark_pending(self, stem: str, file: str, state: str) -> None:
        """Note that a saved file has yet to be mined; `state` is the digest of what it holds."""
        with self.locked("marks", _MARK_TIMEOUT_SECONDS):
            self.write(f"pending/{stem}.json", {"file": file, "state": state})

    def pending_states(self) -> dict[str, str]:
        """Stem → digest of what has yet to be mined."""
        marks = {path.stem: self._mark(path.stem) for path in self._marks()}
        return {stem: mark["state"] for stem, mark in marks.items() if isinstance(mark.get("state"), str)}

    def pending(self) -> dict[str, str]:
        """Stem → name of the saved file, for all that have yet to be mined."""
        found = {}
        for path in self._marks():
            file = self._mark(path.stem).get("file")
            found[path.stem] = Path(file).name if isinstance(file, str) else ""
        return found

    def unmark(self, stem: str, state: str | None = None) -> None:
        """Note that a saved file has been mined; one that was marked again since, in another state, stays marked."""
        with self.locked("marks", _MARK_TIMEOUT_SECONDS):
            if state is None or self._mark(stem).get("state") == state:
                (self.folder / "pending" / f"{stem}.json").unlink(missing_ok=True)

    def _marks(self) -> list[Path]:
        return sorted((self.folder / "pending").glob("[!.]*.json"))

    def _mark(self, stem: str) -> dict[str, Any]:
        return self.read(f"pending/{stem}.json")

    @contextmanager
    def locked(self, name: str, timeout_seconds: float) -> Iterator[None]:
        """Hold one lock of the project's hooks. Raises `WikiLocked` when another hook holds it for too long."""
        from filelock import FileLock, Timeout

        place = self.folder / f"{name}.lock"
        if self.folder.is_symlink() or place.is_symlink():
            raise UnsafePath(f"{place}: a link in the project could lead out of it")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(place, timeout=timeout_seconds)
        try:
            lock.acquire()
        except Timeout as error:
            raise WikiLocked(f"another hook of this project is at work ({name})") from error
        try:
            yield
        finally:
            lock.release()
