"""What wikis and shards that are joined have read of files and of buckets, as one wiki knows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from agent_wiki.pipeline import bucket_state, recordings_cache
from agent_wiki.pipeline.recordings_cache import Cache
from agent_wiki.pipeline.shard_sources import Joinable
from agent_wiki.pipeline.versions import Version, superseded
from agent_wiki.readers.buckets import path_of_listed
from agent_wiki.wiki.store import WikiFolder


def join_states(folder: WikiFolder, sources: Sequence[Joinable]) -> Cache:
    """Add what others have read; all that is known then. Where two wikis differ about an object, or two shards, the
    next run reads it.

    A shard is newer than the wiki that it is joined to, and replaces what that knows.
    """
    wikis = (source.folder for source in sources if source.manifest is None)
    known = recordings_cache.load(folder)
    objects = chain.from_iterable(bucket_state.load(each).items() for each in (folder, *wikis))
    entries: Cache = {path: entry for path, entry in known.items() if not bucket_state.is_in_bucket(path)}
    entries |= bucket_state.agreed(objects)
    shards = [source for source in sources if source.manifest is not None]
    read = [recordings_cache.load(shard.folder) for shard in shards]
    for key in chain(*(shard.manifest.gone for shard in shards if shard.manifest), *read):
        entries.pop(key, None)
    new = bucket_state.agreed(chain.from_iterable(each.items() for each in read))
    versions = _versions(new, shards)
    lesser = dict.fromkeys(superseded(versions))
    for version in lesser:
        new[version.file]["sessions"][version.position][2] = "older"
    entries |= new
    kept = {version.session_id: path_of_listed(version.file) for version in versions if version not in lesser}
    recordings_cache.mark_superseded(entries, kept)  # also of what the wiki had read before
    recordings_cache.save(folder, entries)
    return entries


def _versions(entries: Cache, shards: Iterable[Joinable]) -> list[Version]:
    """The sessions that shards read in objects, each once, to be compared with those in other shards."""
    orders = {key: each for shard in shards if shard.manifest for key, each in shard.manifest.orders.items()}
    return [
        Version(session_id, order, key, position)
        for key, found in sorted(orders.items())
        for position, ((session_id, _, _), order) in enumerate(
            zip(entries.get(key, {"sessions": []})["sessions"], found, strict=False)
        )
        if order is not None
    ]
