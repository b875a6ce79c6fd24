"""Injected faults: by request number, by attempt, by text, or by a seeded probability."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_wiki_testing.protocol import EndpointName, Refused

ConnectionKind = Literal["drop-unread", "drop-read", "drop-answered", "drop-midway"]
StatusKind = Literal["rate-limit", "server-error", "overloaded"]
AnswerKind = Literal["refusal", "truncation", "context-window", "malformed", "schema-breaking", "fenced"]
ItemKind = Literal["batch-expired", "batch-errored", "batch-canceled"]
Kind = Literal[ConnectionKind, StatusKind, AnswerKind, ItemKind, "latency"]

STATUS_KINDS: tuple[StatusKind, ...] = ("rate-limit", "server-error", "overloaded")
ANSWER_KINDS: tuple[AnswerKind, ...] = (
    "refusal", "truncation", "context-window", "malformed", "schema-breaking", "fenced"
)  # fmt: skip
ITEM_KINDS: tuple[ItemKind, ...] = ("batch-expired", "batch-errored", "batch-canceled")


class Fault(BaseModel):
    """One thing that goes wrong, wherever all of its selectors say so; without selectors, always.

    - drop-unread, drop-read, drop-answered: the connection is closed before the body is read, before the answer is
      made, or before a byte of it is sent (it is billed all the same); drop-midway after half of it.
    - rate-limit (429, `retry-after` of `seconds` where given), server-error (500), overloaded (529): not billed.
    - latency: `seconds` more.
    - refusal, truncation (`max_tokens`), context-window (`model_context_window_exceeded`), malformed (JSON that does
      not end), schema-breaking (JSON that does not fit), fenced (JSON inside of prose): answers, and billed.
    - batch-expired, batch-errored, batch-canceled: what becomes of an item of a batch.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    endpoint: EndpointName | None = Field(default=None, description="`messages`; `batch-item` for batch-… kinds.")
    requests: tuple[int, ...] = Field(default=(), description="Numbers, in order of arrival from 1 per endpoint.")
    every: int | None = Field(default=None, ge=1, description="Each second, third, … number.")
    attempts: tuple[int, ...] = Field(default=(), description="How often the very same body has come, from 1.")
    text: str = Field(default="", description="Stands in the body as it was sent.")
    probability: float = Field(default=1.0, ge=0, le=1)
    seconds: float | None = Field(default=None, ge=0)

    def where(self) -> EndpointName:
        """The endpoint it happens at."""
        return self.endpoint or ("batch-item" if self.kind in ITEM_KINDS else "messages")


@dataclass(frozen=True, slots=True)
class Occasion:
    """One request as faults see it. Before its body is read, `raw` and `digest` are empty and `attempt` is 0."""

    endpoint: EndpointName
    number: int
    attempt: int = 0
    digest: str = ""
    raw: bytes = b""


class Faults:
    """All faults of a server. Chances are drawn from seed, kind, body and attempt, so threads do not change them."""

    def __init__(self, faults: Sequence[Fault] = (), seed: int = 0) -> None:
        self._faults = tuple(faults)
        self._seed = seed

    def strike(self, kinds: Sequence[Kind], occasion: Occasion) -> Fault | None:
        """The first fault of one of these kinds that strikes, None when nothing goes wrong."""
        return next((each for each in self._faults if each.kind in kinds and self._strikes(each, occasion)), None)

    def _strikes(self, fault: Fault, occasion: Occasion) -> bool:
        return (
            fault.where() == occasion.endpoint
            and (not fault.requests or occasion.number in fault.requests)
            and (fault.every is None or occasion.number % fault.every == 0)
            and (not fault.attempts or occasion.attempt in fault.attempts)
            and fault.text.encode() in occasion.raw
            and self._draw(fault, occasion) < fault.probability
        )

    def _draw(self, fault: Fault, occasion: Occasion) -> float:
        what = f"{occasion.digest}:{occasion.attempt}" if occasion.digest else str(occasion.number)
        drawn = hashlib.sha256(f"{self._seed}:{fault.kind}:{occasion.endpoint}:{what}".encode()).digest()
        return int.from_bytes(drawn[:7]) / 2**56


def refusal_of(fault: Fault) -> Refused:
    """The error that a fault of status answers with."""
    if fault.kind == "rate-limit":
        headers = {} if fault.seconds is None else {"retry-after": f"{fault.seconds:g}"}
        return Refused("rate_limit_error", "This request would exceed your rate limit.", headers)
    if fault.kind == "overloaded":
        return Refused("overloaded_error", "Overloaded")
    return Refused("api_error", "Internal server error")
