"""What `wiki join` is given: other wikis, shards, and places where shards lie; and which shards are missing."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath

from agent_wiki.errors import UnitError, UsageError
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.pipeline.shard_archives import shard_of_archive, unpack
from agent_wiki.pipeline.shard_manifest import Manifest, manifest_in
from agent_wiki.pipeline.shards import Shard, shard_of_name
from agent_wiki.readers.buckets import BucketPath, listed
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import plain_line

SHARD = "shard"
"""What a failure of one is called."""

_MOST_LABEL = 80
_NOT_ENDED = "this shard has not ended; run it, then join again"
_ALL_BELOW = "/*"  # which no shell expands in a bucket


@dataclass(frozen=True, slots=True)
class Joinable:
    """A folder whose records are joined, and what messages call it. `manifest` is None for a whole wiki."""

    folder: WikiFolder
    name: str
    manifest: Manifest | None = None

    @property
    def label(self) -> str:
        """By what the owner's `trust:` names a wiki, and records say where they come from: the name of its folder."""
        return plain_line(PurePath(self.name).name or self.folder.root.resolve().name, _MOST_LABEL)

    @property
    def is_own_shard(self) -> bool:
        """Whether it is a part of an own run, by its manifest and by its name."""
        return self.manifest is not None and bool(shard_of_archive(self.label) or shard_of_name(self.label))


@contextmanager
def joinables(named: Iterable[RecordingPath], report: Report) -> Iterator[list[Joinable]]:
    """The wikis and the shards that paths name, or that lie directly below one, each once.

    A shard that has not ended, or is missing among its own, is a failure; the others are joined. Raises `UsageError`
    for a path that is none of these, and `RunError`.
    """
    places = {str(place): place for each in named for place in _places(each)}
    with tempfile.TemporaryDirectory(prefix="agent-wiki-") as unpacked:
        found: list[Joinable] = []
        broken: set[Shard | None] = set()
        for number, (name, place) in enumerate(places.items()):
            try:
                found.append(_joinable(name, place, Path(unpacked, str(number))))
            except UnitError as error:
                broken |= {_shard_of(place)}
                report.failures.append(Failure(SHARD, name, error.reason))
        _report_missing([each.manifest for each in found if each.manifest is not None], broken, report)
        yield found


def _joinable(name: str, place: RecordingPath, unpacked: Path) -> Joinable:
    """A wiki or a shard as a folder, the one that an archive is unpacked into. Raises `UnitError`."""
    folder = WikiFolder(Path(str(place)), is_dry_run=True)
    if shard_of_archive(place.name):
        if not place.is_file() or place.stat().st_size == 0:
            raise UnitError(_NOT_ENDED)
        unpack(place, WikiFolder(unpacked))
        folder = WikiFolder(unpacked, is_dry_run=True)
    manifest = manifest_in(folder)
    if manifest is None and _shard_of(place):
        raise UnitError(_NOT_ENDED)
    return Joinable(folder, name, manifest)


def _places(path: RecordingPath) -> Iterator[RecordingPath]:
    if isinstance(path, BucketPath):
        below: Sequence[RecordingPath] = _in_bucket(path)
    else:
        folder = Path(str(path))
        if _shard_of(folder) is not None or (folder / CONFIG).is_file() or manifest_in(WikiFolder(folder)) is not None:
            yield folder
            return
        below = sorted(each for each in folder.iterdir() if _shard_of(each)) if folder.is_dir() else []
    if not below:
        raise UsageError(f"{path}: no wiki ({CONFIG} is missing), no shard, and none below it")
    yield from below


def _shard_of(path: RecordingPath) -> Shard | None:
    """The shard that a place holds, by its name."""
    return shard_of_archive(path.name) or shard_of_name(path.name)


def _in_bucket(path: BucketPath) -> list[BucketPath]:
    """The archives directly below an address, or the one that it names."""
    folder = BucketPath(path.root, path.key.removesuffix(_ALL_BELOW[1:]).rstrip("/"))
    if shard_of_archive(folder.name) is not None:
        return [folder] if folder.is_file() else []
    below = (BucketPath(folder.root, key, status) for key, status in listed(folder).objects.items())
    return [each for each in below if shard_of_archive(each.name) is not None and each.parent.key == folder.key]


def _report_missing(manifests: Sequence[Manifest], broken: set[Shard | None], report: Report) -> None:
    runs: defaultdict[int, list[Manifest]] = defaultdict(list, {shard.count: [] for shard in broken if shard})
    for manifest in manifests:
        runs[manifest.shard.count].append(manifest)
        if manifest.unfinished:
            report.warnings.append(f"shard {manifest.shard}: {manifest.unfinished}; run it again, then join it again")
    for count, made in runs.items():
        there = {manifest.shard for manifest in made} | broken
        for number in range(1, count + 1):
            if (shard := Shard(number, count)) not in there:
                report.failures.append(Failure(SHARD, f"shard {shard}", "is missing; run it, then join it"))
        if len({manifest.listing for manifest in made}) > 1:
            report.warnings.append(
                f"the {count} shards did not list the same recordings: some came or went meanwhile, or one machine "
                "sees other files; another run reads what is missing"
            )
