"""What is done with each record of another wiki before it is taken: redacted, checked for contradictions, and judged.

Of a large wiki two processes do it; what is written is written by the one that takes the records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.judged import judged
from agent_wiki.pipeline.joined_evidence import without_contradictions
from agent_wiki.pipeline.load import LoadedWiki
from agent_wiki.pipeline.redacted_sources import note_redacted, without_secrets
from agent_wiki.pipeline.report import Failure, Note, Report
from agent_wiki.redaction.values import Redacted
from agent_wiki.stages.order import entry_types
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.records import SessionRecord, parse_record, plain, record_path, record_text, text_of_values
from agent_wiki.wiki.two_processes import nothing, work_in_parts

_FEWEST = 400  # records: fewer are examined sooner than a second process begins


@dataclass(frozen=True, slots=True)
class JoinedRecord:
    """A record as the wiki takes it. `text` is what its file holds from here on.

    It is made of the record, also where a file lies in the other wiki: that may hold more than was read of it, such as
    a field twice, and nobody has searched that for secrets.
    """

    record: SessionRecord
    text: str
    against: list[Note]


@dataclass(frozen=True, slots=True)
class _Examined:
    """What was done to a record. `changed` is None where nothing was; `text` holds where the record comes from, too."""

    changed: SessionRecord | None
    text: str
    redacted: list[Redacted]
    against: list[Note]
    failure: Failure | None = None


def joined_records(
    theirs: LoadedWiki,
    name: str,
    label: str | None,
    report: Report,
    meanwhile: Callable[[], object] = nothing,
    *,
    is_own: bool,
) -> dict[str, JoinedRecord]:
    """The records of a wiki that is joined, by the id of their session, in its order.

    Each secret is a warning with its kind, file and place. A record that is none without its secret is a failure, and
    left out. `label` is what the others remember that they come from, if anything; a shard of this wiki (`is_own`)
    is not searched for contradictions. `meanwhile`: what else there is to do, while the second process has begun.
    """
    records = theirs.state.records
    examined = _all_examined([*records.items()], partial(_examined, name, label, is_own=is_own), meanwhile)
    joined = {}
    for session_id, record in records.items():
        each = examined[session_id]
        note_redacted(each.redacted, f"{name}/{record_path(session_id)}", report)
        if each.failure is not None:
            report.failures.append(each.failure)
            continue
        kept = _labelled(each.changed or record, label)
        joined[session_id] = JoinedRecord(kept, each.text, each.against)
    return dict(sorted(joined.items()))


def _examined(name: str, label: str | None, record: SessionRecord, *, is_own: bool) -> _Examined:
    path = record_path(record.session_id)
    values = plain(record)
    found, redacted = without_secrets(
        record, values, path, lambda content, at: parse_record(content, at, entry_types())
    )
    if isinstance(found, UnreadablePage):
        return _Examined(None, "", redacted, [], Failure.of(found, f"{name}/{path}"))
    kept, against = (found, []) if is_own else without_contradictions(found)
    kept = judged(kept)
    if kept is not record:
        return _Examined(kept, record_text(_labelled(kept, label)), redacted, against)
    text = text_of_values({**values, "joined_from": label} if _is_to_label(record, label) else values)
    return _Examined(None, text, redacted, against)


def _is_to_label(record: SessionRecord, label: str | None) -> bool:
    """Whether the wiki is to remember where the record comes from, which it does not say itself."""
    return label is not None and record.joined_from is None


def _labelled(record: SessionRecord, label: str | None) -> SessionRecord:
    return replace(record, joined_from=label) if _is_to_label(record, label) else record


def _all_examined(
    records: Sequence[tuple[str, SessionRecord]],
    examine: Callable[[SessionRecord], _Examined],
    meanwhile: Callable[[], object],
) -> dict[str, _Examined]:
    """What was done to each record, by the id of its session, in this process or in a copy of it."""

    def examined(part: range) -> list[tuple[str, _Examined]]:
        return [(records[at][0], examine(records[at][1])) for at in part]

    is_large = len(records) >= _FEWEST
    return dict(work_in_parts(len(records), examined, examined, iter, meanwhile=meanwhile, is_large=is_large))
