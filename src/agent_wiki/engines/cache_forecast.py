"""What of each prompt a service would have in its cache, when questions are put in a known order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any, cast

from agent_wiki.engines.requests import Lifetime
from agent_wiki.trajectory.lazily import dataclass

FEWEST_CACHED_TOKENS = 1_024
"""A service keeps no shorter prefix; by model the bound is 512 to 4,096."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a prompt. `is_head` says that it is what comes before the messages: tools, schema, system prompt.

    `lifetime` is that of the cache mark behind it, None without one.
    """

    text: str
    lifetime: Lifetime | None
    is_head: bool = False

    @property
    def bytes(self) -> int:
        """Length in UTF-8."""
        return len(self.text.encode("utf-8", "replace"))


def pieces_of(body: Mapping[str, Any]) -> Iterator[Piece]:
    """The prompt of a request without rounds, in the order in which a service matches prefixes."""
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    parts = [_compact(each) for each in (*body.get("tools", ()), schema) if each]
    system = body["system"]
    blocks = [{"text": system}] if isinstance(system, str) else system
    parts += [block["text"] for block in blocks]
    yield Piece("\n".join(parts), _lifetime(blocks[-1]), is_head=True)
    for block in body["messages"][0]["content"]:
        yield Piece(block["text"], _lifetime(block))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _lifetime(block: Mapping[str, Any]) -> Lifetime | None:
    mark = block.get("cache_control")
    return None if mark is None else cast(Lifetime, mark.get("ttl", "5m"))


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one prompt as a service would bill them. What is written lives as long as `lifetime` says."""

    plain: int = 0
    written: int = 0
    read: int = 0
    lifetime: Lifetime = "5m"

    @property
    def total(self) -> int:
        return self.plain + self.written + self.read


class CacheForecast:
    """What of each prompt a service would have in its cache, when questions are put in the order of the calls here.

    It is taken that no prefix ends its life before it is read, and that none lives on from an earlier run.
    """

    def __init__(self) -> None:
        self._kept: set[bytes] = set()
        self._lock = Lock()

    def tokens(self, model: str, counted: list[tuple[Piece, int]]) -> Tokens:
        """How the pieces of one prompt, each with its tokens, are billed; from here on what it writes is kept."""
        hasher = hashlib.sha256(model.encode())
        total = 0
        marks: list[tuple[bytes, int]] = []
        lifetime: Lifetime = "5m"
        for piece, number in counted:
            hasher.update(f"\0{len(piece.text)}\0{piece.text}".encode("utf-8", "replace"))
            total += number
            if piece.lifetime is not None:
                lifetime = piece.lifetime
                marks.append((hasher.digest(), total))
        with self._lock:
            read = max((end for key, end in marks if key in self._kept), default=0)
            reached = max((end for _, end in marks if end >= FEWEST_CACHED_TOKENS), default=0)
            self._kept.update(key for key, end in marks if end >= FEWEST_CACHED_TOKENS)
        reached = max(reached, read)
        return Tokens(total - reached, reached - read, read, lifetime)
