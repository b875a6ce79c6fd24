"""Which reader reads a recording, detected by its content alone. Readers of other packages are entry points."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol, runtime_checkable

from agent_wiki.errors import UnreadableRecording, UsageError
from agent_wiki.extensions import extensions, loaded, origin
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Trajectory

# In the order in which they are tried: more specific formats first.
READERS = (
    "normalized", "claude_code", "stream_json", "codex", "gemini_cli", "pi", "atif", "inspect_log", "tau2_bench",
    "tau_bench", "mini_swe_agent", "swe_agent", "who_and_when",
)  # fmt: skip
GENERAL_READERS = ("openai_messages",)  # claims messages in any wrapping, so those of other packages come before it
_GROUP = "agent_wiki.readers"


@runtime_checkable
class Reader(Protocol):
    """The members of a reader: a module of this folder, or a module or object of another package."""

    FORMAT: str

    def claims(self, sample: Sample) -> bool: ...

    def read(self, recording: Recording) -> Iterator[Trajectory]: ...


def readers() -> Iterator[Reader]:
    """All readers, in the order in which they are asked; other packages are looked for only when their turn comes.

    Raises `UsageError` for a reader of another package that cannot be loaded, is no reader, or reads a format that
    another reader reads.
    """
    yield from _own(READERS)
    yield from _installed()
    yield from _own(GENERAL_READERS)


@lru_cache(maxsize=2)
def _own(names: tuple[str, ...]) -> tuple[Reader, ...]:
    modules = (importlib.import_module(f"agent_wiki.readers.{name}") for name in names)
    return tuple(module for module in modules)


@lru_cache(maxsize=1)
def _installed() -> tuple[Reader, ...]:
    formats = {reader.FORMAT for reader in _own(READERS) + _own(GENERAL_READERS)}
    found: list[Reader] = []
    for entry in extensions(_GROUP).values():
        reader = loaded(entry)
        if not isinstance(reader, Reader):
            raise UsageError(f"{_GROUP}: {origin(entry)} is no reader: it needs FORMAT, claims and read")
        if reader.FORMAT in formats:
            raise UsageError(f"{_GROUP}: {origin(entry)} reads {reader.FORMAT!r}, which another reader reads")
        formats.add(reader.FORMAT)
        found.append(reader)
    return tuple(found)


def reader_of(recording: Recording) -> Reader:
    """The reader that claims a recording. Raises `UnreadableRecording` when none does."""
    sample = recording.sample()
    for reader in readers():
        if reader.claims(sample):
            return reader
    raise UnreadableRecording(recording.name, f"not a trajectory: {_describe(sample)}", is_foreign=True)


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every trajectory of a recording, whatever its format. Raises `UnreadableRecording`."""
    yield from reader_of(recording).read(recording)


def _describe(sample: Sample) -> str:
    if sample.shape == "zip":
        return "a zip archive without samples"
    if not sample.values:
        return "no JSON value in it"
    value = sample.values[0]
    if isinstance(value, dict):
        keys = ", ".join(repr(str(key)[:30]) for key in list(value)[:5])
        return f"JSON with keys {keys}" if keys else "an empty JSON object"
    if isinstance(value, list):
        return "a JSON list" if value else "an empty JSON list"
    return f"a JSON {type(value).__name__}"
