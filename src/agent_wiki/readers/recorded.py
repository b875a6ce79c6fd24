"""Recorded values that each format writes slightly differently: times, content parts, token counts, ids.

Pure functions over parsed JSON. They return None (or an empty string) for a value that is not recorded.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from agent_wiki.trajectory import Usage, without_surrogates
from agent_wiki.wiki.values import entries_of
from agent_wiki.wiki.values import mapping as mapping

objects = entries_of
"""The JSON objects in a list; empty for any other value."""

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # by which programs name sessions
_LONGEST_TIME = 64  # characters: a longer text is no time, and is not kept
_LAST_EPOCH_SECOND = 10**11  # larger numbers are milliseconds: as seconds this is the year 5138
_WRAPPING = frozenset({"role", "content", "timestamp", "raw"})


def unwrapped(value: Any) -> Any:
    """The recorder's own line, where another program keeps it in `raw` beside a role and the text, else the value."""
    is_kept = isinstance(value, dict) and isinstance(value.get("raw"), dict) and value.keys() <= _WRAPPING
    return value["raw"] if is_kept and {"role", "content"} <= value.keys() else value


def epoch_seconds(value: Any) -> float | None:
    """A recorded time (ISO 8601, or epoch seconds or milliseconds) as seconds since 1970; None for any other value.

    A time without a zone is taken as UTC.
    """
    if (epoch := number(value)) is not None:
        return epoch / 1000 if abs(epoch) > _LAST_EPOCH_SECOND else epoch
    return _seconds_written(value) if isinstance(value, str) and len(value) <= _LONGEST_TIME else None


@lru_cache(maxsize=1024)  # the parts of one reply have one time, and several readers ask for it
def _seconds_written(value: str) -> float | None:
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def iso_utc(value: Any) -> str | None:
    """A recorded time as ISO 8601 in UTC ending in Z, to the millisecond if it has a fraction; else None."""
    seconds = epoch_seconds(value)
    if seconds is None:
        return None
    try:
        moment = datetime.fromtimestamp(round(seconds, 3), tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    precision = "milliseconds" if moment.microsecond else "seconds"
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


def seconds_between(start: Any, end: Any) -> float | None:
    """Seconds from one recorded time to a later one, to the millisecond; None when either is missing."""
    first, last = epoch_seconds(start), epoch_seconds(end)
    if first is None or last is None or last < first:
        return None
    return round(last - first, 3)


def flat_text(content: Any) -> str:
    """Content as text: a string, or the parts of a list one per line, with placeholders such as `[image]`."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    return "\n".join(text for text in map(_part_text, content) if text)


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    text = part.get("text")
    if isinstance(text, str):
        return text
    kind = str(part.get("type", ""))
    media = part.get("inlineData") or part.get("fileData")
    if isinstance(media, dict):
        kind = str(media.get("mimeType", "file"))
    for medium in ("image", "audio", "video"):
        if medium in kind:
            return f"[{medium}]"
    return "[file]" if media or "file" in kind else ""


def text_or_none(value: Any) -> str | None:
    """A string that is not blank, else None."""
    return value if isinstance(value, str) and value.strip() else None


def identifier(value: Any) -> str | None:
    """An id or a label as a string; it may be recorded as a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_or_none(value)


def count(value: Any) -> int | None:
    """A recorded number of tokens, a non-negative integer; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def number(value: Any) -> float | None:
    """A recorded finite number; None for anything else, including booleans."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def recorded_call(record: dict[str, Any], call_id: str, name: str, arguments: str) -> tuple[str | None, str, Any]:
    """A call by the keys that a format has for its id, its name and its arguments."""
    return text_or_none(record.get(call_id)), str(record.get(name, "")), record.get(arguments)


def id_of_first(prefix: str, first: dict[str, Any]) -> str | None:
    """An id from the first entry's id and time, the same for a file that has grown since; None where one is missing."""
    entry_id, written = first.get("id"), first.get("timestamp")
    if not isinstance(entry_id, str) or not isinstance(written, str):
        return None
    return f"{prefix}-{short_digest((entry_id, written))}"


TOKENS_IN_CAMEL_CASE = {
    "inputTokens": "input_tokens",
    "cacheCreationTokens": "cache_creation_input_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
    "outputTokens": "output_tokens",
}
"""The names of `Usage` by those of several programs, for `add_counts`."""


def add_counts(tokens: Counter[str], recorded: dict[str, Any], names: Mapping[str, str]) -> None:
    """Add recorded numbers of tokens to sums by the names of `Usage`; `names` says which is which."""
    for name, ours in names.items():
        if (spent := count(recorded.get(name))) is not None:
            tokens[ours] += spent


def usage_of(tokens: Counter[str]) -> Usage | None:
    """Token sums by the names of `Usage`; None when nothing was recorded. A name that was never counted is None."""
    return Usage(**dict(tokens)) if tokens else None


def most_used(names: Counter[str]) -> str | None:
    """The most frequent name, the first of equals; None when there are none."""
    return names.most_common(1)[0][0] if names else None


def short_digest(texts: Iterable[str], length: int = 8) -> str:
    """The first hex characters of a SHA-256 over the texts, for recordings without ids."""
    hasher = hashlib.sha256()
    for text in texts:
        hasher.update(without_surrogates(text).encode())
        hasher.update(b"\0")
    return hasher.hexdigest()[:length]
