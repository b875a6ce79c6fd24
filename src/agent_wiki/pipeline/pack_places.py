"""Where packs of records lie: a folder, or a prefix in a bucket. Packs are named by their content and never change."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from agent_wiki.errors import RunError
from agent_wiki.readers.buckets import BucketPath
from agent_wiki.readers.stored_objects import bucket_path, created, deleted, fetched, keys_below
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.replacing import replacing


class PackPlace(Protocol):
    """What packs need of a place. Everything raises `RunError` where it cannot be done."""

    def read(self, name: str) -> bytes | None:
        """A pack; None where there is none of that name."""

    def add(self, name: str, content: bytes) -> None:
        """Add a pack; one of that name holds the same."""

    def remove(self, name: str) -> None:
        """Remove a pack. One that is not there is no error."""

    def names(self) -> list[str]:
        """The names of all packs."""


def pack_place(text: str, wiki: Path) -> PackPlace:
    """The place of that name: an address, or a folder, seen from the wiki's. Raises `RunError`."""
    folder = folder_named(text, wiki)
    if folder is None:
        return BucketPlace(bucket_path(text))
    if folder.is_relative_to(wiki.resolve()):
        raise RunError(f"sidecar:{text}: name a folder outside the wiki, or a place in a bucket")
    return FolderPlace(folder)


def folder_named(text: str, wiki: Path) -> Path | None:
    """The folder of that name, seen from the wiki's; None for an address in a bucket."""
    return None if "://" in text else (wiki / text).resolve()


@dataclass(frozen=True, slots=True)
class BucketPlace:
    """Packs as objects."""

    folder: BucketPath

    def read(self, name: str) -> bytes | None:
        found = fetched(self.folder / name)
        return None if found is None else found.content

    def add(self, name: str, content: bytes) -> None:
        created(self.folder / name, content)

    def remove(self, name: str) -> None:
        deleted(self.folder / name)

    def names(self) -> list[str]:
        return [key.rpartition("/")[2] for key in keys_below(self.folder)]


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """Packs as files."""

    folder: Path

    def read(self, name: str) -> bytes | None:
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunError(f"{self.folder / name}: {error.strerror}") from error

    def add(self, name: str, content: bytes) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(self.folder / name) as stream:
                stream.write(content)
        except OSError as error:
            raise RunError(f"{self.folder / name}: {error.strerror}") from error

    def remove(self, name: str) -> None:
        try:
            (self.folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise RunError(f"{self.folder / name}: {error.strerror}") from error

    def names(self) -> list[str]:
        return [path.name for path in self.folder.glob("*")]
