"""One shard of the recordings, mined into a folder of its own: its records, and what it says of itself at its end.

No page is rendered and no question over several sessions asked: that is the work of `wiki join`, which puts all shards
into one wiki. What that wiki holds already is known here, so that only what is new or changed is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from agent_wiki.asking.prices import MODELS
from agent_wiki.errors import UnreadablePage
from agent_wiki.pipeline import bucket_state, recordings_cache
from agent_wiki.pipeline.inputs import InputFile
from agent_wiki.pipeline.load import load_wiki
from agent_wiki.pipeline.mine import Mined
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.recordings_cache import Cache
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.pipeline.session_stages import is_superseded
from agent_wiki.pipeline.shard_manifest import MANIFEST, Manifest, digest_of_records
from agent_wiki.pipeline.shards import Shard
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.records import FOLDER as SESSIONS
from agent_wiki.wiki.records import Order, content_digest, record_path
from agent_wiki.wiki.store import WikiFolder


@dataclass(slots=True)
class ShardRun:
    """A shard while it is mined. `base` is the wiki that it will be joined to, which need not exist yet."""

    shard: Shard
    base: WikiFolder
    listing: str = ""
    entries: Cache = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    orders: dict[str, list[Order | None]] = field(default_factory=dict)
    replaced: list[tuple[str, str]] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def begin(self, publisher: Publisher, listing: str) -> None:
        """Take notice of the sessions that the base holds. Its records are not written again."""
        self.listing = listing
        problems: list[UnreadablePage] = []
        own = publisher.state.records
        for session_id, record in load_wiki(self.base, problems, is_joined=True).state.records.items():
            mine = own.get(session_id)
            if mine is None or is_superseded(mine.order, mine.recording.file, record.order, record.recording.file):
                own[session_id] = record
        publisher.report.failures += [Failure.of(problem) for problem in problems]

    def note(self, cache: Cache, files: Sequence[InputFile], read: Mapping[RecordingPath, Mined]) -> None:
        """Take notice of what was read, and of what is known of the files of this share."""
        keys = [recordings_cache.key_of(file.path) for file in files]
        self.entries = {key: cache[key] for key in keys if key in cache}
        self.gone = sorted(key for key in bucket_state.load(self.base) if key not in cache)
        self.orders = {}
        sessions = [session for mined in read.values() for session in mined.sessions]
        self.replaced = sorted((former, each.session_id) for each in sessions for former in each.replaces)
        self._seen = {session_id for entry in self.entries.values() for session_id, _, _ in entry["sessions"]}
        self._seen.update(session.session_id for session in sessions)
        for path, mined in read.items():
            key = str(path.resolve())
            if key in self.entries and bucket_state.is_in_bucket(key):
                orders: list[Order | None] = [None] * len(mined.sessions)
                for version in mined.versions(key):
                    orders[version.position] = version.order
                self.orders[key] = orders

    def finish(self, folder: WikiFolder, report: Report) -> None:
        """Write down what was read, and last of all that the shard has ended."""
        supported = set(map(record_path, self._seen))
        for path, _ in folder.files_of(SESSIONS, ".json", but=supported):
            folder.remove(path)  # of an earlier attempt, over other recordings
        recordings_cache.save(folder, self.entries)
        records = {path: content_digest(content) for path, content in folder.files_of(SESSIONS, ".json")}
        unfinished = report.stopped or (f"{len(report.waiting)} questions wait for a batch" if report.waiting else "")
        manifest = Manifest(
            self.shard,
            self.listing,
            digest_of_records(records),
            self.gone,
            self.orders,
            self.replaced,
            [each for each in report.failures if each.kind != UnreadablePage.kind],  # which the base has
            unfinished,
        )
        folder.write_text(MANIFEST, manifest.to_text())


def take_settings(base: WikiFolder, folder: WikiFolder) -> None:
    """Copy what decides about answers: the configuration, the models and the owner's own prompts."""
    own = [path for path, _ in folder.files_of("prompts", "")]
    for path in sorted({CONFIG, MODELS, *own, *(path for path, _ in base.files_of("prompts", ""))}):
        text = base.read_text(path)
        if text is None:
            folder.remove(path)
        else:
            folder.write_text(path, text)
