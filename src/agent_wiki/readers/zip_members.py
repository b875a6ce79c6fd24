"""JSON files in a zip, each parsed from the archive as it lies there: nothing is extracted to disk."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from agent_wiki.errors import RecordingUnavailable, UnreadableRecording
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.readers.unpacked import Bounded
from agent_wiki.trajectory.json_text import JsonText, why_no_json

_BUFFER_BYTES = 1 << 16


@contextmanager
def opened_zip(path: RecordingPath, name: str) -> Iterator[zipfile.ZipFile]:
    """The archive at a path, which messages call `name`. Raises `UnreadableRecording` for a damaged one."""
    with path.open("rb") as stream:
        try:
            archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, EOFError, RuntimeError, ValueError, OverflowError, struct.error) as error:
            # RuntimeError: an unknown version of the zip format
            raise UnreadableRecording(name, f"damaged zip: {error}") from error
        with archive:
            yield archive


def json_member(path: RecordingPath, name: str, member: str) -> Any:
    """The value of one file in the archive, by a name from its sample. Raises `UnreadableRecording`."""
    with opened_zip(path, name) as archive:
        return _value(archive, member, name)


def json_members(
    path: RecordingPath, name: str, members: Iterable[str], warnings: list[str]
) -> Iterator[tuple[str, Any]]:
    """Yield `(member, value)`, opening the archive once. A damaged member is skipped, with a line in `warnings`."""
    with opened_zip(path, name) as archive:
        for member in members:
            try:
                value = _value(archive, member, name)
            except RecordingUnavailable:
                raise
            except UnreadableRecording as error:
                warnings.append(f"{error}, skipped")
                continue
            yield member, value


def _value(archive: zipfile.ZipFile, member: str, name: str) -> Any:
    try:
        with archive.open(member) as stream:
            packed_bytes = archive.getinfo(member).compress_size
            text = JsonText(io.BufferedReader(Bounded(stream, packed_bytes), _BUFFER_BYTES))
            value = text.value()
            text.expect_end()
            return value
    except (ValueError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        # RuntimeError: an encrypted member, an unknown compression or a value nested too deeply
        raise UnreadableRecording(name, f"member {member!r}: {why_no_json(error)}") from error
