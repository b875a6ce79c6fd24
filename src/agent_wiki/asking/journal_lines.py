"""A record of the journal as a line, on the disk and in a bucket."""

from __future__ import annotations

import json
from typing import Any

Record = dict[str, Any]


def line_of(record: Record) -> bytes:
    """A record as its line."""
    return json.dumps(record, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"


def parsed_line(line: bytes) -> Record | None:
    """The record of a line; None for one that is torn or no record."""
    if not line.endswith(b"\n"):
        return None  # even if it parses: it was not synced, so nothing used it
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
