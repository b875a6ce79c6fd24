"""What `.wiki/` knows of sessions besides the journal: the files they were read from, and caches of page texts."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from agent_wiki.pipeline import comparisons_cache, recordings_cache
from agent_wiki.pipeline.export_parts import files_with_more
from agent_wiki.pipeline.known_recordings import KnownRecordings
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.subagents import begun_by
from agent_wiki.wiki.layout import MACHINERY
from agent_wiki.wiki.store import WikiFolder

_FORGOTTEN = "forgotten.json"
KNOWN_FILES = (
    "recordings.json",
    "asked.json",
    "pages.txt",
    "indexes.json",
    "pages.json",
    "replaced.json",
    "sidecar.json",
    "judged.json",
    _FORGOTTEN,
)
"""Files of `.wiki/` that a run writes again."""

_FOLDERS = ("retrieval",)
_SITE = "site"  # which `wiki serve` and `wiki view` make again
SITE_MEMORY = "site.json"
"""What builds of a site remember of files, by their paths."""


def forget_recordings(
    folder: WikiFolder, sessions: Collection[str], names: Collection[str | None]
) -> tuple[set[str], set[str]]:
    """Forget the files that hold some sessions, by what was in them or by their names.

    Those of their subagents go as well: what is left out of a wiki has no record, but its id says whose it is. So does
    what is known of files without a session that are named after one.

    Out: the paths of those files, and those of all others that are known. A file that holds other sessions too is read
    again by the next run.
    """
    cache, known = recordings_cache.load(folder), KnownRecordings.load(folder)
    every = {*cache, *known.asked, *known.requests.values()}
    files = {path for path, entry in cache.items() if any(_is_of(each[0], sessions) for each in entry["sessions"])}
    files |= files_with_more(cache, files, sessions)
    files |= {path for path in every - cache.keys() if Path(path).name in names}
    beside = {path for path, entry in cache.items() if not entry["sessions"] and _names_one(path, sessions)}
    if files:
        recordings_cache.save(folder, {path: each for path, each in cache.items() if path not in files | beside})
        known.drop(files)
    return files, every - files


def _names_one(path: str, sessions: Collection[str]) -> bool:
    """Whether a file or one of its folders is named after a session."""
    return any(name in sessions for part in path.split("/") for name in (part, part.partition(".")[0]))


def _is_of(session_id: str, sessions: Collection[str]) -> bool:
    return any(each in sessions for each in (session_id, *begun_by(session_id)))


def remember_forgotten(folder: WikiFolder, paths: Iterable[str]) -> None:
    """Remember recordings that still lie on this machine after their sessions were forgotten, by digests of paths."""
    known = {*_forgotten(folder), *map(sha256_of, paths)}
    if known:
        folder.write_machinery(_FORGOTTEN, sorted(known))


def are_forgotten(folder: WikiFolder, paths: Iterable[str]) -> list[str]:
    """Of these paths those of recordings whose sessions were forgotten."""
    known = _forgotten(folder)
    return [path for path in paths if sha256_of(path) in known] if known else []


def _forgotten(folder: WikiFolder) -> frozenset[str]:
    kept = folder.read_machinery(_FORGOTTEN)
    return frozenset(each for each in kept if isinstance(each, str)) if isinstance(kept, list) else frozenset()


def cached_files(root: Path) -> list[str]:
    """Caches that hold words of pages, and what killed runs left, by path in the wiki. Links are skipped."""
    machinery = root / MACHINERY
    if machinery.is_symlink() or not machinery.is_dir():
        return []
    folders = [machinery, *(each for each in machinery.iterdir() if each.is_dir() and not each.is_symlink())]
    found = [each for folder in folders for each in folder.iterdir() if not each.is_dir() and _has_words(each)]
    for folder, _, names in os.walk(machinery / _SITE):
        found += [Path(folder, name) for name in names]
    return sorted(each.relative_to(root).as_posix() for each in found)


def _has_words(path: Path) -> bool:
    is_cache = path.name in (comparisons_cache.NAME, SITE_MEMORY)
    return path.parent.name in _FOLDERS or is_cache or path.name.endswith(".tmp")
