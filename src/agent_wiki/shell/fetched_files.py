"""The files and folders into which a session put what it fetched, by whatever path they are named later."""

from __future__ import annotations

import posixpath

_MOST_OF_ONE_NAME = 50  # of more, any file of that name counts


class FetchedFiles:
    """Paths, found by their last part, so that thousands of files cost no more than one."""

    def __init__(self) -> None:
        self._by_name: dict[str, set[str]] = {}

    def add(self, path: str) -> None:
        """Note that a path holds what was fetched."""
        if plain := plain_path(path):
            self._by_name.setdefault(plain.rpartition("/")[2], set()).add(plain)

    def discard(self, path: str) -> None:
        """Note that a path, as it is or from further up, has other text now."""
        plain = plain_path(path)
        name = plain.rpartition("/")[2]
        left = {each for each in self._by_name.get(name, ()) if not f"/{plain}".endswith(f"/{each}")}
        if left:
            self._by_name[name] = left
        else:
            self._by_name.pop(name, None)

    def has(self, path: str) -> bool:
        """Whether a path may be one of them, or lies in one: a whole path here, a relative one there."""
        plain = plain_path(path)
        return any(
            len(files) > _MOST_OF_ONE_NAME or any(_is_same(plain, each) for each in files)
            for part in dict.fromkeys(plain.split("/") if self._by_name else ())
            if (files := self._by_name.get(part))
        )


def plain_path(path: str) -> str:
    """A path without what says nothing of where it leads; empty for an empty one."""
    return posixpath.normpath(path) if path else ""


def _is_same(name: str, file: str) -> bool:
    return f"/{file}".endswith(f"/{name}") or f"/{file}/" in f"/{name}/"
