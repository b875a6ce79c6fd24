"""The bytes of recordings, decompressed and in UTF-8, with a limit on what a small file may decompress to."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.recording_path import RecordingPath

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_NOTE, _MOST_OF_NOTE = b"Exporting session: ses_", 200
_BUFFER_BYTES = 1 << 16
_PACKED_BYTES = 1 << 10  # fed to zstd at a time: their decompressed bytes are held in memory
_LARGE_BYTES = 16 << 20  # a session up to this size is read, however well it compresses
_MOST_TIMES = 100  # recordings compress to a fifth or a twentieth; a bomb to a thousandth


def unpacked(path: RecordingPath) -> IO[bytes]:
    """A file's bytes, decompressed, those of UTF-16 as UTF-8. Both are detected by content, not by the file's name."""
    stream = path.open("rb")
    magic = stream.read(len(_ZSTD))
    stream.seek(0)
    inner: Any
    if magic.startswith(_GZIP):
        inner = gzip.GzipFile(fileobj=stream)
    elif magic == _ZSTD:
        inner = Chunks(_zstd_frames(stream), stream)
    else:
        return _as_utf8(_without_note(stream, magic), magic)
    reader = io.BufferedReader(Bounded(inner, path.stat().st_size, stream), _BUFFER_BYTES)
    try:
        return _as_utf8(reader, reader.peek(len(_ZSTD)))
    except BaseException:
        reader.close()
        raise


def _without_note(stream: IO[bytes], head: bytes) -> IO[bytes]:
    """The stream behind what `opencode export` says of itself, where that was written into the same file (`2>&1`)."""
    if not (head and _NOTE.startswith(head) and stream.readline(_MOST_OF_NOTE).startswith(_NOTE)):
        stream.seek(0)
    return stream


def _as_utf8(stream: IO[bytes], head: bytes) -> IO[bytes]:
    """The stream that begins with `head`, as UTF-8 where a mark says that it is UTF-16, as PowerShell's `>` writes."""
    is_utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not head.startswith(codecs.BOM_UTF32_LE)
    return io.BufferedReader(Chunks(_utf8_of(stream), stream), _BUFFER_BYTES) if is_utf16 else stream


def _utf8_of(stream: IO[bytes]) -> Iterator[bytes]:
    """UTF-16 text with its mark → UTF-8 without one. Half a pair of surrogates stays one, which is no UTF-8 either."""
    decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")
    while chunk := stream.read(_BUFFER_BYTES):
        yield decoder.decode(chunk).encode("utf-8", "surrogatepass")
    if decoder.getstate()[0]:
        yield b"\xff"  # half a character at a cut end: replaced and counted like one that is no UTF-8


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


class Chunks(io.RawIOBase):
    """Chunks of bytes as a stream; `source` is what they are made from, which is closed too."""

    def __init__(self, chunks: Iterator[bytes], source: IO[bytes]) -> None:
        self._chunks, self._source = chunks, source
        self._chunk = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._chunk:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._chunk = memoryview(chunk)
        size = min(len(buffer), len(self._chunk))
        buffer[:size], self._chunk = self._chunk[:size], self._chunk[size:]
        return size

    def close(self) -> None:
        self._source.close()
        super().close()


def _zstd_frames(packed: IO[bytes]) -> Iterator[bytes]:
    """Decompressed bytes of zstd frames. Unlike the library's own reader, it detects a frame that is cut off."""
    import zstandard

    new_frame = zstandard.ZstdDecompressor().decompressobj
    frame, is_inside = new_frame(), True  # within a frame, which the rest of the file must end
    while True:
        if frame.eof:
            chunk = frame.unused_data or packed.read(_PACKED_BYTES)
            frame, is_inside = new_frame(), bool(chunk)
        else:
            chunk = packed.read(_PACKED_BYTES)
        if not chunk:
            break
        yield frame.decompress(chunk)
    if is_inside:
        raise EOFError("the file ends inside a zstd frame")
