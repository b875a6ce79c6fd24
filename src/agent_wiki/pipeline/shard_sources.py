"""What `wiki join` is given: other wikis, shards, and folders of shards; and which shards are missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agent_wiki.errors import UsageError
from agent_wiki.pipeline.shard_manifest import Manifest, manifest_in
from agent_wiki.pipeline.shards import Shard, shard_of_name
from agent_wiki.report import Failure, Report
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.store import WikiFolder

SHARD = "shard"
"""What a failure of one is called."""


@dataclass(frozen=True, slots=True)
class Joinable:
    """A folder whose records are joined. `manifest` is None for a whole wiki."""

    folder: WikiFolder
    manifest: Manifest | None = None


def sources_in(named: Iterable[Path], report: Report) -> list[Joinable]:
    """The wikis and the shards that paths name, or that lie directly below one, each once.

    A shard that has not ended, or is missing among its own, is a failure; the others are joined. Raises `UsageError`
    for a folder that is none of these.
    """
    found: list[Joinable] = []
    unfinished: set[Shard] = set()
    for path in dict.fromkeys(place for each in named for place in _places(each)):
        folder = WikiFolder(path, is_dry_run=True)
        manifest, shard = manifest_in(folder), shard_of_name(path.name)
        if manifest is None and shard is not None:
            unfinished.add(shard)
            report.failures.append(Failure(SHARD, str(path), "this shard has not ended; run it, then join again"))
        else:
            found.append(Joinable(folder, manifest))
    _report_missing([each.manifest for each in found if each.manifest is not None], unfinished, report)
    return found


def _places(path: Path) -> Iterator[Path]:
    if (path / CONFIG).is_file() or shard_of_name(path.name) or manifest_in(WikiFolder(path)) is not None:
        yield path
        return
    below = sorted(each for each in path.iterdir() if shard_of_name(each.name)) if path.is_dir() else []
    if not below:
        raise UsageError(f"{path}: no wiki ({CONFIG} is missing), no shard, and none below it")
    yield from below


def _report_missing(manifests: Sequence[Manifest], unfinished: set[Shard], report: Report) -> None:
    runs: defaultdict[int, list[Manifest]] = defaultdict(list)
    for manifest in manifests:
        runs[manifest.shard.count].append(manifest)
        if manifest.unfinished:
            report.warnings.append(f"shard {manifest.shard}: {manifest.unfinished}; run it again, then join it again")
    for count, made in runs.items():
        there = {manifest.shard for manifest in made} | unfinished
        for number in range(1, count + 1):
            if (shard := Shard(number, count)) not in there:
                report.failures.append(Failure(SHARD, f"shard {shard}", "is missing; run it, then join it"))
        if len({manifest.listing for manifest in made}) > 1:
            report.warnings.append(
                f"the {count} shards did not list the same recordings: some came or went meanwhile, or one machine "
                "sees other files; another run reads what is missing"
            )
