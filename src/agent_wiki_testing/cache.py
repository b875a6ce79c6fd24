"""The prompt cache as the service keeps it: prefixes that end at a mark, read back while they live.

A request is looked up when it arrives and written when it is answered, so that two requests of one moment both write
and neither reads. From each mark the look-up goes back over at most 20 blocks to a prefix that an earlier request
wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from agent_wiki_testing.ledger import Usage
from agent_wiki_testing.tokens import Block, Lifetime

LIFETIME_SECONDS: dict[Lifetime, int] = {"5m": 300, "1h": 3_600}
LOOK_BACK_BLOCKS = 20


@dataclass(slots=True)
class _Entry:
    lifetime: Lifetime
    ends_at: float


@dataclass(frozen=True, slots=True)
class _Prefix:
    """A prompt up to and with one block: digest of all its blocks, their tokens, the mark at its end."""

    digest: str
    tokens: int
    lifetime: Lifetime | None


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What a request reads and is going to write; `usage` has no output yet."""

    usage: Usage
    writes: tuple[tuple[str, Lifetime], ...] = ()
    reads: tuple[str, ...] = ()


class PromptCache:
    """Prefixes of prompts by digest. `minimum_tokens` is the shortest prefix that is kept."""

    def __init__(self, minimum_tokens: int) -> None:
        self._minimum_tokens = minimum_tokens
        self._entries: dict[str, _Entry] = {}
        self._lock = Lock()

    def plan(self, model: str, blocks: Sequence[Block], now: float) -> CachePlan:
        """What a request that arrives `now` reads from the cache and what it will write. Changes nothing."""
        prefixes = _prefixes(model, blocks)
        with self._lock:
            alive = {digest for digest, entry in self._entries.items() if entry.ends_at > now}
        marks = [position for position, prefix in enumerate(prefixes) if prefix.lifetime is not None]
        hit = max((found for mark in marks if (found := _found(prefixes, mark, alive)) is not None), default=-1)
        read = prefixes[hit].tokens if hit >= 0 else 0
        written = [prefixes[mark] for mark in marks if mark > hit and prefixes[mark].tokens >= self._minimum_tokens]
        reads = tuple(prefix.digest for prefix in prefixes[: hit + 1] if prefix.digest in alive)
        total = prefixes[-1].tokens if prefixes else 0
        return CachePlan(_usage(total, read, written), tuple(_writes(written)), reads)

    def commit(self, plan: CachePlan, now: float) -> None:
        """The answer to the planned request begins `now`: what it read lives on, what it wrote can be read."""
        with self._lock:
            for digest in plan.reads:
                entry = self._entries.get(digest)
                if entry is not None:
                    entry.ends_at = now + LIFETIME_SECONDS[entry.lifetime]
            for digest, lifetime in plan.writes:
                self._entries[digest] = _Entry(lifetime, now + LIFETIME_SECONDS[lifetime])


def _prefixes(model: str, blocks: Sequence[Block]) -> list[_Prefix]:
    prefixes: list[_Prefix] = []
    hasher = hashlib.sha256(model.encode("utf-8", "replace"))
    tokens = 0
    for block in blocks:
        key = block.key.encode("utf-8", "surrogatepass")
        hasher.update(b"%d:" % len(key) + key)
        tokens += block.tokens
        prefixes.append(_Prefix(hasher.hexdigest(), tokens, block.lifetime))
    return prefixes


def _found(prefixes: Sequence[_Prefix], mark: int, alive: set[str]) -> int | None:
    """The longest living prefix that a mark reaches, as the position of its last block."""
    reach = range(mark, max(-1, mark - LOOK_BACK_BLOCKS), -1)
    return next((position for position in reach if prefixes[position].digest in alive), None)


def _writes(written: Sequence[_Prefix]) -> list[tuple[str, Lifetime]]:
    return [(prefix.digest, prefix.lifetime) for prefix in written if prefix.lifetime is not None]


def _usage(total: int, read: int, written: Sequence[_Prefix]) -> Usage:
    """Every token once: read, written with the lifetime of the mark that ends its stretch, or plain input."""
    by_lifetime: dict[Lifetime, int] = {"5m": 0, "1h": 0}
    reached = read
    for prefix in written:
        if prefix.lifetime is not None:
            by_lifetime[prefix.lifetime] += prefix.tokens - reached
        reached = prefix.tokens
    return Usage(
        input_tokens=total - reached,
        cache_creation_5m_tokens=by_lifetime["5m"],
        cache_creation_1h_tokens=by_lifetime["1h"],
        cache_read_input_tokens=read,
    )
