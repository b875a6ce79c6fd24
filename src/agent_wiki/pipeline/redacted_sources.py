"""What another wiki brings in, without its secrets: records, answers over several pages, pages of other tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from agent_wiki.errors import UnreadablePage
from agent_wiki.pipeline.load import LoadedWiki
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.redaction.values import Redacted, redact_value, redact_whole
from agent_wiki.wiki.corpus_records import parse_corpus_record
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.records import plain

_Record = TypeVar("_Record")


def redact_answers_and_pages(theirs: LoadedWiki, name: str, report: Report) -> None:
    """Redact in place what was loaded of another wiki beside its records; each secret is a warning with kind and place.

    An answer that is none without its secret is a failure, and left out.
    """
    state = theirs.state
    for path, answer in [*state.corpus.items()]:
        kept, found = without_secrets(answer, plain(answer), path, parse_corpus_record)
        note_redacted(found, f"{name}/{path}", report)
        if isinstance(kept, UnreadablePage):
            report.failures.append(Failure.of(kept, f"{name}/{path}"))
            del state.corpus[path]
        else:
            state.corpus[path] = kept
    for path, page in state.foreign.items():
        fields, found = redact_value(page.fields)
        chunks, found_below = redact_value(page.chunks)
        if found or found_below:
            state.foreign[path] = Page(fields, chunks)
            note_redacted([*found, *(replace(each, place="") for each in found_below)], f"{name}/{path}", report)


def without_secrets(
    record: _Record, values: Mapping[str, Any], path: str, parsed: Callable[[bytes, str], _Record]
) -> tuple[_Record | UnreadablePage, list[Redacted]]:
    """A record without its secrets, the same object where it has none, or why it is no record without them.

    `values` are those that its file holds.
    """
    values, found = redact_value(values)
    if not found:
        return record, found
    try:
        return parsed(json.dumps(values).encode("utf-8"), path), found
    except UnreadablePage as error:
        return error, found


def redacted_script(text: str, path: str, report: Report) -> str:
    """A script of another wiki; each secret is a warning."""
    redacted, found = redact_whole(text)
    note_redacted(found, path, report)
    return redacted


def note_redacted(found: Iterable[Redacted], file: str, report: Report) -> None:
    """Add a warning for each: the file, the place in it and the kind."""
    report.warnings += [f"{file}: {each}" for each in found]
