"""Which conversations belong to which file of an export: each file is looked through once for what it mentions.

What was found is kept with what else is known of the file, so that a later run looks through what is new or changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agent_wiki.errors import RecordingUnavailable, UnitError
from agent_wiki.pipeline.recordings_cache import Cache, known_path
from agent_wiki.readers.buckets import BucketPath, listed
from agent_wiki.readers.detect import ExportReader, reader_of
from agent_wiki.readers.exports import (
    ABOUT,
    HOLDING,
    ExportPart,
    Mentions,
    digest_of_id,
    export_of,
    export_parts,
    is_about,
    may_hold,
    names_before,
)
from agent_wiki.readers.kept_objects import KEPT, Contents
from agent_wiki.readers.recording import Recording
from agent_wiki.readers.recording_path import RecordingPath, path_beside, signature_of
from agent_wiki.trajectory.lazily import dataclass

_FEWEST_AT_A_TIME = 16
_MOST_AT_A_TIME = 8
_KEPT = "mentions"
_PART = "part"


@dataclass(frozen=True, slots=True)
class FilesOfExports:
    """The files among some that belong to an export: what belongs to each, by its resolved path."""

    parts: Mapping[RecordingPath, ExportPart]
    mentions: Mapping[RecordingPath, Mentions]

    def part(self, path: RecordingPath) -> ExportPart | None:
        """What belongs to a file of an export; None for any other file."""
        return self.parts.get(path.resolve()) if self.parts else None  # mostly there is no export

    def is_as_kept(self, path: RecordingPath, entry: Mapping[str, Any]) -> bool:
        """Whether the same belongs to a file as when its entry was written."""
        part = self.part(path)
        return entry.get(_PART) == (None if part is None else part.digest)

    def contents(self, path: RecordingPath) -> Contents:
        """What was fetched to look through of a file and of others with its conversations."""
        part = self.part(path)
        return KEPT.contents((path, *(path_beside(path, name) for name in part.others))) if part else ()

    def note(self, cache: Cache, read: Iterable[RecordingPath]) -> None:
        """Keep what files mention, and what belongs to those that a run has read."""
        for path, mentions in self.mentions.items():
            if (entry := cache.get(str(path))) is not None:
                entry[_KEPT] = mentions
        for path in read:
            part = self.part(path)
            entry = None if part is None else cache.get(str(path.resolve()))
            if part is not None and entry is not None:
                entry[_PART] = part.digest
                for before in _before(path, part):  # not of this run, or the conversations would be its own
                    cache.get(str(before.resolve()), {}).pop(_PART, None)


NO_EXPORT = FilesOfExports({}, {})


def files_with_more(cache: Cache, files: Iterable[str], sessions: Iterable[str]) -> set[str]:
    """The files of exports that hold more of some sessions than the files do to which these belong."""
    wanted = {digest_of_id(session.partition(".agent-")[0]) for session in sessions}
    found: set[str] = set()
    for key in files:
        entry = cache[key]
        ids = {each for group in entry.get(_KEPT, ()) if wanted.intersection(group) for each in group}
        others = (name for name in entry.get("beside", {}) if not is_about(name))
        for other in (str(path_beside(known_path(key, entry), name).resolve()) for name in others):
            if any(ids.intersection(group) for group in cache.get(other, {}).get(_KEPT, ())):
                found.add(other)
    return found


def files_of_exports(
    paths: Iterable[RecordingPath], cache: Cache | None = None, most: int | None = None
) -> FilesOfExports:
    """Look through the files of exports among some, and those beside them that are about what they hold.

    What the cache knows of others of the same exports counts too, so that a conversation that one of these began is
    read whole. Of files that the cache does not know at most `most` are opened. Raises `RunError` when a bucket cannot
    be listed.
    """
    holding = [path.resolve() for path in paths if may_hold(path)]
    if not holding:
        return NO_EXPORT
    cache = cache or {}
    files = list(dict.fromkeys([*holding, *_about(holding), *_known(holding, cache)]))
    kept = {path: _kept(path, cache.get(str(path))) for path in files}
    new = [path for path in files if kept[path] is None][:most]
    found = kept | dict(zip(new, _all_looked_through(new), strict=True))
    mentions = {path: each for path, each in found.items() if each is not None}
    return FilesOfExports(export_parts(mentions, set(holding)), mentions)


def _all_looked_through(paths: list[RecordingPath]) -> list[Mentions | None]:
    """What files mention, several at a time: of many small objects a store is waited for more than anything else."""
    if len(paths) < _FEWEST_AT_A_TIME:
        return list(map(_looked_through, paths))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_MOST_AT_A_TIME) as threads:
        return list(threads.map(_looked_through, paths))


def is_whole(path: RecordingPath, part: ExportPart, cache: Cache) -> bool:
    """Whether all files are still there that were read with one of a part before: then it is no less than it was."""
    for file in (path, *(path_beside(path, name) for name in part.others if not is_about(name))):
        names = cache.get(str(file.resolve()), {}).get("beside", {})
        if any(not is_about(name) and not path_beside(file, name).is_file() for name in names):
            return False
    return bool(part.own)


def _before(path: RecordingPath, part: ExportPart) -> Iterator[RecordingPath]:
    """The files of a part that an export has before the one that it belongs to."""
    return (path_beside(path, name) for name in names_before(path, part))


def _about(holding: Iterable[RecordingPath]) -> list[RecordingPath]:
    """The files in the folders beside those of some files that are about what these hold."""
    exports = {str(path.parent.parent): path for path in holding if path.parent.name in HOLDING}
    return [found.resolve() for path in exports.values() for found in _below(path.parent.parent / ABOUT)]


def _known(holding: Iterable[RecordingPath], cache: Cache) -> Iterator[RecordingPath]:
    """Files of the same exports that were read before and have not changed."""
    exports = {export_of(path) for path in holding}
    for key, entry in cache.items():
        path = known_path(key, entry)
        if may_hold(path) and export_of(path) in exports and _kept(path, entry) is not None:
            yield path


def _below(folder: RecordingPath) -> Iterable[RecordingPath]:
    if isinstance(folder, BucketPath):
        listing = folder.listing
        listing = listing if listing is not None and listing.covers(f"{folder.key}/") else listed(folder)
        return [path for path in listing.paths() if path.parent == folder]
    place = Path(str(folder))
    return [path for path in place.iterdir() if path.is_file()] if place.is_dir() else []


def _kept(path: RecordingPath, entry: Mapping[str, Any] | None) -> Mentions | None:
    """What is known of a file that has not changed; None for any other."""
    mentions = (entry or {}).get(_KEPT)
    try:
        if entry is None or signature_of(path) != (entry["size"], entry["changed"]):
            return None
    except (OSError, UnitError):
        return None
    is_sound = isinstance(mentions, list) and all(isinstance(ids, list) for ids in mentions)
    return mentions if is_sound else None


def _looked_through(path: RecordingPath) -> Mentions | None:
    """What a file mentions: nothing where it is damaged or no file of an export, None where it was not given."""
    recording = Recording(path, str(path))
    try:
        KEPT.fetch(path)
        reader = reader_of(recording)
        return list(reader.mentions(recording)) if isinstance(reader, ExportReader) else []
    except (RecordingUnavailable, OSError, MemoryError):
        return None  # reading it says why
    except UnitError:
        return []
