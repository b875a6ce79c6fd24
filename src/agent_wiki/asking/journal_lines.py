"""A record of the journal as a line, on the disk and in a bucket."""

from __future__ import annotations

import json
from typing import Any

from agent_wiki.redaction.numbers import Numbers
from agent_wiki.redaction.redact import redact_json, redact_text
from agent_wiki.trajectory.json_text import object_in

Record = dict[str, Any]


def line_of(record: Record) -> bytes:
    """A record as its line."""
    return json.dumps(record, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"


def parsed_line(line: bytes) -> Record | None:
    """The record of a line; None for one that is torn or no record."""
    # A torn line was not synced, so nothing used it, even if it parses.
    return object_in(line) if line.endswith(b"\n") else None


def redacted_record(record: Record, numbers: Numbers | None = None) -> Record:
    """A record of an answer without the secrets that it says; any other, and one without, is the same object.

    `numbers` are those of the session that it is about.
    """
    if record.get("kind") != "answer":
        return record
    said = {name: value for name in ("answer", "model", "detail") if isinstance(value := record.get(name), str)}
    changed = {name: redacted for name, value in said.items() if (redacted := _redacted(value, numbers)) != value}
    return {**record, **changed} if changed else record


def _redacted(text: str, numbers: Numbers | None) -> str:
    """A model's text: of the JSON in it each string is judged for itself, so that it stays JSON."""
    start, end = text.find("{"), text.rfind("}") + 1
    if not 0 <= start < end:
        return redact_text(text, numbers)[0]
    prose = [redact_text(each, numbers)[0] for each in (text[:start], text[end:])]
    return redact_json(text[start:end], numbers)[0].join(prose)
