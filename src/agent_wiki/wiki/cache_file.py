"""A file below `.wiki/` that only saves time: its content behind a checksum, read whole or as good as absent."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from pathlib import Path

from agent_wiki.errors import RunError
from agent_wiki.wiki.replacing import replacing

_CHECKSUM_BYTES = 65  # on a line of its own


def cached(path: str) -> bytes | None:
    """What `write_cached` kept; None when it is missing or not as it was written."""
    try:
        with io.FileIO(path) as stream:
            checksum, content = stream.read(_CHECKSUM_BYTES), stream.readall()
    except OSError:
        return None
    return content if checksum == f"{_hasher(content).hexdigest()}\n".encode() else None


def write_cached(path: Path, lines: Iterable[str]) -> None:
    """Keep lines, which end in a line feed; of tens of megabytes they are never in memory as a whole.

    Raises `RunError` where the file cannot be written.
    """
    hasher = _hasher()
    try:
        with replacing(path) as stream:
            stream.seek(_CHECKSUM_BYTES)
            for line in lines:
                content = line.encode("utf-8", "replace")
                hasher.update(content)
                stream.write(content)
            stream.seek(0)
            stream.write(f"{hasher.hexdigest()}\n".encode())
    except OSError as error:
        raise RunError(f"{path}: cannot write ({error.strerror}); nothing of it was changed") from error


def _hasher(content: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(content, digest_size=32)
