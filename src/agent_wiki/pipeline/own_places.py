"""A run's journal and packs do not lie among the recordings, for it would read them as such."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from agent_wiki.errors import UsageError
from agent_wiki.pipeline.inputs import FoundFiles, InputFile, Selection, paths_to_match
from agent_wiki.readers.buckets import BucketPath, path_of, path_of_listed
from agent_wiki.readers.recording_path import RecordingPath

_ANY_FILE = "0"  # a name that says nothing of what is in it


def refuse_among_recordings(option: str, place: str, wiki: Path, recordings: FoundFiles, selection: Selection) -> None:
    """Raise `UsageError` where a place lies below recordings, unless the selection leaves out all that lies there.

    `option` is what named the place: an address, or a folder as seen from that of the wiki.
    """
    kept = _on_disk(path_of(place), wiki) if place else None
    excluding = Selection(exclude=selection.exclude)
    for named in recordings.named if kept else ():
        within = _within(kept, _on_disk(path_of_listed(named), Path()))
        if within is not None and excluding.fits(_any_file(within)) and _may_include(selection, within):
            reason = "and would be read as recordings: name another place, or leave it out by --exclude"
            raise UsageError(f"{option} {place} lies below {named}, {reason}")


def _may_include(selection: Selection, folder: str) -> bool:
    """Whether a file below a folder may fit what is included."""
    return not selection.include or any(_may_fit(pattern, f"{folder}/".lstrip("/")) for pattern in selection.include)


def _may_fit(pattern: str, start: str) -> bool:
    """Whether a pattern may fit a path that begins so: some beginning of the pattern fits, and more of it is left."""
    patterns = [pattern[:at] for at in range(len(pattern))] + ([pattern] if pattern.endswith("*") else [])
    return any(fnmatchcase(path, each) for path in paths_to_match(start, pattern) for each in patterns)


def _any_file(folder: str) -> InputFile:
    path = f"{folder}/{_ANY_FILE}".lstrip("/")
    return InputFile(Path(path), path, is_named=False, within=path)


def _on_disk(path: RecordingPath, seen_from: Path) -> RecordingPath:
    """A path of the disk in full, also one that an address names; any other as it is."""
    if isinstance(path, BucketPath):
        return Path(f"/{path.key}").resolve() if path.root == "file://" else path
    return (seen_from / Path(str(path))).resolve()


def _within(place: RecordingPath | None, folder: RecordingPath) -> str | None:
    """The path of a place below a folder, "" where it is that folder; None for one elsewhere."""
    if isinstance(place, Path) and isinstance(folder, Path):
        return place.relative_to(folder).as_posix() if place.is_relative_to(folder) else None
    if not isinstance(place, BucketPath) or not isinstance(folder, BucketPath) or place.root != folder.root:
        return None
    start = f"{folder.key}/".lstrip("/")
    return f"{place.key}/".removeprefix(start).rstrip("/") if f"{place.key}/".startswith(start) else None
