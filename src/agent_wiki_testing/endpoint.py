"""The kind of endpoint that the test server plays, and its clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Endpoint(BaseModel):
    """What an endpoint can do. The defaults are those of the service with its current models."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    structured: Literal["native", "ignored", "refused"] = Field(
        default="native", description="`output_config.format`: honoured, silently ignored, or refused with 400."
    )
    forced_tools: Literal["honoured", "ignored", "refused"] = Field(
        default="refused", description="`tool_choice` of type `tool` or `any`: current models refuse it."
    )
    takes_sampling: bool = Field(default=False, description="`temperature`, `top_p` and `top_k` are taken.")
    takes_prefill: bool = Field(default=False, description="A last message of the assistant is taken.")
    has_batches: bool = True
    has_count_tokens: bool = True
    has_cache: bool = True
    minimum_cacheable_tokens: int = Field(default=1_024, ge=0, description="By model 512 to 4,096 on the service.")
    context_tokens: int = Field(default=200_000, ge=1, description="Prompt and answer together.")
    latency_seconds: float = Field(default=0.0, ge=0, description="Before each answer to a message.")
    batch_seconds: float = Field(default=0.0, ge=0, description="From creation to end; above a day all of it expires.")
    batches_share_cache: bool = Field(default=True, description="What one item of a batch wrote, the next can read.")
    key: str | None = Field(default=None, description="The one key that is accepted; None accepts any but none.")


LOCAL = Endpoint(
    structured="ignored",
    forced_tools="honoured",
    takes_sampling=True,
    takes_prefill=True,
    has_batches=False,
    has_cache=False,
    context_tokens=32_768,
)
"""A server of local models such as llama.cpp's: no batches, no cache, and a schema is silently ignored."""


class Clock:
    """Seconds since 1970; the clock runs normally and can be advanced."""

    def __init__(self) -> None:
        self._ahead_seconds = 0.0

    def now(self) -> float:
        return time.time() + self._ahead_seconds

    def advance(self, seconds: float) -> None:
        """Let `seconds` go by at once: a cache entry ends, a batch is done, without anybody waiting."""
        self._ahead_seconds += seconds


def timestamp(seconds: float) -> str:
    """Seconds since 1970 as the service writes a moment (RFC 3339, UTC)."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
