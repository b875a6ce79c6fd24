"""What a shard says of itself at its end: `shard.json`, written last. Without it the shard has not ended."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from agent_wiki.pipeline.report import Failure
from agent_wiki.pipeline.shards import Shard
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.records import Order
from agent_wiki.wiki.store import WikiFolder

MANIFEST = "shard.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """What join needs to know of a shard besides its records.

    `listing` is the digest of the names of all recordings, `records` that of its records. `gone` are objects of buckets
    that are no longer listed or known; `orders` has, for each object that was read, by what each of its sessions is
    compared with other recordings of it, None where that is settled. `replaced` has ids that sessions had when their
    recordings were shorter, and those that they have now, which are the same where what was known is no other version
    but less of the same files. `failures` are those of its run, and `unfinished` says why it asked no more.
    """

    shard: Shard
    listing: str
    records: str
    gone: list[str]
    orders: dict[str, list[Order | None]]
    replaced: list[tuple[str, str]]
    failures: list[Failure]
    unfinished: str

    def to_text(self) -> str:
        """The manifest as its file holds it."""
        values = {
            "version": _VERSION,
            "shard": self.shard.number,
            "of": self.shard.count,
            "listing": self.listing,
            "records": self.records,
            "gone": self.gone,
            "orders": self.orders,
            "replaced": self.replaced,
            "failures": [asdict(each) for each in self.failures],
            "unfinished": self.unfinished,
        }
        return json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def manifest_in(folder: WikiFolder) -> Manifest | None:
    """What the shard in a folder says of itself; None where it has not ended, or is damaged."""
    try:
        values = json.loads(folder.read_text(MANIFEST, errors="replace") or "null")
        if values["version"] != _VERSION:
            return None
        orders = {key: [_order(each) for each in orders] for key, orders in values["orders"].items()}
        shard = Shard(int(values["shard"]), int(values["of"]))
        listing, records, unfinished = (str(values[name]) for name in ("listing", "records", "unfinished"))
        failures = [Failure(**each) for each in values["failures"]]
        replaced = [(str(former), str(now)) for former, now in values["replaced"]]
        gone = list(map(str, values["gone"]))
        return Manifest(shard, listing, records, gone, orders, replaced, failures, unfinished)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None


def _order(values: Any) -> Order | None:
    return None if values is None else (int(values[0]), int(values[1]), str(values[2]))


def digest_of_records(digests: Mapping[str, str]) -> str:
    """One digest over the records of a shard. In: the digest of each file by its path."""
    lines = "\n".join(sorted(f"{path} {digest}" for path, digest in digests.items()))
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"
