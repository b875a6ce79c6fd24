"""`wiki ingest --shard i/n --out PLACE`: one machine's share, for `wiki join`."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from agent_wiki.asking.journal import journal_folder
from agent_wiki.engine import Progress
from agent_wiki.engines.recorded import NAME as RECORDED
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.pipeline.shard_archives import archive_name, pack
from agent_wiki.pipeline.shard_manifest import MANIFEST
from agent_wiki.pipeline.shard_runs import ShardRun, take_settings
from agent_wiki.pipeline.shards import Shard
from agent_wiki.readers.buckets import BucketPath
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.readers.stored_objects import uploaded
from agent_wiki.wiki.store import WikiFolder


def share_of(options: Options, shard: Shard) -> Options:
    """How a shard goes, so that all of them together read, spend and send what the one run of `options` may."""
    most = options.selection.most
    selection = replace(options.selection, shard=shard, most=None if most is None else shard.part_of(most))
    return replace(options, selection=selection, asking=shard.asking(options.asking))


def mine_shard(
    out: RecordingPath, paths: Iterable[RecordingPath], options: Options, report: Report, progress: Progress
) -> Report:
    """Mine a share of the recordings: into a folder of its own below `out`, or into one object below it in a bucket.

    In: the options of a shard's run on the wiki that it will be joined to, which is only read. Fills in and returns
    `report`. Raises `RunError`.
    """
    shard = options.selection.shard
    if shard is None:
        raise UsageError("--out needs --shard")
    for option, is_given in (
        ("--max-new-pages", options.new_pages != "all"),
        ("--summaries", options.summaries),
        ("--pii", options.pii),
    ):
        if is_given:
            raise UsageError(f"{option} is for the whole wiki, not for a shard: leave it to the run that joins them")
    report.is_shard = True
    paths = list(paths)
    _check_apart(out, paths)
    if options.engine == RECORDED:  # of the wiki's journal, not of the shard's own
        options = replace(options, engine=f"{RECORDED}:{journal_folder(options.wiki)}")
    options = replace(options, shard_run=ShardRun(shard, WikiFolder(options.wiki, is_dry_run=True)))
    if options.dry_run:
        return run(paths, options, report, progress)
    if isinstance(out, BucketPath):
        _mine_for_bucket(out / archive_name(shard), shard, paths, options, report, progress)
    else:
        _mine_into(WikiFolder(Path(str(out)) / shard.name), paths, options, report, progress)
    return report


def _check_apart(out: RecordingPath, paths: Iterable[RecordingPath]) -> None:
    """Raises `UsageError` where shards would be listed as recordings."""
    for path in paths:
        if f"{out.absolute()}/".startswith(f"{str(path.absolute()).rstrip('/')}/"):
            raise UsageError(f"--out {out}: it lies below {path}, and would be read as recordings; name another place")


def _mine_into(
    folder: WikiFolder, paths: Iterable[RecordingPath], options: Options, report: Report, progress: Progress
) -> bool:
    """Mine a shard into a folder; whether it has ended. One that a kill or a signal ended continues where it was."""
    assert options.shard_run is not None
    with folder.locked(options.lock_timeout_seconds, with_runs=True):
        folder.remove(MANIFEST)
        take_settings(options.shard_run.base, folder)
        run(paths, replace(options, wiki=folder.root), report, progress)
        if not report.signal:
            options.shard_run.finish(folder, report)
    return not report.signal


def _mine_for_bucket(
    target: BucketPath,
    shard: Shard,
    paths: Iterable[RecordingPath],
    options: Options,
    report: Report,
    progress: Progress,
) -> None:
    """The same in a folder that lasts as long as the run. An object that cannot be written is noticed at the start."""
    uploaded(target, b"")
    place = Path(tempfile.mkdtemp(prefix="agent-wiki-"))
    folder = WikiFolder(place / shard.name)
    is_kept = False
    try:
        if _mine_into(folder, paths, options, report, progress):
            pack(folder, place / target.name)
            is_kept = True
            _upload(place / target.name, target)
            is_kept = False
    finally:
        if not is_kept:
            shutil.rmtree(place)


def _upload(archive: Path, target: BucketPath) -> None:
    try:
        uploaded(target, archive)
    except RunError as error:
        raise RunError(f"{error}; the shard is {archive}: `wiki join` takes it as it is") from error
