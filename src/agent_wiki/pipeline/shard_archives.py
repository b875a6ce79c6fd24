"""A shard as one file, `shard-1-of-4.tar.gz`: in a bucket it is there as a whole or not at all.

The same shard gives the same bytes. A file of no bytes stands for a shard that has begun and not ended.
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zlib
from pathlib import Path
from typing import IO

from agent_wiki.errors import UnitError
from agent_wiki.pipeline.bucket_state import NAME as BUCKETS
from agent_wiki.pipeline.shard_manifest import MANIFEST
from agent_wiki.pipeline.shards import Shard, shard_of_name
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.wiki.records import FOLDER as SESSIONS
from agent_wiki.wiki.store import WikiFolder

_ENDING = ".tar.gz"
_MEMBER = re.compile(rf"{re.escape(MANIFEST)}|{re.escape(BUCKETS)}|{SESSIONS}/[\w.-]+\.json", re.ASCII)
_LEVEL = 6


def archive_name(shard: Shard) -> str:
    """The name of a shard's archive."""
    return f"{shard.name}{_ENDING}"


def shard_of_archive(name: str) -> Shard | None:
    """The shard whose archive has this name; None for any other name."""
    return shard_of_name(name.removesuffix(_ENDING)) if name.endswith(_ENDING) else None


def pack(folder: WikiFolder, archive: Path) -> None:
    """Write what a join needs of a shard that has ended into one file."""
    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name in (MANIFEST, BUCKETS):
            if (text := folder.read_text(name)) is not None:
                _add(tar, name, text.encode("utf-8"))
        for path, content in folder.files_of(SESSIONS, ".json"):
            _add(tar, path, content)


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def unpack(archive: RecordingPath, folder: WikiFolder) -> None:
    """Write the files of an archive below a folder, and nothing but files that a shard has. Raises `UnitError`."""
    try:
        with archive.open("rb") as stream, tarfile.open(fileobj=stream, mode="r|gz") as tar:
            for member in tar:
                content = tar.extractfile(member) if _MEMBER.fullmatch(member.name) else None
                if content is None:
                    raise UnitError(f"no archive of a shard: it has {member.name!r}")
                folder.write_text(member.name, _text(content))
    except (tarfile.TarError, EOFError, zlib.error, UnicodeDecodeError, OSError) as error:
        raise UnitError(f"this archive cannot be read: {error}") from error


def _text(stream: IO[bytes]) -> str:
    return stream.read().decode("utf-8")
