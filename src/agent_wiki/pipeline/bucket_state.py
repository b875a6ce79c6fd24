"""Which objects of buckets a wiki has read, and what was in them: `_buckets.jsonl`, one line an object, sorted by key.

It lies beside the records, for it has to be where they are: in git, so that a run in a fresh clone reads only what is
new or changed. Git merges it by keeping the lines of both sides. An object of which two sides say something different
is read again, which is always right. Without the file all is read again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agent_wiki.readers.recording_path import Signature
from agent_wiki.redaction.redact import redact_text
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import counted, some_of

NAME = "_buckets.jsonl"
MOST_FAILED_RUNS = 3

_KEY = "key"
_MOST_NAMED = 3
_DIGITS = 16
_LEFT = regex(rf"#[0-9a-f]{{{_DIGITS}}}\Z")


def is_in_bucket(key: str) -> bool:
    """Whether the key of an entry is an object's address, not a path on the disk."""
    return "://" in key


def load(folder: WikiFolder) -> dict[str, dict[str, Any]]:
    """Address → entry. A line that is none, as git's marks of a conflict, is left out."""
    lines = folder.text_or_empty(NAME).split("\n")  # a key may have what `splitlines` takes for the end of a line
    return agreed((entry.pop(_KEY), entry) for line in lines if (entry := _parsed(line)) is not None)


def kept_key(address: str, signature: Callable[[], Signature]) -> str:
    """The key of an object's entry: its address; of one that holds a secret what is left of it, and a digest.

    The digest is that of what is left and of the object's version, never of the secret. `signature` is asked for then.
    """
    left, secrets = redact_text(address)
    if not secrets:
        return address
    return f"{left}#{sha256_of(json.dumps([left, *signature()]))[:_DIGITS]}"


def is_left_of_secret(key: str) -> bool:
    """Whether a key may be what `kept_key` makes of an address that holds a secret."""
    return _LEFT.search(key) is not None


def known_below(folder: WikiFolder, address: str) -> int:
    """How many objects below an address a wiki has read, and were there when it last listed any."""
    return sum(key.startswith(f"{address.rstrip('/')}/") for key in load(folder))


def agreed(entries: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Entries by key, but for those of which two say something different."""
    found: dict[str, dict[str, Any]] = {}
    differing: set[str] = set()
    for key, entry in entries:
        if found.setdefault(key, entry) != entry:
            differing.add(key)
    return {key: entry for key, entry in found.items() if key not in differing}


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get(_KEY), str) else None


def save(folder: WikiFolder, entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Write what is known of objects; no file where nothing is. An address that holds a secret is not written down."""
    lines = [
        json.dumps({**entry, _KEY: key}, ensure_ascii=False, sort_keys=True) + "\n"
        for key, entry in sorted(entries.items())
        if not redact_text(key)[1]
    ]
    if lines or folder.read_text(NAME, errors="replace"):
        folder.write_text(NAME, "".join(lines))


def failed_again(before: Mapping[str, Any], night: str) -> dict[str, Any]:
    """What an entry says of an object's failures once it has failed in a run of a night ("": a night of its own).

    The runs of one night count once, for a job repeats its run where its push is refused.
    """
    runs = before.get("failed_runs", 0)
    if not night:
        return {"failed_runs": runs + 1}
    return {"failed_runs": runs + (before.get("failed_night") != night), "failed_night": night}


def is_set_aside(entry: Mapping[str, Any], night: str = "") -> bool:
    """Whether an object failed so often that no run reads it until it changes or somebody lets it in again.

    Not in the night of its last failure: each run of that says that it failed.
    """
    is_of_before = not night or entry.get("failed_night") != night
    return bool(entry.get("failed_runs", 0) >= MOST_FAILED_RUNS) and is_of_before


def is_due(entry: Mapping[str, Any], night: str = "", *, is_retried: bool) -> bool:
    """Whether an object failed and the run will read it again: one that is set aside only where it lets such in."""
    return "failed_runs" in entry and (is_retried or not is_set_aside(entry, night))


def warnings_of_gone(keys: Sequence[str]) -> list[str]:
    """That recordings are not in their bucket any more, in one line; none without any."""
    if not keys:
        return []
    are, which = "is" if len(keys) == 1 else "are", some_of(keys, _MOST_NAMED)
    return [
        f"{counted(len(keys), 'recording')} {are} gone from the bucket, what was learnt stays (wiki forget): {which}"
    ]
