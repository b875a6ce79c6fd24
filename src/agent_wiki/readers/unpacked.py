"""Decompressed bytes of recordings, with a limit on what a small file may decompress to."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.recording_path import RecordingPath

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BUFFER_BYTES = 1 << 16
_PACKED_BYTES = 1 << 10  # fed to zstd at a time: their decompressed bytes are held in memory
_LARGE_BYTES = 16 << 20  # a session up to this size is read, however well it compresses
_MOST_TIMES = 100  # recordings compress to a fifth or a twentieth; a bomb to a thousandth


def unpacked(path: RecordingPath) -> IO[bytes]:
    """A file's bytes, decompressed. The compression is detected by content, not by the file's name."""
    stream = path.open("rb")
    magic = stream.read(len(_ZSTD))
    stream.seek(0)
    inner: Any
    if magic.startswith(_GZIP):
        inner = gzip.GzipFile(fileobj=stream)
    elif magic == _ZSTD:
        inner = ZstdFrames(stream)
    else:
        return stream
    return io.BufferedReader(Bounded(inner, path.stat().st_size, stream), _BUFFER_BYTES)


@contextmanager
def unpacking(name: str) -> Iterator[None]:
    """Turn errors of the disk and of decompressors into `UnreadableRecording` of that name."""
    try:
        yield
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UnreadableRecording(name, f"damaged archive: {error}") from error
    except OSError as error:
        raise UnreadableRecording(name, error.strerror or str(error)) from error
    except Exception as error:  # zstandard is imported only when needed, and so is its error type
        if type(error).__module__.partition(".")[0] != "zstandard":
            raise
        raise UnreadableRecording(name, f"damaged archive: {error}") from error


class Bounded(io.RawIOBase):
    """Bytes of a decompressing stream. Raises `OSError` when a small file decompresses without end (a "zip bomb").

    `packed` is the stream below, which is closed too.
    """

    def __init__(self, unpacked: Any, packed_bytes: int, packed: IO[bytes] | None = None) -> None:
        self._unpacked = unpacked
        self._packed = packed
        self._left = max(_LARGE_BYTES, _MOST_TIMES * packed_bytes)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size: int = self._unpacked.readinto(buffer)
        self._left -= size
        if self._left < 0:
            raise OSError(f"decompresses to more than {_LARGE_BYTES:,} bytes and {_MOST_TIMES} times its size")
        return size

    def close(self) -> None:
        self._unpacked.close()
        if self._packed is not None:
            self._packed.close()
        super().close()


class ZstdFrames(io.RawIOBase):
    """Decompressed bytes of zstd frames. Unlike the library's own reader, it detects a frame that is cut off."""

    def __init__(self, packed: IO[bytes]) -> None:
        import zstandard

        self._packed = packed
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new_frame()
        self._is_inside = True  # within a frame, which the rest of the file must end
        self._unpacked = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._unpacked:
            if self._frame.eof:
                chunk = self._frame.unused_data or self._packed.read(_PACKED_BYTES)
                self._frame, self._is_inside = self._new_frame(), bool(chunk)
            else:
                chunk = self._packed.read(_PACKED_BYTES)
            if not chunk:
                if self._is_inside:
                    raise EOFError("the file ends inside a zstd frame")
                return 0
            self._unpacked = memoryview(self._frame.decompress(chunk))
        size = min(len(buffer), len(self._unpacked))
        buffer[:size], self._unpacked = self._unpacked[:size], self._unpacked[size:]
        return size
