"""Objects that this package itself keeps in a bucket: made only where there is none, replaced only as last seen.

With these two kinds of write many machines can share a bucket and none overwrites what another wrote; `uploaded` is for
what one machine alone writes. All raise `RunError` where the store fails after its client's own tries.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from agent_wiki.errors import RunError, UsageError
from agent_wiki.readers.buckets import BucketPath, obstore_module, path_of, store_of
from agent_wiki.readers.store_reasons import reason_of
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.values import mapping


@dataclass(frozen=True, slots=True)
class StoredObject:
    """What an object holds, the ETag by which it can be replaced, and when it was written by the store's clock."""

    content: bytes
    etag: str
    written: datetime


def bucket_path(address: str) -> BucketPath:
    """The path of an object or a folder in a bucket. Raises `UsageError` for an address that names none."""
    path = path_of(address)
    if not isinstance(path, BucketPath) or not path.key:
        raise UsageError(f"{address}: name a place in a bucket, as in s3://bucket/prefix")
    return path


def json_in(content: bytes) -> dict[str, Any]:
    """The JSON object that was kept; an empty one where somebody else wrote something else."""
    try:
        return mapping(json.loads(content))
    except (ValueError, RecursionError):
        return {}


def created(path: BucketPath, content: bytes) -> str | None:
    """Write an object where there is none. Out: its ETag; None where there is one already."""
    with _asking(path):
        try:
            return str(store_of(path.root).put(path.key, content, mode="create")["e_tag"])
        except obstore_module("exceptions").AlreadyExistsError:
            return None


def replaced(path: BucketPath, content: bytes, etag: str) -> str | None:
    """Write an object in place of the one with this ETag. Out: its own; None where there is no such one any more.

    Raises `NotImplementedError` for a folder on a disk, which cannot do this.
    """
    with _asking(path):
        try:
            return str(store_of(path.root).put(path.key, content, mode={"e_tag": etag})["e_tag"])
        except (obstore_module("exceptions").PreconditionError, FileNotFoundError):
            return None


def uploaded(path: BucketPath, content: bytes | Path) -> None:
    """Write an object, or a file as an object, whole or not at all, whatever is there."""
    with _asking(path):
        store_of(path.root).put(path.key, content)


def fetched(path: BucketPath) -> StoredObject | None:
    """An object; None where there is none."""
    with _asking(path):
        try:
            found = store_of(path.root).get(path.key)
            return StoredObject(bytes(found.bytes()), str(found.meta["e_tag"]), found.meta["last_modified"])
        except FileNotFoundError:
            return None


def deleted(path: BucketPath) -> None:
    """Delete an object. One that is not there is no error."""
    with _asking(path):
        try:
            store_of(path.root).delete(path.key)
        except FileNotFoundError:
            return


def keys_below(folder: BucketPath, after: str = "") -> Iterator[str]:
    """The keys of all objects below a folder, sorted, those after `after` in it."""
    with _asking(folder):
        offset = f"{folder.key}/{after}" if after else None
        for chunk in store_of(folder.root).list(folder.key, offset=offset, chunk_size=1_000):
            yield from (str(each["path"]) for each in chunk)


@contextmanager
def _asking(path: BucketPath) -> Iterator[None]:
    try:
        yield
    except NotImplementedError:
        raise
    except (obstore_module("exceptions").BaseError, OSError) as error:
        raise RunError(f"{path}: {reason_of(error)}") from error
