"""What another wiki brings in, without its secrets: records, answers over several pages, pages of other tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from agent_wiki.errors import UnreadablePage
from agent_wiki.pipeline.load import LoadedWiki
from agent_wiki.redaction.values import Redacted, redact_value, redact_whole
from agent_wiki.report import Failure, Report
from agent_wiki.stages.order import entry_types
from agent_wiki.wiki.corpus_records import parse_corpus_record
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.records import parse_record, plain, record_path

_Record = TypeVar("_Record")


def redact_joined(theirs: LoadedWiki, name: str, report: Report) -> None:
    """Redact in place what was loaded of another wiki; each secret is a warning with its kind, file and place.

    A record that is none without its secret is a failure, and left out.
    """
    state = theirs.state
    for session_id, record in [*state.records.items()]:
        path = record_path(session_id)
        redacted = _record(record, path, name, report, lambda text, at: parse_record(text, at, entry_types()))
        if redacted is None:
            del state.records[session_id]
        elif redacted is not record:
            state.records[session_id] = theirs.unwritten[path] = redacted
    for path, answer in [*state.corpus.items()]:
        kept = _record(answer, path, name, report, parse_corpus_record)
        if kept is None:
            del state.corpus[path]
        else:
            state.corpus[path] = kept
    for path, page in state.foreign.items():
        fields, found = redact_value(page.fields)
        chunks, found_below = redact_value(page.chunks)
        if found or found_below:
            state.foreign[path] = Page(fields, chunks)
            note_redacted([*found, *(replace(each, place="") for each in found_below)], f"{name}/{path}", report)


def _record(
    record: _Record, path: str, name: str, report: Report, parsed: Callable[[bytes, str], _Record]
) -> _Record | None:
    values, found = redact_value(plain(record))
    if not found:
        return record
    note_redacted(found, f"{name}/{path}", report)
    try:
        return parsed(json.dumps(values).encode("utf-8"), path)
    except UnreadablePage as error:
        report.failures.append(Failure.of(error, f"{name}/{path}"))
        return None


def redacted_script(text: str, path: str, report: Report) -> str:
    """A script of another wiki; each secret is a warning."""
    redacted, found = redact_whole(text)
    note_redacted(found, path, report)
    return redacted


def note_redacted(found: Iterable[Redacted], file: str, report: Report) -> None:
    """Add a warning for each: the file, the place in it and the kind."""
    report.warnings += [f"{file}: {each}" for each in found]
