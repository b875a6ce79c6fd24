"""join: the records of other wikis, added to this one. For machines and branches that mined separately.

Joining is the union of the record files: commutative, associative and idempotent. Wikis joined in any order, and any
order of batches, give the bytes of one wiki that was built from all recordings. What people wrote in the other
`_config.yaml` is not copied.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from agent_wiki.engine import Progress
from agent_wiki.engines import one_round, opened_engine
from agent_wiki.errors import UnreadablePage, UsageError
from agent_wiki.pages.state import view_of
from agent_wiki.pipeline import new_pages, recordings_cache
from agent_wiki.pipeline.collector import cycle_search_paused
from agent_wiki.pipeline.forget import pages_of
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.join_states import join_states
from agent_wiki.pipeline.joined_records import joined_records
from agent_wiki.pipeline.load import LoadedWiki, load_wiki
from agent_wiki.pipeline.mine import FORGOTTEN
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.recordings_cache import Cache
from agent_wiki.pipeline.redacted_sources import redact_answers_and_pages
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.pipeline.shard_manifest import digest_of_records
from agent_wiki.pipeline.shard_sources import SHARD, Joinable, joinables
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.stages.order import CATALOG, CORPUS_STAGES
from agent_wiki.wiki.config import forgotten_as
from agent_wiki.wiki.layout import kind_of, page_id
from agent_wiki.wiki.records import former_record_path, record_path
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import counted

_MOST_NAMED = 3

_Read: TypeAlias = tuple[LoadedWiki, list[Failure]]
"""Another wiki, and of which of its files nothing could be read."""


@cycle_search_paused()
def join_wikis(others: Iterable[RecordingPath], options: Options, report: Report, progress: Progress) -> Report:
    """Add the records of every session of `others` to the wiki, then run the stages over all sessions.

    In: other wikis, shards, and places where shards lie. Of a session that both hold the larger version is kept. Pages
    that other tools wrote are taken over where this wiki has none of that name. Raises `UsageError` for a path that is
    none of these, or this wiki itself, and `RunError`.
    """
    folder = WikiFolder(options.wiki, is_dry_run=options.dry_run)
    folder.check_place()
    others = list(others)
    if any(isinstance(each, Path) and each.resolve() == options.wiki.resolve() for each in others):
        raise UsageError(f"{options.wiki}: this is the wiki that others are joined into; name another one")
    with (
        joinables(others, report) as sources,
        opened_engine(options.engine, options.wiki, options.asking) as opened,
        folder.locked(options.lock_timeout_seconds),
        one_round(opened.engine),
    ):
        publisher = Publisher(folder, opened.engine, report)
        publisher.load()
        publisher.drop_forgotten()
        joined, ahead = [], deque[_Read]()
        read_next = partial(_read_next, iter(sources), ahead)
        for position, source in enumerate(sources):
            progress("join", position, len(sources))
            if not ahead:
                read_next()
            if _join(source, ahead.popleft(), publisher, read_next):
                joined.append(source)
        joined = [each for each in joined if each.is_own_shard or each.label in publisher.state.config.trusted]
        read = join_states(folder, joined)
        _forget_replaced(joined, recordings_cache.session_ids(read), publisher)
        _report_barren(sources, read, publisher)
        stages = (*CORPUS_STAGES, CATALOG)
        publisher.finish(stages, progress, archive_covered=options.archive_covered, new_pages=options.new_pages)
        new_pages.end(folder)
        report.add_account(publisher.engine.account())
    return report


def _report_barren(sources: Sequence[Joinable], read: Cache, publisher: Publisher) -> None:
    """Make it a failure, as one run does, that no file that any of the shards has read is a recording."""
    is_known = bool(read) and all(each.manifest and not each.manifest.unfinished for each in sources)
    has_recordings = publisher.state.records or recordings_cache.session_ids(read)
    if is_known and not has_recordings and not publisher.report.failures:
        names = ", ".join(each.name for each in sources[:_MOST_NAMED])
        publisher.report.failures.append(Failure("recording", names, "no recording in any of these shards"))


def _join(source: Joinable, read: _Read, publisher: Publisher, read_next: Callable[[], None]) -> bool:
    """Add one wiki, or one shard unless its records are not those that it ended with; whether it was added.

    In: the records of it; what reads the next one, while a second process looks at the records of this one.
    """
    report, folder = publisher.report, source.folder
    theirs, failures = read
    report.failures += failures
    is_trusted = source.is_own_shard or source.label in publisher.state.config.trusted
    if source.manifest is not None:
        if source.manifest.records not in _digests_of_records(theirs.state.digests):
            reason = "its records are not those that it ended with; run it or copy it again, then join it"
            report.failures.append(Failure(SHARD, source.name, reason))
            return False
        report.failures += [each for each in source.manifest.failures if each not in report.failures]
    label = None if is_trusted else source.label
    unseen = 0
    joined = joined_records(theirs, source.name, label, report, read_next, is_own=source.is_own_shard)
    redact_answers_and_pages(theirs, source.name, report)
    renewed = {now for former, now in (source.manifest.replaced if source.manifest else ()) if former == now}
    forgotten, left_out = publisher.state.config.forgotten, set[str]()
    for each in joined.values():
        if forgotten_as(forgotten, each.record.session_id, each.record.parent_session_id):
            left_out |= {each.record.session_id, *pages_of(each.record)}
            report.sessions[FORGOTTEN] += 1
            continue
        is_renewed = each.record.session_id in renewed
        is_taken = publisher.take(each.record, rewrite=is_renewed, text=each.text, is_judged=True)
        report.sessions["joined" if is_taken else "older"] += 1
        report.dropped_claims += each.against if is_taken else ()
        unseen += is_taken and each.record.joined_from is not None
    if unseen:
        report.warnings.append(_UNSEEN.format(count=counted(unseen, "session"), name=source.label))
    for path, answer in theirs.state.corpus.items():
        if left_out.isdisjoint(answer.about):  # it may say of the others what a forgotten session said
            publisher.state.corpus.setdefault(path, answer)
    _take_foreign(theirs, folder, publisher)
    return True


_UNSEEN = (
    "{count} of {name}: nobody here has seen the recordings, so that what they taught counts as strangers' words "
    "until they are read here, or `trust: [{name}]` is in _config.yaml"
)


def _digests_of_records(digests: Mapping[str, str]) -> Iterator[str]:
    """Of records by session id, under the names that they have and under those of earlier versions."""
    for path_of in (record_path, former_record_path):
        yield digest_of_records({path_of(session_id): digest for session_id, digest in digests.items()})


def _forget_replaced(joined: Iterable[Joinable], listed: Container[str], publisher: Publisher) -> None:
    """Take out sessions that a shard knows under another id now, as one run does."""
    for source in joined:
        for former, session_id in source.manifest.replaced if source.manifest else ():
            if session_id in publisher.state.records and former not in listed and former != session_id:
                publisher.forget(former)


def _read_next(sources: Iterator[Joinable], ahead: deque[_Read]) -> None:
    """Read the next wiki, if there is one."""
    source = next(sources, None)
    if source is not None:
        problems: list[UnreadablePage] = []
        theirs = load_wiki(source.folder, problems, is_joined=True, is_judged=False)
        found = [Failure.of(problem) for problem in problems]
        ahead.append((theirs, [replace(each, unit=f"{source.name}/{each.unit}") for each in found]))


def _take_foreign(theirs: LoadedWiki, source: WikiFolder, ours: Publisher) -> None:
    """Copy pages that other tools wrote, unless one of that name or with that id exists here or was rejected."""
    if not theirs.state.foreign:
        return
    here = view_of(ours.state)
    known = here.guidelines.keys() | here.foreign_guidelines.keys()
    for path, page in theirs.state.foreign.items():
        name = str(page.fields.get("id") or page_id(path))
        if name in ours.state.config.rejected or (kind_of(path) == "guideline" and name in known):
            continue
        if path not in ours.state.foreign:
            ours.state.foreign[path] = page
            ours.take_scripts(path, source)
