"""The state of a wiki as its owner asks for it: pages, recordings that changed, what waits, what going on costs."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.asking.ledger import cost_report
from agent_wiki.changes.checks import quarantined_in
from agent_wiki.checks.subject import CheckedWiki
from agent_wiki.errors import UnreadablePage
from agent_wiki.harness.connections import connections
from agent_wiki.pipeline import finished, recordings_cache
from agent_wiki.pipeline.bucket_state import is_in_bucket, is_set_aside
from agent_wiki.pipeline.forget_machinery import are_forgotten
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.pipeline.new_pages import listed
from agent_wiki.retrieval.rows import index_fields
from agent_wiki.spending import total_of
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import INDEX, SESSIONS
from agent_wiki.wiki.missing import no_wiki
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import counted

_MOST_FOLDERS = 3
_ORDER = ("skill", "cluster", "guideline", "task", "subtask", "episode")


@dataclass(frozen=True, slots=True)
class ReadRecordings:
    """The recordings that were read from this machine's disk, and which changed, came or went since.

    New are files beside a known one of a folder that was named, with its ending, but for those whose sessions were
    `forgotten`. `in_buckets` counts objects that were read, by whatever machine; buckets are not asked. `set_aside` are
    those that failed too often.
    """

    read: int
    changed: tuple[str, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    forgotten: tuple[str, ...] = ()
    in_buckets: int = 0
    set_aside: tuple[str, ...] = ()

    @property
    def to_read(self) -> tuple[str, ...]:
        """Those that the next run reads."""
        return (*self.new, *self.changed)

    def __str__(self) -> str:
        far = f"{counted(self.in_buckets, 'recording')} in buckets, where only a run looks what is new"
        near = [self._on_this_machine()] if self.read or not self.in_buckets else []
        return "; ".join([*near, far] if self.in_buckets else near)

    def _on_this_machine(self) -> str:
        if not self.read:
            return "no recording on this machine"
        found = ((len(self.new), "new"), (len(self.changed), "changed"), (len(self.gone), "gone"))
        parts = [f"{count} {what}" for count, what in found if count]
        since = f"since then {', '.join(parts)}" if parts else "nothing changed since"
        left = f"; {len(self.forgotten)} of forgotten sessions still there" if self.forgotten else ""
        return f"{counted(self.read, 'recording')} on this machine; {since}{left}"


@dataclass(frozen=True, slots=True)
class WikiStatus:
    """What `wiki status` says. `pages`: kind → count; `unpublished` counts lesson pages that a limit holds back.

    `outdated` are generated files that the next `wiki catalog` writes or removes, as after a merge in git.

    `spent_usd` is what models were paid so far, None where an answer has no price; `usd_a_session` the average.
    """

    wiki: str
    sessions: int
    pages: dict[str, int]
    recordings: ReadRecordings
    edited: tuple[str, ...]
    missing: tuple[str, ...]
    outdated: tuple[str, ...]
    quarantined: tuple[str, ...]
    unpublished: int
    batches: tuple[str, ...]
    unreadable: tuple[str, ...]
    agents: tuple[str, ...]
    calls: int
    spent_usd: float | None
    usd_a_session: float | None

    def to_json(self) -> dict[str, Any]:
        """As JSON values, keys always the same."""
        return asdict(self)

    def lines(self) -> list[str]:
        """For a person: what is here, what changed, what waits with the command that settles it, what it costs."""
        kinds = ", ".join(counted(self.pages[kind], kind) for kind in _ORDER if kind in self.pages)
        lines = [f"wiki:    {self.wiki}: {counted(self.sessions, 'session')}; {kinds or 'no lesson yet'}"]
        lines.append(f"read:    {self.recordings}")
        lines += [f"waits:   {each}" for each in self._waiting()] or ["waits:   nothing"]
        lines.append(f"agents:  {', '.join(self.agents) or 'none is connected: wiki connect --list'}")
        return [*lines, f"cost:    {self._cost()}"]

    def _waiting(self) -> Iterator[str]:
        due = self.recordings.to_read
        if due:
            folders = sorted({str(Path(path).parent) for path in due})
            named = " ".join(map(shlex.quote, folders[:_MOST_FOLDERS]))
            more = f" (and {counted(len(folders) - _MOST_FOLDERS, 'other folder')})" if folders[_MOST_FOLDERS:] else ""
            yield f"{counted(len(due), 'recording')} to read: wiki ingest {named}{more}"
        if self.edited:
            yield f"{counted(len(self.edited), 'page')} edited by a person: wiki review"
        if self.missing:
            yield f"{counted(len(self.missing), 'page')} gone from the folder: wiki catalog renders them again"
        if self.outdated:
            files = counted(len(self.outdated), "generated file")
            yield f"{files} not as the records render {'it' if len(self.outdated) == 1 else 'them'}: wiki catalog"
        if self.quarantined:
            yield f"{counted(len(self.quarantined), 'file')} in quarantine: wiki review"
        if self.unpublished:
            yield f"{counted(self.unpublished, 'new page')} to publish: wiki catalog, or nights of --max-new-pages N"
        if aside := len(self.recordings.set_aside):
            again = f"wiki ingest ADDRESS --retry-set-aside reads {'it' if aside == 1 else 'them'} again"
            yield f"{counted(aside, 'object')} set aside after three failed runs: {again}"
        if self.batches:
            yield f"answers to {len(self.batches)} of a model's batches: run wiki ingest again to collect them"
        if self.unreadable:
            yield f"{counted(len(self.unreadable), 'file')} that cannot be read: {self.unreadable[0]}"

    def _cost(self) -> str:
        if not self.calls:
            return "no model was asked; what rules read costs nothing"
        if self.spent_usd is None or self.usd_a_session is None:
            return f"{counted(self.calls, 'call')}, no price"
        due = len(self.recordings.to_read)
        ahead = f"; {counted(due, 'recording')} to read, about ${due * self.usd_a_session:.2f}" if due else ""
        return f"{counted(self.calls, 'call')}, ${self.spent_usd:.2f} so far{ahead}"


def status_of(wiki: Path, project: Path) -> WikiStatus:
    """The state of a wiki, and of the agents of a project. Raises `UsageError` where there is no wiki."""
    if not (wiki / INDEX).is_file():
        raise no_wiki(wiki)
    problems: list[UnreadablePage] = []
    loaded = read_wiki(wiki, problems)
    spent = total_of(cost_report(wiki).runs.values())
    sessions = len(list((wiki / SESSIONS).glob("*.json")))
    rows = list(index_fields((wiki / INDEX).read_bytes()))
    is_known = spent.calls > 0 and not spent.unpriced
    missing = {str(row["link"]) for row in rows if not (wiki / str(row["link"])).is_file()}
    return WikiStatus(
        wiki=str(wiki),
        sessions=sessions,
        pages=dict(Counter(str(row["kind"]) for row in rows)),
        recordings=_recordings(WikiFolder(wiki)),
        edited=tuple(sorted({*loaded.pages.edited} - {*loaded.state.config.kept})),
        missing=tuple(sorted(missing)),
        outdated=tuple(sorted(_outdated(wiki) - missing)),
        quarantined=tuple(quarantined_in(wiki)),
        unpublished=len(listed(WikiFolder(wiki))),
        batches=tuple(_batches(wiki)),
        unreadable=tuple(str(each) for each in problems),
        agents=tuple(each.agent.name for each in connections(project) if each.is_connected),
        calls=spent.calls,
        spent_usd=round(spent.cost_usd, 6) if is_known else None,
        usd_a_session=round(spent.cost_usd / sessions, 6) if is_known and sessions else None,
    )


def _outdated(wiki: Path) -> set[str]:
    """The generated files that `wiki catalog` would write or remove; nobody need look where the last run left all."""
    if finished.nothing_to_catalog(wiki) is not None:
        return set()
    checked = CheckedWiki(wiki, archive_covered=finished.archives_covered(wiki))
    if checked.why_not_loaded or checked.records_elsewhere is not None:
        return set()
    return {*checked.rendering.planned, *checked.rendering.removed}


def _recordings(folder: WikiFolder) -> ReadRecordings:
    cache = recordings_cache.load(folder)
    known = [
        Path(path) for path, entry in cache.items() if not is_in_bucket(path) and recordings_cache.is_recording(entry)
    ]
    there = [path for path in known if path.exists()]
    changed = [path for path in there if recordings_cache.unchanged(cache, path) is None]
    beside = _names(_beside(there, cache))
    forgotten = are_forgotten(folder, beside)
    return ReadRecordings(
        read=len(known),
        changed=_names(changed),
        new=tuple(each for each in beside if each not in forgotten),
        gone=_names(path for path in known if path not in there),
        forgotten=tuple(forgotten),
        in_buckets=sum(is_in_bucket(key) and bool(entry["sessions"]) for key, entry in cache.items()),
        set_aside=tuple(sorted(key for key, entry in cache.items() if is_set_aside(entry))),
    )


def _beside(known: Iterable[Path], cache: recordings_cache.Cache) -> Iterator[Path]:
    """The files of folders that were read as a whole, and not only files of them that were named."""
    listed = (path for path in known if "is_named" not in cache[str(path)])
    for parent, suffix in sorted({(path.parent, path.suffix) for path in listed}):
        for path in parent.glob(f"*{suffix}"):
            if path.is_file() and str(path.resolve()) not in cache:
                yield path


def _names(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(sorted(map(str, paths)))


def _batches(wiki: Path) -> list[str]:
    """The batches that were sent and have not ended, by the journal."""
    begun: set[str] = set()
    for record in records(journal_folder(wiki), []):
        if record.get("kind") == "batch":
            begun.add(str(record.get("batch")))
        elif record.get("kind") == "batch-ended":
            begun.discard(str(record.get("batch")))
    return sorted(begun)
