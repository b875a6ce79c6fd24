"""The index of a large wiki in pieces that an agent can read: one file a tag, and a table of contents.

A small wiki has no such files. `_index.jsonl` remains complete, for tools and for searching with `grep`; the shards
hold the same rows, and each file is bounded however large the wiki grows.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent_wiki.wiki.layout import slug

FOLDER = "_index"
CONTENTS = f"{FOLDER}/_contents.jsonl"
MOST_WHOLE = 500  # rows that an agent can be asked to read in one file
MOST_ROWS = 100  # of a shard: some 40 kB
MOST_SHARDS = 150
_OTHER = "_other"
_SHARD_NAME = re.compile(r"(?:[a-z0-9][a-z0-9-]*|_contents|_other)\.jsonl")
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def shards(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Path → text of the table of contents and of each shard; empty for at most 500 rows.

    A row is in the shard of each of its tags that has one. The 150 tags with the most rows have one; rows with
    none of these tags are in `_other`. A shard holds the first 100 of its rows: by the index's order of kinds, then
    by support. The table says how many there are.
    """
    if len(rows) <= MOST_WHOLE:
        return {}
    by_name = _by_tag(rows)
    ranked = sorted(by_name, key=lambda name: (-len(by_name[name]), name))
    kept = sorted(ranked[:MOST_SHARDS])
    placed = {number for name in kept for number in by_name[name]}
    chosen = {name: by_name[name] for name in kept}
    left = [number for number in range(len(rows)) if number not in placed]
    if left:
        chosen[_OTHER] = left
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    ranks = [(kinds.index(row["kind"]), -_sessions(row), number) for number, row in enumerate(rows)]
    files = {f"{FOLDER}/{name}.jsonl": _shard(rows, numbers, ranks) for name, numbers in chosen.items()}
    files[CONTENTS] = "".join(f"{_ENCODE(_entry(name, numbers))}\n" for name, numbers in chosen.items())
    return files


def is_shard(name: str) -> bool:
    """Whether a file of the folder `_index/` is one that `shards` may have made."""
    return _SHARD_NAME.fullmatch(name) is not None


def _by_tag(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Tag as a file name → its rows, each once; tags that differ only in spelling share one."""
    found: dict[str, list[int]] = {}
    name_of: dict[str, str] = {}
    for number, row in enumerate(rows):
        for tag in row["tags"]:
            if tag not in name_of:
                name_of[tag] = slug(tag)
        for name in dict.fromkeys(name_of[tag] for tag in row["tags"]):
            found.setdefault(name, []).append(number)
    return found


def _entry(name: str, numbers: Sequence[int]) -> dict[str, Any]:
    entry: dict[str, Any] = {"tag": name, "rows": len(numbers), "link": f"{FOLDER}/{name}.jsonl"}
    if len(numbers) > MOST_ROWS:
        entry["shown"] = MOST_ROWS
    return entry


def _shard(rows: Sequence[Mapping[str, Any]], numbers: Sequence[int], ranks: Sequence[tuple[int, int, int]]) -> str:
    """The rows in the order of the index; of too many, the first ones by kind and support."""
    first = heapq.nsmallest(MOST_ROWS, numbers, key=ranks.__getitem__)
    return "".join(f"{_ENCODE(rows[number])}\n" for number in sorted(first))


def _sessions(row: Mapping[str, Any]) -> int:
    support = row.get("support")
    count = support.get("sessions") if isinstance(support, dict) else None
    return count if isinstance(count, int) else 0
