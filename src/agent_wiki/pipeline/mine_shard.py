"""`wiki ingest --shard i/n --out PLACE`: one machine's share, for `wiki join`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from agent_wiki.engine import Progress
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.shard_manifest import MANIFEST
from agent_wiki.pipeline.shard_runs import ShardRun, take_settings
from agent_wiki.pipeline.shards import Shard
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.report import Report
from agent_wiki.wiki.store import WikiFolder


def share_of(options: Options, shard: Shard) -> Options:
    """How a shard goes, so that all of them together read, spend and send what the one run of `options` may."""
    most = options.selection.most
    selection = replace(options.selection, shard=shard, most=None if most is None else shard.part_of(most))
    return replace(options, selection=selection, asking=shard.asking(options.asking))


def mine_shard(
    out: Path, paths: Iterable[RecordingPath], options: Options, report: Report, progress: Progress
) -> Report:
    """Mine a share of the recordings into a folder of its own below `out`. Fills in and returns `report`.

    In: the options of a shard's run on the wiki that it will be joined to, which is only read. A shard that was killed,
    or ended by a signal, continues where it was. Raises `RunError`.
    """
    shard, base = options.selection.shard, WikiFolder(options.wiki, is_dry_run=True)
    if shard is None:
        raise UsageError("--out needs --shard")
    shard_run = ShardRun(shard, base)
    options = replace(options, shard_run=shard_run)
    if options.dry_run:
        return run(paths, options, report, progress)
    folder = WikiFolder(out / shard.name)
    with folder.locked(options.lock_timeout_seconds, with_runs=True):
        folder.remove(MANIFEST)
        take_settings(base, folder)
        run(paths, replace(options, wiki=folder.root), report, progress)
        if not report.signal:
            shard_run.finish(folder, report)
    return report
