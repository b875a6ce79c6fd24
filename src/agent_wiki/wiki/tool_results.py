"""`.wiki/tool-results/`: texts too long to be shown to a model, whole, one file each, named by their digest."""

from __future__ import annotations

import os
from pathlib import Path

from agent_wiki.errors import RunError, UnsafePath
from agent_wiki.previews import Part
from agent_wiki.wiki.layout import MACHINERY

_FOLDER = "tool-results"


class ToolResults:
    """The persisted texts of a wiki. A text's name is its digest, so what a recording says never names a file."""

    def __init__(self, wiki: Path) -> None:
        self._folder = wiki / MACHINERY / _FOLDER
        self._is_ready = False

    @staticmethod
    def place(part: Part) -> str:
        """Where the text lies or will lie, relative to the wiki."""
        return f"{MACHINERY}/{_FOLDER}/{part.digest}.txt"

    def keep(self, part: Part) -> None:
        """Put the text on disk, synced, unless it is there. Raises `RunError` when it cannot be written."""
        path = self._folder / f"{part.digest}.txt"
        content = part.text.encode("utf-8", "replace")
        try:
            self._make_ready()
            if path.is_file() and not path.is_symlink() and path.stat().st_size == len(content):
                return
            beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
            with beside.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            beside.replace(path)
        except OSError as error:
            raise RunError(
                f"{self._folder}: a long tool result cannot be kept ({error.strerror}); "
                "mend that, or run with --no-journal"
            ) from error

    def _make_ready(self) -> None:
        if self._is_ready:
            return
        if self._folder.is_symlink() or self._folder.parent.is_symlink():
            raise UnsafePath(f"{self._folder}: a link inside the wiki could lead out of it; remove it")
        self._folder.mkdir(parents=True, exist_ok=True)
        self._is_ready = True
