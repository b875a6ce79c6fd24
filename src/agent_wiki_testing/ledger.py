"""What the test server would have billed, and how many requests it had at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from threading import Lock
from typing import Any

from agent_wiki_testing.protocol import EndpointName

WRITE_5M_FACTOR = 1.25
WRITE_1H_FACTOR = 2.0
READ_FACTOR = 0.1
BATCH_FACTOR = 0.5


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer, or of many. `input_tokens` are those outside of the cache."""

    input_tokens: int = 0
    cache_creation_5m_tokens: int = 0
    cache_creation_1h_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(Usage)))

    def prompt_tokens(self) -> int:
        """Everything the model read, cached or not."""
        return self.input_tokens + self.written_tokens() + self.cache_read_input_tokens

    def written_tokens(self) -> int:
        """What was written to the cache, whatever its lifetime."""
        return self.cache_creation_5m_tokens + self.cache_creation_1h_tokens

    def billed_input_tokens(self) -> float:
        """The prompt in units of plain input tokens: a write costs 1.25 (5m) or 2 (1h) of them, a read 0.1."""
        return (
            self.input_tokens
            + WRITE_5M_FACTOR * self.cache_creation_5m_tokens
            + WRITE_1H_FACTOR * self.cache_creation_1h_tokens
            + READ_FACTOR * self.cache_read_input_tokens
        )

    def with_output(self, output_tokens: int) -> Usage:
        return replace(self, output_tokens=output_tokens)

    def to_json(self, service_tier: str) -> dict[str, Any]:
        """The `usage` of a message."""
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": self.written_tokens(),
            "cache_read_input_tokens": self.cache_read_input_tokens,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.cache_creation_5m_tokens,
                "ephemeral_1h_input_tokens": self.cache_creation_1h_tokens,
            },
            "output_tokens": self.output_tokens,
            "service_tier": service_tier,
        }


@dataclass(frozen=True, slots=True)
class Billed:
    """One answer that was billed; half price in a batch. It is billed also when its connection was dropped."""

    model: str
    usage: Usage
    is_batch: bool
    digest: str  # of the request, see `protocol.request_digest`


class Ledger:
    """Every answer that was billed, in order, and the most requests for messages that were open at once."""

    def __init__(self) -> None:
        self.billed: list[Billed] = []
        self.most_in_flight = 0
        self._in_flight = 0
        self._lock = Lock()

    def bill(self, billed: Billed) -> None:
        with self._lock:
            self.billed.append(billed)

    @contextmanager
    def in_flight(self, endpoint: EndpointName) -> Iterator[None]:
        """Counts a request as open while the block runs; only requests for messages count."""
        one = int(endpoint == "messages")
        with self._lock:
            self._in_flight += one
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= one

    def total(self) -> Usage:
        """All tokens, those of batches at their full number."""
        return sum((billed.usage for billed in list(self.billed)), Usage())

    def billed_input_tokens(self) -> float:
        """The prompts of all answers in units of plain input tokens, a batch's at half."""
        return sum(
            billed.usage.billed_input_tokens() * (BATCH_FACTOR if billed.is_batch else 1.0)
            for billed in list(self.billed)
        )

    def to_json(self) -> dict[str, Any]:
        """What another process may want to know."""
        return {
            "answers": len(self.billed),
            "most_in_flight": self.most_in_flight,
            "billed_input_tokens": self.billed_input_tokens(),
            "usage": asdict(self.total()),
        }
