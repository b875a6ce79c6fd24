"""`.wiki/tool-results/`: texts that are too long to show a model, in full, one file each, named by their digest."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from agent_wiki.asking.previews import Part
from agent_wiki.errors import RunError
from agent_wiki.trajectory import without_surrogates
from agent_wiki.wiki.layout import MACHINERY
from agent_wiki.wiki.replacing import expect_no_link, sync_folder

_FOLDER = "tool-results"


def results_folder(wiki: Path) -> Path:
    """Where a wiki keeps whole texts."""
    return wiki / MACHINERY / _FOLDER


def place_of(part: Part) -> str:
    """The path of the text relative to the wiki, whether or not it exists yet."""
    return f"{MACHINERY}/{_FOLDER}/{part.digest}.txt"


class ToolResults:
    """The persisted texts of a wiki. A file is named by its text's digest, so a recording never chooses a name."""

    def __init__(self, wiki: Path) -> None:
        self._folder = results_folder(wiki)
        self._is_ready = False

    def keep(self, part: Part) -> None:
        """Write the text to disk, synced, unless it exists. Raises `RunError` if it cannot be written."""
        path = self._folder / f"{part.digest}.txt"
        content = without_surrogates(part.text).encode()
        try:
            self._make_ready()
            if not _holds(path, content):
                self._write(path, content)
        except OSError as error:
            raise RunError(
                f"{self._folder}: a long tool result cannot be kept ({error.strerror or error}); "
                "fix that, or run with --no-journal"
            ) from error

    def _make_ready(self) -> None:
        if self._is_ready:
            return
        expect_no_link(self._folder.parent, self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._is_ready = True

    def _write(self, path: Path, content: bytes) -> None:
        """Write to another name, sync, rename, and sync the folder: a file under its digest is always complete."""
        beside = path.with_name(f".{os.getpid()}.tmp")
        with suppress(FileNotFoundError):
            beside.unlink()
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(descriptor)
            beside.replace(path)
        except OSError:
            with suppress(OSError):
                beside.unlink()
            raise
        sync_folder(self._folder)


def _holds(path: Path, content: bytes) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size != len(content):
        return False
    return path.read_bytes() == content
